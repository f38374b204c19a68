//! `demo`: the whole lifecycle on built-in servers, told as it happens and checked.

mod folder;
mod left;
pub(crate) mod server;
mod story;
mod web;

use std::env;
use std::path::Path;

use futures_lite::future;
use serde_json::json;
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::Event;
use tidegate_core::hub::policy::Policy;
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::tools::content;
use tidegate_smol::{Events, News, Settings};

use crate::args::Global;
use crate::ending::Told;
use crate::exit::{Exit, Trouble};
use crate::session::{self, Plan, Session};
use folder::Folder;
use server::{DELAY, DELAY_MS, Kind};
use story::Story;
use web::Web;

/// The deferred tool that is called, by the name an agent would use, and what it answers.
const DEFERRED: (&str, &str) = ("mcp_slow_high_tide", "High tide at Kiel: 06:41 and 19:04");
/// The same for the tool of the server that is reached over HTTP.
const REMOTE: (&str, &str) = ("mcp_web_forecast", "Tomorrow at Kiel: calm, 0.4 m");
/// What they are called with.
const ARGUMENTS: &str = r#"{"place":"Kiel"}"#;

/// Tells the story.
///
/// # Errors
/// If the folder for it cannot be made or the servers cannot be run at all.
pub(crate) fn run(global: &Global) -> Result<Exit, Trouble> {
    let folder = Folder::new()?;
    let program = env::current_exe()?;
    let trace = global.trace.clone().unwrap_or_else(|| folder.path().join("demo.trace"));
    let mut story = Story::new(global.json, global.quiet);
    story.title();
    let web = Web::start()?;
    let filled = fill_cache(&program, folder.path(), &web)?;
    if filled != Exit::Done {
        return Ok(filled);
    }
    story.chapter("Start all five, and wait at most 250 ms for them");
    let settings = settings(&program, folder.path(), &web, DELAY_MS).with_trace(&trace);
    story.begin();
    let told = session::run(
        Plan::silent(settings),
        async |session| {
            tell(session, &mut story).await;
            Ok(())
        },
        |_, _| Ok(Told::nothing(Exit::Done)),
    )?;
    if told != Exit::Done {
        return Ok(told);
    }
    story.stopped(&left::left(&trace)?, web.rest());
    story.end(global.trace.as_deref())
}

/// Lets `slow` run once without its delay, so that its list of tools is cached as it would be
/// after any earlier run.
fn fill_cache(program: &Path, folder: &Path, web: &Web) -> Result<Exit, Trouble> {
    let mut settings = settings(program, folder, web, 0);
    settings.options.only = [Kind::Slow.name().into()].into();
    session::run(
        Plan::silent(settings),
        async |session| session.start().await,
        |_, _| Ok(Told::nothing(Exit::Done)),
    )
}

fn settings(program: &Path, folder: &Path, web: &Web, delay_ms: u64) -> Settings {
    // Written by hand, because the order of the servers is the order of the story.
    let entries = Kind::ALL.map(|kind| {
        let entry = if kind.is_process() {
            let delay = delay_ms.to_string();
            json!({"command": program, "args": ["__demo-server", kind.name()], "env": {DELAY: delay}})
        } else {
            json!({"type": "http", "url": web.url()})
        };
        format!("\"{}\": {entry}", kind.name())
    });
    let config = format!("{{\"mcpServers\": {{{}}}}}", entries.join(", "));
    let sources = vec![Source::inline("demo", &config)];
    let mut options = Options::new(&folder.to_string_lossy(), sources);
    options.policy = Policy::default();
    Settings::new(options).with_cache_dir(folder)
}

/// What the demo waits for.
enum Happened<T> {
    News(News),
    Done(T),
}

/// From the start to the answer of a deferred tool, and to the end.
async fn tell(session: &Session, story: &mut Story) {
    let host = &session.host;
    let mut teller = Teller { session, events: host.events() };
    let Some(report) = teller.until(host.start(), story).await else { return };
    story.gate(&report);
    teller.tools(story).await;
    story.chapter("Call a deferred tool before its server is up");
    story.slow_is_awaited();
    teller.call(DEFERRED, story).await;
    story.chapter("Call a tool of the server that is reached over HTTP");
    teller.call(REMOTE, story).await;
    story.chapter("Stop");
    story.stopping();
    if teller.until(host.shutdown(), story).await.is_some() {
        teller.rest(story).await;
    }
}

/// Hears what happens and tells it.
struct Teller<'a> {
    session: &'a Session,
    events: Events,
}

impl Teller<'_> {
    /// Tells what happens until something is done; `None` if the runtime ends first.
    async fn until<T>(&mut self, done: impl Future<Output = T>, story: &mut Story) -> Option<T> {
        let mut done = Box::pin(done);
        loop {
            let news = async { self.events.next().await.map(Happened::News) };
            match future::or(news, async { Some(Happened::Done((&mut done).await)) }).await? {
                Happened::News(news) => self.hear(news, story).await,
                Happened::Done(output) => return Some(output),
            }
        }
    }

    /// Calls a tool and tells what it answers.
    async fn call(&mut self, (tool, wanted): (&str, &str), story: &mut Story) {
        story.calling(tool, ARGUMENTS);
        let host = &self.session.host;
        let call = host.call(Target::Exposed(tool.into()), Json::new(ARGUMENTS), None);
        if let Some(outcome) = self.until(call, story).await {
            let text = content::text_for_model(&outcome);
            story.answered(text.as_deref().unwrap_or("aborted"), wanted);
        }
        self.rest(story).await;
    }

    /// Tells what has happened already.
    async fn rest(&mut self, story: &mut Story) {
        while let Some(news) = self.events.try_next() {
            self.hear(news, story).await;
        }
    }

    async fn hear(&self, news: News, story: &mut Story) {
        if let News::Event(Event::ServerChanged { server, state }) = news {
            let catalog = self.session.host.catalog().await;
            story.server(&server, &state, &catalog.tools);
        } else if let News::Event(Event::ToolsChanged { .. }) = news
            && story.tells_tools()
        {
            self.tools(story).await;
        }
    }

    async fn tools(&self, story: &mut Story) {
        story.tools(&self.session.host.catalog().await.tools);
    }
}
