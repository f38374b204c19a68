//! Servers without a handshake that have to be told something before they answer.

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Exit};
use tidegate_core::event::{Event, Outcome};
use tidegate_core::id::{CallId, InquiryId};
use tidegate_core::input::{NewCall, Reference, Request, Target};
use tidegate_core::inquiry::{Refusal, Reply, Service, Unneeded};
use tidegate_core::options::Options;

use crate::play::{ECHO, Play};

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}},"ttlMs":0,"cacheScope":"private"}"#;

const ALL: [Service; 3] = [Service::Sampling, Service::ElicitationForm, Service::ElicitationUrl];

fn options(entry: &str, services: &[Service]) -> Options {
    let config = format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#);
    let mut options = Options::new("/project", vec![Source::inline("test", &config)]);
    options.services = services.iter().copied().collect();
    options.policy.extras = tidegate_core::hub::policy::Extras::Skip;
    options
}

/// A process that is ready; the next request is 3.
fn process(services: &[Service]) -> Play {
    started(options(r#"{"command":"a","protocol":"modern"}"#, services))
}

fn started(options: Options) -> Play {
    let mut play = Play::with(options);
    play.start().opened(0).answers(0, 1, DISCOVERED).answers(0, 2, ECHO).take_commands();
    play
}

/// What a server says that has to be told something.
fn wants<'a>(play: &'a mut Play, id: u64, members: &str) -> &'a mut Play {
    play.answers(0, id, &format!(r#"{{"resultType":"input_required",{members}}}"#))
}

const FORM: &str = r#"{"method":"elicitation/create","params":{"message":"Who?"}}"#;
const MODEL: &str = r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;

fn replies(play: &mut Play, inquiry: u64, reply: Reply) -> &mut Play {
    play.host(Request::Reply { inquiry: InquiryId::new(inquiry), reply })
}

fn done(text: &str) -> Reply {
    Reply::Done(Json::new(text))
}

/// What was asked: its number, and its parameters without `_meta`.
fn asked(play: &mut Play) -> Vec<(u64, Value)> {
    let one = |line: &str| {
        let mut message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["params"]["_meta"]["progressToken"], message["id"]);
        message["params"].as_object_mut().unwrap().remove("_meta");
        (message["id"].as_u64().unwrap(), message["params"].clone())
    };
    play.sent().lines().map(one).collect()
}

fn inquired(play: &Play) -> Vec<(u64, Option<u64>)> {
    let one = |event: &Event| match event {
        Event::Inquired { inquiry, call, .. } => Some((inquiry.number(), call.map(CallId::number))),
        _ => None,
    };
    play.events.iter().filter_map(one).collect()
}

fn ended(play: &Play) -> Vec<(u64, Unneeded)> {
    let one = |event: &Event| match event {
        Event::InquiryEnded { inquiry, why } => Some((inquiry.number(), *why)),
        _ => None,
    };
    play.events.iter().filter_map(one).collect()
}

fn failed(play: &Play, call: u64) -> &CallError {
    match play.outcome(call) {
        Some(Outcome::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn is_answered(play: &Play, call: u64) -> bool {
    matches!(play.outcome(call), Some(Outcome::Answered(_)))
}

/// C-MRTR-02, C-MRTR-04, C-MRTR-06, C-RPC-04: the same call under a new number, with the answer
/// under the server's key and its state byte for byte.
#[test]
fn a_call_is_made_again_with_what_its_server_wants_to_be_told() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo");
    let first = asked(&mut play);
    assert_eq!(first, [(3, json!({"name": "echo", "arguments": {}}))]);
    let state = r#""\u0041\/ opaque \"é\"""#;
    wants(&mut play, 3, &format!(r#""inputRequests":{{"k \"1\"":{FORM}}},"requestState":{state}"#));
    assert_eq!((inquired(&play), play.outcome(1)), (vec![(0, Some(1))], None));
    assert_eq!(play.sent(), "");
    replies(&mut play, 0, done(r#"{"action":"accept","content":{"name":"me"}}"#));
    let line = play.sent();
    assert!(line.contains(&format!(r#","requestState":{state},"#)), "{line}");
    let message: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&message["id"], &message["params"]["name"]), (&json!(4), &json!("echo")));
    let answers = json!({"k \"1\"": {"action": "accept", "content": {"name": "me"}}});
    assert_eq!(message["params"]["inputResponses"], answers);
    play.answers(0, 4, r#"{"content":[]}"#);
    assert!(is_answered(&play, 1));
    assert_eq!(ended(&play), []);
}

/// C-MRTR-05, C-MRTR-07: what one round had, neither another call nor the next round has.
#[test]
fn neither_answers_nor_state_get_into_another_request() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM}}},"requestState":"s""#));
    play.call(2, "a", "echo");
    assert_eq!(asked(&mut play), [(4, json!({"name": "echo", "arguments": {}}))]);
    replies(&mut play, 0, Reply::Refused(Refusal::Declined));
    let again = asked(&mut play);
    assert_eq!(again[0].1["requestState"], "s");
    wants(&mut play, 5, &format!(r#""inputRequests":{{"b":{ROOTS}}}"#));
    let [(6, params)] = &asked(&mut play)[..] else { panic!() };
    assert_eq!(params.get("requestState"), None);
    assert_eq!(params["inputResponses"].as_object().unwrap().len(), 1);
    play.answers(0, 4, "{}").answers(0, 6, "{}");
    assert!(is_answered(&play, 1) && is_answered(&play, 2));
}

/// C-MRTR-03: who only wants to be asked again is, more and more slowly.
#[test]
fn a_server_that_sheds_load_is_asked_again_later() {
    let mut play = process(&[]);
    play.call(1, "a", "echo").take_commands();
    let mut now = 0;
    for (id, wait) in [(3, 500), (4, 1_000), (5, 2_000), (6, 4_000), (7, 8_000), (8, 8_000)] {
        wants(&mut play, id, r#""requestState":"later""#);
        play.sleep(now + wait - 1);
        assert_eq!(play.sent(), "");
        now += wait;
        play.sleep(now);
        let params = json!({"name": "echo", "arguments": {}, "requestState": "later"});
        assert_eq!(asked(&mut play), [(id + 1, params)]);
    }
    play.answers(0, 9, "{}");
    assert!(is_answered(&play, 1));
}

/// C-MRTR-01, C-RPC-16: an answer that says nothing of it is none, and a completion may not ask.
#[test]
fn what_is_no_such_answer_ends_the_call() {
    let mut play = process(&ALL);
    for (call, members) in [
        (1, r#""x":1"#),
        (2, r#""inputRequests":{}"#),
        (3, r#""requestState":7"#),
        (4, r#""inputRequests":{"a":{}}"#),
    ] {
        play.call(call, "a", "echo").take_commands();
        wants(&mut play, call + 2, members);
        assert!(matches!(failed(&play, call), CallError::Shape { .. }), "{members}");
    }
    let of = Reference::Prompt("p".into());
    play.host(Request::Call(NewCall {
        call: CallId::new(5),
        target: Target::Completion { server: "a".into(), of },
        arguments: Json::new("{}"),
        timeout_ms: None,
        max_ms: None,
    }));
    wants(&mut play, 7, r#""requestState":"s""#);
    assert!(matches!(failed(&play, 5), CallError::Shape { .. }));
}

/// C-RPC-16, C-RES-08, C-PROM-04.
#[test]
fn resources_and_prompts_may_want_something_too() {
    let mut play = process(&ALL);
    let (uri, prompt) = ("file:///x".into(), "p".into());
    for (call, target) in [
        (1, Target::Resource { server: "a".into(), uri }),
        (2, Target::Prompt { server: "a".into(), prompt }),
    ] {
        let arguments = Json::new("{}");
        let call = CallId::new(call);
        play.host(Request::Call(NewCall {
            call,
            target,
            arguments,
            timeout_ms: None,
            max_ms: None,
        }));
    }
    play.take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{ROOTS}}}"#));
    wants(&mut play, 4, &format!(r#""inputRequests":{{"a":{ROOTS}}}"#));
    let asked = asked(&mut play);
    assert_eq!((&asked[0].1["uri"], &asked[1].1["name"]), (&json!("file:///x"), &json!("p")));
    for (_, params) in asked {
        let root = &params["inputResponses"]["a"]["roots"][0]["uri"];
        assert_eq!(root, "file:///project");
    }
}

/// C-MRTR-08: so many rounds and no more, and the longest time of a call counts through them.
#[test]
fn rounds_are_bounded_in_number_and_in_time() {
    let mut play = process(&[]);
    play.call(1, "a", "echo");
    for id in 3..13 {
        play.take_commands();
        wants(&mut play, id, &format!(r#""inputRequests":{{"a":{ROOTS}}}"#));
        assert_eq!(asked(&mut play).len(), 1);
    }
    wants(&mut play, 13, &format!(r#""inputRequests":{{"a":{ROOTS}}}"#));
    assert_eq!(failed(&play, 1), &CallError::TooManyRounds { limit: 10 });
    assert_eq!(play.sent(), "");

    let mut play = process(&ALL);
    play.call(1, "a", "echo").sleep(1_000);
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM}}}"#));
    play.sleep(500_000);
    assert_eq!(play.outcome(1), None);
    replies(&mut play, 0, Reply::Refused(Refusal::Declined));
    play.sleep(559_999);
    assert_eq!(play.outcome(1), None);
    play.sleep(560_000);
    assert_eq!(failed(&play, 1), &CallError::TimedOut { limit_ms: 60_000 });
    let mut play = process(&ALL);
    play.call(1, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM}}}"#));
    play.sleep(600_000);
    assert_eq!(failed(&play, 1), &CallError::TimedOut { limit_ms: 600_000 });
    assert_eq!((ended(&play), play.sent()), (vec![(0, Unneeded::CallOver)], String::new()));
}

/// C-MRTR-09, C-MRTR-11: a person who says no is an answer; a model that is not asked is none.
#[test]
fn a_refusal_is_told_where_there_are_words_for_it_and_ends_the_call_elsewhere() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM},"b":{FORM},"c":{FORM}}}"#));
    replies(&mut play, 0, Reply::Refused(Refusal::Declined));
    replies(&mut play, 1, Reply::Refused(Refusal::Failed { message: "no screen".into() }));
    assert_eq!(play.sent(), "");
    replies(&mut play, 2, done("no JSON"));
    let actions = json!({
        "a": {"action": "decline"}, "b": {"action": "cancel"}, "c": {"action": "cancel"},
    });
    assert_eq!(asked(&mut play)[0].1["inputResponses"], actions);
    for refusal in [Refusal::Declined, Refusal::Failed { message: "no model".into() }] {
        let mut play = process(&ALL);
        play.call(1, "a", "echo").take_commands();
        wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{MODEL},"b":{FORM}}}"#));
        replies(&mut play, 0, Reply::Refused(refusal));
        assert!(matches!(failed(&play, 1), CallError::Unanswerable { .. }));
        assert_eq!((ended(&play), play.sent()), (vec![(1, Unneeded::CallOver)], String::new()));
    }
}

/// C-MRTR-10, C-ELIC-03, L10: what was not declared, or is too much, fails the call, and nobody is
/// asked.
#[test]
fn what_was_not_declared_cannot_be_wanted() {
    let url = r#"{"method":"elicitation/create","params":{"mode":"url","url":"https://x.test"}}"#;
    let mut options =
        options(r#"{"command":"a","protocol":"modern"}"#, &[Service::ElicitationForm]);
    options.limits.inquiries_per_server = 2;
    let mut play = started(options);
    let tasks = r#"{"method":"tasks/get","params":{}}"#;
    for (call, wanted) in [
        (1, format!(r#"{{"a":{MODEL}}}"#)),
        (2, format!(r#"{{"f":{FORM},"a":{url}}}"#)),
        (3, format!(r#"{{"a":{tasks}}}"#)),
        (4, format!(r#"{{"a":{FORM},"b":{FORM},"c":{FORM}}}"#)),
    ] {
        play.call(call, "a", "echo").take_commands();
        wants(&mut play, call + 2, &format!(r#""inputRequests":{wanted}"#));
        assert!(matches!(failed(&play, call), CallError::Unanswerable { .. }), "{wanted}");
    }
    assert_eq!(inquired(&play), []);
}

/// C-MRTR-14: asked together, answered in any order, told in the server's.
#[test]
fn answers_stand_in_the_order_of_the_questions() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"z":{MODEL},"r":{ROOTS},"a":{FORM}}}"#));
    assert_eq!(inquired(&play).len(), 2);
    replies(&mut play, 1, done(r#"{"action":"cancel"}"#));
    assert_eq!(play.sent(), "");
    replies(&mut play, 0, done(r#"{"role":"assistant"}"#));
    let line = play.sent();
    let places =
        ["\"z\":{\"role\"", "\"r\":{\"roots\"", "\"a\":{\"action\""].map(|it| line.find(it));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{line}");
}

/// C-CANC-01: with nobody at it there is nobody to tell.
#[test]
fn a_call_that_is_given_up_between_two_rounds_is_over() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo").call(2, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM}}}"#));
    wants(&mut play, 4, r#""requestState":"s""#);
    for call in [1, 2] {
        play.host(Request::Cancel { call: CallId::new(call) });
        assert_eq!(play.outcome(call), Some(&Outcome::Aborted));
    }
    assert_eq!(ended(&play), [(0, Unneeded::CallOver)]);
    replies(&mut play, 0, done("{}"));
    play.sleep(60_000);
    assert_eq!(play.sent(), "");
}

/// L8.
#[test]
fn a_call_between_two_rounds_ends_with_its_server() {
    let mut play = process(&ALL);
    play.call(1, "a", "echo").call(2, "a", "echo").take_commands();
    wants(&mut play, 3, &format!(r#""inputRequests":{{"a":{FORM}}}"#));
    wants(&mut play, 4, r#""requestState":"s""#);
    play.closed(0, Exit::Code(1));
    assert_eq!([1, 2].map(|call| failed(&play, call)), [&CallError::Closed; 2]);
    assert_eq!(ended(&play), [(0, Unneeded::ServerGone)]);
}

/// C-MRTR-13: the headers are those of the first request.
#[test]
fn a_further_round_has_the_headers_of_the_first_one() {
    let entry = r#"{"type":"http","url":"https://a.test/mcp","protocol":"modern"}"#;
    let mut play = Play::with(options(entry, &ALL));
    play.start().reached(0).result(0, 1, DISCOVERED).result(1, 2, ECHO);
    play.call(1, "a", "echo").take_commands();
    let form = format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{FORM}}}}}"#);
    play.result(2, 3, &form);
    replies(&mut play, 0, Reply::Refused(Refusal::Declined));
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x3 POST tools/call");
    let headers = ["mcp-method", "mcp-name", "mcp-protocol-version"].map(|it| orders[0].header(it));
    assert_eq!(headers, [Some("tools/call"), Some("echo"), Some("2026-07-28")]);
    play.result(3, 4, "{}");
    assert!(is_answered(&play, 1));
}
