//! What the host asks and waits for: how each operation ends, and when.

use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::Exit;
use tidegate_core::event::{Event, OpResult, ServerState, Skip, StartReport};
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::{Play, cached, file_options, one, read_of, two};

const A_IS_OFF: &str =
    r#"{"mcpServers":{"a":{"command":"a","enabled":false},"b":{"command":"b"}}}"#;

fn op(number: u64) -> OpId {
    OpId::new(number)
}

fn connect(number: u64, server: &str) -> Request {
    Request::Connect { op: op(number), server: server.into() }
}

fn result(play: &Play, number: u64) -> Option<&OpResult> {
    play.events.iter().find_map(|event| match event {
        Event::Done { op: of, result } if *of == op(number) => Some(result),
        _ => None,
    })
}

fn report(play: &Play, number: u64) -> &StartReport {
    let report = play.events.iter().find_map(|event| match event {
        Event::GateOpened(report) if report.op == op(number) => Some(report),
        _ => None,
    });
    report.unwrap()
}

fn read(play: &mut Play, text: &str) {
    let read = read_of(play);
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(text.into()) });
}

/// What is known does not wait for a file that is being read; what is not does.
#[test]
fn a_server_that_is_known_is_asked_at_once_while_a_file_is_read() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    read(&mut play, A_IS_OFF);
    play.connect(0).host(Request::Reload { op: op(1) });
    let reading = read_of(&mut play);
    play.host(connect(2, "b")).host(connect(3, "a")).host(connect(4, "c"));
    assert_eq!([2, 3, 4].map(|op| result(&play, op)), [Some(&OpResult::Done), None, None]);
    play.host(Request::Disconnect { op: op(5), server: "b".into() });
    assert!(matches!(play.take_commands()[..], [Command::CloseInput { .. }]));
    let found = Found::Content(A_IS_OFF.into());
    play.io(Fact::ConfigRead { read: reading, origin: None, found });
    let off = OpResult::Skipped { reason: Skip::Disabled };
    assert_eq!(result(&play, 3), Some(&off));
    assert_eq!(result(&play, 4), Some(&OpResult::UnknownServer));
}

/// L7: whoever stops waiting ends its own operation, and no other one.
#[test]
fn only_the_operation_that_is_meant_is_waited_for_no_more() {
    let mut play = Play::with(file_options("/f.json"));
    play.start().host(connect(1, "a")).host(connect(2, "a"));
    let said = play.events.len();
    play.host(Request::StopWaiting { op: op(9) });
    assert_eq!(play.events.len(), said);
    play.host(Request::StopWaiting { op: op(2) });
    assert_eq!([1, 2].map(|op| result(&play, op)), [None, Some(&OpResult::Aborted)]);
    read(&mut play, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.host(connect(3, "a")).host(connect(4, "a")).host(Request::StopWaiting { op: op(9) });
    assert_eq!(result(&play, 9), None);
    play.host(Request::StopWaiting { op: op(3) }).connect(0);
    let results = [1, 3, 4].map(|op| result(&play, op).unwrap().clone());
    assert_eq!(results, [OpResult::Done, OpResult::Aborted, OpResult::Done]);
}

/// L10: what waits for a file, for a server and for a gate is counted together.
#[test]
fn operations_are_bounded_wherever_they_wait() {
    let full = Some(OpResult::TooMany { limit: 4 });
    let mut options = file_options("/f.json");
    options.limits.open_ops = 4;
    let mut play = Play::with(options);
    play.start().host(connect(1, "a")).host(connect(2, "a")).host(connect(3, "a"));
    play.host(connect(4, "a"));
    assert_eq!([3, 4].map(|op| result(&play, op).cloned()), [None, full.clone()]);
    read(&mut play, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    // A start and three who wait for the server.
    play.host(connect(5, "a"));
    assert_eq!(result(&play, 5).cloned(), full);
    play.connect(0).host(Request::Reload { op: op(6) }).host(Request::Reload { op: op(7) });
    for number in [8, 9, 10] {
        play.host(connect(number, "new"));
    }
    assert_eq!([8, 9, 10].map(|op| result(&play, op).cloned()), [None, None, full]);
}

/// A start whose configuration is still being read ends with the shutdown, as all else does.
#[test]
fn a_shutdown_opens_every_gate() {
    let mut play = Play::with(file_options("/f.json"));
    play.start().host(Request::Shutdown);
    assert_eq!(report(&play, 0).elapsed_ms, 0);
    assert_eq!(play.events.last(), Some(&Event::Stopped));
    let mut play = one();
    play.start().host(Request::Shutdown);
    assert_eq!(report(&play, 0).skipped, [("a".into(), Skip::Disconnected)]);
}

/// G31: what was on its way before a start may fail before its gate opens.
#[test]
fn a_start_says_what_became_of_a_server_that_was_on_its_way_before() {
    let mut play = two();
    play.start().opened(0).opened(1).host(Request::Start { op: op(1) });
    assert_eq!(report(&play, 1).skipped.len(), 2, "it waits for nobody");
    let config = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    read(&mut play, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.opened(0).host(Request::Start { op: op(1) });
    // This start opens `b` and waits for it.
    read(&mut play, config);
    play.closed(0, Exit::Code(1)).connect(1);
    let second = report(&play, 1);
    let failed: Vec<&str> = second.failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((failed, second.connected.len(), second.skipped.len()), (vec!["a"], 1, 0));
}

/// G31: why a start did not start a server stays its reason, whatever the host did with it since.
#[test]
fn a_start_says_why_it_left_a_server_alone() {
    for step in 0..3 {
        let source = Source::inline("test", A_IS_OFF);
        let mut play = Play::with(Options::new("/project", vec![source]));
        play.start().host(Request::Enable { op: op(1), server: "a".into() });
        match step {
            0 => &mut play,
            1 => play.connect(1),
            _ => play.opened(1).closed(1, Exit::Code(1)),
        };
        play.connect(0);
        let report = report(&play, 0);
        assert_eq!(report.skipped, [("a".into(), Skip::Disabled)], "{step}");
        assert_eq!((report.connected.len(), report.failed.len()), (1, 0), "{step}");
    }
}

/// The three ways a start without any waiting ends.
#[test]
fn a_gate_of_no_time_asks_the_cache_at_once() {
    let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.policy.gate_ms = 0;
    let mut play = Play::with(options);
    play.start();
    let read = cached(&mut play);
    let found = Found::Content(crate::play::stored().into());
    play.io(Fact::CacheRead { read, found, age_ms: 0 });
    assert_eq!(report(&play, 0).deferred, ["a".into()]);
}

/// Waiting ends exactly when its time is up, with what happened by then.
#[test]
fn waiting_for_a_server_has_its_time() {
    let waits = |number, timeout_ms| Request::AwaitConnected {
        op: op(number),
        server: "a".into(),
        timeout_ms,
    };
    let mut play = one();
    play.start().sleep(40).host(waits(1, Some(100))).sleep(139);
    assert_eq!(result(&play, 1), None);
    play.sleep(140);
    assert_eq!(result(&play, 1), Some(&OpResult::TimedOut { limit_ms: 100 }));
    play.host(waits(2, Some(100))).connect(0);
    assert_eq!(result(&play, 2), Some(&OpResult::Done));
    play.host(waits(3, Some(100)));
    assert_eq!(result(&play, 3), Some(&OpResult::Done));
    play.host(Request::AwaitConnected { op: op(4), server: "x".into(), timeout_ms: None });
    assert_eq!(result(&play, 4), Some(&OpResult::UnknownServer));
    let mut play = one();
    play.start().opened(0).host(waits(1, None)).closed(0, Exit::Code(1));
    assert!(matches!(result(&play, 1), Some(OpResult::Failed { .. })));
    // Nothing that could connect it.
    let mut play = Play::new(A_IS_OFF);
    play.start().host(waits(1, None));
    assert_eq!(result(&play, 1), Some(&OpResult::Skipped { reason: Skip::Disabled }));
}

/// After a shutdown was asked for everything is refused.
#[test]
fn what_is_asked_of_a_runtime_that_ends_is_refused() {
    let mut play = one();
    play.start().connect(0).host(Request::Shutdown);
    let server = || "a".into();
    let requests = [
        connect(1, "a"),
        Request::Enable { op: op(2), server: server() },
        Request::Restart { op: op(3), server: server() },
        Request::Reconnect { op: op(4), server: server(), failed: None },
        Request::Reload { op: op(5) },
        Request::AwaitConnected { op: op(6), server: server(), timeout_ms: None },
    ];
    for (number, request) in (1..).zip(requests) {
        play.host(request);
        assert_eq!(result(&play, number), Some(&OpResult::ShuttingDown), "{number}");
    }
    play.host(Request::Disconnect { op: op(7), server: server() });
    play.host(Request::DisconnectAll { op: op(8) });
    assert_eq!([7, 8].map(|op| result(&play, op)), [None, None]);
    play.closed(0, Exit::Code(0));
    assert_eq!([7, 8].map(|op| result(&play, op)), [Some(&OpResult::Done); 2]);
    assert_eq!(play.state("a"), ServerState::Disconnected);
}

/// Nobody knows a server of that name.
#[test]
fn what_is_asked_of_a_server_that_is_not_configured_ends_at_once() {
    let mut play = one();
    play.start().connect(0);
    let server = || "x".into();
    let requests = [
        connect(1, "x"),
        Request::Disconnect { op: op(2), server: server() },
        Request::Restart { op: op(3), server: server() },
        Request::Reconnect { op: op(4), server: server(), failed: None },
        Request::Enable { op: op(5), server: server() },
        Request::Disable { op: op(6), server: server() },
    ];
    for (number, request) in (1..).zip(requests) {
        play.host(request);
        assert_eq!(result(&play, number), Some(&OpResult::UnknownServer), "{number}");
    }
}
