//! A live host in a test: the driver and real processes in a project of their own.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::replay::replay;
use tidegate_core::tools::content;
use tidegate_core::trace::TraceLine;
use tidegate_smol::{Host, Settings};

use crate::processes::{self, MARK};

/// How long one test may take before it counts as hanging.
const LIMIT: Duration = Duration::from_secs(60);

/// A project directory and a mark by which its processes are found.
#[derive(Debug)]
pub struct World {
    dir: TempDir,
    mark: String,
}

impl Default for World {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, mark: format!("{}-{number}", std::process::id()) }
    }
}

impl World {
    /// The project directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The mark of its processes.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// An entry that runs a program of any kind, marked.
    #[must_use]
    pub fn entry(&self, command: &str, args: &[&str]) -> Value {
        json!({"command": command, "args": args, "env": {MARK: self.mark}})
    }

    /// An entry that runs the scripted server with these arguments.
    #[must_use]
    pub fn scripted(&self, args: &[&str]) -> Value {
        self.entry(&scripted(), args)
    }

    /// An entry that runs the scripted server from a shell, which runs `script` with the
    /// server's command line as `"$@"`.
    #[must_use]
    pub fn wrapped(&self, script: &str, args: &[&str]) -> Value {
        let server = scripted();
        let words = [&["-c", script, "sh", &server], args].concat();
        self.entry("sh", &words)
    }

    /// The settings of a host with these servers: no cache, the default policy.
    #[must_use]
    pub fn settings(&self, servers: &[(&str, Value)]) -> Settings {
        let config = config(servers);
        let cwd = self.dir().display().to_string();
        Settings::new(Options::new(&cwd, vec![Source::inline("test", &config)]))
    }

    /// Runs a host with these servers, started, and shuts it down.
    ///
    /// # Panics
    /// If it takes too long, if a process is left when the host has stopped, or if the recorded
    /// run does not come out the same when it is replayed.
    pub fn run<T>(&self, servers: &[(&str, Value)], body: impl AsyncFnOnce(&Host) -> T) -> T {
        self.run_with(self.settings(servers), async |host| {
            host.start().await;
            body(host).await
        })
    }

    /// Runs a host with these settings and shuts it down.
    ///
    /// # Panics
    /// If it takes too long, if a process is left when the host has stopped, or if the recorded
    /// run does not come out the same when it is replayed.
    pub fn run_with<T>(&self, settings: Settings, body: impl AsyncFnOnce(&Host) -> T) -> T {
        self.run_within(LIMIT, settings, body)
    }

    /// The same, and the story may take so long.
    ///
    /// # Panics
    /// As [`Self::run_with`] does.
    pub fn run_within<T>(
        &self,
        limit: Duration,
        settings: Settings,
        body: impl AsyncFnOnce(&Host) -> T,
    ) -> T {
        let trace = self.dir().join("trace.jsonl");
        let settings = settings.with_trace(&trace);
        let (host, driver) = tidegate_smol::open(settings).expect("a driver");
        let story = async {
            let result = body(&host).await;
            host.shutdown().await;
            result
        };
        let hanging = async {
            Timer::after(limit).await;
            panic!("still running after {limit:?}: {:?}", processes::marked(&self.mark));
        };
        let result = tidegate_smol::block_on(driver, future::or(story, hanging)).expect("a run");
        // L9: `Stopped` follows the end of the last process.
        self.check_nothing_left(Duration::ZERO);
        check_replay(&trace);
        result
    }

    /// Fails if a process of this world is left after the limit.
    ///
    /// # Panics
    /// Then.
    pub fn check_nothing_left(&self, limit: Duration) {
        let left = processes::marked_after(&self.mark, limit);
        assert!(left.is_empty(), "left running:\n{}", processes::describe(&left));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        processes::end(&processes::marked(&self.mark));
    }
}

/// L2: whatever happened comes out of its record again, byte for byte.
fn check_replay(trace: &Path) {
    let text = fs::read_to_string(trace).expect("a trace");
    let line = |line| serde_json::from_str(line).expect("a line of the trace");
    let lines: Vec<TraceLine> = text.lines().map(line).collect();
    if let Err(divergence) = replay(&lines) {
        panic!("the run does not replay: {divergence}");
    }
}

/// A configuration with these servers, in this order.
#[must_use]
pub fn config(servers: &[(&str, Value)]) -> String {
    let entries: Vec<String> =
        servers.iter().map(|(name, entry)| format!("{}:{entry}", json!(name))).collect();
    format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(","))
}

/// Calls a tool of a server by the server's own name for it.
pub async fn call(host: &Host, server: &str, tool: &str, arguments: Value) -> Outcome {
    let target = Target::Tool { server: server.into(), tool: tool.into() };
    host.call(target, Json::new(arguments.to_string()), None).await
}

/// Calls a tool that must answer; its text as a model gets it.
///
/// # Panics
/// If the call does not end with an answer of the tool.
pub async fn say(host: &Host, server: &str, tool: &str, arguments: Value) -> String {
    match call(host, server, tool, arguments).await {
        Outcome::Answered(result) => content::flatten(&result).expect("a result").text,
        other @ (Outcome::Failed(_) | Outcome::Aborted) => panic!("{server} {tool}: {other:?}"),
    }
}

/// The state of a server.
///
/// # Panics
/// If it is not configured.
pub async fn state(host: &Host, server: &str) -> ServerState {
    let servers = host.status().await.servers;
    let found = servers.into_iter().find(|status| status.name.as_str() == server);
    found.expect("a configured server").state
}

/// The scripted server's program.
fn scripted() -> String {
    processes::program("scripted-server").display().to_string()
}
