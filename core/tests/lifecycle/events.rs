//! Remote servers over HTTP with server-sent events, as of 2024-11-05.

use tidegate_core::command::Command;
use tidegate_core::error::{
    CallError, Cause, ExchangeError, ExchangeFault, Exit, HttpFailure, Sent,
};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::input::Request;

use crate::play::{ECHO, HELLO, Play};
use crate::web::{EVENTS, JSON, cut, event, refused, result_event};

fn message(id: u64, result: &str) -> String {
    event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

/// Connected: x0 is the stream.
fn ready() -> Play {
    let mut play = Play::remote("sse");
    play.head(0, 200, EVENTS).body(0, "event: endpoint\ndata: /messages?s=1\n\n");
    play.head(1, 202, JSON).end(1).body(0, &message(1, HELLO));
    play.head(2, 202, JSON).end(2).head(3, 202, JSON).end(3).body(0, &message(2, ECHO));
    assert_eq!(play.state("a"), ServerState::Connected);
    play.take_commands();
    play
}

fn cause(play: &Play) -> HttpFailure {
    match play.state("a") {
        ServerState::Failed { failure } => match failure.cause {
            Cause::Http { failure } => failure,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// D46, C-OLD-02, C-OLD-04.
#[test]
fn messages_go_where_the_stream_says_and_answers_come_by_it() {
    let mut play = Play::remote("sse");
    assert_eq!(play.ordered(), ["x0 GET"]);
    play.head(0, 200, EVENTS).body(0, "event: endpoint\ndata: /messages?s=1\n\n");
    assert_eq!(play.ordered(), ["x1 POST /messages?s=1 initialize"]);
    play.head(1, 200, JSON).body(1, "accepted").end(1).body(0, &message(1, HELLO));
    assert_eq!(
        play.ordered(),
        ["x2 POST /messages?s=1 notifications/initialized", "x3 POST /messages?s=1 tools/list"]
    );
    play.body(0, &message(2, ECHO));
    assert_eq!(play.state("a"), ServerState::Connected);
    play.call(1, "a", "echo").body(0, &result_event(3));
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// F-079, C-OLD-04.
#[test]
fn the_end_of_the_stream_ends_the_session_and_another_one_is_begun() {
    let mut play = ready();
    play.call(1, "a", "echo").end(0);
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::Closed)));
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }));
    play.closed(0, Exit::Unknown).take_commands();
    play.sleep(1_000).reached(1);
    assert_eq!(play.ordered(), ["x0 GET"]);
}

/// F-080, C-OLD-03.
#[test]
fn an_endpoint_elsewhere_is_refused_by_name() {
    let mut play = Play::remote("sse");
    play.head(0, 200, EVENTS).body(0, "event: endpoint\ndata: http://0.0.0.0:1/msg\n\n");
    let fault = ExchangeFault::ForeignOrigin { origin: "http://0.0.0.0:1".into() };
    play.end_on(0, 1, Err(ExchangeError { fault, sent: Sent::Nothing }));
    assert!(cause(&play).to_string().contains("http://0.0.0.0:1"), "{}", cause(&play));
}

/// C-VER-17, F-075.
#[test]
fn a_server_that_does_not_know_streamable_http_is_asked_the_older_way() {
    for status in [400, 404, 405] {
        let mut play = Play::web();
        play.take_commands();
        play.whole(0, status, "<html>no</html>");
        assert_eq!(play.ordered(), ["x1 GET"], "{status}");
        play.head(1, 200, EVENTS).body(1, "event: endpoint\ndata: /m\n\n");
        assert_eq!(play.ordered(), ["x2 POST /m initialize"], "{status}");
    }
}

/// F-075: the first error is shown first.
#[test]
fn where_both_ways_fail_both_are_told() {
    let mut play = Play::web();
    play.whole(0, 404, "nothing here").head(1, 405, JSON);
    let HttpFailure::Neither { first, second } = cause(&play) else { panic!() };
    assert_eq!(*first, HttpFailure::Status { status: 404, excerpt: "nothing here".into() });
    assert_eq!(*second, HttpFailure::Status { status: 405, excerpt: String::new() });

    let mut play = Play::web();
    play.whole(0, 400, "no").head(1, 200, EVENTS).sleep(10_000);
    assert!(matches!(cause(&play), HttpFailure::Neither { .. }), "a stream that says nothing");
}

/// F-075, C-VER-16.
#[test]
fn any_other_refusal_is_the_failure() {
    for status in [401, 403, 500] {
        let mut play = Play::web();
        play.whole(0, status, "no");
        assert_eq!(cause(&play), HttpFailure::Status { status, excerpt: "no".into() });
    }
    let mut play = Play::web();
    play.end_on(0, 0, refused());
    assert!(matches!(cause(&play), HttpFailure::Exchange(_)));
}

/// C-OLD-04: a message was taken, and how what is said to that ends means nothing.
#[test]
fn a_request_does_not_end_with_what_is_said_to_its_message() {
    let mut play = ready();
    let calls = play.call(1, "a", "echo").orders();
    let exchange = calls[0].exchange;
    play.head(exchange, 202, JSON).end_on(0, exchange, cut());
    assert_eq!(play.outcome(1), None);
    let calls = play.call(2, "a", "echo").orders();
    play.head(calls[0].exchange, 202, JSON).sleep(31_000);
    assert_eq!(play.outcome(2), None);
}

#[test]
fn an_older_server_is_let_go_without_a_word() {
    let mut play = ready();
    play.host(Request::Shutdown);
    assert!(matches!(play.take_commands()[..], [Command::Abort { .. }, Command::Kill { .. }]));
}
