//! Servers without a handshake, once they are known to be that.

use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Category};
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::id::CallId;
use tidegate_core::input::Request;
use tidegate_core::options::Options;
use tidegate_core::wire::mcp::LogLevel;

use crate::eras::DISCOVERED;
use crate::play::{ECHO, HELLO, Play, one};
use crate::web::{EVENTS, cut, event};

const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

/// A remote one that is ready; the next exchange is x2, the next request 3.
fn web() -> Play {
    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, DISCOVERED).result(1, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    play.take_commands();
    play
}

/// A process that is ready; the next request is 3.
fn process() -> Play {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","protocol":"modern"}}}"#);
    play.start().opened(0).answers(0, 1, DISCOVERED).answers(0, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    play.take_commands();
    play
}

fn error(id: u64, code: i64, data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no","data":{data}}}}}"#
    )
}

fn failed(play: &Play, call: u64) -> &CallError {
    match play.outcome(call) {
        Some(Outcome::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// C-LOG-02, C-LOG-03.
#[test]
fn servers_are_told_how_much_to_log_in_the_way_of_their_era() {
    let with = |protocol: &str| {
        let config =
            format!(r#"{{"mcpServers":{{"a":{{"command":"a","protocol":"{protocol}"}}}}}}"#);
        let mut options = Options::new("/project", vec![Source::inline("test", &config)]);
        options.log_level = Some(LogLevel::Warning);
        Play::with(options)
    };
    let mut play = with("modern");
    play.start().opened(0).answers(0, 1, DISCOVERED).answers(0, 2, ECHO).call(1, "a", "echo");
    let sent = play.sent();
    assert!(sent.lines().all(|it| it.contains(r#""io.modelcontextprotocol/logLevel":"warning""#)));
    let mut play = with("legacy");
    let logs = HELLO.replace(r#""tools":{}"#, r#""tools":{},"logging":{}"#);
    play.start().opened(0).answers(0, 1, &logs);
    assert_eq!(play.asked().last().map(String::as_str), Some("3 logging/setLevel"));
    play.refuses(0, 3, -32603).answers(0, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-CANC-02, T-18: breaking off is how a call is called off, and nothing else is said.
#[test]
fn a_call_is_called_off_by_breaking_its_exchange_off() {
    let mut play = web();
    play.call(1, "a", "echo").call(2, "a", "echo");
    play.head(3, 200, EVENTS);
    assert_eq!(play.ordered(), ["x2 POST tools/call", "x3 POST tools/call"]);
    for call in [1, 2] {
        play.host(Request::Cancel { call: CallId::new(call) });
    }
    assert_eq!(play.ordered(), ["abort x2", "abort x3"]);
}

/// C-CANC-01.
#[test]
fn a_call_to_a_process_is_called_off_in_words() {
    let mut play = process();
    play.call(1, "a", "echo").host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(play.asked(), ["3 tools/call echo", "notifications/cancelled 3"]);
}

/// C-PROG-01, C-PROG-05, C-MHTTP-08, C-RPC-17, C-STDIO-04.
#[test]
fn a_request_of_a_server_is_counted_and_never_answered() {
    let mut play = web();
    play.call(1, "a", "echo").head(2, 200, EVENTS).take_commands();
    let progress =
        event(r#"{"method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#);
    play.body(2, &progress).body(2, &event(r#"{"id":9,"method":"ping"}"#));
    assert!(play.events.iter().any(|event| matches!(event, Event::CallProgressed { .. })));
    play.body(2, &event(&format!(r#"{{"jsonrpc":"2.0","id":3,"result":{DONE}}}"#))).end(2);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
    assert_eq!(play.ordered(), Vec::<String>::new());
    assert_eq!(play.problems()[0].0, Category::ProtocolViolation);

    let mut play = process();
    play.says(0, r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#);
    assert_eq!((play.asked(), play.problems().len()), (vec![], 1));
}

/// C-RPC-14 to C-RPC-16.
#[test]
fn a_result_of_a_type_that_nobody_agreed_on_is_none() {
    for (result, is_answer) in [
        (r#"{"content":[]}"#, true),
        (DONE, true),
        (r#"{"resultType":"task","taskId":"1"}"#, false),
        (r#"{"content":[],"resultType":7}"#, false),
    ] {
        let mut play = web();
        play.call(1, "a", "echo").result(2, 3, result);
        match play.outcome(1) {
            Some(Outcome::Answered(_)) if is_answer => {}
            Some(Outcome::Failed(CallError::Shape { .. })) if !is_answer => {}
            other => panic!("{result}: {other:?}"),
        }
    }
    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, DISCOVERED).result(1, 2, r#"{"resultType":"input_required"}"#);
    assert!(matches!(play.state("a"), ServerState::Failed { .. }), "a list asks for nothing");
}

/// C-MHTTP-07, C-HTTP-08, C-MHTTP-09: a call is lost, whatever ids its stream had; a list is asked
/// for once more, under another number (C-RPC-04).
#[test]
fn a_stream_that_ends_loses_a_call_and_not_a_list() {
    let mut play = web();
    play.call(1, "a", "echo").head(2, 200, EVENTS).body(2, "id: 1\nretry: 5\ndata:\n\n");
    play.end_on(0, 2, cut());
    assert!(matches!(failed(&play, 1), CallError::Http { .. }));
    play.sleep(60_000);
    assert_eq!(play.ordered(), ["x2 POST tools/call"]);

    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, DISCOVERED).head(1, 200, EVENTS).end_on(0, 1, cut());
    let orders = play.orders();
    assert_eq!(orders[2].short(), "x2 POST tools/list");
    play.result(2, 3, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);

    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, DISCOVERED).end_on(0, 1, cut()).end_on(0, 2, cut());
    assert!(matches!(play.state("a"), ServerState::Failed { .. }), "once is enough");
}

/// C-VER-02, C-VER-30: a refusal before anything was done.
#[test]
fn a_call_in_a_revision_that_was_refused_is_made_once_more() {
    let supported = r#"{"supported":["2026-07-28"]}"#;
    let mut play = web();
    play.call(1, "a", "echo").whole(2, 400, &error(3, -32022, supported));
    assert_eq!(play.ordered(), ["x2 POST tools/call", "x3 POST tools/call"]);
    play.whole(3, 400, &error(4, -32022, supported));
    assert_eq!(play.ordered(), Vec::<String>::new());
    assert!(matches!(failed(&play, 1), CallError::Rpc { error } if error.code == -32022));

    let mut play = process();
    play.call(1, "a", "echo").says(0, &error(3, -32022, supported));
    assert_eq!(play.asked(), ["3 tools/call echo", "4 tools/call echo"]);
    play.answers(0, 4, DONE);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
    play.call(2, "a", "echo").says(0, &error(5, -32022, r#"{"supported":["2099-01-01"]}"#));
    assert!(matches!(failed(&play, 2), CallError::Rpc { .. }), "there is no other one");
}

/// C-XHDR-09: the list says what the headers have to say.
#[test]
fn a_call_whose_headers_were_wrong_is_made_once_more_after_the_list() {
    let mut play = web();
    play.call(1, "a", "echo").whole(2, 400, &error(3, -32020, "null"));
    assert_eq!(play.ordered(), ["x2 POST tools/call", "x3 POST tools/list"]);
    assert_eq!(play.outcome(1), None);
    play.result(3, 4, ECHO);
    assert_eq!(play.ordered(), ["x4 POST tools/call"]);
    play.whole(4, 400, &error(5, -32020, "null"));
    assert!(matches!(failed(&play, 1), CallError::Rpc { error } if error.code == -32020));
    assert_eq!(play.ordered(), Vec::<String>::new(), "once is enough");

    let mut play = web();
    play.call(1, "a", "echo").whole(2, 400, &error(3, -32020, "null")).take_commands();
    play.whole(3, 500, "");
    assert_eq!(play.ordered(), ["x4 POST tools/call"], "with the list that is there");
}

/// C-META-04, -32021: told with what is missing, and not tried again.
#[test]
fn a_call_that_needs_more_of_the_host_says_what() {
    let mut play = web();
    let needs = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
    play.call(1, "a", "echo").whole(2, 400, &error(3, -32021, needs));
    let CallError::Rpc { error } = failed(&play, 1) else { panic!() };
    assert_eq!(error.message, "no; it needs a host with elicitation.form");
    assert_eq!(play.ordered(), ["x2 POST tools/call"]);
}

/// C-MHTTP-06: no session, no stream, no goodbye.
#[test]
fn a_remote_server_without_a_handshake_is_left_without_a_word() {
    let mut play = Play::web_with(r#""protocol":"auto""#);
    play.result_on(0, 0, 1, DISCOVERED, true).result_on(0, 1, 2, ECHO, true).take_commands();
    play.sleep(60_000).host(Request::Shutdown);
    assert_eq!(play.ordered(), Vec::<String>::new());
}

#[test]
fn a_process_without_a_handshake_is_ended_like_any_other() {
    let mut play = one();
    play.start().opened(0).refuses(0, 1, -32601).answers(0, 2, DISCOVERED).answers(0, 3, ECHO);
    play.call(1, "a", "echo").answers(0, 4, DONE);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// C-XHDR-05, C-XHDR-06, C-XHDR-10.
#[test]
fn headers_say_what_a_tool_wants_in_them_and_a_tool_for_which_they_cannot_is_left_out() {
    let tool = |name: &str, header: &str| {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"to":{{"type":"string","x-mcp-header":"{header}"}}}}}}}}"#
        )
    };
    let tools = format!(r#"{{"tools":[{},{}]}}"#, tool("good", "To"), tool("bad", "a b"));
    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, DISCOVERED).result(1, 2, &tools).take_commands();
    assert_eq!(play.tools().len(), 1);
    let (category, message) = play.problems()[0];
    assert_eq!(category, Category::InvalidTool);
    assert!(message.contains("\"bad\" is left out"), "{message}");
    play.call_with(1, "good", r#"{"to":"Zürich"}"#);
    let orders = play.orders();
    assert_eq!(orders[0].header("mcp-param-to"), Some("=?base64?WsO8cmljaA==?="));

    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","protocol":"modern"}}}"#);
    play.start().opened(0).answers(0, 1, DISCOVERED).answers(0, 2, &tools);
    assert_eq!(play.tools().len(), 2, "a process has no headers");
}

const TELLING: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}"#;
const FILES: &str = r#"{"resources":[{"uri":"file:///a","name":"a"}]}"#;
const NO_TEMPLATES: &str = r#"{"resourceTemplates":[]}"#;

fn acknowledged(id: u64, changes: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{changes}}}}}"#
    )
}

const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// A remote one that listens by x4, request 5; the next exchange is x5, the next request 6.
fn listening() -> Play {
    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, TELLING).result(1, 2, ECHO);
    assert_eq!(play.orders().last().unwrap().short(), "x3 POST subscriptions/listen");
    play.result(2, 3, FILES).result(4, 5, NO_TEMPLATES).take_commands();
    play.head(3, 200, EVENTS).body(3, &event(&acknowledged(4, r#"{"toolsListChanged":true}"#)));
    play
}

/// C-SUB-01 to C-SUB-03, C-SUB-08, C-TOOL-10.
#[test]
fn what_a_server_declares_is_listened_for_and_heeded() {
    let mut play = listening();
    play.body(3, &event(TOOLS_CHANGED)).sleep(300);
    assert_eq!(play.ordered(), ["x5 POST tools/list"]);
    let mut play = process();
    play.sleep(60_000);
    assert_eq!(play.asked(), Vec::<String>::new(), "it declares nothing");
}

/// C-SUB-07: and what may have been missed is read again.
#[test]
fn a_subscription_that_is_lost_is_made_again_and_what_was_missed_is_read() {
    let mut play = listening();
    play.end_on(0, 3, cut()).sleep(999);
    assert_eq!(play.ordered(), Vec::<String>::new());
    play.sleep(1_000);
    assert_eq!(play.ordered(), ["x5 POST subscriptions/listen"]);
    play.head(5, 200, EVENTS).body(5, &event(&acknowledged(6, r#"{"toolsListChanged":true}"#)));
    play.sleep(1_300);
    assert_eq!(play.ordered(), ["x6 POST tools/list", "x7 POST resources/list"]);
}

/// C-SUB-10.
#[test]
fn a_server_without_subscriptions_is_left_alone() {
    let mut play = Play::web_with(r#""protocol":"modern""#);
    play.result(0, 1, TELLING).result(1, 2, ECHO).result(2, 3, FILES);
    play.whole(3, 404, &error(4, -32601, "null")).result(4, 5, NO_TEMPLATES).take_commands();
    play.sleep(600_000);
    assert_eq!((play.ordered(), play.problems()), (vec![], vec![]));
}

/// C-SUB-05, C-SUB-10, G51: another wish is another subscription, and then the old one ends.
#[test]
fn resources_that_are_watched_are_listened_for() {
    let mut play = listening();
    play.host(Request::Watch { on: true });
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x5 POST subscriptions/listen");
    assert_eq!(orders[0].params()["notifications"]["resourceSubscriptions"][0], "file:///a");
    let both = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a","file:///z"]}"#;
    play.head(5, 200, EVENTS).body(5, &event(&acknowledged(6, both)));
    assert_eq!(play.ordered(), ["abort x3"]);
    assert_eq!(play.runtime.status().servers[0].subscriptions, ["file:///a"]);
    let updated = |uri: &str| {
        event(&format!(
            r#"{{"method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#
        ))
    };
    play.events.clear();
    play.body(5, &updated("file:///z")).body(5, &updated("file:///a"));
    assert!(matches!(&play.events[..], [Event::ResourceUpdated { uri, .. }] if uri == "file:///a"));
}

/// C-SUB-05, C-SUB-06, C-CANC-08: over pipes by number.
#[test]
fn a_process_ends_a_subscription_in_words() {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","protocol":"modern"}}}"#);
    let tells = TELLING.replace(r#","resources":{"subscribe":true}"#, "");
    play.start().opened(0).answers(0, 1, &tells).answers(0, 2, ECHO).take_commands();
    play.says(0, &acknowledged(3, r#"{"toolsListChanged":true}"#)).says(0, TOOLS_CHANGED);
    play.sleep(300);
    assert_eq!(play.asked(), ["4 tools/list"]);
    play.answers(0, 4, ECHO);
    play.says(0, r#"{"method":"notifications/cancelled","params":{"requestId":3}}"#).sleep(1_300);
    assert_eq!(play.asked(), ["5 subscriptions/listen"]);
}
