//! Remote servers over streamable HTTP.

use tidegate_core::command::{Command, SessionId};
use tidegate_core::error::{CallError, Exit, HttpFailure};
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::id::CallId;
use tidegate_core::input::Request;

use crate::play::{ECHO, HELLO, Play};
use crate::web::{EVENTS, JSON, cut, event, refused, result_event};

fn ready() -> Play {
    let mut play = Play::web();
    play.greet(0);
    assert_eq!(play.state("a"), ServerState::Connected);
    play.take_commands();
    play
}

fn failure(play: &Play, call: u64) -> &HttpFailure {
    match play.outcome(call) {
        Some(Outcome::Failed(CallError::Http { failure })) => failure,
        other => panic!("{other:?}"),
    }
}

/// C-LIFE-02, C-LHTTP-01, C-LHTTP-02, F-077, G46, D42: nothing waits for the stream.
#[test]
fn a_remote_server_is_greeted_listed_and_listened_to() {
    let mut play = Play::web();
    let connect = play.commands.iter().find_map(|command| match command {
        Command::Connect { remote, .. } => Some(remote.clone()),
        _ => None,
    });
    let remote = connect.expect("the driver is told where the server is");
    assert_eq!((remote.url.plain(), remote.connect_ms), (Some("https://a.test/mcp"), 10_000));
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x0 POST initialize");
    assert_eq!(orders[0].request.as_ref().unwrap().session, SessionId::Keep);
    assert_eq!(orders[0].header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(orders[0].header("mcp-protocol-version"), None);

    play.result_on(0, 0, 1, HELLO, true);
    let orders = play.orders();
    assert_eq!(
        orders.iter().map(|it| it.short()).collect::<Vec<_>>(),
        ["x1 POST notifications/initialized", "x2 GET"],
        "the list waits until the handshake has arrived"
    );
    assert_eq!(orders[0].request.as_ref().unwrap().session, SessionId::Send);
    assert_eq!(orders[0].header("mcp-protocol-version"), Some("2025-06-18"));
    assert_eq!(orders[1].header("accept"), Some(EVENTS));

    play.head(1, 202, JSON);
    assert_eq!(play.ordered(), ["x3 POST tools/list"]);
    play.end(1).result(3, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-HTTP-03, G45, D41: what follows the answer is heard.
#[test]
fn a_call_is_answered_by_a_stream_and_what_follows_is_heard() {
    let mut play = ready();
    play.call(1, "a", "echo");
    assert_eq!(play.ordered(), ["x4 POST tools/call"]);
    let progress =
        event(r#"{"method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#);
    play.head(4, 200, EVENTS).body(4, &progress);
    assert!(play.events.iter().any(|event| matches!(event, Event::CallProgressed { .. })));
    let ping = event(r#"{"id":7,"method":"ping"}"#);
    play.body(4, &format!("{}{ping}", result_event(3)));
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
    assert_eq!(play.ordered(), ["x5 POST answer"], "G49");
}

/// C-LHTTP-08 to C-LHTTP-10: the first try comes exactly when the server wants it.
#[test]
fn a_stream_that_ends_before_the_answer_is_gone_on_with() {
    let mut play = ready();
    play.call(1, "a", "echo");
    play.head(4, 200, EVENTS).body(4, "id: e1\nretry: 500\ndata:\n\n").end_on(0, 4, cut());
    play.orders();
    let (at, _) = (play.now, play.sleep(499));
    assert_eq!((at, play.ordered()), (0, vec![]));
    play.sleep(500);
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x5 GET");
    assert_eq!(orders[0].header("last-event-id"), Some("e1"));
    play.head(5, 200, EVENTS).body(5, &result_event(3));
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// C-LHTTP-11, F-069: only that request is lost.
#[test]
fn a_stream_that_ends_without_an_id_loses_its_request_alone() {
    let mut play = ready();
    play.call(1, "a", "echo").call(2, "a", "echo");
    play.head(4, 200, EVENTS).body(4, ": hello\n\n").end(4);
    assert_eq!(failure(&play, 1), &HttpFailure::NoAnswer);
    assert_eq!(play.outcome(2), None);
    play.result(5, 4, r#"{"content":[]}"#);
    assert!(matches!(play.outcome(2), Some(Outcome::Answered(_))));
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// F-072, and the second system's 404 for 405.
#[test]
fn any_refusal_of_the_stream_means_that_there_is_none() {
    for (status, content) in
        [(404, JSON), (405, JSON), (406, JSON), (501, JSON), (401, ""), (200, JSON)]
    {
        let mut play = ready();
        play.head(2, status, content);
        assert_eq!(play.ordered(), ["abort x2"], "{status}");
        play.sleep(120_000);
        assert_eq!((play.ordered(), play.state("a")), (vec![], ServerState::Connected), "{status}");
    }
}

/// F-072, D42: the stream is asked for with the end of the handshake, before which some servers
/// know no session.
#[test]
fn a_server_to_which_the_stream_came_too_early_is_asked_for_it_once_more() {
    let mut play = ready();
    play.head(2, 400, JSON);
    assert_eq!(play.ordered(), ["abort x2"]);
    play.sleep(1_000);
    assert_eq!(play.ordered(), ["x4 GET"]);
    play.head(4, 400, JSON);
    assert_eq!(play.ordered(), ["abort x4"]);
    play.sleep(120_000);
    assert_eq!((play.ordered(), play.state("a")), (vec![], ServerState::Connected));
}

/// G47.
#[test]
fn the_stream_is_opened_again_after_its_last_event() {
    let mut play = ready();
    play.head(2, 200, EVENTS).body(2, "id: 9\ndata: {\"method\":\"x\"}\n\n").end(2);
    play.sleep(999);
    assert_eq!(play.ordered(), Vec::<String>::new());
    play.sleep(1_000);
    let orders = play.orders();
    assert_eq!(orders[0].header("last-event-id"), Some("9"));
    assert_eq!(play.state("a"), ServerState::Connected);
    play.head(4, 200, EVENTS).end(4).sleep(2_999);
    assert_eq!(play.ordered(), Vec::<String>::new(), "it brought nothing: that waits longer");
    play.sleep(3_000);
    assert_eq!(play.ordered(), ["x5 GET"]);
    play.head(5, 200, EVENTS).body(5, "id: 10\n\n").end(5).sleep(4_000);
    assert_eq!(play.ordered(), ["x6 GET"], "an event without data is something");
}

/// F-070, F-071, C-LHTTP-03, G40, G48.
#[test]
fn a_lost_session_is_begun_anew_and_the_call_is_made_once_more() {
    for (status, text) in [(404, ""), (400, "Session not found")] {
        let mut play = ready();
        play.call(1, "a", "echo").call(2, "a", "echo");
        play.take_commands();
        play.whole(4, status, text);
        assert_eq!(play.outcome(1), None);
        assert_eq!(play.outcome(2), Some(&Outcome::Failed(CallError::Closed)));
        let commands = play.take_commands();
        let is_delete = |c: &Command| matches!(c, Command::Exchange { .. });
        assert!(!commands.iter().any(is_delete), "the session is over: {commands:?}");
        assert!(matches!(commands.last(), Some(Command::Kill { .. })));
        play.closed(0, Exit::Unknown).sleep(1).reached(1);
        let orders = play.orders();
        assert_eq!(orders[0].request.as_ref().unwrap().session, SessionId::Keep);
        play.greet(1);
        assert_eq!(
            play.ordered(),
            [
                "x1 POST notifications/initialized",
                "x2 GET",
                "x3 POST tools/list",
                "x4 POST tools/call"
            ]
        );
        play.whole_on_1(4, 404);
        assert_eq!(failure(&play, 1), &HttpFailure::SessionLost, "twice at most");
    }
}

impl Play {
    fn whole_on_1(&mut self, exchange: u64, status: u16) -> &mut Self {
        self.head_on(1, exchange, status, &[], false).end_on(1, exchange, Ok(()))
    }
}

/// A refusal that says nothing of a session is the answer to that call alone.
#[test]
fn a_refusal_with_a_message_of_the_protocol_is_the_answer() {
    let mut play = ready();
    play.call(1, "a", "echo").call(2, "a", "echo").call(3, "a", "echo");
    play.whole(4, 400, r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}"#);
    assert!(
        matches!(play.outcome(1), Some(Outcome::Failed(CallError::Rpc { error })) if error.code == -32602)
    );
    play.whole(5, 400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#);
    assert!(
        matches!(play.outcome(2), Some(Outcome::Failed(CallError::Rpc { error })) if error.code == -32000),
        "C-RPC-08"
    );
    play.whole(6, 500, "<p>broken</p>");
    let status = HttpFailure::Status { status: 500, excerpt: "<p>broken</p>".into() };
    assert_eq!(
        (failure(&play, 3), play.state("a")),
        (&status, ServerState::Connected),
        "C-HTTP-06"
    );
}

/// F-073.
#[test]
fn a_notification_may_be_answered_with_anything() {
    for status in [200, 202, 204, 400] {
        let mut play = Play::web();
        play.result_on(0, 0, 1, HELLO, false).head(1, status, "text/plain").body(1, "ok").end(1);
        play.result(3, 2, ECHO);
        assert_eq!(play.state("a"), ServerState::Connected, "{status}");
    }
}

/// F-074, C-HTTP-07.
#[test]
fn only_307_and_308_are_followed_and_not_for_ever() {
    let mut play = ready();
    play.call(1, "a", "echo");
    play.take_commands();
    play.head_on(0, 4, 307, &[("location", "/mcp/")], false);
    assert_eq!(play.ordered(), ["abort x4", "x5 POST /mcp/ tools/call"]);
    for hop in 5..9 {
        play.head_on(0, hop, 308, &[("location", "x")], false);
    }
    play.take_commands();
    play.head_on(0, 9, 307, &[("location", "x")], false);
    assert_eq!(failure(&play, 1), &HttpFailure::TooManyRedirects { limit: 5 });

    play.call(2, "a", "echo").head_on(0, 10, 302, &[("location", "https://b.test/")], false);
    let location = "https://b.test/".into();
    assert_eq!(failure(&play, 2), &HttpFailure::Elsewhere { status: 302, location });
}

/// C-HTTP-07: 308 says where the server is from then on, 307 where it is this once.
#[test]
fn who_moved_for_good_is_asked_at_the_new_place_from_then_on() {
    let mut play = Play::web();
    play.head_on(0, 0, 308, &[("location", "/mcp/")], false);
    play.result_on(0, 1, 1, HELLO, true);
    assert_eq!(
        play.ordered()[2..],
        ["x1 POST /mcp/ initialize", "x2 POST /mcp/ notifications/initialized", "x3 GET /mcp/"]
    );
    play.head(2, 202, JSON).end(2).head_on(0, 3, 307, &[("location", "once")], false);
    assert_eq!(play.ordered(), ["x4 POST /mcp/ tools/list", "abort x3", "x5 GET /mcp/ once"]);
    play.result(4, 2, ECHO).head(5, 200, EVENTS).end(5).sleep(1_000);
    assert_eq!(play.ordered(), ["x6 GET /mcp/ once"], "the same stream goes on where it was");
    play.call(1, "a", "echo").head(7, 200, EVENTS).body(7, "id: e\ndata:\n\n").end_on(0, 7, cut());
    play.sleep(2_000).host(Request::Shutdown);
    assert_eq!(
        play.ordered(),
        ["x7 POST /mcp/ tools/call", "x8 GET /mcp/", "abort x6", "abort x8", "x9 DELETE /mcp/"]
    );
}

/// C-CANC-01, C-CANC-03, G42.
#[test]
fn a_cancelled_call_is_broken_off_and_the_server_is_told() {
    let mut play = ready();
    play.call(1, "a", "echo").head(4, 200, EVENTS);
    play.take_commands();
    play.host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(play.ordered(), ["abort x4", "x5 POST notifications/cancelled"]);
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
}

/// C-LHTTP-05, G4, G6, G48, D43.
#[test]
fn a_session_is_ended_once_and_nobody_waits_for_long() {
    for answered in [true, false] {
        let mut play = ready();
        play.call(1, "a", "echo").take_commands();
        play.host(Request::Shutdown);
        assert!(play.outcome(1).is_some(), "it ends at once");
        assert_eq!(play.ordered(), ["abort x2", "abort x4", "x5 DELETE"]);
        if answered {
            play.head(5, 405, JSON);
        } else {
            play.sleep(1_000);
        }
        assert!(matches!(play.take_commands()[..], [Command::Kill { .. }]), "{answered}");
        play.closed(0, Exit::Unknown);
        assert!(play.runtime.is_stopped());
    }
}

#[test]
fn without_a_session_there_is_nothing_to_end() {
    let mut play = Play::web();
    play.result(0, 1, HELLO).head(1, 202, JSON).end(1).result(3, 2, ECHO).take_commands();
    play.host(Request::Shutdown);
    assert!(matches!(play.take_commands()[..], [Command::Abort { .. }, Command::Kill { .. }]));
}

#[test]
fn a_server_that_is_busy_is_asked_again_when_it_says() {
    for (headers, wait) in [(&[("retry-after", "3")][..], 3_000), (&[], 1_000)] {
        let mut play = Play::web();
        play.take_commands();
        play.head_on(0, 0, 503, headers, false);
        assert_eq!(play.ordered(), ["abort x0"]);
        play.sleep(wait - 1);
        assert_eq!(play.ordered(), Vec::<String>::new());
        play.sleep(wait);
        assert_eq!(play.ordered(), ["x1 POST initialize"]);
    }
    let mut play = Play::web();
    play.head_on(0, 0, 429, &[("retry-after", "3600")], false).end(0);
    assert!(matches!(play.state("a"), ServerState::Failed { .. }), "longer than it may take");
}

/// D47, G40, G41: what did not reach the server is sent when the server is back.
#[test]
fn a_call_that_did_not_reach_the_server_waits_for_it() {
    let mut play = ready();
    play.call(1, "a", "echo").end_on(0, 4, refused());
    assert_eq!(play.outcome(1), None);
    assert!(matches!(play.state("a"), ServerState::Retrying { .. }));
    play.sleep(1_000).closed(0, Exit::Unknown).sleep(2_000).reached(1).greet(1);
    play.result_on(1, 4, 3, r#"{"content":[]}"#, false);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// D40, G38, L10.
#[test]
fn an_answer_that_stalls_or_never_ends_ends_its_call() {
    let mut play = ready();
    play.call_within(1, "a", "echo", None).head(4, 200, JSON).body(4, "{");
    play.sleep(30_000);
    assert_eq!(failure(&play, 1), &HttpFailure::Stalled { limit_ms: 30_000 });
    play.call(2, "a", "echo").head(5, 200, EVENTS).sleep(89_999);
    assert_eq!(play.outcome(2), None);
    play.sleep(90_000);
    assert_eq!(play.outcome(2), Some(&Outcome::Failed(CallError::TimedOut { limit_ms: 60_000 })));
}

/// D44, G39.
#[test]
fn an_answer_to_something_else_is_no_answer() {
    for text in [r#"{"id":99,"result":{}}"#, "null", "[]", "", "oops"] {
        let mut play = ready();
        play.call(1, "a", "echo").whole(4, 200, text);
        assert_eq!(failure(&play, 1), &HttpFailure::NoAnswer, "{text}");
        assert_eq!(play.state("a"), ServerState::Connected, "{text}");
    }
    let mut play = ready();
    play.call(1, "a", "echo").head(4, 200, "text/html").body(4, "<html>").end(4);
    assert_eq!(failure(&play, 1), &HttpFailure::ContentType { found: "text/html".into() });
}

/// As of a line: some servers write a byte order mark before their JSON.
#[test]
fn a_byte_order_mark_before_an_answer_is_none_of_it() {
    let mut play = ready();
    play.call(1, "a", "echo").whole(4, 200, "\u{feff}{\"id\":3,\"result\":{\"content\":[]}}");
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))), "{:?}", play.outcome(1));
}

/// L10.
#[test]
fn an_answer_that_is_too_large_ends_its_call_alone() {
    let mut options = tidegate_core::options::Options::new(
        "/project",
        vec![tidegate_core::config::Source::inline(
            "test",
            r#"{"mcpServers":{"a":{"url":"https://a.test/","protocol":"legacy"}}}"#,
        )],
    );
    options.limits.message_bytes = 400;
    let mut play = Play::with(options);
    play.start().reached(0).greet(0).call(1, "a", "echo").call(2, "a", "echo");
    play.take_commands();
    play.head(4, 200, JSON).body(4, &"x".repeat(300)).body(4, &"x".repeat(101));
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::TooLarge { limit: 400 })));
    assert_eq!(play.ordered(), ["abort x4"]);
    play.head(5, 200, EVENTS).body(5, &event(&"x".repeat(401)));
    assert_eq!(play.outcome(2), Some(&Outcome::Failed(CallError::TooLarge { limit: 400 })));
    assert_eq!(play.state("a"), ServerState::Connected);
}
