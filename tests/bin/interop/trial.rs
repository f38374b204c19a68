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
use tidegate_core::wire::dialect::Revision;
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
    /// It does everything.
    Works,
    /// It chose another revision.
    Speaks(String),
    /// What does not work, and why.
    Fails(&'static str, String),
}

/// Tries a server out.
pub(crate) fn trial(server: Server, revision: Revision) -> Verdict {
    let started = match server.start() {
        Ok(started) => started,
        Err(why) => return Verdict::Fails("start", why),
    };
    let entry = json!({"mcpServers": {NAME: started.entry}}).to_string();
    let cwd = std::env::temp_dir().display().to_string();
    let mut options = Options::new(&cwd, vec![Source::inline("interop", &entry)]);
    options.offered = Some(revision);
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
    async fn play(mut self, revision: Revision) -> Verdict {
        self.host.start().await;
        let status = self.status().await;
        if status.state != ServerState::Connected {
            return Verdict::Fails("connect", format!("{:?}", status.state));
        }
        if status.revision.as_deref() != Some(revision.as_str()) {
            return Verdict::Speaks(status.revision.unwrap_or_default());
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
        failed.unwrap_or(Verdict::Works)
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
            let some = resources.servers.iter().any(|one| !one.resources.is_empty());
            if some && prompts.servers.iter().any(|one| !one.prompts.is_empty()) {
                return Ok(());
            }
            Timer::after(Duration::from_millis(20)).await;
        }
        Err("they are not listed".into())
    }

    /// Kills the server, and waits until it answers again by itself.
    async fn restart(&mut self) -> Result<(), String> {
        let before = self.status().await;
        if !self.started.restart()? {
            let pid = before.pid.ok_or("it has no process")?.to_string();
            let killed = Command::new("kill").args(["-KILL", &pid]).status();
            killed.map_err(|error| error.to_string())?;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.add().await;
            let conn = self.status().await.conn;
            if said.is_ok() && conn != before.conn {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(format!("{said:?} on {conn:?}, {:?} before", before.conn));
            }
            Timer::after(Duration::from_millis(50)).await;
        }
    }
}
