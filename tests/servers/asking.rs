//! The published server that has models and people asked, whichever way it is reached.

use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
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
            let params: Value = serde_json::from_str(params.as_str()).unwrap();
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
            let mut content: Value = serde_json::from_str(form_defaults(params).as_str()).unwrap();
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
