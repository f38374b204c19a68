//! The startup gate, the cache and what fails on the way.

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Cause, Exit, Severity, Stage};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, Skip};
use tidegate_core::id::{ConnId, OpId, ServerName};
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;
use tidegate_core::tools::catalog::ToolState;

use crate::play::{ECHO, HELLO, Play, cached, one, stored, two};

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

/// Where nothing is cached, nothing is read from a cache and nothing written to it.
#[test]
fn without_a_cache_a_pending_server_is_waited_for_and_nobody_is_asked() {
    let config = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.limits.cache_ms = 0;
    let mut play = Play::with(options);
    play.start().opened(0).connect(1).sleep(3_000);
    assert!(!play.gate_is_open());
    play.answers(0, 1, HELLO).answers(0, 2, ECHO);
    assert_eq!((play.report().elapsed_ms, play.report().connected.len()), (3_000, 2));
    assert!(play.take_commands().iter().all(|command| {
        !matches!(command, Command::ReadCache { .. } | Command::WriteCache { .. })
    }));
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

/// A tool's own limit for starting counts for that, and its `timeout` for the rest.
#[test]
fn a_server_has_as_long_to_start_as_its_definition_says() {
    let config = r#"{"mcpServers":{"a":{"command":"a","startupTimeout":700,"timeout":5000}}}"#;
    let mut play = Play::with(Options::new("/project", vec![Source::inline("test", config)]));
    play.start().opened(0).sleep(700);
    let ServerState::Failed { failure } = play.state("a") else { panic!("{:?}", play.state("a")) };
    assert_eq!(failure.cause, Cause::TimedOut { limit_ms: 700 });
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

/// G34, G23, G36: what a server cannot have said is not in the cache either.
#[test]
fn a_cached_list_with_a_tool_twice_or_too_many_tools_is_dropped_and_says_where() {
    let stored = String::from_utf8(stored()).unwrap();
    let (head, tool) = stored.trim_end().trim_end_matches("]}").split_once('[').unwrap();
    let twice = format!("{head}[{tool},{tool}]}}");
    for (content, tools_max) in [(twice, 10_000), (stored.clone(), 0)] {
        let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
        let mut options = Options::new("/project", vec![Source::inline("test", config)]);
        options.limits.tools_per_server = tools_max;
        let mut play = Play::with(options);
        play.start().opened(0).sleep(250);
        let read = cached(&mut play);
        let found = Found::Content(content.as_str().into());
        play.io(Fact::CacheRead { read, found, age_ms: 5 });
        assert!(!play.gate_is_open());
        assert_eq!(play.tools(), []);
        assert!(matches!(play.take_commands()[..], [Command::DropCache { .. }]));
        let problems = play.runtime.status().problems;
        assert_eq!(problems[0].file.as_deref(), Some("test"), "{problems:?}");
    }
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

/// G35: an entry is of one name, one definition and one version; anything else is dropped, which
/// is worth no more than a note.
#[test]
fn a_cached_list_of_another_server_definition_or_version_is_dropped() {
    let stored = String::from_utf8(stored()).unwrap();
    let (head, print) = stored.split_once("\"fingerprint\":\"").unwrap();
    let other = if print.starts_with('0') { "1" } else { "0" };
    for (content, told) in [
        (stored.replace("\"server\":\"a\"", "\"server\":\"b\""), "another definition"),
        (format!("{head}\"fingerprint\":\"{other}{}", &print[1..]), "another definition"),
        (stored.replace("\"version\":1", "\"version\":2"), "version 2 is not 1"),
    ] {
        let mut play = one();
        play.start().opened(0).sleep(250);
        let read = cached(&mut play);
        let found = Found::Content(content.as_str().into());
        play.io(Fact::CacheRead { read, found, age_ms: 0 });
        assert!(matches!(play.take_commands()[..], [Command::DropCache { .. }]), "{content}");
        let problems = play.runtime.status().problems;
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(problem.severity, Severity::Info);
        assert!(problem.message.contains(told), "{}", problem.message);
        assert!(!play.gate_is_open());
    }
}

/// An entry counts for exactly thirty days, and with exactly as many tools as there may be.
#[test]
fn a_cached_list_counts_up_to_its_bounds() {
    let month_ms = 30 * 24 * 60 * 60 * 1_000;
    for (age_ms, counts) in [(0, true), (month_ms, true), (month_ms + 1, false)] {
        let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
        let mut options = Options::new("/project", vec![Source::inline("test", config)]);
        options.limits.tools_per_server = 1;
        let mut play = Play::with(options);
        play.start().opened(0).sleep(250);
        let read = cached(&mut play);
        play.io(Fact::CacheRead { read, found: Found::Content(stored().into()), age_ms });
        assert_eq!((play.gate_is_open(), play.tools().len() == 1), (counts, counts), "{age_ms}");
        let dropped = matches!(play.take_commands()[..], [Command::DropCache { .. }]);
        assert_eq!(dropped, !counts);
        // What is too old is worth no word.
        assert_eq!(play.problems(), []);
    }
}

/// Seed 4.4: the cache is asked of those alone that are still on their way, and once.
#[test]
fn the_cache_is_asked_once_and_only_of_servers_on_their_way() {
    let mut play = two();
    play.start().connect(0).opened(1);
    play.take_commands();
    play.host(Request::Start { op: OpId::new(1) }).sleep(249);
    assert_eq!(play.take_commands(), []);
    play.sleep(250);
    let [Command::ReadCache { read, .. }] = play.take_commands()[..] else { panic!() };
    play.sleep(1_000).io(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
    // An answer nobody waits for any more is stale, as is one that comes twice.
    play.io(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
    assert_eq!((play.take_commands(), play.runtime.status().stale_facts), (vec![], 1));
}

/// F-003, G31: when the startup as a whole has to end, each server fails where it stands.
#[test]
fn a_startup_that_has_to_end_says_how_far_each_server_was() {
    let config = r#"{"mcpServers":{"a":{"command":"a","args":["${input:key}"]},
        "b":{"command":"b"},"c":{"command":"c"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.policy.startup_deadline_ms = Some(1_000);
    let mut play = Play::with(options);
    play.start().opened(1).opened(2).answers(2, 1, HELLO);
    play.io(Fact::Complained { conn: ConnId::new(1), bytes: "hm".into() });
    play.sleep(999);
    assert!(!play.gate_is_open());
    play.sleep(1_000);
    let report = play.report();
    assert_eq!(report.elapsed_ms, 1_000);
    let failed: Vec<_> = report.failed.iter().map(|(name, it)| (name.as_str(), it.stage)).collect();
    let stages = [("a", Stage::Resolve), ("b", Stage::Initialize), ("c", Stage::ListTools)];
    assert_eq!(failed, stages);
    for (_, failure) in &report.failed {
        assert_eq!(failure.cause, Cause::StartupDeadline { limit_ms: 1_000 });
        assert_eq!(failure.after_ms, 1_000);
    }
    assert_eq!(report.failed[1].1.stderr_tail, "hm");
    // They go on all the same.
    assert_eq!(play.state("b"), ServerState::Connecting);
}

/// G31: what ran before is said to run, as it is when the gate opens.
#[test]
fn a_second_start_says_what_runs_already() {
    let mut play = two();
    play.start().connect(0).host(Request::Start { op: OpId::new(1) });
    play.sleep(250);
    let reads = |play: &mut Play| cached(play);
    let read = reads(&mut play);
    play.io(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
    play.sleep(30_000);
    let reports: Vec<_> = play
        .events
        .iter()
        .filter_map(|event| match event {
            Event::GateOpened(report) => Some(report),
            _ => None,
        })
        .collect();
    let [second, first] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((first.op, second.op), (OpId::new(0), OpId::new(1)));
    let running = [("a".into(), Skip::AlreadyConnected), ("b".into(), Skip::AlreadyConnecting)];
    assert_eq!((&second.skipped[..], second.elapsed_ms), (&running[..], 0));
    assert_eq!(first.connected, ["a".into()]);
}
