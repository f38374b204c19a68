//! What the host asks while the configuration is being read, while something else is, and too
//! often.

use tidegate_core::command::Command;
use tidegate_core::error::{Exit, OpenError};
use tidegate_core::event::{Event, OpResult, ServerState, Skip};
use tidegate_core::id::{ConnId, OpId, ReadId};
use tidegate_core::input::{Fact, Found, Request};

use crate::play::{Play, file_options, read_of};

const FILE: &str = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
const A_IS_OFF: &str =
    r#"{"mcpServers":{"a":{"command":"a","enabled":false},"b":{"command":"b"}}}"#;

/// G14, G16: the start is applied before what disconnects all it starts.
#[test]
fn who_disconnects_every_server_while_a_start_reads_leaves_none_running() {
    let (mut play, read) = reading();
    play.host(Request::DisconnectAll { op: OpId::new(1) });
    assert_eq!(result(&play, 1), Some(&OpResult::Done));
    assert_eq!(opened_by(&mut play, read, FILE), [""; 0]);
    let rest = [("a".into(), Skip::Disconnected), ("b".into(), Skip::Disconnected)];
    assert_eq!(play.report().skipped, rest);
    play.host(Request::Reload { op: OpId::new(2) });
    let read = read_of(&mut play);
    assert_eq!(opened_by(&mut play, read, FILE), [""; 0], "a reload does not bring them back");
    play.host(Request::Start { op: OpId::new(3) });
    let read = read_of(&mut play);
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"], "a start does");
}

/// G31: a start names every server at its gate, also one that failed while it read and after
/// everything was disconnected.
#[test]
fn a_gate_names_a_server_that_failed_while_its_start_read() {
    let mut play = Play::with(file_options("/f.json"));
    play.host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    opened_by(&mut play, read, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.start();
    let read = read_of(&mut play);
    play.host(Request::DisconnectAll { op: OpId::new(2) }).closed(0, Exit::Code(0));
    play.host(connect(3, "a"));
    play.io(Fact::OpenFailed {
        conn: ConnId::new(1),
        error: OpenError::Other { message: "no".into() },
    });
    opened_by(&mut play, read, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.sleep(60_000);
    let report = play.report();
    let named =
        report.connected.len() + report.deferred.len() + report.failed.len() + report.skipped.len();
    assert_eq!(named, 1, "{report:?}");
}

/// G25: a server that is configured again while it leaves is news, whatever state it is in.
#[test]
fn a_server_that_is_back_and_disconnected_at_once_is_told_of() {
    let (mut play, read) = reading();
    opened_by(&mut play, read, FILE);
    play.connect(0).connect(1).host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    opened_by(&mut play, read, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.host(Request::Reload { op: OpId::new(2) });
    let read = read_of(&mut play);
    let before = play.events.len();
    play.host(disconnect(3, "b"));
    opened_by(&mut play, read, FILE);
    let back = Event::ServerChanged { server: "b".into(), state: ServerState::Disconnected };
    assert!(play.events.iter().skip(before).any(|event| *event == back), "{:?}", play.events);
}

/// G16: what a reload set going goes on when nobody waits for it any more.
#[test]
fn a_reload_that_nobody_waits_for_starts_what_is_new_all_the_same() {
    let mut play = Play::with(file_options("/f.json"));
    play.host(Request::DisconnectAll { op: OpId::new(0) });
    play.host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    play.host(connect(2, "a")).host(Request::StopWaiting { op: OpId::new(1) });
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);
}

/// G16: what came before it is applied before it, and what comes after it, after it.
#[test]
fn a_start_or_a_connect_after_the_disconnecting_of_all_is_heeded_while_the_first_start_reads() {
    let (mut play, _) = reading();
    play.host(connect(1, "a")).host(Request::DisconnectAll { op: OpId::new(2) });
    play.host(Request::Start { op: OpId::new(3) });
    let read = read_of(&mut play);
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);

    let (mut play, read) = reading();
    play.host(connect(1, "a")).host(Request::DisconnectAll { op: OpId::new(2) });
    assert_eq!(opened_by(&mut play, read, FILE), [""; 0]);
    assert_eq!(result(&play, 1), Some(&OpResult::Superseded));

    let (mut play, read) = reading();
    play.host(Request::DisconnectAll { op: OpId::new(1) }).host(connect(2, "b"));
    assert_eq!(opened_by(&mut play, read, FILE), ["b"]);
    play.connect(0);
    assert_eq!(result(&play, 2), Some(&OpResult::Done));
    assert_eq!(play.state("a"), ServerState::Disconnected);
}

/// G14, G16: nothing is opened for it, and both operations are answered.
#[test]
fn who_disconnects_a_server_that_only_the_file_being_read_has_keeps_it_from_starting() {
    let asks: [fn(OpId) -> Request; 2] = [
        |op| Request::Disconnect { op, server: "a".into() },
        |op| Request::Disable { op, server: "a".into() },
    ];
    for (ask, skip) in asks.into_iter().zip([Skip::Disconnected, Skip::Disabled]) {
        let (mut play, read) = reading();
        play.host(ask(OpId::new(1)));
        assert_eq!(result(&play, 1), None);
        assert_eq!(opened_by(&mut play, read, FILE), ["b"]);
        assert_eq!(result(&play, 1), Some(&OpResult::Done));
        play.connect(0);
        assert_eq!(play.report().skipped, [("a".into(), skip)]);
        play.host(Request::Enable { op: OpId::new(2), server: "a".into() });
        assert!(matches!(play.take_commands().last(), Some(Command::Open { .. })));
    }
}

/// G16: the last word counts.
#[test]
fn what_is_asked_of_a_server_that_is_being_read_is_done_in_the_order_of_asking() {
    let (mut play, read) = reading();
    play.host(disconnect(1, "a")).host(connect(2, "a"));
    play.host(connect(3, "b")).host(disconnect(4, "b"));
    play.host(connect(5, "c"));
    assert_eq!(opened_by(&mut play, read, FILE), ["a"]);
    play.connect(0);
    let superseded = Some(&OpResult::Superseded);
    assert_eq!([1, 3].map(|op| result(&play, op)), [superseded, superseded]);
    assert_eq!([2, 4].map(|op| result(&play, op)), [Some(&OpResult::Done), Some(&OpResult::Done)]);
    assert_eq!(result(&play, 5), Some(&OpResult::UnknownServer));
}

/// G16: a reload that says what it did says it of what it found in the end.
#[test]
fn a_server_that_the_file_being_read_switches_on_is_connected_or_let_go_as_asked() {
    let (mut play, read) = reading();
    assert_eq!(opened_by(&mut play, read, A_IS_OFF), ["b"]);
    play.connect(0).host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    play.host(connect(2, "a"));
    assert_eq!(opened_by(&mut play, read, FILE), ["a"]);
    play.connect(1);
    assert_eq!(result(&play, 2), Some(&OpResult::Done));

    let (mut play, read) = reading();
    assert_eq!(opened_by(&mut play, read, A_IS_OFF), ["b"]);
    play.connect(0).host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    play.host(disconnect(2, "a"));
    assert_eq!(opened_by(&mut play, read, FILE), [""; 0]);
    let nothing = || vec![];
    let kept = vec!["a".into(), "b".into()];
    let reloaded =
        OpResult::Reloaded { started: nothing(), restarted: nothing(), stopped: nothing(), kept };
    assert_eq!(result(&play, 1), Some(&reloaded));
    assert_eq!(play.state("a"), ServerState::Disconnected);
}

/// Whoever waits learns of a server that is about to be known; nobody waits for nothing.
#[test]
fn waiting_for_a_server_waits_for_the_configuration_that_may_have_it() {
    let wait = |op: u64, server: &str, timeout_ms| Request::AwaitConnected {
        op: OpId::new(op),
        server: server.into(),
        timeout_ms,
    };
    let mut play = Play::with(file_options("/f.json"));
    play.host(wait(1, "a", None));
    assert_eq!(result(&play, 1), Some(&OpResult::UnknownServer), "nothing is being read");
    play.start();
    let read = read_of(&mut play);
    play.host(wait(2, "a", None)).host(wait(3, "c", None)).host(wait(4, "b", Some(5)));
    play.sleep(10);
    assert_eq!(result(&play, 4), Some(&OpResult::TimedOut { limit_ms: 5 }));
    assert_eq!(result(&play, 2), None);
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);
    assert_eq!(result(&play, 3), Some(&OpResult::UnknownServer));
    play.connect(0).connect(1);
    assert_eq!(result(&play, 2), Some(&OpResult::Done));

    play.host(Request::DisconnectAll { op: OpId::new(5) });
    play.closed(0, Exit::Code(0)).closed(1, Exit::Code(0));
    play.host(Request::Start { op: OpId::new(6) }).host(wait(7, "a", None));
    let read = read_of(&mut play);
    assert_eq!(result(&play, 7), None, "the start will bring it back");
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);
    play.connect(2);
    assert_eq!(result(&play, 7), Some(&OpResult::Done));
}

/// L7: whatever it waited for, it ends, and says why.
#[test]
fn what_is_still_to_bring_a_server_up_ends_as_shutting_down() {
    let wait = |op: u64| Request::AwaitConnected {
        op: OpId::new(op),
        server: "a".into(),
        timeout_ms: None,
    };
    let (mut play, _) = reading();
    play.host(wait(1)).host(connect(2, "a")).host(disconnect(3, "a"));
    play.host(Request::Reload { op: OpId::new(4) }).host(Request::Shutdown);
    for op in [1, 2, 3, 4] {
        assert_eq!(result(&play, op), Some(&OpResult::ShuttingDown), "{op}");
    }

    let (mut play, read) = reading();
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(FILE.into()) });
    play.host(Request::Reload { op: OpId::new(4) });
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead {
        origin: None,
        read,
        found: Found::Content("{\"mcpServers\":{\"a\":{\"command\":\"new\"}}}".into()),
    });
    play.host(wait(1)).host(connect(2, "a")).host(disconnect(3, "b"));
    play.host(Request::Shutdown);
    for op in [1, 2, 4] {
        assert_eq!(result(&play, op), Some(&OpResult::ShuttingDown), "{op}");
    }
    assert_eq!(result(&play, 3), None, "a process is not gone because of a shutdown");
    for conn in [0, 1] {
        play.io(Fact::Opened { conn: ConnId::new(conn), pid: None });
        play.closed(conn, Exit::Code(0));
    }
    assert_eq!(result(&play, 3), Some(&OpResult::Done));
    assert_eq!(play.events.last(), Some(&Event::Stopped));
}

/// What was set going goes on.
#[test]
fn who_stops_waiting_for_what_waits_for_the_configuration_has_asked_all_the_same() {
    let (mut play, read) = reading();
    play.host(disconnect(1, "a")).host(Request::StopWaiting { op: OpId::new(1) });
    assert_eq!(result(&play, 1), Some(&OpResult::Aborted));
    assert_eq!(opened_by(&mut play, read, FILE), ["b"]);
    assert_eq!(result(&play, 1), Some(&OpResult::Aborted), "once");
}

/// L7: no answer is lost, and none goes to the wrong one.
#[test]
fn an_operation_with_the_number_of_an_open_one_is_refused_and_the_open_one_goes_on() {
    let refused = |play: &Play, op| {
        let refusal = Event::OpRefused { op: OpId::new(op) };
        play.events.iter().filter(|event| **event == refusal).count()
    };
    let (mut play, read) = reading();
    play.host(Request::Reload { op: OpId::new(0) }).host(Request::Start { op: OpId::new(0) });
    play.host(connect(0, "a")).host(Request::DisconnectAll { op: OpId::new(0) });
    assert_eq!(refused(&play, 0), 4);
    play.host(Request::Reload { op: OpId::new(1) }).host(connect(1, "b"));
    play.host(connect(2, "a")).host(disconnect(2, "a"));
    assert_eq!([1, 2].map(|op| refused(&play, op)), [1, 1]);
    assert_eq!(opened_by(&mut play, read, FILE), [""; 0], "the reload reads anew");
    let read = read_of(&mut play);
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);
    play.host(disconnect(2, "b"));
    assert_eq!(refused(&play, 2), 2);
    play.connect(0).connect(1);
    assert!(play.gate_is_open());
    assert_eq!(result(&play, 2), Some(&OpResult::Done));
    play.host(connect(2, "b"));
    assert_eq!(refused(&play, 2), 2, "a number that is free again may be used again");
}

/// L10: one too many is refused by a typed answer and does nothing.
#[test]
fn operations_beyond_the_bound_are_refused() {
    let mut options = file_options("/f.json");
    options.limits.open_ops = 3;
    let mut play = Play::with(options);
    play.start().host(connect(1, "a")).host(Request::Reload { op: OpId::new(2) });
    play.host(Request::StopWaiting { op: OpId::new(1) });
    let read = read_of(&mut play);
    // What nobody waits for any more still has to be done, and counts.
    play.host(disconnect(3, "a")).host(Request::Start { op: OpId::new(4) });
    play.host(Request::DisconnectAll { op: OpId::new(5) });
    let too_many = OpResult::TooMany { limit: 3 };
    assert_eq!([3, 4, 5].map(|op| result(&play, op)), [Some(&too_many); 3]);
    assert_eq!(opened_by(&mut play, read, FILE), ["a", "b"]);
    play.connect(0).connect(1).host(disconnect(6, "a"));
    assert_eq!(result(&play, 6), None);
    play.closed(0, Exit::Code(0));
    assert_eq!(result(&play, 6), Some(&OpResult::Done));
}

/// A start that reads its file.
fn reading() -> (Play, ReadId) {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    (play, read)
}

/// The servers that are opened when the file says this.
fn opened_by(play: &mut Play, read: ReadId, text: &str) -> Vec<String> {
    let before = play.commands.len();
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(text.into()) });
    let opened = |command: &Command| match command {
        Command::Open { server, .. } => Some(server.to_string()),
        _ => None,
    };
    play.commands.iter().skip(before).filter_map(opened).collect()
}

fn connect(op: u64, server: &str) -> Request {
    Request::Connect { op: OpId::new(op), server: server.into() }
}

fn disconnect(op: u64, server: &str) -> Request {
    Request::Disconnect { op: OpId::new(op), server: server.into() }
}

/// The one answer to an operation.
fn result(play: &Play, op: u64) -> Option<&OpResult> {
    let mut results = play.events.iter().filter_map(|event| match event {
        Event::Done { op: of, result } if of.number() == op => Some(result),
        _ => None,
    });
    let result = results.next();
    assert_eq!(results.next(), None, "{op} ended twice (L7)");
    result
}
