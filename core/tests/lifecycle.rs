//! The machine from the outside, one story a test: what a host and a driver would see.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test looks for one thing and fails loudly on any other"
)]

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Cause, Exit, Stage};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, Skip, StartReport};
use tidegate_core::id::{CallId, ConnId, OpId, ReadId, ServerName};
use tidegate_core::input::{Fact, Found, Input, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::tools::catalog::ToolState;

const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
const ECHO: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;

struct Play {
    runtime: Runtime,
    now: u64,
    commands: Vec<Command>,
    events: Vec<Event>,
}

impl Play {
    fn new(config: &str) -> Self {
        Self::with(Options::new("/project", vec![Source::inline("test", config)]))
    }

    fn with(options: Options) -> Self {
        Self { runtime: Runtime::new(options), now: 0, commands: vec![], events: vec![] }
    }

    fn drain(&mut self) {
        self.commands.extend(std::iter::from_fn(|| self.runtime.poll_command()));
        self.events.extend(std::iter::from_fn(|| self.runtime.poll_event()));
        // L4: an honest deadline.
        if let Some(deadline) = self.runtime.poll_timeout() {
            assert!(deadline.at.as_millis() > self.now, "{deadline:?} is not after {}", self.now);
        }
    }

    fn input(&mut self, input: Input) -> &mut Self {
        self.runtime.handle(Timestamp::from_millis(self.now), input);
        self.drain();
        self
    }

    fn host(&mut self, request: Request) -> &mut Self {
        self.input(Input::Host(request))
    }

    fn io(&mut self, fact: Fact) -> &mut Self {
        self.input(Input::Io(fact))
    }

    /// Sleeps exactly until each deadline up to `until`.
    fn sleep(&mut self, until: u64) -> &mut Self {
        while let Some(deadline) = self.runtime.poll_timeout()
            && deadline.at.as_millis() <= until
        {
            self.now = deadline.at.as_millis();
            self.runtime.handle_timeout(deadline.at);
            self.drain();
        }
        self.now = until;
        self
    }

    fn start(&mut self) -> &mut Self {
        self.host(Request::Start { op: OpId::new(0) })
    }

    fn opened(&mut self, conn: u64) -> &mut Self {
        self.io(Fact::Opened { conn: ConnId::new(conn), pid: Some(100) })
    }

    fn says(&mut self, conn: u64, line: &str) -> &mut Self {
        let bytes = format!("{line}\n").as_str().into();
        self.io(Fact::Received { conn: ConnId::new(conn), bytes })
    }

    fn answers(&mut self, conn: u64, id: u64, result: &str) -> &mut Self {
        self.says(conn, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    /// From `Open` to ready, with one tool.
    fn connect(&mut self, conn: u64) -> &mut Self {
        self.opened(conn).answers(conn, 1, HELLO).answers(conn, 2, ECHO)
    }

    fn closed(&mut self, conn: u64, exit: Exit) -> &mut Self {
        self.io(Fact::Closed { conn: ConnId::new(conn), exit })
    }

    fn call(&mut self, call: u64, server: &str, tool: &str) -> &mut Self {
        self.host(Request::Call(NewCall {
            call: CallId::new(call),
            target: Target::Tool { server: server.into(), tool: tool.into() },
            arguments: Json::new("{}"),
            timeout_ms: None,
        }))
    }

    fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    fn sent(&mut self) -> String {
        let text = |command| match command {
            Command::Send { bytes, .. } => String::from_utf8(bytes.0).unwrap(),
            _ => String::new(),
        };
        self.take_commands().into_iter().map(text).collect()
    }

    fn report(&self) -> &StartReport {
        let report = |event: &'_ Event| matches!(event, Event::GateOpened(_));
        match self.events.iter().rfind(|event| report(event)) {
            Some(Event::GateOpened(report)) => report,
            _ => panic!("the gate is shut; events so far: {:?}", self.events),
        }
    }

    fn gate_is_open(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::GateOpened(_)))
    }

    fn outcome(&self, call: u64) -> Option<&Outcome> {
        let mut ends = self.events.iter().filter_map(|event| match event {
            Event::CallFinished { call: id, outcome } if id.number() == call => Some(outcome),
            _ => None,
        });
        let end = ends.next();
        assert!(ends.next().is_none(), "call {call} ended twice (L7)");
        end
    }

    fn state(&self, name: &str) -> ServerState {
        let status = self.runtime.status();
        status.servers.into_iter().find(|s| s.name.as_str() == name).unwrap().state
    }

    fn tools(&self) -> Vec<(&str, &ToolState)> {
        self.runtime.catalog().tools.iter().map(|t| (t.exposed.as_str(), &t.state)).collect()
    }
}

fn one() -> Play {
    Play::new(r#"{"mcpServers":{"a":{"command":"a"}}}"#)
}

fn two() -> Play {
    Play::new(r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#)
}

/// The key of the first cache read, and the answer to it.
fn cached(play: &mut Play) -> ReadId {
    let read = play.take_commands().into_iter().find_map(|command| match command {
        Command::ReadCache { read, .. } => Some(read),
        _ => None,
    });
    read.expect("the cache is asked")
}

/// What a first run of server `a` in `one()` or `two()` leaves in the cache.
fn stored() -> Vec<u8> {
    let mut play = one();
    play.start().connect(0);
    let content = play.take_commands().into_iter().find_map(|command| match command {
        Command::WriteCache { content, .. } => Some(content.0),
        _ => None,
    });
    content.expect("a live list is stored")
}

/// Seed 4.5, first row; G30.
#[test]
fn the_gate_opens_at_the_moment_everything_has_settled() {
    let mut play = two();
    play.start().connect(0);
    assert!(!play.gate_is_open());
    play.sleep(80).connect(1);
    let report = play.report();
    assert_eq!((report.elapsed_ms, report.connected.len()), (80, 2));
    assert_eq!(play.tools(), [("mcp_a_echo", &ToolState::Live), ("mcp_b_echo", &ToolState::Live)]);
}

/// Seed 4.5, second row; G30, F-005.
#[test]
fn a_pending_server_with_a_cached_list_is_deferred_at_the_gate_and_then_live() {
    let mut play = two();
    play.start().opened(0).connect(1);
    play.sleep(249);
    assert!(!play.gate_is_open());
    play.sleep(250);
    let read = cached(&mut play);
    let found = Found::Content(stored().into());
    play.io(Fact::CacheRead { read, found, age_ms: 5 });
    let report = play.report();
    assert_eq!(report.elapsed_ms, 250);
    assert_eq!(report.deferred, [ServerName::from("a")]);
    assert_eq!(report.connected, [ServerName::from("b")]);
    assert_eq!(
        play.tools(),
        [("mcp_a_echo", &ToolState::Deferred), ("mcp_b_echo", &ToolState::Live)]
    );
    // A call through a deferred tool waits for the connection (G22).
    play.call(7, "a", "echo");
    assert_eq!(play.outcome(7), None);
    play.take_commands();
    play.sleep(600).answers(0, 1, HELLO).answers(0, 2, ECHO);
    assert_eq!(play.tools()[0], ("mcp_a_echo", &ToolState::Live));
    assert!(play.sent().contains(r#""method":"tools/call""#));
    play.answers(0, 3, r#"{"content":[]}"#);
    assert_eq!(play.outcome(7), Some(&Outcome::Answered(Json::new(r#"{"content":[]}"#))));
}

/// Seed 4.5, third row.
#[test]
fn a_pending_server_without_a_cached_list_is_waited_for() {
    let mut play = two();
    play.start().opened(0).connect(1).sleep(250);
    let read = cached(&mut play);
    play.io(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
    play.sleep(2_999);
    assert!(!play.gate_is_open());
    play.sleep(3_000).answers(0, 1, HELLO).answers(0, 2, ECHO);
    assert_eq!((play.report().elapsed_ms, play.report().connected.len()), (3_000, 2));
}

/// Seed 4.5, last row; F-003, G31.
#[test]
fn a_server_that_never_answers_fails_at_its_own_limit_with_its_stage() {
    let mut play = one();
    play.start().opened(0).sleep(250);
    let read = cached(&mut play);
    play.io(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
    play.sleep(30_000);
    let (name, failure) = &play.report().failed[0];
    assert_eq!((name.as_str(), failure.stage), ("a", Stage::Initialize));
    assert_eq!(
        failure.describe(name),
        "Connection to MCP server \"a\" timed out after 30000ms (initialize)"
    );
    // And its process is taken down, rung by rung (G6).
    let conn = ConnId::new(0);
    play.take_commands();
    play.sleep(40_000);
    assert_eq!(
        play.take_commands(),
        [Command::Terminate { conn }, Command::Kill { conn }, Command::Abandon { conn }]
    );
}

/// D10, G20: a late failure marks the deferred tools, and a call says why.
#[test]
fn deferred_tools_of_a_server_that_fails_later_are_marked_failed() {
    let mut play = one();
    play.start().opened(0).sleep(250);
    let read = cached(&mut play);
    play.io(Fact::CacheRead { read, found: Found::Content(stored().into()), age_ms: 5 });
    play.call(1, "a", "echo");
    play.sleep(400).closed(0, Exit::Code(3));
    let reason = "Server \"a\" exited with status 3 (initialize)".to_owned();
    assert_eq!(play.tools(), [("mcp_a_echo", &ToolState::Failed { reason: reason.clone() })]);
    let error = CallError::NotConnected { server: "a".into(), reason };
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(error)));
}

/// F-006: an answer of the cache that comes after a disconnect brings nothing back.
#[test]
fn a_cached_list_that_comes_too_late_is_dropped() {
    let mut play = one();
    play.start().opened(0).sleep(250);
    let read = cached(&mut play);
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    play.io(Fact::CacheRead { read, found: Found::Content(stored().into()), age_ms: 5 });
    assert_eq!(play.tools(), []);
    assert_eq!(play.runtime.status().stale_facts, 1);
    assert_eq!(play.report().skipped, [("a".into(), Skip::Disconnected)]);
}

/// G34, D12.
#[test]
fn a_broken_cache_entry_is_a_miss_and_is_dropped() {
    let mut play = one();
    play.start().opened(0).sleep(250);
    let read = cached(&mut play);
    let found = Found::Content(r#"{"version":1,"server":"a","tools":[7]}"#.into());
    play.io(Fact::CacheRead { read, found, age_ms: 5 });
    assert!(!play.gate_is_open());
    assert!(matches!(play.take_commands()[..], [Command::DropCache { .. }]));
}

/// D16, G2: a process that turns out to run after its disconnect is closed again.
#[test]
fn a_late_open_after_a_disconnect_is_closed_again() {
    let mut play = one();
    play.start();
    play.take_commands();
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    assert_eq!(play.take_commands(), []);
    play.opened(0);
    assert_eq!(play.take_commands(), [Command::CloseInput { conn: ConnId::new(0) }]);
    play.closed(0, Exit::Code(0));
    let done = Event::Done { op: OpId::new(1), result: OpResult::Done };
    assert_eq!(play.events.last(), Some(&done));
    assert_eq!(play.state("a"), ServerState::Disconnected);
}

/// C-CANC-01, G42: cancelling tells the server, ends at once, and discards the late answer.
#[test]
fn a_cancelled_call_is_aborted_and_its_server_told() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    play.take_commands();
    play.host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
    let sent = play.sent();
    assert!(sent.contains("notifications/cancelled") && sent.contains(r#""requestId":3"#));
    play.answers(0, 3, "{}");
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
}

/// F-065, F-069: progress extends the limit; at the limit only the call ends.
#[test]
fn progress_restarts_the_clock_of_a_call_and_silence_ends_only_the_call() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#;
    play.sleep(59_000).says(0, progress).sleep(118_999);
    assert_eq!(play.outcome(1), None);
    play.sleep(119_000);
    let timed_out = Outcome::Failed(CallError::TimedOut { limit_ms: 60_000 });
    assert_eq!(play.outcome(1), Some(&timed_out));
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// L8: calls under way end in the step in which the server is lost.
#[test]
fn calls_end_at_once_when_their_server_dies() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    play.io(Fact::OutputEnded { conn: ConnId::new(0) });
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::Closed)));
    play.closed(0, Exit::Signal(9));
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::Exited { exit: Exit::Signal(9) });
    assert_eq!(play.tools(), []);
}

/// G9: after `Stopped` nothing comes, whatever is put in; F-013.
#[test]
fn a_shutdown_ends_everything_once_and_for_all() {
    let mut play = two();
    play.start().connect(0).opened(1).call(1, "a", "echo");
    play.host(Request::Shutdown);
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::ShuttingDown)));
    assert!(play.gate_is_open());
    play.closed(0, Exit::Code(0)).closed(1, Exit::Code(0));
    assert_eq!(play.events.last(), Some(&Event::Stopped));
    assert!(play.runtime.is_stopped());
    let said = play.events.len();
    play.take_commands();
    play.start().opened(1).call(2, "a", "echo");
    assert_eq!((play.events.len(), play.take_commands()), (said, vec![]));
    assert_eq!(play.runtime.poll_timeout(), None);
}

/// C-VER-24, C-VER-23.
#[test]
fn a_refused_revision_is_retried_once_with_a_mutual_one() {
    let mut play = one();
    play.start().opened(0);
    assert!(play.sent().contains(r#""protocolVersion":"2025-11-25""#));
    play.says(
        0,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05","2024-10-07"]}}}"#,
    );
    assert!(play.sent().contains(r#""protocolVersion":"2024-11-05""#));
    play.answers(0, 2, &HELLO.replace("2025-06-18", "2024-11-05")).answers(0, 3, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-RPC-18, F-047, G49.
#[test]
fn the_servers_own_requests_are_answered_at_once() {
    let mut play = one();
    play.start().opened(0);
    play.take_commands();
    play.says(0, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(play.sent(), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n");
    play.says(0, r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#);
    assert!(play.sent().contains("file:///project"));
    play.says(0, r#"{"jsonrpc":"2.0","id":10,"method":"sampling/createMessage"}"#);
    let sent = play.sent();
    assert!(sent.contains("-32601") && sent.contains("Unsupported server request"), "{sent}");
}

/// F-041, G43: garbage harms nothing and is counted.
#[test]
fn lines_that_are_no_messages_are_skipped_and_counted() {
    let mut play = one();
    play.start().opened(0).says(0, "Starting…").says(0, "17").answers(0, 1, HELLO);
    play.says(0, "{not json").answers(0, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    assert_eq!(play.runtime.status().servers[0].skipped_lines, 3);
}

/// L7: a number that was used is refused, and the first call goes on.
#[test]
fn a_call_number_is_used_once() {
    let mut play = one();
    play.start().connect(0).call(5, "a", "echo").call(5, "a", "echo");
    assert!(play.events.contains(&Event::CallRefused { call: CallId::new(5) }));
    assert_eq!(play.outcome(5), None);
}

/// G3: disconnect one, the other goes on.
#[test]
fn disconnecting_one_server_leaves_the_other_alone() {
    let mut play = two();
    play.start().connect(0).connect(1);
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    assert_eq!(play.tools(), [("mcp_b_echo", &ToolState::Live)]);
    play.closed(0, Exit::Code(0));
    assert_eq!(play.state("b"), ServerState::Connected);
    // And it can come back (G14).
    play.take_commands();
    play.host(Request::Connect { op: OpId::new(2), server: "a".into() });
    assert!(matches!(play.take_commands()[..], [Command::Open { .. }]));
    play.connect(2);
    assert_eq!(play.tools().len(), 2);
}

/// G5: a server that is connected again while it is still closing waits for its end.
#[test]
fn a_connect_while_closing_waits_until_the_old_process_is_gone() {
    let mut play = one();
    play.start().connect(0);
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    play.take_commands();
    play.host(Request::Connect { op: OpId::new(2), server: "a".into() });
    assert_eq!(play.take_commands(), []);
    play.call(1, "a", "echo").closed(0, Exit::Code(0));
    assert!(matches!(play.take_commands()[..], [Command::Open { .. }]));
    play.connect(1).answers(1, 3, "{}");
    assert_eq!(play.outcome(1), Some(&Outcome::Answered(Json::new("{}"))));
    let done = |op, result| Event::Done { op: OpId::new(op), result };
    assert!(play.events.contains(&done(1, OpResult::Superseded)));
    assert!(play.events.contains(&done(2, OpResult::Done)));
}

fn file_options(path: &str) -> Options {
    let places = tidegate_core::config::Places {
        cwd: "/project".into(),
        config_dir: None,
        explicit: vec![path.into()],
    };
    Options::new("/project", places.sources())
}

fn read_of(play: &mut Play) -> ReadId {
    let read = play.take_commands().into_iter().rev().find_map(|command| match command {
        Command::ReadConfig { read, .. } => Some(read),
        _ => None,
    });
    read.expect("the file is read")
}

/// F-033: a reload restarts only what changed, and says what it did.
#[test]
fn a_reload_restarts_only_what_changed() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let before = r#"{"mcpServers":{"kept":{"command":"k"},"new-args":{"command":"n"},"gone":{"command":"g"}}}"#;
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, found: Found::Content(before.into()) });
    play.connect(0).connect(1).connect(2);
    play.host(Request::Reload { op: OpId::new(1) });
    let after = r#"{"mcpServers":{"kept":{"command":"k"},"new-args":{"command":"n","args":["x"]},"added":{"command":"a"}}}"#;
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, found: Found::Content(after.into()) });
    let closing = |c: &Command| matches!(c, Command::CloseInput { .. });
    let commands = play.take_commands();
    assert_eq!(commands.iter().filter(|c| closing(c)).count(), 2);
    assert_eq!(commands.iter().filter(|c| matches!(c, Command::Open { .. })).count(), 1);
    play.connect(3).closed(1, Exit::Code(0)).closed(2, Exit::Code(0));
    assert!(matches!(play.take_commands()[..], [.., Command::Open { .. }]));
    play.connect(4);
    let names = |list: &[&str]| list.iter().map(|n| ServerName::from(*n)).collect::<Vec<_>>();
    let result = OpResult::Reloaded {
        started: names(&["added"]),
        restarted: names(&["new-args"]),
        stopped: names(&["gone"]),
        kept: names(&["kept"]),
    };
    assert!(play.events.contains(&Event::Done { op: OpId::new(1), result }));
}

/// G16, G53: of two overlapping reloads only the second is read to its end.
#[test]
fn two_overlapping_reloads_end_as_the_second_alone() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    let config = |command: &str| {
        let text = format!(r#"{{"mcpServers":{{"a":{{"command":"{command}"}}}}}}"#);
        Found::Content(text.as_str().into())
    };
    play.io(Fact::ConfigRead { read, found: config("one") }).connect(0);
    play.host(Request::Reload { op: OpId::new(1) });
    let first = read_of(&mut play);
    play.host(Request::Reload { op: OpId::new(2) });
    let second = read_of(&mut play);
    play.io(Fact::ConfigRead { read: first, found: config("two") });
    assert_eq!(play.take_commands(), []);
    play.io(Fact::ConfigRead { read: second, found: config("one") });
    assert_eq!(play.take_commands(), []);
    let ends = play.events.iter().filter(|event| matches!(event, Event::Done { .. })).count();
    assert_eq!(ends, 2);
}

/// F-038, F-039: what a project brought along runs nothing until it is approved.
#[test]
fn a_projects_own_server_needs_approval() {
    let places = tidegate_core::config::Places { cwd: "/p".into(), ..Default::default() };
    let mut play = Play::with(Options::new("/p", places.sources()));
    play.start();
    let reads: Vec<ReadId> = (0..3).map(ReadId::new).collect();
    let config = r#"{"mcpServers":{"a":{"command":"evil"}}}"#;
    play.take_commands();
    for (read, found) in
        reads.into_iter().zip([Found::Nothing, Found::Content(config.into()), Found::Nothing])
    {
        play.io(Fact::ConfigRead { read, found });
    }
    assert_eq!(play.take_commands(), []);
    assert_eq!(play.state("a"), ServerState::NeedsApproval);
    assert_eq!(play.report().skipped, [("a".into(), Skip::NeedsApproval)]);
}

/// F-028.
#[test]
fn a_disabled_server_is_listed_and_never_started() {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","enabled":false}}}"#);
    play.start();
    assert_eq!(play.take_commands(), []);
    assert_eq!(play.state("a"), ServerState::Disabled);
    play.host(Request::Connect { op: OpId::new(1), server: "a".into() });
    let skipped = OpResult::Skipped { reason: Skip::Disabled };
    assert!(play.events.contains(&Event::Done { op: OpId::new(1), result: skipped }));
}
