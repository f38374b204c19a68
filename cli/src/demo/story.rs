//! The story the demo tells: lines with their moments, and whether all went as it should.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tidegate_core::error::{Cause, Exit as ProcessExit};
use tidegate_core::event::{ServerState, StartReport};
use tidegate_core::id::ServerName;
use tidegate_core::tools::catalog::{Tool, ToolState};

use super::left::Left;
use super::server::{DELAY_MS, DIES_WITH, Kind};
use super::web::Rest;
use crate::exit::{Exit, Trouble};
use crate::output::json::{self, VERSION};
use crate::output::paint::{Paint, Tone};
use crate::output::{self, Screen, servers, visible};

/// How many lines of a server's standard error are told.
const TAIL_LINES: usize = 3;

/// The story so far.
#[derive(Debug)]
pub(crate) struct Story {
    form: Form,
    quiet: bool,
    began: Instant,
    called: Instant,
    part: Part,
    connected: BTreeSet<ServerName>,
    lines: Vec<Line>,
    different: Vec<String>,
    left: usize,
}

/// How far the story is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Starting,
    Open,
    Stopping,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Text(Paint),
    Json,
}

#[derive(Debug, Serialize)]
struct Line {
    at_ms: u64,
    who: String,
    what: String,
}

/// What `demo --json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: u32,
    demo: &'a [Line],
    processes_left: usize,
    as_told: bool,
    different: &'a [String],
}

impl Story {
    /// A story that has not begun; a quiet one ends without hints.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            form: if json { Form::Json } else { Form::Text(Screen::stdout().paint) },
            quiet,
            began: now,
            called: now,
            part: Part::Starting,
            connected: BTreeSet::new(),
            lines: Vec::new(),
            different: Vec::new(),
            left: 0,
        }
    }

    /// Introduces the servers.
    pub(crate) fn title(&self) {
        self.heading(&format!("Tidegate {}: five servers, one gate", env!("CARGO_PKG_VERSION")));
        let slow = format!("takes {DELAY_MS} ms; its tools are known from an earlier run");
        for (kind, what) in [
            (Kind::Fast, "answers at once"),
            (Kind::Slow, slow.as_str()),
            (Kind::Dies, "exits while it is being greeted"),
            (Kind::Odd, "offers a tool that no model could use, among good ones"),
            (Kind::Web, "is reached over HTTP, on this machine"),
        ] {
            self.print(&format!("  {:<5} {what}", kind.name()));
        }
    }

    /// Begins a part of the story.
    pub(crate) fn chapter(&self, title: &str) {
        self.print("");
        self.heading(title);
    }

    /// Sets the clock to 0.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Whether what can be called is of interest: between the gate and the end.
    pub(crate) fn tells_tools(&self) -> bool {
        self.part == Part::Open
    }

    /// A server is in another state.
    pub(crate) fn server(&mut self, server: &ServerName, state: &ServerState, tools: &[Arc<Tool>]) {
        let name = server.as_str();
        if let ServerState::Failed { failure } = state {
            self.tell(Tone::Bad, name, &format!("failed: {}", failure.describe(server)));
            for line in servers::tail(&failure.stderr_tail, TAIL_LINES) {
                self.detail(&line);
            }
            let exit = Cause::Exited { exit: ProcessExit::Code(DIES_WITH.into()) };
            self.expect(name == "dies" && failure.cause == exit, "only dies fails");
            self.expect(failure.stderr_tail.contains("no database"), "dies says why");
        } else if matches!(state, ServerState::Connected) {
            self.connected(server, tools);
        } else if self.part != Part::Stopping || self.connected.contains(server) {
            self.tell(Tone::Faint, name, state.name());
        }
    }

    fn connected(&mut self, server: &ServerName, tools: &[Arc<Tool>]) {
        let name = server.as_str();
        let its = || tools.iter().filter(|tool| tool.server == *server);
        let live = its().filter(|tool| tool.state == ToolState::Live).count();
        self.connected.insert(server.clone());
        self.tell(Tone::Good, name, &format!("connected, {}", counted(live, "tool")));
        for tool in its() {
            if let ToolState::Quarantined { reason } = &tool.state {
                self.tell(Tone::Waiting, name, &format!("{} is left out: {reason}", tool.tool));
            }
        }
    }

    /// The gate opens.
    pub(crate) fn gate(&mut self, report: &StartReport) {
        let names = |names: &[ServerName]| -> Vec<String> {
            names.iter().map(ToString::to_string).collect()
        };
        let failed: Vec<ServerName> = report.failed.iter().map(|(name, _)| name.clone()).collect();
        self.tell(
            Tone::Strong,
            "gate",
            &format!(
                "opens: {} connected, {} deferred, {} failed",
                names(&report.connected).join(", "),
                names(&report.deferred).join(" and "),
                names(&failed).join(" and "),
            ),
        );
        let connected = names(&report.connected) == ["fast", "odd", "web"];
        self.expect(connected, "fast, odd and web are connected");
        self.expect(names(&report.deferred) == ["slow"], "slow is deferred");
        self.expect(names(&failed) == ["dies"], "dies has failed");
        self.part = Part::Open;
    }

    /// What an agent may call.
    pub(crate) fn tools(&mut self, tools: &[Arc<Tool>]) {
        let live = tools.iter().filter(|tool| tool.state == ToolState::Live).count();
        let deferred: Vec<&str> = tools
            .iter()
            .filter(|tool| tool.state == ToolState::Deferred)
            .map(|tool| tool.exposed.as_str())
            .collect();
        let more = match deferred.as_slice() {
            [] => "none is deferred".to_owned(),
            names => format!("{} is deferred: a call to it waits", names.join(", ")),
        };
        self.tell(Tone::Accent, "tools", &format!("{live} live; {more}"));
        let usable = |name: &str| {
            tools.iter().any(|tool| tool.exposed == name && tool.state == ToolState::Live)
        };
        self.expect(
            usable("mcp_odd_low_tide") && usable("mcp_odd_moon") && !usable("mcp_odd_broken"),
            "a bad tool does not hurt its siblings",
        );
    }

    /// The next call waits for `slow`.
    pub(crate) fn slow_is_awaited(&mut self) {
        self.expect(!self.connected.contains(Kind::Slow.name()), "slow is not up yet");
    }

    /// A call is made.
    pub(crate) fn calling(&mut self, tool: &str, arguments: &str) {
        self.called = Instant::now();
        self.tell(Tone::Accent, "call", &format!("{tool} {arguments}"));
    }

    /// It is answered.
    pub(crate) fn answered(&mut self, text: &str, wanted: &str) {
        let waited = millis(self.called);
        self.tell(Tone::Accent, "call", &format!("answered after {waited} ms: {text}"));
        self.expect(text == wanted, "a tool answers what it should");
    }

    /// Everything is asked to end.
    pub(crate) fn stopping(&mut self) {
        self.tell(Tone::Faint, "all", "asked to end");
        self.expect(self.connected.contains(Kind::Slow.name()), "slow is up in the end");
        self.part = Part::Stopping;
    }

    /// Everything has ended.
    pub(super) fn stopped(&mut self, left: &Left, rest: Rest) {
        self.left = left.alive.len();
        let told = format!("{} processes started, {} processes left", left.started, self.left);
        self.tell(Tone::Strong, "all", &told);
        let Rest { sessions, connections } = rest;
        let told = format!("{sessions} sessions and {connections} connections left");
        self.tell(Tone::Strong, Kind::Web.name(), &told);
        let processes = Kind::ALL.into_iter().filter(|kind| kind.is_process()).count();
        self.expect(left.started == processes, "one process was started for each local server");
        self.expect(left.alive.is_empty(), "no process is left");
        self.expect((sessions, connections) == (0, 0), "no session and no connection is left");
    }

    /// The end, whether it was a good one, and what to do with its record, or how to get one.
    pub(crate) fn end(self, record: Option<&Path>) -> Result<Exit, Trouble> {
        let as_told = self.different.is_empty();
        if matches!(self.form, Form::Json) {
            output::data(&json::line(&Report {
                version: VERSION,
                demo: &self.lines,
                processes_left: self.left,
                as_told,
                different: &self.different,
            })?)?;
        } else if !as_told {
            self.print("\nNot as it should be:");
            self.different.iter().for_each(|what| self.print(&format!("  not so: {what}")));
        } else if !self.quiet {
            self.print("\nAll of it is a record that can be drawn and run again:");
            let file = record.unwrap_or_else(|| Path::new("demo.trace")).display().to_string();
            let file = visible::one_line(&file);
            if record.is_none() {
                self.print(&format!("  tidegate demo --trace {file}"));
            }
            self.print(&format!("  tidegate timeline {file} --svg demo.svg"));
            self.print(&format!("  tidegate replay {file}"));
        }
        Ok(if as_told { Exit::Done } else { Exit::Failed })
    }

    fn expect(&mut self, holds: bool, what: &str) {
        if !holds {
            self.different.push(what.to_owned());
        }
    }

    fn tell(&mut self, tone: Tone, who: &str, what: &str) {
        let at_ms = millis(self.began);
        let what = visible::one_line(what).into_owned();
        if let Form::Text(paint) = self.form {
            let (time, name) = (format!("{at_ms:>5} ms"), format!("{who:<5}"));
            let (time, name) = (paint.text(Tone::Faint, &time), paint.text(Tone::Strong, &name));
            self.print(&format!("{time}  {name}  {}", paint.text(tone, &what)));
        }
        self.lines.push(Line { at_ms, who: who.to_owned(), what });
    }

    fn detail(&self, what: &str) {
        if let Form::Text(paint) = self.form {
            self.print(&format!("{:17}{}", "", paint.text(Tone::Faint, what)));
        }
    }

    fn heading(&self, text: &str) {
        if let Form::Text(paint) = self.form {
            self.print(&paint.text(Tone::Strong, text).to_string());
        }
    }

    /// Prints a line at once; a demo whose reader has gone goes on to its end.
    fn print(&self, line: &str) {
        if matches!(self.form, Form::Text(_)) {
            let _ = output::data(&format!("{line}\n"));
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
