//! Calls: their limits, and which of them end when one server does.

use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Exit};
use tidegate_core::event::{Event, Outcome};
use tidegate_core::id::CallId;
use tidegate_core::input::{NewCall, Request, Target};
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play, one, two};

fn options() -> Options {
    let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    Options::new("/project", vec![Source::inline("test", config)])
}

fn call(play: &mut Play, call: u64, timeout_ms: Option<u64>, arguments: &str) {
    play.host(Request::Call(NewCall {
        call: CallId::new(call),
        target: Target::Tool { server: "a".into(), tool: "echo".into() },
        arguments: Json::new(arguments),
        timeout_ms,
        max_ms: None,
    }));
}

/// The request of a call reports so much progress.
fn progresses(play: &mut Play, request: u64, progress: &str) -> usize {
    let params = format!(r#"{{"progressToken":{request},"progress":{progress}}}"#);
    let method = "notifications/progress";
    play.events.clear();
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    play.events.iter().filter(|event| matches!(event, Event::CallProgressed { .. })).count()
}

fn timed_out(play: &Play, call: u64) -> Option<u64> {
    match play.outcome(call) {
        Some(Outcome::Failed(CallError::TimedOut { limit_ms })) => Some(*limit_ms),
        None => None,
        other => panic!("{other:?}"),
    }
}

/// A call's own limit stands above its server's, which stands above the policy's.
#[test]
fn a_call_has_the_limit_of_whoever_is_nearest() {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","timeout":5000}}}"#);
    play.start().connect(0);
    call(&mut play, 1, None, "{}");
    call(&mut play, 2, Some(7_000), "{}");
    play.sleep(4_999);
    assert_eq!(timed_out(&play, 1), None);
    play.sleep(5_000);
    assert_eq!((timed_out(&play, 1), timed_out(&play, 2)), (Some(5_000), None));
    play.sleep(6_999);
    assert_eq!(timed_out(&play, 2), None);
    play.sleep(7_000);
    assert_eq!(timed_out(&play, 2), Some(7_000));
}

/// C-TIME-04: without a limit of its own a call that goes on and on ends with the policy's.
#[test]
fn progress_extends_a_call_to_ten_minutes() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    for step in 1..=10 {
        play.sleep(step * 59_000);
        assert_eq!(progresses(&mut play, 3, &step.to_string()), 1);
    }
    play.sleep(599_999);
    assert_eq!(timed_out(&play, 1), None);
    play.sleep(600_000);
    assert_eq!(timed_out(&play, 1), Some(600_000));
    // A call that may go without progress for longer than that may take as long.
    call(&mut play, 2, Some(700_000), "{}");
    play.sleep(1_299_999);
    assert_eq!(timed_out(&play, 2), None);
    play.sleep(1_300_000);
    assert_eq!(timed_out(&play, 2), Some(700_000));
}

/// C-PROG-02: progress that does not grow is none, and extends nothing.
#[test]
fn progress_counts_while_it_grows() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    for (progress, counts) in [
        ("0", 1),
        ("0", 0),
        ("-0", 0),
        ("0.5", 1),
        ("0.5", 0),
        ("0.25", 0),
        ("0", 0),
        ("-1", 0),
        ("7", 1),
    ] {
        assert_eq!(progresses(&mut play, 3, progress), counts, "{progress}");
    }
    // Of another call, or of none.
    assert_eq!((progresses(&mut play, 4, "9"), progresses(&mut play, 2, "9")), (0, 0));
    play.call(2, "a", "echo");
    assert_eq!(progresses(&mut play, 4, "0.1"), 1);
}

/// L10: one more than may be open is refused, and there is room again when one ends.
#[test]
fn so_many_calls_may_be_open() {
    let mut options = options();
    options.limits.open_calls = 2;
    let mut play = Play::with(options);
    play.start().connect(0).call(1, "a", "echo").call(2, "a", "echo").call(3, "a", "echo");
    assert_eq!(play.runtime.status().open_calls, 2);
    let full = Outcome::Failed(CallError::TooManyCalls { limit: 2 });
    assert_eq!((play.outcome(2), play.outcome(3)), (None, Some(&full)));
    play.answers(0, 3, "{}").call(4, "a", "echo");
    assert_eq!((play.outcome(4), play.runtime.status().open_calls), (None, 2));
}

/// Calls wait for their own server, are sent in order when it is ready, and fail alone with it.
#[test]
fn each_call_waits_for_its_own_server() {
    let mut play = two();
    play.start().opened(0).opened(1);
    play.call(1, "b", "echo").call(2, "a", "echo").call(3, "a", "gone").call(4, "a", "echo");
    play.answers(0, 1, HELLO).take_commands();
    play.answers(0, 2, ECHO);
    assert_eq!(play.asked(), ["3 tools/call echo", "4 tools/call echo"]);
    let unknown = Outcome::Failed(CallError::UnknownTool { tool: "gone".into() });
    let ended = [1, 2, 3, 4].map(|call| play.outcome(call).cloned());
    assert_eq!(ended, [None, None, Some(unknown), None]);
    assert_eq!(play.runtime.status().open_calls, 3);
    // `b` cannot be started: whoever waits for it waits no more; what `a` was sent goes on.
    play.closed(1, Exit::Code(1));
    let ended = [1, 2, 4].map(|call| play.outcome(call));
    assert!(
        matches!(ended, [Some(Outcome::Failed(CallError::NotConnected { .. })), None, None]),
        "{ended:?}"
    );
    // `a` dies with two calls under way, and one for the time after.
    play.closed(0, Exit::Code(1)).call(5, "a", "echo");
    let closed = Outcome::Failed(CallError::Closed);
    let ended = [2, 4, 5].map(|call| play.outcome(call).cloned());
    assert_eq!(ended, [Some(closed.clone()), Some(closed), None]);
}

/// What waits for one server that fails says nothing about what waits for another.
#[test]
fn a_server_that_fails_ends_what_waits_for_it_and_nothing_else() {
    let mut play = two();
    play.start().opened(0).opened(1).call(1, "a", "echo").call(2, "b", "echo");
    play.closed(0, Exit::Code(1));
    assert!(play.outcome(1).is_some());
    assert_eq!(play.outcome(2), None);
}

/// The arguments are an object, on one line (C-STDIO).
#[test]
fn arguments_are_an_object_and_are_sent_on_one_line() {
    let mut play = one();
    play.start().connect(0).take_commands();
    call(&mut play, 1, None, "{\"a\":\n1,\r\n\"b\":2}");
    let sent = play.sent();
    assert_eq!(sent.lines().count(), 1, "{sent}");
    assert!(sent.contains(r#""b":2"#), "{sent}");
    for (number, bad) in [(2, "[]"), (3, "7"), (4, "{"), (5, "")] {
        call(&mut play, number, None, bad);
        let outcome = play.outcome(number);
        let refused = matches!(outcome, Some(Outcome::Failed(CallError::BadArguments { .. })));
        assert!(refused, "{bad}: {outcome:?}");
    }
    assert_eq!(play.asked(), [""; 0]);
}

/// A call that waits is given up by its host, and its server is told nothing.
#[test]
fn a_call_that_waits_can_be_cancelled_and_times_out() {
    let mut play = one();
    play.start().opened(0).call(1, "a", "echo").take_commands();
    call(&mut play, 2, Some(100), "{}");
    play.host(Request::Cancel { call: CallId::new(1) }).sleep(100);
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
    assert_eq!((timed_out(&play, 2), play.asked()), (Some(100), vec![]));
    play.answers(0, 1, HELLO).answers(0, 2, ECHO);
    assert!(!play.sent().contains("tools/call"));
    // Ending what has ended, or never began, comes to nothing.
    let said = play.events.len();
    play.host(Request::Cancel { call: CallId::new(1) })
        .host(Request::Cancel { call: CallId::new(9) });
    assert_eq!((play.events.len(), play.asked()), (said, vec![]));
}
