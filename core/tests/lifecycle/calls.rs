//! Calls, what servers ask, and what they must not say.

use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Category, Cause, Exit, Severity};
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::{CallId, ConnId, ServerName};
use tidegate_core::input::{Fact, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::tools::proxy::SUBAGENT_CALL_MS;

use crate::play::{ECHO, HELLO, Play, one, two};

/// C-CANC-01, G42: cancelling tells the server, ends at once, and discards the late answer.
#[test]
fn a_cancelled_call_is_aborted_and_its_server_told() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    play.take_commands();
    play.host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
    let sent = play.sent();
    assert!(sent.contains("notifications/cancelled") && sent.contains(r#""requestId":3"#));
    play.answers(0, 3, "{}");
    assert_eq!(play.outcome(1), Some(&Outcome::Aborted));
}

/// F-065, F-069: progress extends the limit; at the limit only the call ends.
#[test]
fn progress_restarts_the_clock_of_a_call_and_silence_ends_only_the_call() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#;
    play.sleep(59_000).says(0, progress).sleep(118_999);
    assert_eq!(play.outcome(1), None);
    play.sleep(119_000);
    let timed_out = Outcome::Failed(CallError::TimedOut { limit_ms: 60_000 });
    assert_eq!(play.outcome(1), Some(&timed_out));
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// The limit of a subagent's call: the wait for the server and all progress are within it.
#[test]
fn a_call_with_a_limit_of_its_own_ends_there_however_much_progress_there_is() {
    let max_ms = Some(SUBAGENT_CALL_MS);
    let mut play = one();
    // It waits for its server for a second.
    play.start().call_within(1, "a", "echo", max_ms);
    play.sleep(1_000).connect(0);
    for at in (5_000..60_000).step_by(5_000) {
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#;
        play.sleep(at).says(0, progress);
    }
    play.sleep(59_999);
    assert_eq!(play.outcome(1), None);
    play.sleep(60_000);
    let timed_out = Outcome::Failed(CallError::TimedOut { limit_ms: 60_000 });
    assert_eq!(play.outcome(1), Some(&timed_out));
    assert!(play.sent().contains("notifications/cancelled"));
    assert_eq!(play.state("a"), ServerState::Connected);
    // A limit below the one without progress counts too.
    play.call_within(2, "a", "echo", Some(100)).sleep(60_100);
    let timed_out = Outcome::Failed(CallError::TimedOut { limit_ms: 100 });
    assert_eq!(play.outcome(2), Some(&timed_out));
}

/// L8: an answer that cannot be read is the only one there will be.
#[test]
fn a_call_ends_at_once_with_an_answer_that_cannot_be_read() {
    let spoiled: [&[u8]; 8] = [
        br#"{"jsonrpc":"2.0","id":3,"error":"no"}"#,
        br#"{"jsonrpc":"2.0","id":3,"error":{"code":99999999999999999999,"message":""}}"#,
        br#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}"#,
        br#"{"jsonrpc":"2.0","id":3,"result":{},"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":3,"result":{}}trailing"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":\"\0\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":\"\xff\"}}",
        b"{\"result\":{\"content\":\"\xff\"},\"jsonrpc\":\"2.0\",\"id\":3}",
    ];
    let deep = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{}"#, "[".repeat(10_000));
    for line in spoiled.into_iter().chain([deep.as_bytes()]) {
        let mut play = one();
        play.start().connect(0).call(1, "a", "echo");
        let bytes = [line, b"\n"].concat().into();
        play.io(Fact::Received { conn: ConnId::new(0), bytes });
        let line = String::from_utf8_lossy(line);
        let outcome = play.outcome(1);
        assert!(
            matches!(outcome, Some(Outcome::Failed(CallError::Shape { .. }))),
            "{line:.80}: {outcome:?}"
        );
        assert_eq!(play.state("a"), ServerState::Connected, "{line:.80}");
    }
}

/// What names no request of ours, or more than one, ends none.
#[test]
fn a_line_of_garbage_ends_no_call() {
    for line in [
        r#"{"jsonrpc":"2.0","id":4,"error":"no"}"#,
        r#"{"jsonrpc":"2.0","id":9,"id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#,
        r#"{"level":"error","id":3"#,
        r#"log: {"jsonrpc":"2.0","id":3,"result":{}}"#,
    ] {
        let mut play = one();
        play.start().connect(0).call(1, "a", "echo").says(0, line);
        assert_eq!(play.outcome(1), None, "{line}");
    }
}

/// C-RPC-10: what is well-formed in a batch counts, and what is not ends who waits for it (L8).
#[test]
fn a_malformed_element_of_a_batch_concerns_itself_only() {
    let mut play = one();
    play.start().opened(0).answers(0, 1, &HELLO.replace("2025-06-18", "2025-03-26"));
    play.answers(0, 2, ECHO).call(1, "a", "echo").call(2, "a", "echo").call(3, "a", "echo");
    play.says(
        0,
        r#"[{"id":3,"result":{"content":[]}},7,{"id":4,"error":7},{"id":5,"result":{"content":[]}}]"#,
    );
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))), "{:?}", play.outcome(1));
    let spoiled = play.outcome(2);
    assert!(matches!(spoiled, Some(Outcome::Failed(CallError::Shape { .. }))), "{spoiled:?}");
    assert!(matches!(play.outcome(3), Some(Outcome::Answered(_))), "{:?}", play.outcome(3));
    assert_eq!(play.runtime.status().servers[0].skipped_lines, 2);
}

/// C-RPC-13, L8: a batch of a revision that has none is dropped, and nobody waits for it.
#[test]
fn an_answer_in_a_batch_of_another_revision_ends_its_call_at_once() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    play.says(0, r#"[{"jsonrpc":"2.0","id":3,"result":{"content":[]}}]"#);
    let outcome = play.outcome(1);
    assert!(matches!(outcome, Some(Outcome::Failed(CallError::Shape { .. }))), "{outcome:?}");
}

/// C-RPC-06, F-044: only the very text of the number of an open request is taken for it.
#[test]
fn an_answer_with_our_number_as_text_is_taken_and_counted() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    for other in ["03", "+3", "3.0", " 3", "4", ""] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{other}","result":{{"content":[]}}}}"#);
        play.says(0, &answer);
        assert_eq!(play.outcome(1), None, "{other:?}");
    }
    play.says(0, r#"{"jsonrpc":"2.0","id":"3","result":{"content":[]}}"#);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))), "{:?}", play.outcome(1));
    let status = play.runtime.status();
    assert_eq!((status.servers[0].text_ids, status.servers[0].unknown_answers), (1, 6));
    assert!(status.problems.iter().any(|problem| problem.message.contains("the text \"3\"")));
    play.call(2, "a", "echo").says(0, r#"{"jsonrpc":"2.0","id":"4","result":{"content":[]}}"#);
    assert!(matches!(play.outcome(2), Some(Outcome::Answered(_))), "{:?}", play.outcome(2));
    let again = play.runtime.status();
    assert_eq!((again.servers[0].text_ids, again.problems), (2, status.problems));
}

/// L8: calls under way end in the step in which the server is lost.
#[test]
fn calls_end_at_once_when_their_server_dies() {
    let mut play = one();
    play.start().connect(0).call(1, "a", "echo");
    play.io(Fact::OutputEnded { conn: ConnId::new(0) });
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::Closed)));
    // That it is lost is said at once, why once that is known.
    let ServerState::Retrying { failure, start: 1 } = play.state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::OutputClosed);
    play.closed(0, Exit::Signal(9));
    let ServerState::Retrying { failure, start: 1 } = play.state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::Exited { exit: Exit::Signal(9) });
}

/// G9: after `Stopped` nothing comes, whatever is put in; F-013.
#[test]
fn a_shutdown_ends_everything_once_and_for_all() {
    let mut play = two();
    play.start().connect(0).opened(1).call(1, "a", "echo");
    play.host(Request::Shutdown);
    assert_eq!(play.outcome(1), Some(&Outcome::Failed(CallError::ShuttingDown)));
    assert!(play.gate_is_open());
    play.closed(0, Exit::Code(0)).closed(1, Exit::Code(0));
    assert_eq!(play.events.last(), Some(&Event::Stopped));
    assert!(play.runtime.is_stopped());
    let said = play.events.len();
    play.take_commands();
    play.start().opened(1).call(2, "a", "echo");
    assert_eq!((play.events.len(), play.take_commands()), (said, vec![]));
    assert_eq!(play.runtime.poll_timeout(), None);
}

/// C-VER-24, C-VER-23.
#[test]
fn a_refused_revision_is_retried_once_with_a_mutual_one() {
    let mut play = one();
    play.start().opened(0);
    assert!(play.sent().contains(r#""protocolVersion":"2025-11-25""#));
    play.says(
        0,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05","2024-10-07"]}}}"#,
    );
    assert!(play.sent().contains(r#""protocolVersion":"2024-11-05""#));
    play.answers(0, 2, &HELLO.replace("2025-06-18", "2024-11-05")).answers(0, 3, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-RPC-18, F-047, G49.
#[test]
fn the_servers_own_requests_are_answered_at_once() {
    let mut play = one();
    play.start().opened(0);
    play.take_commands();
    play.says(0, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(play.sent(), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n");
    play.says(0, r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#);
    assert!(play.sent().contains("file:///project"));
    play.says(0, r#"{"jsonrpc":"2.0","id":10,"method":"sampling/createMessage"}"#);
    let sent = play.sent();
    assert!(sent.contains("-32601") && sent.contains("Unsupported server request"), "{sent}");
}

/// F-041, G43: garbage harms nothing and is counted.
#[test]
fn lines_that_are_no_messages_are_skipped_and_counted() {
    let mut play = one();
    play.start().opened(0).says(0, "Starting…").says(0, "17").answers(0, 1, HELLO);
    play.says(0, "{not json").answers(0, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    let status = play.runtime.status();
    assert_eq!(status.servers[0].skipped_lines, 3);
    // It is told once, as something to know and not to mend.
    let severities: Vec<Severity> = status.problems.iter().map(|it| it.severity).collect();
    assert_eq!(severities, [Severity::Info]);
}

/// L7: a number that was used is refused, and the first call goes on.
#[test]
fn a_call_number_is_used_once() {
    let mut play = one();
    play.start().connect(0).call(5, "a", "echo").call(5, "a", "echo");
    assert!(play.events.contains(&Event::CallRefused { call: CallId::new(5) }));
    assert_eq!(play.outcome(5), None);
}

/// Issue 4: what a definition leaves out of its server's tools is neither offered nor called.
#[test]
fn a_tool_that_the_definition_leaves_out_is_neither_offered_nor_called() {
    let config = r#"{"mcpServers":{"a":{"command":"a","excludeTools":["echo"]}}}"#;
    let mut play = Play::new(config);
    let excluded = Outcome::Failed(CallError::ExcludedTool {
        server: ServerName::new("a"),
        tool: "echo".into(),
    });
    play.start().call(1, "a", "echo");
    assert_eq!(play.outcome(1), Some(&excluded), "also while its server still starts");
    play.connect(0).call(2, "a", "echo");
    assert_eq!(play.outcome(2), Some(&excluded));
    assert_eq!(play.tools(), []);
    let target = Target::Exposed("mcp_a_echo".into());
    let arguments = Json::new("{}".to_owned());
    let call = NewCall { call: CallId::new(3), target, arguments, timeout_ms: None, max_ms: None };
    play.host(Request::Call(call));
    assert_eq!(play.outcome(3), Some(&excluded));
    assert!(play.problems().iter().any(|problem| problem.0 == Category::ExcludedTools));
}

/// Seed runtime 1.8: the keys of a search that the host has itself are handed to the host.
#[test]
fn the_keys_of_the_exa_search_that_is_left_out_are_told_to_the_host() {
    let config = r#"{"mcpServers":{"exa":{"command":"e","env":{"EXA_API_KEY":"K1"}},
        "other":{"url":"https://mcp.exa.ai/?exaApiKey=K2"}}}"#;
    let mut options = Options::new("/p", vec![Source::inline("test", config)]);
    let mut play = Play::with(options.clone());
    play.start();
    assert!(play.runtime.exa_keys().is_empty(), "nothing is left out");
    options.policy = Policy::documented();
    let mut play = Play::with(options);
    play.start();
    assert_eq!(play.runtime.exa_keys(), ["K1", "K2"]);
    assert_eq!(play.runtime.status().servers.len(), 0);
}
