//! What the host asks of servers beside their tools: resources, prompts, completions.

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Feature};
use tidegate_core::event::Outcome;
use tidegate_core::hub::policy::Extras;
use tidegate_core::id::CallId;
use tidegate_core::input::{NewCall, Reference, Request, Target};
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play};
use crate::web::{EVENTS, cut};

const ALL: &str = r#"{"protocolVersion":"2025-06-18","capabilities":
    {"tools":{},"resources":{},"prompts":{},"completions":{}}}"#;

fn with(entry: &str) -> Play {
    let config = format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#);
    let mut options = Options::new("/project", vec![Source::inline("test", &config)]);
    options.policy.extras = Extras::Skip;
    let mut play = Play::with(options);
    play.start();
    play
}

/// A connected process that says this of itself; the next request is 3.
fn ready(hello: &str) -> Play {
    let mut play = with(r#"{"command":"a","excludeTools":["greet"]}"#);
    let hello = hello.replace('\n', "");
    play.opened(0).answers(0, 1, &hello).answers(0, 2, ECHO).take_commands();
    play
}

fn resource() -> Target {
    Target::Resource { server: "a".into(), uri: "file:///x".into() }
}

fn prompt() -> Target {
    Target::Prompt { server: "a".into(), prompt: "greet".into() }
}

fn completion() -> Target {
    Target::Completion { server: "a".into(), of: Reference::Prompt("greet".into()) }
}

fn ask<'a>(play: &'a mut Play, call: u64, target: Target, arguments: &str) -> &'a mut Play {
    play.host(Request::Call(NewCall {
        call: CallId::new(call),
        target,
        arguments: Json::new(arguments),
        timeout_ms: None,
        max_ms: None,
    }))
}

/// C-RES-01, C-PROM-01, C-COMP-01: they go the way of a call, and the answer is told as it came.
#[test]
fn resources_prompts_and_completions_are_asked_for_as_tools_are_called() {
    let mut play = ready(ALL);
    ask(&mut play, 1, resource(), "{}");
    ask(&mut play, 2, prompt(), r#"{"who":"you"}"#);
    ask(&mut play, 3, completion(), r#"{"argument":{"name":"who","value":"y"}}"#);
    let sent = play.sent();
    let lines: Vec<Value> = sent.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let meta = |token: u64| json!({"progressToken": token});
    let wanted = [
        ("resources/read", json!({"uri": "file:///x", "_meta": meta(3)})),
        ("prompts/get", json!({"name": "greet", "arguments": {"who": "you"}, "_meta": meta(4)})),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "greet"},
                "argument": {"name": "who", "value": "y"}, "_meta": meta(5),
            }),
        ),
    ];
    for (line, (method, params)) in lines.iter().zip(&wanted) {
        assert_eq!((&line["method"], &line["params"]), (&json!(method), params));
    }
    let contents = r#"{"contents":[{"uri":"file:///x","text":"1.0"}]}"#;
    play.answers(0, 3, contents).refuses(0, 4, -32602);
    assert_eq!(play.outcome(1), Some(&Outcome::Answered(Json::new(contents))));
    assert!(matches!(play.outcome(2), Some(Outcome::Failed(CallError::Rpc { .. }))));
    play.host(Request::Cancel { call: CallId::new(3) });
    assert_eq!(play.asked(), ["notifications/cancelled 5"]);
}

/// C-LIFE-07: what was not declared is not asked for, but for what the first revision has no word
/// for (T-14).
#[test]
fn what_a_server_does_not_declare_is_not_asked_for() {
    let mut play = ready(HELLO);
    let all = [
        (1, resource(), Feature::Resources),
        (2, prompt(), Feature::Prompts),
        (3, completion(), Feature::Completions),
    ];
    for (call, target, what) in all {
        ask(&mut play, call, target, "{}");
        let error = CallError::NotOffered { server: "a".into(), what };
        assert_eq!(play.outcome(call), Some(&Outcome::Failed(error)));
    }
    assert_eq!(play.asked(), [] as [&str; 0]);
    let mut play = ready(&HELLO.replace("2025-06-18", "2024-11-05"));
    ask(&mut play, 1, completion(), "{}");
    assert_eq!(play.asked(), ["3 completion/complete"]);
}

#[test]
fn what_is_asked_early_waits_for_its_server() {
    let mut play = with(r#"{"command":"a"}"#);
    ask(&mut play, 1, resource(), "{}");
    ask(&mut play, 2, Target::Prompt { server: "b".into(), prompt: "x".into() }, "{}");
    let unknown = CallError::UnknownServer { server: "b".into() };
    assert_eq!(play.outcome(2), Some(&Outcome::Failed(unknown)));
    play.opened(0).answers(0, 1, &ALL.replace('\n', "")).take_commands();
    play.answers(0, 2, ECHO);
    assert_eq!(play.asked(), ["3 resources/read file:///x"]);
}

/// C-MHTTP-07 in spirit: what changes nothing is asked once more if it is lost on its way, and a
/// tool is not called twice.
#[test]
fn what_is_lost_on_its_way_is_asked_once_more_unless_it_is_a_tool() {
    let mut play = with(r#"{"type":"http","url":"https://a.test/mcp","protocol":"legacy"}"#);
    play.reached(0).result_on(0, 0, 1, &ALL.replace('\n', ""), true);
    play.head_on(0, 1, 202, &[], false).end(1).result_on(0, 3, 2, ECHO, false);
    play.take_commands();
    ask(&mut play, 1, resource(), "{}");
    play.call(2, "a", "echo");
    assert_eq!(play.ordered(), ["x4 POST resources/read", "x5 POST tools/call"]);
    for exchange in [4, 5] {
        play.head(exchange, 200, EVENTS).end_on(0, exchange, cut());
    }
    assert_eq!(play.ordered(), ["x6 POST resources/read"]);
    assert!(matches!(play.outcome(2), Some(Outcome::Failed(CallError::Http { .. }))));
    assert_eq!(play.outcome(1), None);
    play.head(6, 200, EVENTS).end_on(0, 6, cut());
    assert!(matches!(play.outcome(1), Some(Outcome::Failed(CallError::Http { .. }))));
    assert_eq!(play.ordered(), [] as [&str; 0]);
}
