//! What a run looks like: for each server the stages it went through, and the calls made to it.
//!
//! Pure: from the lines of a trace to spans of time. How they are drawn is `svg`'s matter.

use std::collections::BTreeMap;

use tidegate_core::command::Command;
use tidegate_core::event::{Event, Outcome, ServerState, StartReport};
use tidegate_core::id::{CallId, ConnId, ServerName};
use tidegate_core::input::{Fact, Input, NewCall, Reference, Request, Target};
use tidegate_core::time::Timestamp;
use tidegate_core::tools::content;
use tidegate_core::trace::TraceLine;

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    /// A lane per server, in the order in which they turned up.
    pub(crate) lanes: Vec<Lane>,
    /// When gates opened.
    pub(crate) gates: Vec<Timestamp>,
    /// When the last thing happened.
    pub(crate) end: Timestamp,
    stopping: bool,
    /// In which lane each process is.
    processes: BTreeMap<ConnId, usize>,
}

/// One server.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its name. Untrusted text.
    pub(crate) server: ServerName,
    /// Its last state before everything was stopped, as in `list`.
    pub(crate) state: &'static str,
    /// What it went through.
    pub(crate) stages: Vec<Span<Stage>>,
    /// While its tools were offered from the cache.
    pub(crate) deferred: Vec<Span<()>>,
    /// When it failed, and why. Untrusted text.
    pub(crate) failures: Vec<(Timestamp, String)>,
    /// The calls made to it.
    pub(crate) calls: Vec<Call>,
}

/// From when to when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Span<T> {
    /// What.
    pub(crate) what: T,
    /// From when.
    pub(crate) from: Timestamp,
    /// To when; `None` if it was going on when the record ended.
    pub(crate) to: Option<Timestamp>,
}

/// A stage in the life of a server's process.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    /// Its process is being started.
    Spawn,
    /// It is being greeted.
    Handshake,
    /// It is being asked for its tools.
    Listing,
    /// Its tools can be called.
    Ready,
    /// It is being ended.
    Stopping,
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    id: CallId,
    /// The tool. Untrusted text.
    pub(crate) tool: String,
    /// From when to when, and how it ended.
    pub(crate) span: Span<Ending>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    /// Not at all.
    Open,
    /// With an answer.
    Answered,
    /// With a failure, the tool's own or another.
    Failed,
    /// The host ended it.
    Aborted,
}

impl Picture {
    /// The picture of a run.
    pub(crate) fn of(lines: &[TraceLine]) -> Self {
        let mut picture = Self::default();
        for line in lines {
            picture.end = picture.end.max(picture.take(line));
        }
        picture
    }

    /// Takes one line in; gives its moment.
    fn take(&mut self, line: &TraceLine) -> Timestamp {
        match line {
            TraceLine::Head { .. } => Timestamp::ZERO,
            TraceLine::Input { at, input: Input::Host(request) } => {
                self.request(*at, request);
                *at
            }
            TraceLine::Input { at, input: Input::Io(fact) } => {
                self.fact(*at, fact);
                *at
            }
            TraceLine::Tick { at } => *at,
            TraceLine::Command { at, command } => {
                self.command(*at, command);
                *at
            }
            TraceLine::Event { at, event } => {
                self.event(*at, event);
                *at
            }
        }
    }

    fn request(&mut self, at: Timestamp, request: &Request) {
        self.stopping |= matches!(request, Request::Shutdown);
        let Request::Call(NewCall { call, target, .. }) = request else { return };
        let (lane, tool) = match target {
            Target::Tool { server, tool: name }
            | Target::Resource { server, uri: name }
            | Target::Prompt { server, prompt: name }
            | Target::Completion {
                server,
                of: Reference::Prompt(name) | Reference::Resource(name),
            } => (self.lane(server), name.clone()),
            Target::Exposed(name) => match self.lane_of_exposed(name) {
                Some(lane) => (lane, name.clone()),
                None => return,
            },
        };
        let span = Span { what: Ending::Open, from: at, to: None };
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.calls.push(Call { id: *call, tool, span });
        }
    }

    fn fact(&mut self, at: Timestamp, fact: &Fact) {
        if let Fact::Opened { conn, .. } = fact {
            self.enter(at, *conn, Stage::Handshake);
        } else if let Fact::OpenFailed { conn, .. } | Fact::Closed { conn, .. } = fact {
            self.leave(at, *conn);
        }
    }

    fn command(&mut self, at: Timestamp, command: &Command) {
        match command {
            Command::Open { conn, server, .. } | Command::Connect { conn, server, .. } => {
                let lane = self.lane(server);
                self.processes.insert(*conn, lane);
                self.enter(at, *conn, Stage::Spawn);
            }
            Command::Send { conn, bytes } if self.is_in(*conn, Stage::Handshake) => {
                if asks_for_tools(bytes) {
                    self.enter(at, *conn, Stage::Listing);
                }
            }
            Command::CloseInput { conn }
            | Command::Terminate { conn }
            | Command::Kill { conn }
            | Command::Abandon { conn } => self.enter(at, *conn, Stage::Stopping),
            Command::ReadConfig { .. }
            | Command::ListFolder { .. }
            | Command::Watch { .. }
            | Command::ReadApprovals { .. }
            | Command::ReadCache { .. }
            | Command::WriteCache { .. }
            | Command::DropCache { .. }
            | Command::Ask { .. }
            | Command::StopAsking { .. }
            | Command::Exchange { .. }
            | Command::Abort { .. }
            | Command::Send { .. } => {}
        }
    }

    fn event(&mut self, at: Timestamp, event: &Event) {
        if let Event::ServerChanged { server, state } = event {
            self.state(at, server, state);
        } else if let Event::GateOpened(report) = event {
            self.gate(at, report);
        } else if let Event::CallFinished { call, outcome } = event {
            self.finished(at, *call, outcome);
        }
    }

    fn gate(&mut self, at: Timestamp, report: &StartReport) {
        self.gates.push(at);
        for server in &report.deferred {
            let lane = self.lane(server);
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.deferred.push(Span { what: (), from: at, to: None });
            }
        }
    }

    fn state(&mut self, at: Timestamp, server: &ServerName, state: &ServerState) {
        let (lane, stopping) = (self.lane(server), self.stopping);
        let Some(lane) = self.lanes.get_mut(lane) else { return };
        // That everything is disconnected in the end says nothing.
        if !stopping || !matches!(state, ServerState::Disconnected) {
            lane.state = state.name();
        }
        if !state.is_connecting()
            && let Some(deferred) = lane.deferred.last_mut()
        {
            deferred.to.get_or_insert(at);
        }
        if let Some(failure) = state.failure() {
            lane.failures.push((at, failure.describe(server)));
        } else if matches!(state, ServerState::Connected) {
            lane.enter(at, Stage::Ready);
        }
    }

    fn finished(&mut self, at: Timestamp, call: CallId, outcome: &Outcome) {
        let ending = match outcome {
            Outcome::Answered(result) => match content::flatten(result) {
                Ok(flat) if !flat.is_error => Ending::Answered,
                Ok(_) | Err(_) => Ending::Failed,
            },
            Outcome::Failed(_) => Ending::Failed,
            Outcome::Aborted => Ending::Aborted,
        };
        let mut calls = self.lanes.iter_mut().flat_map(|lane| &mut lane.calls);
        if let Some(call) = calls.find(|one| one.id == call) {
            call.span.what = ending;
            call.span.to = Some(at);
        }
    }

    /// The lane of a server, made if there is none yet.
    fn lane(&mut self, server: &ServerName) -> usize {
        match self.lanes.iter().position(|lane| lane.server == *server) {
            Some(at) => at,
            None => {
                self.lanes.push(Lane::new(server));
                self.lanes.len() - 1
            }
        }
    }

    /// An exposed name begins with its server's; the longest that fits is the server.
    fn lane_of_exposed(&self, name: &str) -> Option<usize> {
        let fits = |lane: &Lane| {
            let server: String = lane.server.as_str().to_lowercase().replace(unexposed, "_");
            name.strip_prefix("mcp_")?
                .strip_prefix(&server)?
                .starts_with('_')
                .then_some(server.len())
        };
        let fitting =
            self.lanes.iter().enumerate().filter_map(|(at, lane)| Some((fits(lane)?, at)));
        fitting.max().map(|(_, at)| at)
    }

    fn enter(&mut self, at: Timestamp, conn: ConnId, stage: Stage) {
        if let Some(lane) = self.lane_of(conn) {
            lane.enter(at, stage);
        }
    }

    fn leave(&mut self, at: Timestamp, conn: ConnId) {
        if let Some(lane) = self.lane_of(conn) {
            lane.leave(at);
        }
    }

    fn is_in(&self, conn: ConnId, stage: Stage) -> bool {
        let lane = self.processes.get(&conn).and_then(|lane| self.lanes.get(*lane));
        lane.and_then(|lane| lane.stages.last()).is_some_and(|span| span.what == stage)
    }

    fn lane_of(&mut self, conn: ConnId) -> Option<&mut Lane> {
        self.lanes.get_mut(*self.processes.get(&conn)?)
    }
}

impl Lane {
    fn new(server: &ServerName) -> Self {
        Self {
            server: server.clone(),
            state: "",
            stages: Vec::new(),
            deferred: Vec::new(),
            failures: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Ends the present stage and begins another, unless it is in it already.
    fn enter(&mut self, at: Timestamp, stage: Stage) {
        let present = self.stages.last().filter(|span| span.to.is_none()).map(|span| span.what);
        if present != Some(stage) {
            self.leave(at);
            self.stages.push(Span { what: stage, from: at, to: None });
        }
    }

    fn leave(&mut self, at: Timestamp) {
        if let Some(span) = self.stages.last_mut() {
            span.to.get_or_insert(at);
        }
    }
}

/// What stands in a server's name and cannot stand in an exposed one.
fn unexposed(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn asks_for_tools(bytes: &[u8]) -> bool {
    const METHOD: &[u8] = b"\"tools/list\"";
    bytes.windows(METHOD.len()).any(|window| window == METHOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run as its record would have it, with what the picture needs.
    fn picture(lines: &[&str]) -> Picture {
        let lines: Vec<TraceLine> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        Picture::of(&lines)
    }

    const OPEN: &str = r#"{"at":0,"command":{"command":"open","conn":0,"server":"slow","launch":{"command":"x","args":[],"env":{},"cwd":null}}}"#;
    const OPENED: &str = r#"{"at":4,"input":{"io":{"fact":"opened","conn":0,"pid":7}}}"#;
    const LIST: &str =
        r#"{"at":40,"command":{"command":"send","conn":0,"bytes":"{\"method\":\"tools/list\"}"}}"#;
    const CONNECTED: &str =
        r#"{"at":50,"event":{"server-changed":{"server":"slow","state":"connected"}}}"#;
    const STOP: &str = r#"{"at":90,"command":{"command":"close-input","conn":0}}"#;
    const CLOSED: &str = r#"{"at":95,"input":{"io":{"fact":"closed","conn":0,"exit":{"code":0}}}}"#;

    fn stages(lane: &Lane) -> Vec<(Stage, u64, Option<u64>)> {
        let ms = Timestamp::as_millis;
        lane.stages.iter().map(|span| (span.what, ms(span.from), span.to.map(ms))).collect()
    }

    #[test]
    fn a_life_is_spawn_handshake_listing_ready_stopping() {
        let picture = picture(&[OPEN, OPENED, LIST, CONNECTED, STOP, CLOSED]);
        assert_eq!(
            stages(&picture.lanes[0]),
            [
                (Stage::Spawn, 0, Some(4)),
                (Stage::Handshake, 4, Some(40)),
                (Stage::Listing, 40, Some(50)),
                (Stage::Ready, 50, Some(90)),
                (Stage::Stopping, 90, Some(95)),
            ]
        );
        assert_eq!(picture.end.as_millis(), 95);
    }

    #[test]
    fn a_list_that_is_refreshed_is_no_stage() {
        let refresh = LIST.replace("40", "60");
        let picture = picture(&[OPEN, OPENED, LIST, CONNECTED, &refresh]);
        assert_eq!(stages(&picture.lanes[0]).last(), Some(&(Stage::Ready, 50, None)));
    }

    #[test]
    fn deferred_is_from_the_gate_until_the_server_is_there() {
        let gate = r#"{"at":20,"event":{"gate-opened":{"op":0,"elapsed_ms":20,"connected":[],"deferred":["slow"],"failed":[],"skipped":[]}}}"#;
        let picture = picture(&[OPEN, OPENED, gate, LIST, CONNECTED]);
        let deferred = picture.lanes[0].deferred[0];
        assert_eq!(
            (deferred.from.as_millis(), deferred.to.map(Timestamp::as_millis)),
            (20, Some(50))
        );
        assert_eq!(picture.gates, [Timestamp::from_millis(20)]);
    }

    #[test]
    fn a_call_by_exposed_name_is_in_the_lane_of_the_longest_name_that_fits() {
        let other = OPEN.replace("\"slow\"", "\"slow-er\"").replace("\"conn\":0", "\"conn\":1");
        let call = r#"{"at":60,"input":{"host":{"call":{"call":3,"target":{"exposed":"mcp_slow-er_run"},"arguments":{}}}}}"#;
        let failed = r#"{"at":70,"event":{"call-finished":{"call":3,"outcome":{"answered":{"content":[],"isError":true}}}}}"#;
        let picture = picture(&[OPEN, &other, call, failed]);
        assert!(picture.lanes[0].calls.is_empty());
        let call = &picture.lanes[1].calls[0];
        assert_eq!(
            (call.span.what, call.span.to),
            (Ending::Failed, Some(Timestamp::from_millis(70)))
        );
    }

    #[test]
    fn the_state_of_a_lane_is_the_last_before_the_end() {
        let shutdown = r#"{"at":80,"input":{"host":"shutdown"}}"#;
        let gone =
            r#"{"at":95,"event":{"server-changed":{"server":"slow","state":"disconnected"}}}"#;
        assert_eq!(picture(&[OPEN, CONNECTED, shutdown, gone]).lanes[0].state, "connected");
    }
}
