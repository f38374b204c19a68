//! A folder of its own for one test: configuration, cache, record, and the command run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// The folder; gone when the test is.
pub(crate) struct Sandbox(tempfile::TempDir);

impl Sandbox {
    /// A folder with these servers in its `servers.json`.
    pub(crate) fn new(servers: &Value) -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        let config = json!({ "mcpServers": servers }).to_string();
        fs::write(sandbox.path("servers.json"), config).unwrap();
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command with the global flags for this folder that it takes, recording to `trace`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let flags: &[&str] = match args {
            ["replay" | "timeline", ..] => &[],
            ["demo", ..] => &["--trace", "trace"],
            _ => &["--config", "servers.json", "--trace", "trace"],
        };
        self.bare(&[flags, args].concat())
    }

    /// The command without any flags of ours.
    pub(crate) fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("home/.config"))
            .env("TIDEGATE_CONFIG_DIR", self.path("config"))
            .env("TIDEGATE_CACHE_DIR", self.path("cache"))
            .env("TIDEGATE_STATE_DIR", self.path("state"))
            .env("NO_COLOR", "1");
        command
    }

    /// Runs it to its end, with nothing to read.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    /// Fails if anything is left of any process the recorded run started.
    pub(crate) fn assert_nothing_is_left(&self) {
        let pids = started(&self.path("trace"));
        assert!(!pids.is_empty(), "no process was started");
        let left: Vec<String> = processes().filter(|stat| is_of(stat, &pids)).collect();
        assert!(left.is_empty(), "left: {left:?}");
    }
}

/// The processes a recorded run started.
fn started(trace: &Path) -> Vec<String> {
    let lines = fs::read_to_string(trace).unwrap();
    let pid = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        line["input"]["io"]["pid"].as_u64().map(|pid| pid.to_string())
    };
    lines.lines().filter_map(pid).collect()
}

/// What the system says of each process: `pid (name) state parent group …`.
fn processes() -> impl Iterator<Item = String> {
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(stat)
}

/// Whether a process is in one of these groups and not dead: a dead one may wait a moment for the
/// system to take note of it.
fn is_of(stat: &str, groups: &[String]) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_whitespace();
    let (state, group) = (fields.next().unwrap(), fields.nth(1).unwrap());
    !matches!(state, "Z" | "X") && groups.iter().any(|one| one == group)
}

/// One of the demo's servers.
pub(crate) fn demo(kind: &str) -> Value {
    json!({"command": env!("CARGO_BIN_EXE_tidegate"), "args": ["__demo-server", kind]})
}

/// A server that is a shell script.
pub(crate) fn script(text: &str) -> Value {
    json!({"command": "sh", "args": ["-c", text]})
}

/// A server that never answers and ends with its input.
pub(crate) fn silent() -> Value {
    script("cat > /dev/null")
}

/// A server that says hello and ignores everything that can be ignored.
pub(crate) fn stubborn() -> Value {
    script("trap '' TERM INT HUP; echo hello >&2; while :; do sleep 1; done")
}

pub(crate) fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}
