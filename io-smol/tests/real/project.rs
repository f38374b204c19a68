//! A project in a test: servers with bad manners, a host, and a look at what is left of them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::Outcome;
use tidegate_core::hub::policy::StopLadder;
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::tools::content;
use tidegate_smol::{Call, Host, Settings, block_on, open};

/// The variable that marks the processes of one test; children inherit it.
const MARK: &str = "TIDEGATE_SMOL_TEST";

pub(crate) struct Project {
    dir: TempDir,
    mark: String,
}

impl Project {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = tempfile::tempdir().unwrap();
        Self { dir, mark: format!("{}-{number}", std::process::id()) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// An entry that runs the server with these manners.
    pub(crate) fn server(&self, manners: &[&str]) -> Value {
        self.entry("python3", &[&[SERVER], manners].concat())
    }

    pub(crate) fn entry(&self, command: &str, args: &[&str]) -> Value {
        json!({ "command": command, "args": args, "env": { MARK: self.mark } })
    }

    pub(crate) fn settings(&self, servers: &[(&str, Value)]) -> Settings {
        let servers: Map<String, Value> =
            servers.iter().map(|(name, entry)| ((*name).into(), entry.clone())).collect();
        let config = json!({ "mcpServers": servers }).to_string();
        let cwd = self.path().to_str().unwrap();
        Settings::new(Options::new(cwd, vec![Source::inline("test", &config)]))
    }

    /// Runs a host with one server called `s`, started, to its end.
    pub(crate) fn run<T>(&self, entry: Value, body: impl AsyncFnOnce(&Host) -> T) -> T {
        self.run_with(self.settings(&[("s", entry)]), async |host| {
            let report = host.start().await;
            assert!(report.failed.is_empty(), "{report:?}");
            body(host).await
        })
    }

    pub(crate) fn run_with<T>(&self, settings: Settings, body: impl AsyncFnOnce(&Host) -> T) -> T {
        let (host, driver) = open(settings).unwrap();
        let output = block_on(driver, async { body(&host).await }).unwrap();
        self.check_nothing_left(Duration::ZERO);
        output
    }

    /// Fails if a process of this project is left after the limit.
    pub(crate) fn check_nothing_left(&self, limit: Duration) {
        check_gone(MARK, &self.mark, limit);
    }

    /// The command lines of the live processes of this project.
    pub(crate) fn processes(&self) -> Vec<String> {
        processes(MARK, &self.mark)
    }
}

/// Fails if a process that carries the mark is left after the limit.
pub(crate) fn check_gone(variable: &str, mark: &str, limit: Duration) {
    let end = Instant::now() + limit;
    loop {
        let left = processes(variable, mark);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "left running: {left:?}");
        sleep(Duration::from_millis(10));
    }
}

fn processes(variable: &str, mark: &str) -> Vec<String> {
    let wanted = format!("{variable}={mark}");
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ours = entries.filter(|entry| {
        // In its environment, or among its arguments if it has no environment.
        let texts = ["environ", "cmdline"].map(|file| fs::read(entry.path().join(file)));
        let mut texts = texts.iter().flatten().flat_map(|text| text.split(|byte| *byte == 0));
        texts.any(|it| it == wanted.as_bytes())
    });
    ours.map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        format!("{}: {line}", entry.file_name().display())
    })
    .collect()
}

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/server.py");

/// Steps short enough for a test.
pub(crate) fn hasty(mut settings: Settings) -> Settings {
    settings.options.policy.stop = StopLadder { polite_ms: 50, terminate_ms: 100, kill_ms: 1_000 };
    settings
}

/// Calls a tool of the server `s`.
pub(crate) fn call(host: &Host, tool: &str, arguments: Value) -> Call {
    let target = Target::Tool { server: "s".into(), tool: tool.into() };
    host.call(target, Json::new(arguments.to_string()), Some(30_000))
}

/// The text a tool answered with.
pub(crate) fn text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered(result) => content::flatten(result).unwrap().text,
        Outcome::Failed(error) => panic!("{error}"),
        Outcome::Aborted => panic!("aborted"),
    }
}
