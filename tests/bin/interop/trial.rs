//! One server in one revision: what it is asked for, one thing after the other.

use std::process::Command;
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::tools::content;
use tidegate_core::wire::dialect::{Era, Revision};
use tidegate_smol::{Host, News, Settings, block_on, open};

use crate::servers::{Server, Started};

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long something that comes by itself may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The name of the server in its host.
const NAME: &str = "s";

/// What came of a trial.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It does everything, in this revision.
    Works(String),
    /// It chose another revision.
    Speaks(String),
    /// What does not work, and why.
    Fails(&'static str, String),
}

/// Tries a server out in a revision, or in the one that we find by ourselves.
pub(crate) fn trial(server: Server, revision: Option<Revision>) -> Verdict {
    let mut started = match server.start() {
        Ok(started) => started,
        Err(why) => return Verdict::Fails("start", why),
    };
    if let Some(revision) = revision {
        let legacy = revision.era() == Era::Legacy;
        started.entry["protocol"] = if legacy { "legacy".into() } else { "modern".into() };
    }
    let entry = json!({"mcpServers": {NAME: started.entry}}).to_string();
    let cwd = std::env::temp_dir().display().to_string();
    let mut options = Options::new(&cwd, vec![Source::inline("interop", &entry)]);
    options.offered = revision.filter(|revision| revision.era() == Era::Legacy);
    let (host, driver) = match open(Settings::new(options)) {
        Ok(opened) => opened,
        Err(error) => return Verdict::Fails("open", error.to_string()),
    };
    let story = async {
        let verdict = Trial { server, started, host: &host }.play(revision).await;
        host.shutdown().await;
        verdict
    };
    let hanging = async {
        Timer::after(LIMIT).await;
        Verdict::Fails("end", format!("not done within {LIMIT:?}"))
    };
    let ran = block_on(driver, future::or(story, hanging));
    ran.unwrap_or_else(|error| Verdict::Fails("run", error.to_string()))
}

struct Trial<'a> {
    server: Server,
    started: Started,
    host: &'a Host,
}

impl Trial<'_> {
    async fn play(mut self, revision: Option<Revision>) -> Verdict {
        self.host.start().await;
        let status = self.status().await;
        if status.state != ServerState::Connected {
            return Verdict::Fails("connect", format!("{:?}", status.state));
        }
        let spoken = status.revision.unwrap_or_default();
        if revision.is_some_and(|revision| revision.as_str() != spoken) {
            return Verdict::Speaks(spoken);
        }
        let mut failed = None;
        let mut note = |step, done: Result<(), String>| {
            if let (None, Err(why)) = (&failed, done) {
                failed = Some(Verdict::Fails(step, why));
            }
        };
        note("list", self.list().await);
        note("call", self.add().await);
        note("progress", self.progress().await);
        note("cancel", self.cancel().await);
        note("resources and prompts", self.extras().await);
        note("restart", self.restart().await);
        failed.unwrap_or(Verdict::Works(spoken))
    }

    async fn status(&self) -> ServerStatus {
        let servers = self.host.status().await.servers;
        servers.into_iter().next().expect("the server that is configured")
    }

    async fn list(&self) -> Result<(), String> {
        let tools = self.host.catalog().await.tools.clone();
        for wanted in [self.server.add(), self.server.count(1, 1.0).0] {
            if !tools.iter().any(|tool| tool.tool == wanted) {
                return Err(format!("{wanted} is not listed"));
            }
        }
        Ok(())
    }

    async fn say(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let target = Target::Tool { server: NAME.into(), tool: tool.into() };
        match self.host.call(target, Json::new(arguments.to_string()), None).await {
            Outcome::Answered(result) => {
                Ok(content::flatten(&result).map_err(|error| error.to_string())?.text)
            }
            other @ (Outcome::Failed(_) | Outcome::Aborted) => Err(format!("{other:?}")),
        }
    }

    async fn add(&self) -> Result<(), String> {
        let said = self.say(self.server.add(), json!({"a": 19, "b": 23})).await?;
        if said.contains("42") { Ok(()) } else { Err(said) }
    }

    async fn progress(&self) -> Result<(), String> {
        let mut events = self.host.events();
        let (tool, arguments) = self.server.count(3, 0.3);
        self.say(tool, arguments).await?;
        let mut reports = 0;
        while let Some(news) = events.try_next() {
            reports += usize::from(matches!(news, News::Event(Event::CallProgressed { .. })));
        }
        let enough = reports >= 2 || !self.server.reports();
        if enough { Ok(()) } else { Err(format!("{reports} reports of 3")) }
    }

    async fn cancel(&self) -> Result<(), String> {
        let (tool, arguments) = self.server.count(100, 10.0);
        let target = Target::Tool { server: NAME.into(), tool: tool.into() };
        let call = self.host.call(target, Json::new(arguments.to_string()), None);
        Timer::after(Duration::from_millis(300)).await;
        call.cancel();
        let outcome = call.await;
        if outcome != Outcome::Aborted {
            return Err(format!("{outcome:?}"));
        }
        let before = self.status().await;
        self.add().await?;
        let after = self.status().await;
        if after.conn == before.conn { Ok(()) } else { Err("it took the connection along".into()) }
    }

    async fn extras(&self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let resources = self.host.resources().await;
            let prompts = self.host.prompts().await;
            let first = resources.servers.first().and_then(|one| one.resources.first());
            if let Some(first) = first
                && prompts.servers.iter().any(|one| !one.prompts.is_empty())
            {
                return self.fetch(&first.uri).await;
            }
            Timer::after(Duration::from_millis(20)).await;
        }
        Err("they are not listed".into())
    }

    /// Reads a resource and asks for a prompt.
    async fn fetch(&self, uri: &str) -> Result<(), String> {
        let (prompt, arguments) = self.server.prompt();
        let resource = Target::Resource { server: NAME.into(), uri: uri.to_owned() };
        let prompt = Target::Prompt { server: NAME.into(), prompt: prompt.into() };
        for (target, arguments, member) in
            [(resource, json!({}), "contents"), (prompt, arguments, "messages")]
        {
            let outcome = self.host.call(target, Json::new(arguments.to_string()), None).await;
            let Outcome::Answered(answer) = &outcome else { return Err(format!("{outcome:?}")) };
            let answer: Value =
                serde_json::from_str(answer.as_str()).map_err(|error| error.to_string())?;
            if answer[member].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("no {member}: {answer}"));
            }
        }
        Ok(())
    }

    /// Kills the server, and waits until it answers again by itself.
    async fn restart(&mut self) -> Result<(), String> {
        let before = self.status().await;
        // Behind a port whoever answers from here on is the new one, on whatever connection.
        let anew = self.started.restart()?;
        if !anew {
            let pid = before.pid.ok_or("it has no process")?.to_string();
            let killed = Command::new("kill").args(["-KILL", &pid]).status();
            killed.map_err(|error| error.to_string())?;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.add().await;
            let conn = self.status().await.conn;
            if said.is_ok() && (anew || conn != before.conn) {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(format!("{said:?} on {conn:?}, {:?} before", before.conn));
            }
            Timer::after(Duration::from_millis(50)).await;
        }
    }
}
