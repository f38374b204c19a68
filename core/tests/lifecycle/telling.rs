//! What servers say beside answers, and what the host hears of it.

use std::collections::BTreeSet;

use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Cause, Exit};
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::hub::status::{Link, ServerStatus};
use tidegate_core::id::{AnswerId, CallId, ConnId, ExchangeId, OpId, ReadId};
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play, one, two};

fn options() -> Options {
    let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    Options::new("/project", vec![Source::inline("test", config)])
}

fn complains(play: &mut Play, conn: u64, text: &str) {
    play.io(Fact::Complained { conn: ConnId::new(conn), bytes: text.into() });
}

fn status(play: &Play) -> ServerStatus {
    play.runtime.status().servers.remove(0)
}

/// F-004: the end of what a server wrote to its standard error is there while it runs, and is part
/// of why it failed.
#[test]
fn what_a_server_complains_of_is_kept_and_stands_in_its_failure() {
    let mut options = options();
    options.limits.stderr_tail_bytes = 8;
    let mut play = Play::with(options);
    play.start().opened(0);
    complains(&mut play, 0, "first\n");
    assert_eq!(status(&play).stderr_tail, "first");
    complains(&mut play, 0, "last words");
    assert_eq!(status(&play).stderr_tail, "st words");
    play.closed(0, Exit::Code(1));
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert_eq!(
        (failure.stderr_tail.as_str(), status(&play).stderr_tail),
        ("st words", "st words".into())
    );
}

/// It is an event only for who asked for it.
#[test]
fn what_a_server_complains_of_is_passed_on_if_the_host_wants_it() {
    for wanted in [true, false] {
        let mut options = options();
        options.forward_stderr = wanted;
        let mut play = Play::with(options);
        play.start().opened(0);
        complains(&mut play, 0, "well");
        let told = Event::Complained { server: "a".into(), text: "well".into() };
        assert_eq!(play.events.contains(&told), wanted);
    }
}

fn told(play: &mut Play, method: &str) -> Vec<Event> {
    play.events.clear();
    let params = r#""params":{"level":"info","data":1}"#;
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}",{params}}}"#));
    std::mem::take(&mut play.events)
}

/// A log message is one; that a server calls off what it asked concerns nobody; the rest is handed on.
#[test]
fn log_messages_are_told_as_such_and_what_is_not_known_is_handed_on() {
    let mut play = one();
    play.start().connect(0);
    assert!(matches!(told(&mut play, "message")[..], [Event::Logged { .. }]));
    assert_eq!(told(&mut play, "cancelled"), []);
    let events = told(&mut play, "experimental/x");
    let [Event::Notified { server, method, params: Some(params) }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((server.as_str(), method.as_str()), ("a", "notifications/experimental/x"));
    assert_eq!(params.as_str(), r#"{"level":"info","data":1}"#);
}

/// L8: the answer that stands at the end of the output without a line end is an answer.
#[test]
fn last_words_without_a_line_end_are_heard_when_the_output_ends() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    let conn = ConnId::new(0);
    let bytes = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.into();
    play.io(Fact::Received { conn, bytes });
    assert_eq!(play.outcome(1), None);
    play.io(Fact::OutputEnded { conn });
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))), "{:?}", play.outcome(1));
}

/// L5, G36: how its process ends says why a server fails that closed its output while it was
/// greeted. One that runs on fails by that soon, long before the next rung of its end, and by how
/// it ends once more, unless that rung has passed.
#[test]
fn a_server_that_closes_its_output_and_runs_on_has_soon_failed_by_that() {
    let exited = || Cause::Exited { exit: Exit::Code(3) };
    for (closed_at, causes) in [
        (99, vec![exited()]),
        (999, vec![Cause::OutputClosed, exited()]),
        (1_500, vec![Cause::OutputClosed]),
    ] {
        let mut play = one();
        let conn = ConnId::new(0);
        play.start().opened(0).io(Fact::OutputEnded { conn });
        assert_eq!(play.take_commands().last(), Some(&Command::CloseInput { conn }));
        assert_eq!(play.state("a"), ServerState::Connecting);
        if closed_at > 100 {
            play.sleep(100);
            assert!(play.state("a").failure().is_some() && play.gate_is_open());
            play.sleep(closed_at.min(999));
            assert_eq!(play.take_commands(), []);
        }
        play.sleep(closed_at).closed(0, Exit::Code(3));
        let told = play.events.iter().filter_map(|event| match event {
            Event::ServerChanged { state: ServerState::Failed { failure }, .. } => {
                Some(failure.cause.clone())
            }
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), causes, "{closed_at}");
    }
}

/// L6: what is said of an attempt that is gone, or never was, is counted and nothing else.
#[test]
fn facts_about_an_attempt_that_is_over_change_nothing_but_a_counter() {
    let mut play = one();
    play.start().connect(0).closed(0, Exit::Code(0)).take_commands();
    play.events.clear();
    let stale = |play: &Play| play.runtime.status().stale_facts;
    assert_eq!(stale(&play), 0);
    for (count, conn) in [(1, 0), (2, 7)] {
        play.answers(conn, 3, "{}");
        assert_eq!((stale(&play), play.take_commands()), (count, vec![]));
    }
    complains(&mut play, 0, "late");
    let conn = ConnId::new(0);
    play.opened(0).closed(0, Exit::Code(0)).io(Fact::OutputEnded { conn });
    play.io(Fact::InputFailed { conn });
    assert_eq!((stale(&play), play.take_commands(), play.events.len()), (7, vec![], 0));
}

/// What the status says of a server at each point of its way.
#[test]
fn the_status_says_how_far_a_server_is() {
    let mut play = one();
    play.start();
    let (link, conn) = (status(&play).link, status(&play).conn);
    assert_eq!((link, conn, status(&play).pid), (Link::Connecting, Some(ConnId::new(0)), None));
    play.opened(0);
    assert_eq!((status(&play).pid, status(&play).revision), (Some(100), None));
    play.answers(0, 1, HELLO);
    let greeted = status(&play);
    assert_eq!((greeted.link, greeted.state), (Link::Connected, ServerState::Connecting));
    assert_eq!((greeted.revision.as_deref(), greeted.connect_ms), (Some("2025-06-18"), None));
    assert_eq!(greeted.server_info.as_deref(), Some("s 1"));
    play.sleep(40).answers(0, 2, ECHO);
    let ready = status(&play);
    assert_eq!(
        (ready.link, ready.connect_ms, ready.since.as_millis()),
        (Link::Connected, Some(40), 40)
    );
    assert_eq!((ready.skipped_lines, ready.unknown_answers, ready.text_ids), (0, 0, 0));
    play.sleep(100).answers(0, 9, "{}").answers(0, 8, "{}").says(0, "x").says(0, "y").says(0, "z");
    let noisy = status(&play);
    assert_eq!((noisy.skipped_lines, noisy.unknown_answers), (3, 2));
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    let leaving = status(&play);
    assert_eq!((leaving.link, leaving.pid), (Link::Disconnected, Some(100)));
    assert_eq!((leaving.state, leaving.since.as_millis()), (ServerState::Disconnected, 100));
    play.sleep(200).closed(0, Exit::Code(0));
    let gone = status(&play);
    assert_eq!((gone.pid, gone.conn, gone.since.as_millis()), (None, None, 100));
}

/// Whether a start waits and a shutdown goes on can be seen.
#[test]
fn the_status_says_what_is_waited_for() {
    let mut play = two();
    let status = |play: &Play| {
        let status = play.runtime.status();
        (status.gate_shut, status.stopping, status.open_calls)
    };
    assert_eq!(status(&play), (false, false, 0));
    play.start().call(1, "a", "echo");
    assert_eq!(status(&play), (true, false, 1));
    play.connect(0).connect(1);
    assert_eq!(status(&play), (false, false, 1));
    play.host(Request::Shutdown);
    assert_eq!(status(&play), (false, true, 0));
}

/// L6: so is what was read, asked or exchanged for nobody.
#[test]
fn answers_that_nobody_waits_for_are_counted_and_nothing_else() {
    let mut play = one();
    play.start().connect(0).take_commands();
    play.events.clear();
    let (read, found) = (ReadId::new(99), Found::Nothing);
    let facts = [
        Fact::ConfigRead { read, origin: None, found: found.clone() },
        Fact::ApprovalsRead { read, approved: BTreeSet::new() },
        Fact::CacheRead { read, found, age_ms: 0 },
        Fact::Answered { ask: AnswerId::new(99), result: Ok(()) },
        Fact::FilesChanged,
        Fact::Closed { conn: ConnId::new(9), exit: Exit::Code(0) },
        Fact::ExchangeEnded { conn: ConnId::new(9), exchange: ExchangeId::new(0), end: Ok(()) },
    ];
    for (count, fact) in (1..).zip(facts) {
        play.io(fact);
        assert_eq!(play.runtime.status().stale_facts, count);
    }
    assert_eq!((play.take_commands(), play.events.len()), (vec![], 0));
    play.call(1, "a", "echo").host(Request::Cancel { call: CallId::new(1) });
    assert!(play.sent().contains("cancelled"), "the server is still there");
}

/// G36: a call that cannot be made says why.
#[test]
fn a_call_to_a_server_that_is_not_connected_says_why() {
    let config = r#"{"mcpServers":{"off":{"command":"a","enabled":false},"else":{"command":"b"},
        "a":{"command":"c"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.only = ["off".into(), "a".into()].into();
    let mut play = Play::with(options);
    play.start().connect(0);
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    let mut why = |number, server: &str| {
        play.call(number, server, "echo");
        match play.outcome(number) {
            Some(Outcome::Failed(CallError::NotConnected { reason, .. })) => reason.clone(),
            other => panic!("{other:?}"),
        }
    };
    let reasons = [why(1, "off"), why(2, "else"), why(3, "a")];
    assert_eq!(reasons, ["switched off", "not selected for this run", ""]);
    play.call(4, "x", "echo");
    let unknown = Outcome::Failed(CallError::UnknownServer { server: "x".into() });
    assert_eq!(play.outcome(4), Some(&unknown));
    let told: Vec<&str> = play.runtime.sources().iter().map(|told| told.server.as_str()).collect();
    assert_eq!(told, ["off", "else", "a"]);
}
