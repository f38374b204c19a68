//! What is lost on the way to a remote server, and what is asked for again.

use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, ExchangeError, ExchangeFault, Exit, HttpFailure, Sent};
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::id::{CallId, OpId};
use tidegate_core::input::Request;
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play};
use crate::web::{EVENTS, JSON, cut, event, refused, result_event};

fn ready() -> Play {
    let mut play = Play::web();
    play.greet(0).take_commands();
    play
}

/// Ready, and its stream is open.
fn heard() -> Play {
    let mut play = ready();
    play.head(2, 200, EVENTS);
    play
}

fn lost(fault: ExchangeFault, sent: Sent) -> Result<(), ExchangeError> {
    Err(ExchangeError { fault, sent })
}

fn foreign() -> ExchangeFault {
    ExchangeFault::ForeignOrigin { origin: "https://b.test".into() }
}

fn failure(play: &Play, call: u64) -> &HttpFailure {
    match play.outcome(call) {
        Some(Outcome::Failed(CallError::Http { failure })) => failure,
        other => panic!("{other:?}"),
    }
}

/// G40, C-HTTP-08: what provably was not sent is sent once more, at once; what may have arrived is not.
#[test]
fn a_call_is_sent_again_only_if_it_was_not_sent() {
    let mut play = ready();
    play.call(1, "a", "echo").take_commands();
    play.end_on(0, 4, lost(ExchangeFault::CutHead, Sent::Nothing));
    assert_eq!((play.ordered(), play.outcome(1)), (vec!["x5 POST tools/call".into()], None));
    play.end_on(0, 5, lost(ExchangeFault::CutHead, Sent::Nothing));
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }), "{:?}", play.state("a"));
    assert_eq!(play.outcome(1), None, "it waits for the server");

    for (fault, sent) in [
        (ExchangeFault::CutHead, Sent::Perhaps),
        (foreign(), Sent::Nothing),
        (ExchangeFault::CutBody, Sent::Perhaps),
    ] {
        let mut play = ready();
        play.call(1, "a", "echo").take_commands();
        play.end_on(0, 4, lost(fault.clone(), sent));
        assert!(matches!(failure(&play, 1), HttpFailure::Exchange(_)), "{fault:?}");
        assert_eq!(
            (play.ordered(), play.state("a")),
            (vec![], ServerState::Connected),
            "{fault:?}"
        );
    }
}

/// G46, G47: the stream is asked for again later and later, and then no more; then a server that
/// cannot be reached is lost, and the loss of the stream alone is nobody's.
#[test]
fn a_stream_that_cannot_be_had_is_asked_for_five_times_more() {
    for (end, lost) in [(lost(ExchangeFault::CutHead, Sent::Perhaps), false), (refused(), true)] {
        let mut play = heard();
        play.end_on(0, 2, cut()).take_commands();
        let mut at = 1_000;
        for (exchange, wait) in (4..).zip([1_000, 2_000, 4_000, 8_000, 16_000]) {
            play.sleep(at - 1);
            assert_eq!(play.ordered(), [""; 0], "before {at}");
            play.sleep(at);
            assert_eq!(play.ordered(), [format!("x{exchange} GET")]);
            play.end_on(0, exchange, end.clone());
            at += wait;
        }
        play.sleep(at);
        assert_eq!(play.ordered(), ["x9 GET"]);
        play.end_on(0, 9, end);
        assert_eq!(play.state("a").failure().is_some(), lost);
        if !lost {
            play.sleep(at + 3_600_000);
            assert_eq!((play.ordered(), play.state("a")), (vec![], ServerState::Connected));
        }
    }
    // Where it is sent on to another place, nobody goes.
    let mut play = ready();
    play.end_on(0, 2, lost(foreign(), Sent::Nothing)).sleep(3_600_000);
    assert_eq!((play.ordered(), play.state("a")), (vec![], ServerState::Connected));
}

/// G47: whoever answers again begins the count anew.
#[test]
fn a_stream_that_is_there_again_has_all_its_tries_again() {
    let mut play = ready();
    play.end_on(0, 2, refused()).sleep(1_000).end_on(0, 4, refused()).sleep(3_000);
    assert_eq!(play.ordered(), ["x4 GET", "x5 GET"]);
    play.head(5, 200, EVENTS).body(5, &event(r#"{"method":"x"}"#)).end(5).sleep(4_000);
    assert_eq!(play.ordered(), ["x6 GET"]);
    play.end_on(0, 6, refused()).sleep(5_000);
    assert_eq!(play.ordered(), ["x7 GET"]);
}

/// An event without an id is something that a stream brought.
#[test]
fn a_stream_that_brings_something_each_time_is_opened_again_soon() {
    let mut play = ready();
    for (exchange, next, at) in [(2, 4, 1_000), (4, 5, 2_000), (5, 6, 3_000)] {
        play.head(exchange, 200, EVENTS).body(exchange, &event(r#"{"method":"x"}"#)).end(exchange);
        play.take_commands();
        play.sleep(at);
        assert_eq!(play.ordered(), [format!("x{next} GET")]);
    }
}

/// What a server answers to the question for its stream: busy is asked again, 501 and the like mean
/// that there is none.
#[test]
fn a_stream_is_asked_for_again_of_a_server_that_is_busy_or_broken() {
    let after = |status, headers: &[(&str, &str)]| {
        let mut play = ready();
        play.head_on(0, 2, status, headers, false).take_commands();
        let mut waited = None;
        for at in [1_000, 30_000, 120_000] {
            play.sleep(at);
            if waited.is_none() && play.ordered() == ["x4 GET"] {
                waited = Some(at);
            }
        }
        assert_eq!(play.state("a"), ServerState::Connected);
        waited
    };
    let again = [500, 502, 599, 503, 429].map(|status| after(status, &[]));
    assert_eq!(again, [Some(1_000); 5]);
    assert_eq!([499, 501, 302, 600].map(|status| after(status, &[])), [None; 4]);
    assert_eq!(after(503, &[("retry-after", "30")]), Some(30_000), "as long as it may take");
    assert_eq!(after(503, &[("retry-after", "31")]), None);
}

/// C-LHTTP-03: a stream that there was once can only be gone with its session.
#[test]
fn a_stream_that_is_not_found_any_more_is_a_session_that_is_lost() {
    let mut play = heard();
    play.end(2).sleep(1_000).head(4, 404, "");
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }), "{:?}", play.state("a"));
    for status in [405, 403] {
        let mut play = heard();
        play.end(2).sleep(1_000).head(4, status, "");
        assert_eq!(play.state("a"), ServerState::Connected, "{status}");
    }
}

/// D44, F-073: what is of another type may be a message all the same, and is no noise if it is not.
#[test]
fn an_answer_of_another_type_is_taken_if_it_is_one() {
    for (content, text, answered) in [
        ("text/plain", r#" {"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#, true),
        ("text/plain", "accepted", false),
        ("text/html", "", false),
        (JSON, " \n", false),
    ] {
        let mut play = ready();
        play.call(1, "a", "echo").head(4, 200, content).body(4, text).end(4);
        let outcome = play.outcome(1);
        assert_eq!(matches!(outcome, Some(Outcome::Answered(_))), answered, "{outcome:?}");
        assert_eq!(play.runtime.status().servers[0].skipped_lines, 0, "{text:?}");
        if !answered {
            let none = text.trim().is_empty();
            assert_eq!(*failure(&play, 1) == HttpFailure::NoAnswer, none, "{outcome:?}");
        }
    }
}

/// D40: an answer that breaks off is lost with its reason, a refusal that does is one all the same.
#[test]
fn what_breaks_off_in_the_middle_is_told_for_what_it_was() {
    let mut play = ready();
    play.call(1, "a", "echo").head(4, 200, JSON).body(4, "{").end_on(0, 4, cut());
    assert!(matches!(failure(&play, 1), HttpFailure::Exchange(_)), "{:?}", play.outcome(1));
    play.call(2, "a", "echo").head(5, 418, "text/plain").body(5, "tea").end_on(0, 5, cut());
    let HttpFailure::Status { status: 418, excerpt } = failure(&play, 2) else { panic!() };
    assert!(excerpt.contains("tea"));
    // One that stalls is one too.
    play.call(3, "a", "echo").head(6, 418, "text/plain").body(6, "pot").sleep(30_000);
    assert!(matches!(failure(&play, 3), HttpFailure::Status { status: 418, .. }));
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-HTTP-06, G39: an error in a refusal is the answer if it is one to this request, or to none.
#[test]
fn an_error_in_a_refusal_is_the_answer_of_its_own_request_only() {
    let refuse = |text: &str| {
        let mut play = ready();
        play.call(1, "a", "echo").whole(4, 422, text);
        assert_eq!(play.runtime.status().servers[0].unknown_answers, 0, "{text}");
        play.outcome(1).unwrap().clone()
    };
    let own = refuse(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#);
    assert!(matches!(own, Outcome::Failed(CallError::Rpc { .. })), "{own:?}");
    let other = refuse(r#"{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"no"}}"#);
    assert!(matches!(other, Outcome::Failed(CallError::Http { .. })), "{other:?}");
}

/// C-VER-14, C-VER-17: a server of the era without a handshake does not speak the older transport.
#[test]
fn an_error_of_the_newer_era_does_not_lead_to_the_older_transport() {
    for (code, older) in [(-32_020, false), (-32_022, false), (-32_019, true), (-32_000, true)] {
        let mut play = Play::web();
        play.take_commands();
        let error = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"no"}}}}"#);
        play.whole(0, 400, &error);
        assert_eq!(play.ordered().contains(&"x1 GET".to_owned()), older, "{code}");
    }
}

/// F-071: only a refusal with 400 that speaks of the session is taken for the loss of one.
#[test]
fn a_refusal_that_speaks_of_something_else_loses_no_session() {
    for (status, text) in [(400, "bad arguments"), (403, "no such session")] {
        let mut play = ready();
        play.call(1, "a", "echo").whole(4, status, text);
        assert!(matches!(failure(&play, 1), HttpFailure::Status { .. }), "{text}");
        assert_eq!(play.state("a"), ServerState::Connected, "{text}");
    }
    // Without a session there is none to lose.
    let mut play = Play::web();
    play.result(0, 1, HELLO).head(1, 202, JSON).end(1).result(3, 2, ECHO);
    play.call(1, "a", "echo").whole(4, 400, "no session");
    assert!(matches!(failure(&play, 1), HttpFailure::Status { .. }), "{:?}", play.outcome(1));
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// G48: the end of the session is heard of in two parts and kills once; what waits is not broken off.
#[test]
fn a_goodbye_ends_the_server_once() {
    let mut play = heard();
    play.end(2).take_commands();
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    assert_eq!(play.ordered(), ["x5 DELETE"], "x4 waits and is not ordered yet");
    play.head(5, 200, JSON).end(5);
    assert!(matches!(play.take_commands()[..], [Command::Kill { .. }]));
    play.closed(0, Exit::Unknown);
    assert_eq!(play.state("a"), ServerState::Disconnected);
}

/// G45, L10: what comes by the stream of an answered call is heard, of so many at once.
#[test]
fn so_many_streams_stay_open_after_their_answers() {
    let config = r#"{"mcpServers":{"a":{"url":"https://a.test/","protocol":"legacy"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.limits.http_lingering = 1;
    let mut play = Play::with(options);
    play.start().reached(0).greet(0).call(1, "a", "echo").call(2, "a", "echo").take_commands();
    play.head(4, 200, EVENTS).body(4, &event(r#"{"method":"before"}"#)).head(5, 200, EVENTS);
    play.body(4, &result_event(3));
    assert_eq!(play.ordered(), [""; 0]);
    play.body(5, &result_event(4));
    assert_eq!(play.ordered(), ["abort x4"]);
    assert!(matches!(play.outcome(2), Some(Outcome::Answered(_))));
}

/// C-CANC-03: who cancels one call breaks off that one.
#[test]
fn a_call_that_is_cancelled_takes_no_other_along() {
    let mut play = ready();
    play.call(1, "a", "echo").call(2, "a", "echo").take_commands();
    play.host(Request::Cancel { call: CallId::new(2) });
    assert_eq!(play.ordered(), ["abort x5", "x6 POST notifications/cancelled"]);
    play.result(4, 3, r#"{"content":[]}"#);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// Over the older transport, connected: x0 is the stream.
fn older() -> Play {
    let mut play = Play::remote("sse");
    let message =
        |id, result| event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    play.head(0, 200, EVENTS).body(0, "event: endpoint\ndata: /m\n\n");
    play.head(1, 202, JSON).end(1).body(0, &message(1, HELLO));
    play.head(2, 202, JSON).end(2).head(3, 202, JSON).end(3).body(0, &message(2, ECHO));
    play.take_commands();
    play
}

/// C-OLD-02: where messages go is said once, and nobody goes elsewhere with them.
#[test]
fn an_endpoint_is_said_once_and_lies_with_its_server() {
    let mut play = older();
    play.body(0, "event: endpoint\ndata: /other\n\n").call(1, "a", "echo");
    assert_eq!(play.ordered(), ["x4 POST /m tools/call"]);
    play.end_on(0, 4, lost(foreign(), Sent::Nothing));
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }), "{:?}", play.state("a"));
}

/// What has to be said before it is known where waits, and one stream is enough to hear that by.
#[test]
fn what_is_said_before_the_endpoint_is_known_waits_for_it() {
    let mut play = Play::remote("sse");
    play.head(0, 200, EVENTS).body(0, &event(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#));
    assert_eq!(play.ordered(), ["x0 GET"]);
    play.body(0, "event: endpoint\ndata: /m\n\n");
    assert_eq!(play.ordered(), ["x1 POST /m initialize", "x2 POST /m answer"]);
}

/// F-074: a stream that is elsewhere is followed only where a redirect says so.
#[test]
fn a_stream_that_is_elsewhere_is_told_with_its_place() {
    let mut play = Play::remote("sse");
    play.head_on(0, 0, 302, &[("location", "https://b.test/")], false);
    let failure = play.state("a").failure().cloned().unwrap();
    assert!(failure.describe(&"a".into()).contains("https://b.test/"), "{failure:?}");
}

/// L10: a server that says again and again that it is busy is left alone in the end.
#[test]
fn a_stream_of_a_server_that_stays_busy_is_given_up() {
    let mut play = ready();
    let mut at = 0;
    let mut exchange = 2;
    for (next, wait) in (4..).zip([1_000, 2_000, 4_000, 8_000, 16_000]) {
        play.head(exchange, 503, "").take_commands();
        at += wait;
        play.sleep(at - 1);
        assert_eq!(play.ordered(), [""; 0], "before {at}");
        play.sleep(at);
        assert_eq!(play.ordered(), [format!("x{next} GET")]);
        exchange = next;
    }
    play.head(exchange, 503, "").take_commands();
    play.sleep(at + 3_600_000);
    assert_eq!((play.ordered(), play.state("a")), (vec![], ServerState::Connected));
}

/// F-073: what needs no answer may be answered with anything; a message is heard all the same.
#[test]
fn what_answers_a_notification_is_heard_if_it_is_a_message() {
    for (content, text, heard) in [
        (JSON, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, 1),
        (JSON, "", 0),
        ("text/plain", r#"{"ok":true}"#, 0),
        ("text/html", "<html>", 0),
    ] {
        let mut play = Play::web();
        play.result(0, 1, HELLO).take_commands();
        play.events.clear();
        play.head(1, 200, content).body(1, text).end(1);
        let told = |event: &&Event| matches!(event, Event::Notified { .. });
        assert_eq!(play.events.iter().filter(told).count(), heard, "{text}");
        assert_eq!(play.runtime.status().servers[0].skipped_lines, 0, "{text}");
    }
}

/// A message is a body of its own: it ends where it ends.
#[test]
fn what_is_posted_has_no_line_end() {
    let mut play = ready();
    play.call(1, "a", "echo");
    let orders = play.orders();
    let body = &orders[0].request.as_ref().unwrap().body;
    assert_eq!(body.last(), Some(&b'}'));
}
