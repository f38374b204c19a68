//! The published server that has everything, whichever way it is reached: what it asks of its
//! host, and what it is asked beside its tools.

use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::CallError;
use tidegate_core::event::Outcome;
use tidegate_core::input::Reference;
use tidegate_core::inquiry::{Inquiry, Mode, Refusal, Reply, Service};
use tidegate_core::wire::mcp::form_defaults;
use tidegate_smol::{Asked, Host, Inquiries};
use tidegate_tests::live::say;

/// What a host has to do for it.
pub(crate) const SERVICES: [Service; 2] = [Service::Sampling, Service::ElicitationForm];

const MODEL: &str = "trigger-sampling-request";
const FORM: &str = "trigger-elicitation-request";

/// G49: each is asked in the course of a call, takes longer than a call may take without, and is
/// heard.
pub(crate) async fn check(host: &Host, inquiries: &mut Inquiries, server: &str) {
    // It offers these tools once it knows that they are of use.
    while host.catalog().await.tools.iter().filter(|it| [MODEL, FORM].contains(&&*it.tool)).count()
        < 2
    {
        Timer::after(Duration::from_millis(5)).await;
    }
    let (said, ()) = future::zip(
        say(host, server, MODEL, json!({"prompt": "hello", "maxTokens": 7})),
        answer(inquiries, |asked| {
            let Inquiry::Sampling(params) = &asked.what else { panic!("{asked:?}") };
            let params: Value = serde_json::from_str(params.as_str()).expect("JSON");
            assert_eq!(params["maxTokens"], 7);
            let content = json!({"type": "text", "text": "a model's words"});
            let result = json!({"role": "assistant", "content": content, "model": "none"});
            Reply::Done(Json::new(result.to_string()))
        }),
    )
    .await;
    assert!(said.contains("a model's words"), "{said}");
    let (said, ()) = future::zip(
        say(host, server, FORM, json!({})),
        answer(inquiries, |asked| {
            let Inquiry::Elicitation { mode: Mode::Form, params } = &asked.what else {
                panic!("{asked:?}")
            };
            let mut content: Value =
                serde_json::from_str(form_defaults(params).as_str()).expect("JSON");
            content["name"] = json!("Ada");
            let result = json!({"action": "accept", "content": content});
            Reply::Done(Json::new(result.to_string()))
        }),
    )
    .await;
    assert!(said.contains("Name: Ada") && said.contains("pet-1"), "{said}");
    let (said, ()) = future::zip(
        say(host, server, FORM, json!({})),
        answer(inquiries, |_| Reply::Refused(Refusal::Declined)),
    )
    .await;
    assert!(said.contains("declined"), "{said}");
}

async fn answer(inquiries: &mut Inquiries, by: impl FnOnce(&Asked) -> Reply) {
    let asked = inquiries.next().await.expect("a question");
    Timer::after(Duration::from_millis(200)).await;
    let reply = by(&asked);
    asked.reply(reply);
}

/// A resource, a prompt and a completion.
pub(crate) async fn fetch(host: &Host, server: &str) {
    while host.resources().await.servers.is_empty() {
        Timer::after(Duration::from_millis(5)).await;
    }
    let resources = host.resources().await;
    let uri = &resources.servers[0].resources[0].uri;
    let read = answer_of(host.read_resource(server, &**uri).await);
    assert_eq!(read["contents"][0]["uri"], **uri);
    let nothing = host.read_resource(server, "demo://nothing/there").await;
    assert!(matches!(nothing, Outcome::Failed(CallError::Rpc { .. })), "{nothing:?}");
    let city = Json::new(json!({"city": "Bremen"}).to_string());
    let prompt = answer_of(host.prompt(server, "args-prompt", city).await);
    assert!(prompt["messages"][0]["content"]["text"].to_string().contains("Bremen"));
    let of = || Reference::Prompt("completable-prompt".into());
    let complete = async |argument: Value, context: Value| {
        let arguments = Json::new(json!({"argument": argument, "context": context}).to_string());
        let answer = answer_of(host.complete(server, of(), arguments).await);
        answer["completion"]["values"].clone()
    };
    let department = complete(json!({"name": "department", "value": "S"}), json!({})).await;
    assert_eq!(department, json!(["Sales", "Support"]));
    let context = json!({"arguments": {"department": "Sales"}});
    let name = complete(json!({"name": "name", "value": "E"}), context).await;
    assert_eq!(name, json!(["Eve"]));
}

fn answer_of(outcome: Outcome) -> Value {
    let Outcome::Answered(result) = &outcome else { panic!("{outcome:?}") };
    serde_json::from_str(result.as_str()).expect("JSON")
}
