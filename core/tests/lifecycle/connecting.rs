//! Disconnecting and connecting again.

use tidegate_core::bytes::{Bytes, Json};
use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{Category, Cause, Excess, Exit, Problem};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState};
use tidegate_core::id::{ConnId, OpId, ServerName};
use tidegate_core::input::{Fact, Request};
use tidegate_core::options::Options;
use tidegate_core::tools::catalog::ToolState;

use crate::play::{ECHO, HELLO, Play, one, two};

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

/// What came in one chunk after the end of a conversation changes nothing any more.
#[test]
fn an_answer_in_the_same_chunk_as_a_fatal_one_does_not_revive_the_server() {
    let mut options = Options::new(
        "/project",
        vec![Source::inline("test", r#"{"mcpServers":{"a":{"command":"a"}}}"#)],
    );
    options.limits.message_bytes = 512;
    let mut play = Play::with(options);
    play.start().opened(0);
    play.take_commands();
    let endless = format!(r#"{{"jsonrpc":"2.0","result":"{}"}}"#, "x".repeat(600));
    let hello = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{HELLO}}}"#);
    play.says(0, &format!("{endless}\n{hello}"));
    assert_eq!(play.take_commands(), [Command::CloseInput { conn: ConnId::new(0) }]);
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::Limit { what: Excess::Message, limit: 512 });
}

/// G44: what a server says in one breath is what it says line by line, also where a line answers
/// what the line before it led us to ask.
#[test]
fn where_a_stream_is_cut_makes_no_difference_to_what_follows_from_it() {
    let answer = |id, result| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
    let log = |level| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"{level}\"}}}}\n"
        )
    };
    let next = ECHO.replace("}]}", "}],\"nextCursor\":\"2\"}").replace("echo", "other");
    let stream = [
        log("one"),
        answer(1, HELLO),
        answer(2, &next),
        answer(3, ECHO),
        answer(4, r#"{"content":[]}"#),
        answer(1, HELLO),
        log("two"),
    ]
    .concat();
    let heard = |cuts: usize| {
        let mut play = one();
        play.start().opened(0).call(1, "a", "echo");
        for piece in stream.as_bytes().chunks(cuts) {
            let bytes = Bytes(piece.to_vec());
            play.io(Fact::Received { conn: ConnId::new(0), bytes });
        }
        assert_eq!(play.state("a"), ServerState::Connected);
        assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
        // What is derived from servers is said once at the end of each step, states the last
        // only.
        play.events.retain(|event| !matches!(event, Event::ServerChanged { .. }));
        let mut events: Vec<String> = play.events.iter().map(|it| format!("{it:?}")).collect();
        events.sort();
        (play.take_commands(), events)
    };
    let whole = heard(stream.len());
    for cuts in [1, 7, 100, 200] {
        assert_eq!(heard(cuts), whole, "cut into pieces of {cuts} bytes");
    }
}

/// G36: what is not followed is said, also if following begins long after the list came.
#[test]
fn resources_that_are_too_many_to_be_followed_are_a_problem_whenever_following_begins() {
    let source = Source::inline("test", r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    let mut options = Options::new("/project", vec![source]);
    options.limits.subscriptions_per_server = 1;
    let mut play = Play::with(options);
    let hello = HELLO.replace("\"tools\":{}", "\"resources\":{\"subscribe\":true}");
    play.start().opened(0).answers(0, 1, &hello);
    play.answers(0, 2, r#"{"resources":[{"uri":"r:1","name":"1"},{"uri":"r:2","name":"2"}]}"#);
    play.answers(0, 3, r#"{"resourceTemplates":[]}"#).host(Request::Watch { on: true });
    let problem = |event: &Event| match event {
        Event::ProblemFound(problem) => Some(problem.clone()),
        _ => None,
    };
    let problems: Vec<Problem> = play.events.iter().filter_map(problem).collect();
    let [told] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(told.category, Category::NotSubscribed);
    assert_eq!(told.server, Some(ServerName::new("a")));
    assert_eq!((told.file.as_deref(), told.line), (Some("test"), Some(1)));
    assert!(told.message.contains("Limits::subscriptions_per_server"), "{}", told.message);
    assert!(play.sent().contains("resources/subscribe"));
}

/// L10: what is kept and repeated quotes no more of a server than the bound.
#[test]
fn a_server_that_writes_megabytes_into_names_and_refusals_fills_no_message_with_them() {
    let long = "x".repeat(1_000_000);
    let mut play = one();
    play.start().opened(0).answers(0, 1, HELLO);
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","id":"{long}","result":{{}}}}"#));
    let tool = format!(r#"{{"name":"{long}","inputSchema":{{"type":"object"}}}}"#);
    play.answers(0, 2, &format!(r#"{{"tools":[{tool},{tool}]}}"#));
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","error":{{"code":1,"message":"{long}"}}}}"#));
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#));
    let sent = play.sent();
    assert!(sent.len() < 4_000, "{} bytes are sent", sent.len());
    let problems = play.runtime.status().problems;
    assert!(problems.len() >= 3, "{}", problems.len());
    assert!(problems.iter().all(|problem| problem.message.len() < 1_000));

    let mut play = one();
    play.start().opened(0);
    let error = format!(r#"{{"code":1,"message":"{long}","data":"{long}"}}"#);
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert!(failure.describe(&"a".into()).len() < 1_000);
    assert!(format!("{failure:?}").len() < 2_000);

    let mut play = one();
    let hello = HELLO.replace("2025-06-18", &long);
    play.start().opened(0).answers(0, 1, &hello);
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert!(format!("{failure:?}").len() < 2_000);
}
