//! What servers ask the host: models, forms and addresses.

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{CallError, Exit};
use tidegate_core::event::{Event, Outcome};
use tidegate_core::id::{CallId, ConnId, InquiryId, OpId};
use tidegate_core::input::{Fact, Request};
use tidegate_core::inquiry::{Inquiry, Mode, Refusal, Reply, Service, Services, Unneeded};
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play};
use crate::web::{EVENTS, event, result_event};

const ALL: [Service; 4] = [
    Service::SamplingTools,
    Service::SamplingContext,
    Service::ElicitationForm,
    Service::ElicitationUrl,
];

const ACCEPTED: &str = r#"{"action":"accept","content":{"name":"me"}}"#;

fn options(services: &[Service]) -> Options {
    let config = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("test", config)]);
    options.services = services.iter().copied().collect();
    options
}

/// A connected server of a host that does this.
fn ready(services: &[Service]) -> Play {
    let mut play = Play::with(options(services));
    play.start().connect(0).take_commands();
    play.events.clear();
    play
}

fn form(id: &str) -> String {
    let params = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{params}}}"#)
}

fn asks(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"s","method":"{method}","params":{params}}}"#)
}

fn takes_back(id: &str) -> String {
    let params = format!(r#"{{"requestId":{id},"reason":"changed my mind"}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
}

fn replies(play: &mut Play, inquiry: u64, reply: Reply) -> &mut Play {
    play.host(Request::Reply { inquiry: InquiryId::new(inquiry), reply })
}

fn accepts(play: &mut Play, inquiry: u64) -> &mut Play {
    replies(play, inquiry, Reply::Done(Json::new(ACCEPTED)))
}

/// What was said to a server, one value a message.
fn said(play: &mut Play) -> Vec<Value> {
    play.sent().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The questions so far: number, call, and what is asked.
fn inquired(play: &Play) -> Vec<(u64, Option<u64>, &Inquiry)> {
    let one = |event: &'_ Event| matches!(event, Event::Inquired { .. });
    let all = play.events.iter().filter(|event| one(event));
    let all = all.filter_map(|event| match event {
        Event::Inquired { inquiry, server, call, what } => {
            assert_eq!(server.as_str(), "a");
            Some((inquiry.number(), call.map(CallId::number), what))
        }
        _ => None,
    });
    all.collect()
}

fn ended(play: &Play) -> Vec<(u64, Unneeded)> {
    let ended = play.events.iter().filter_map(|event| match event {
        Event::InquiryEnded { inquiry, why } => Some((inquiry.number(), *why)),
        _ => None,
    });
    ended.collect()
}

/// G49, C-LIFE-06, C-ELIC-01: what nobody does is not declared, and what is not declared is
/// refused at once.
#[test]
fn a_host_that_does_nothing_for_servers_declares_nothing_and_is_not_asked() {
    let mut play = Play::with(options(&[]));
    play.start().opened(0);
    let declared = said(&mut play)[0]["params"]["capabilities"].clone();
    assert_eq!(declared, json!({"roots": {"listChanged": false}}));
    play.answers(0, 1, HELLO).answers(0, 2, ECHO).take_commands();
    play.says(0, &form("7")).says(0, &asks("sampling/createMessage", "{}"));
    let codes: Vec<Value> = said(&mut play).iter().map(|it| it["error"]["code"].clone()).collect();
    assert_eq!(codes, [-32601, -32601]);
    assert_eq!(inquired(&play), []);
}

/// C-LIFE-06, C-ELIC-01: each revision is offered what it knows.
#[test]
fn what_is_declared_depends_on_the_revision_that_is_offered() {
    let mut play = Play::with(options(&ALL));
    play.start().opened(0);
    let elicitation = json!({"form": {}, "url": {}});
    let sampling = json!({"context": {}, "tools": {}});
    let declared = said(&mut play)[0]["params"]["capabilities"].clone();
    assert_eq!((&declared["elicitation"], &declared["sampling"]), (&elicitation, &sampling));
    let error = r#"{"code":-32602,"message":"no","data":{"supported":["2025-06-18"]}}"#;
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    let declared = said(&mut play)[0]["params"]["capabilities"].clone();
    assert_eq!((&declared["elicitation"], &declared["sampling"]), (&json!({}), &json!({})));
    play.answers(0, 2, HELLO).answers(0, 3, ECHO).take_commands();
    // What this revision was not told of cannot be asked.
    play.says(0, &asks("elicitation/create", r#"{"mode":"url","url":"https://x.test"}"#));
    assert_eq!(said(&mut play)[0]["error"]["code"], -32602);
    assert_eq!(inquired(&play), []);
}

/// G49: the question is told, and what the host says is what the server hears.
#[test]
fn a_person_is_asked_and_the_server_hears_the_answer() {
    let mut play = ready(&ALL);
    play.says(0, &form("\"f-1\""));
    let [(0, None, Inquiry::Elicitation { mode: Mode::Form, params })] = &inquired(&play)[..]
    else {
        panic!("{:?}", play.events)
    };
    assert!(params.as_str().contains("Who?"));
    assert_eq!(said(&mut play), [] as [Value; 0]);
    play.sleep(900_000);
    accepts(&mut play, 0);
    let answer: Value = serde_json::from_str(ACCEPTED).unwrap();
    assert_eq!(said(&mut play), [json!({"jsonrpc": "2.0", "id": "f-1", "result": answer})]);
    // Nobody waits for another one.
    accepts(&mut play, 0);
    accepts(&mut play, 9);
    assert_eq!((said(&mut play), ended(&play)), (vec![], vec![]));
}

/// C-SAMP-07, C-ELIC-05: a refusal has the form that the question wants.
#[test]
fn a_host_may_refuse() {
    let mut play = ready(&ALL);
    let url = r#"{"mode":"url","url":"https://x.test","message":"m","elicitationId":"e"}"#;
    play.says(0, &asks("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#));
    play.says(0, &form("1")).says(0, &form("2"));
    play.says(0, &asks("elicitation/create", url).replace("\"s\"", "3"));
    let modes: Vec<String> = inquired(&play).iter().map(|(_, _, what)| what.to_string()).collect();
    assert_eq!(modes, ["sampling", "a form", "a form", "an address"]);
    replies(&mut play, 0, Reply::Refused(Refusal::Declined));
    replies(&mut play, 1, Reply::Refused(Refusal::Declined));
    replies(&mut play, 2, Reply::Refused(Refusal::Failed { message: "no screen".into() }));
    replies(&mut play, 3, Reply::Done(Json::new("7")));
    let said = said(&mut play);
    assert_eq!((&said[0]["id"], &said[0]["error"]["code"]), (&json!("s"), &json!(-1)));
    assert_eq!((&said[1]["id"], &said[1]["result"]), (&json!(1), &json!({"action": "decline"})));
    let error = json!({"code": -32603, "message": "no screen"});
    assert_eq!((&said[2]["id"], &said[2]["error"]), (&json!(2), &error));
    assert_eq!((&said[3]["id"], &said[3]["error"]["code"]), (&json!(3), &json!(-32603)));
}

/// C-CANC-06, C-CANC-07: what is taken back is not answered.
#[test]
fn a_server_takes_back_what_it_asked() {
    let mut play = ready(&ALL);
    play.says(0, &form("1")).says(0, &form("\"1\"")).says(0, &takes_back("9"));
    assert_eq!(ended(&play), []);
    play.says(0, &takes_back("1"));
    assert_eq!(ended(&play), [(0, Unneeded::Withdrawn)]);
    play.says(0, &takes_back("1"));
    accepts(&mut play, 0);
    assert_eq!(said(&mut play), [] as [Value; 0]);
    accepts(&mut play, 1);
    assert_eq!(said(&mut play)[0]["id"], "1");
    assert_eq!(ended(&play), [(0, Unneeded::Withdrawn)]);
}

/// L8: nobody is asked for a server that is gone.
#[test]
fn questions_end_with_their_server() {
    let ends: [fn(&mut Play) -> &mut Play; 4] = [
        |play| play.closed(0, Exit::Code(1)),
        |play| play.io(Fact::OutputEnded { conn: ConnId::new(0) }),
        |play| play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() }),
        |play| play.host(Request::Shutdown),
    ];
    for end in ends {
        let mut play = ready(&ALL);
        end(play.says(0, &form("1")).says(0, &form("2")));
        assert_eq!(ended(&play), [(0, Unneeded::ServerGone), (1, Unneeded::ServerGone)]);
        play.take_commands();
        accepts(&mut play, 0);
        assert_eq!(said(&mut play), [] as [Value; 0]);
    }
}

/// L10: what is too much is refused at once, and so is an id that waits for its answer.
#[test]
fn a_server_can_ask_so_much_at_once_and_no_more() {
    let mut options = options(&ALL);
    options.limits.inquiries_per_server = 2;
    let mut play = Play::with(options);
    play.start().connect(0).take_commands();
    play.says(0, &form("1")).says(0, &form("1"));
    assert_eq!(said(&mut play)[0]["error"]["code"], -32600);
    play.says(0, &form("2")).says(0, &form("3"));
    let refused = said(&mut play);
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(3), &json!(-32603)));
    accepts(&mut play, 0);
    play.says(0, &form("1"));
    let numbers: Vec<u64> = inquired(&play).iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

/// C-MRTR-08 in spirit, C-TIME-04: a call does not run out while its server waits for the host,
/// but never takes longer than its longest time.
#[test]
fn calls_do_not_run_out_while_their_server_waits_for_the_host() {
    let mut play = ready(&ALL);
    play.call(1, "a", "echo").sleep(30_000).says(0, &form("1")).says(0, &form("2"));
    play.call(2, "a", "echo");
    play.sleep(200_000);
    accepts(&mut play, 0).sleep(300_000);
    assert_eq!((play.outcome(1), play.outcome(2)), (None, None));
    accepts(&mut play, 1).sleep(359_999);
    assert_eq!((play.outcome(1), play.outcome(2)), (None, None));
    play.sleep(360_000);
    let timed_out = |limit_ms| Outcome::Failed(CallError::TimedOut { limit_ms });
    assert_eq!(
        (play.outcome(1), play.outcome(2)),
        (Some(&timed_out(60_000)), Some(&timed_out(60_000)))
    );

    let mut play = ready(&ALL);
    play.says(0, &form("1")).call(1, "a", "echo").sleep(599_999);
    // Progress while it waits brings the end no nearer.
    play.says(0, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#);
    assert_eq!(play.outcome(1), None);
    play.sleep(600_000);
    assert_eq!(play.outcome(1), Some(&timed_out(600_000)));
    assert_eq!(ended(&play), [], "a process does not say in the course of which call it asks");
}

/// C-LIFE-04: a server may ask before the handshake is done.
#[test]
fn a_server_may_ask_while_it_is_greeted() {
    let mut play = Play::with(options(&ALL));
    play.start().opened(0).take_commands();
    play.says(0, &form("1"));
    accepts(&mut play, 0);
    assert_eq!(said(&mut play)[0]["id"], 1);
    play.answers(0, 1, HELLO).answers(0, 2, ECHO);
    assert!(play.gate_is_open());
}

/// A session over HTTP in which a call is under way by exchange 4, whose answer is a stream.
fn calling() -> Play {
    let services: Services = ALL.into_iter().collect();
    let mut play = Play::remote_for("http", services);
    play.greet(0).call(1, "a", "echo").take_commands();
    play.head(4, 200, EVENTS);
    play
}

/// C-LHTTP-07: what comes by the stream of a call is asked in its course, and the answer is a
/// message of its own.
#[test]
fn over_http_it_is_known_in_which_call_a_server_asks() {
    let mut play = calling();
    play.body(4, &event(&form("7")));
    assert!(matches!(inquired(&play)[..], [(0, Some(1), _)]));
    accepts(&mut play, 0);
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x5 POST answer");
    assert_eq!(orders[0].header("mcp-protocol-version"), Some("2025-06-18"));
    play.head(5, 202, "").end(5).body(4, &result_event(3)).end(4);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
    assert_eq!(ended(&play), []);
}

/// C-RPC-18: a call that is over needs no answer of the host's, and the server gets one all the
/// same.
#[test]
fn a_question_ends_with_the_call_in_whose_course_it_is_asked() {
    let mut play = calling();
    play.body(4, &event(&form("7"))).body(4, &event(&asks("sampling/createMessage", "{}")));
    play.take_commands();
    play.host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(ended(&play), [(0, Unneeded::CallOver), (1, Unneeded::CallOver)]);
    let bodies: Vec<Value> = play
        .orders()
        .iter()
        .filter_map(|order| serde_json::from_slice(&order.request.as_ref()?.body).ok())
        .collect();
    assert_eq!(bodies[0]["method"], "notifications/cancelled");
    assert_eq!(bodies[1]["result"], json!({"action": "cancel"}));
    assert_eq!((&bodies[2]["id"], &bodies[2]["error"]["code"]), (&json!("s"), &json!(-32603)));
    accepts(&mut play, 0);
    assert_eq!(play.orders().len(), 0);
}

/// What comes by a stream of its own belongs to no call.
#[test]
fn what_a_server_asks_beside_its_calls_belongs_to_none() {
    let mut play = calling();
    play.head(2, 200, EVENTS).body(2, &event(&form("7")));
    assert!(matches!(inquired(&play)[..], [(0, None, _)]));
    play.host(Request::Cancel { call: CallId::new(1) });
    assert_eq!(ended(&play), []);
    play.take_commands();
    accepts(&mut play, 0);
    assert_eq!(play.ordered(), ["x6 POST answer"]);
}

/// The transport of 2024-11-05 has one stream for everything.
#[test]
fn over_the_older_transport_answers_are_posted_too() {
    let mut play = Play::remote_for("sse", ALL.into_iter().collect());
    play.head(0, 200, EVENTS).body(0, "event: endpoint\ndata: /messages\n\n");
    play.take_commands();
    play.body(0, &event(&form("7")));
    accepts(&mut play, 0);
    assert_eq!(play.ordered(), ["x2 POST /messages answer"]);
}

/// An answer that could not be taken is a problem and no more.
#[test]
fn an_answer_that_is_not_taken_ends_nothing() {
    let mut play = calling();
    play.body(4, &event(&form("7")));
    accepts(&mut play, 0);
    play.whole(5, 500, "no");
    assert_eq!((play.outcome(1), ended(&play)), (None, vec![]));
    assert!(play.commands.iter().all(|it| !matches!(it, Command::Kill { .. })));
}

/// C-RPC-17: what was asked before it was known that there is no handshake needs no answer.
#[test]
fn a_server_without_a_handshake_gets_no_answer_to_what_it_asked_before_that_was_known() {
    let mut play = Play::with(options(&ALL));
    play.start().opened(0).says(0, &form("1")).refuses(0, 1, -32022);
    assert_eq!(ended(&play), []);
    play.answers(0, 2, crate::eras::DISCOVERED).take_commands();
    assert_eq!(ended(&play), [(0, Unneeded::Withdrawn)]);
    accepts(&mut play, 0);
    assert_eq!(said(&mut play), [] as [Value; 0]);
}
