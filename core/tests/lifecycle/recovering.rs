//! Servers that are lost and come back, and what a host can ask of one server.

use tidegate_core::command::Command;
use tidegate_core::error::{CallError, Category, Exit};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, Skip};
use tidegate_core::hub::policy::{Policy, Reconnect};
use tidegate_core::id::{ConnId, OpId};
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;
use tidegate_core::tools::catalog::ToolState;

use crate::play::{ECHO, HELLO, Play, file_options, one, read_of, two};

fn op(number: u64) -> OpId {
    OpId::new(number)
}

fn opens(play: &mut Play) -> usize {
    play.take_commands().iter().filter(|command| matches!(command, Command::Open { .. })).count()
}

fn result(play: &Play, number: u64) -> Option<&OpResult> {
    play.events.iter().find_map(|event| match event {
        Event::Done { op, result } if *op == OpId::new(number) => Some(result),
        _ => None,
    })
}

/// A server that is ready, lost, and whose process is gone.
fn lost() -> Play {
    let mut play = one();
    play.start().connect(0).closed(0, Exit::Code(1));
    play.take_commands();
    play
}

/// G50, G20: nothing starts before its time; the tools stay and calls wait.
#[test]
fn a_lost_server_comes_back_by_itself_and_its_calls_wait_for_it() {
    let mut play = lost();
    assert!(matches!(play.state("a"), ServerState::Retrying { start: 1, .. }));
    assert_eq!(play.tools(), [("mcp_a_echo", &ToolState::Deferred)]);
    play.call(1, "a", "echo").sleep(499);
    assert_eq!((opens(&mut play), play.outcome(1)), (0, None));
    play.sleep(625).connect(1);
    assert_eq!(play.state("a"), ServerState::Connected);
    assert_eq!(play.tools(), [("mcp_a_echo", &ToolState::Live)]);
    play.answers(1, 3, r#"{"content":[]}"#);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// G50, D29: five automatic starts, then it is suspended until somebody acts.
#[test]
fn a_server_that_is_lost_too_often_is_suspended() {
    let mut play = lost();
    for conn in 1..=5 {
        play.sleep(play.now + 10_000).connect(conn).closed(conn, Exit::Code(1));
    }
    assert!(matches!(play.state("a"), ServerState::Suspended { .. }));
    assert!(matches!(play.tools()[..], [("mcp_a_echo", ToolState::Failed { .. })]));
    play.take_commands();
    play.call(1, "a", "echo").sleep(3_600_000);
    assert_eq!(opens(&mut play), 0);
    let Some(Outcome::Failed(CallError::NotConnected { reason, .. })) = play.outcome(1) else {
        panic!("{:?}", play.outcome(1));
    };
    assert!(reason.contains("reconnect"), "{reason}");
    play.host(Request::Reconnect { op: op(1), server: "a".into(), failed: None }).connect(6);
    assert_eq!(result(&play, 1), Some(&OpResult::Done));
}

/// G50: a start that fails before the handshake is one of the automatic starts all the same.
#[test]
fn a_lost_server_whose_next_start_fails_is_started_once_more() {
    let mut play = lost();
    play.sleep(1_000).opened(1).closed(1, Exit::Code(1));
    assert!(matches!(play.state("a"), ServerState::Retrying { start: 2, .. }));
    play.sleep(1_000 + 2_000).connect(2);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// G50: thirty stable seconds begin the count anew.
#[test]
fn a_server_that_was_stable_waits_as_little_as_the_first_time() {
    let mut play = lost();
    play.sleep(1_000).connect(1).sleep(31_000).closed(1, Exit::Code(1));
    assert!(matches!(play.state("a"), ServerState::Retrying { start: 1, .. }));
}

/// The documents know no reconnect.
#[test]
fn under_the_documented_policy_a_lost_server_has_failed() {
    let mut options = Options::new(
        "/project",
        vec![tidegate_core::config::Source::inline(
            "test",
            r#"{"mcpServers":{"a":{"command":"a"}}}"#,
        )],
    );
    options.policy = Policy::documented();
    assert_eq!(options.policy.reconnect, Reconnect::Off);
    let mut play = Play::with(options);
    play.start().connect(0).closed(0, Exit::Code(1)).sleep(3_600_000);
    assert!(matches!(play.state("a"), ServerState::Failed { .. }));
}

/// G14, D21: what is switched off or disconnected while it waits is not started.
#[test]
fn letting_a_lost_server_go_cancels_its_start() {
    for request in [
        Request::Disable { op: op(1), server: "a".into() },
        Request::Disconnect { op: op(1), server: "a".into() },
        Request::DisconnectAll { op: op(1) },
    ] {
        let mut play = lost();
        play.host(request).sleep(3_600_000);
        assert_eq!((opens(&mut play), result(&play, 1)), (0, Some(&OpResult::Done)));
        assert_eq!(play.runtime.poll_timeout(), None);
        assert_eq!(play.tools(), []);
    }
}

/// G13, D26: a failure seen on an old connection never touches its successor.
#[test]
fn a_reconnect_because_of_an_old_attempt_leaves_the_present_one_alone() {
    let mut play = lost();
    play.sleep(1_000).connect(1);
    play.take_commands();
    let failed = Some(ConnId::new(0));
    play.host(Request::Reconnect { op: op(1), server: "a".into(), failed });
    assert_eq!((play.take_commands(), result(&play, 1)), (vec![], Some(&OpResult::Done)));
    let failed = Some(ConnId::new(1));
    play.host(Request::Reconnect { op: op(2), server: "a".into(), failed });
    let conn = ConnId::new(1);
    assert_eq!(
        (play.take_commands(), result(&play, 2)),
        (vec![Command::CloseInput { conn }], None)
    );
}

/// G5, D20, D25, D33: all who ask share one attempt, which follows the end of the old one.
#[test]
fn whoever_asks_for_a_server_on_its_way_shares_its_attempt() {
    let mut play = one();
    play.start().connect(0);
    play.host(Request::Restart { op: op(1), server: "a".into() });
    play.host(Request::Reconnect { op: op(2), server: "a".into(), failed: None });
    play.host(Request::Connect { op: op(3), server: "a".into() });
    play.call(1, "a", "echo").take_commands();
    play.closed(0, Exit::Code(0));
    assert_eq!(opens(&mut play), 1);
    play.host(Request::Reconnect { op: op(4), server: "a".into(), failed: None }).connect(1);
    for number in 1..=4 {
        assert_eq!(result(&play, number), Some(&OpResult::Done), "{number}");
    }
    assert_eq!(play.outcome(1), None);
}

/// A restart replaces an attempt that is under way, also one whose start was not reported.
#[test]
fn a_restart_replaces_an_attempt_under_way() {
    let mut play = one();
    play.start();
    play.host(Request::Restart { op: op(1), server: "a".into() }).opened(0);
    play.take_commands();
    play.closed(0, Exit::Code(0));
    assert_eq!(opens(&mut play), 1);
    play.connect(1);
    assert_eq!(result(&play, 1), Some(&OpResult::Done));
}

/// G14, G15: no reload brings back what the host switched off, and the host's word stands above
/// the file in both directions without a restart.
#[test]
fn what_the_host_switches_stays_so_through_reloads() {
    let config = |text: &str| Found::Content(text.into());
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found }).connect(0);
    play.host(Request::Disable { op: op(1), server: "a".into() }).closed(0, Exit::Code(0));
    assert_eq!((play.state("a"), result(&play, 1)), (ServerState::Disabled, Some(&OpResult::Done)));
    play.host(Request::Connect { op: op(2), server: "a".into() });
    assert_eq!(result(&play, 2), Some(&OpResult::Skipped { reason: Skip::Disabled }));
    play.host(Request::Reload { op: op(3) });
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"a","args":["new"]}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found });
    assert_eq!(opens(&mut play), 0);
    play.host(Request::Enable { op: op(4), server: "a".into() }).connect(1);
    assert_eq!(result(&play, 4), Some(&OpResult::Done));
    play.take_commands();
    play.host(Request::Reload { op: op(5) });
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"a","args":["new"],"disabled":true}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found });
    assert_eq!((play.take_commands(), play.state("a")), (vec![], ServerState::Connected));
}

/// Item 8 of the lifecycle: waiting has an end of its own and changes nothing.
#[test]
fn waiting_for_a_server_ends_when_it_is_there_in_time_or_by_request() {
    let mut play = one();
    play.start();
    let waits = |number, timeout_ms| Request::AwaitConnected {
        op: op(number),
        server: "a".into(),
        timeout_ms,
    };
    play.host(waits(1, Some(100))).host(waits(2, None)).host(waits(3, Some(0)));
    play.host(waits(4, None)).host(Request::StopWaiting { op: op(4) }).sleep(100);
    assert_eq!(result(&play, 1), Some(&OpResult::TimedOut { limit_ms: 100 }));
    assert_eq!(result(&play, 3), Some(&OpResult::TimedOut { limit_ms: 0 }));
    assert_eq!(result(&play, 4), Some(&OpResult::Aborted));
    assert_eq!(result(&play, 2), None);
    play.connect(0);
    assert_eq!(result(&play, 2), Some(&OpResult::Done));
    play.host(Request::Disconnect { op: op(5), server: "a".into() }).host(waits(6, None));
    assert_eq!(result(&play, 6), Some(&OpResult::Skipped { reason: Skip::Disconnected }));
}

/// Seed runtime section 1.11: no tools and one problem in the name of `.mcp.json`.
#[test]
fn a_discovery_that_fails_as_a_whole_is_one_problem() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead {
        read,
        origin: None,
        found: Found::Unreadable("Input/output error".into()),
    });
    assert!(play.report().failed.is_empty() && play.report().connected.is_empty());
    let failed = |event: &&Event| {
        matches!(event, Event::ProblemFound(problem)
            if problem.category == Category::DiscoveryFailed
                && problem.file.as_deref() == Some(".mcp.json"))
    };
    assert_eq!(play.events.iter().filter(failed).count(), 1);
    assert_eq!(play.tools(), []);
}

/// G31: what is suspended when the gate opens has failed, with its reason.
#[test]
fn a_server_that_is_suspended_before_the_gate_opens_is_reported_as_failed() {
    let mut play = two();
    play.start();
    play.connect(0).closed(0, Exit::Code(1));
    // The attempts of `a` after the first one, beside the one of `b`.
    for (conn, pause) in (2..).zip([700, 1_300, 2_600, 5_100, 10_100]) {
        play.sleep(play.now + pause).connect(conn).closed(conn, Exit::Code(1));
    }
    assert!(matches!(play.state("a"), ServerState::Suspended { .. }) && !play.gate_is_open());
    play.sleep(30_000);
    let failed: Vec<&str> = play.report().failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((failed, &play.report().skipped[..]), (vec!["a", "b"], &[][..]));
}

/// L8: a list in a server's last words is one nobody can use any more: what waits for it waits
/// for its next attempt.
#[test]
fn calls_wait_on_when_a_server_ends_with_its_list_in_its_last_words() {
    let mut play = one();
    play.start().opened(0).call(1, "a", "echo").answers(0, 1, HELLO);
    let conn = ConnId::new(0);
    let list = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{ECHO}}}"#);
    play.io(Fact::Received { conn, bytes: list.as_str().into() });
    play.io(Fact::OutputEnded { conn }).closed(0, Exit::Code(0));
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }));
    assert_eq!(play.outcome(1), None);
    play.sleep(1_000).connect(1).answers(1, 3, r#"{"content":[]}"#);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}
