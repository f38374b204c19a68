//! What real processes ask the host.

use std::fs;
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::CallError;
use tidegate_core::event::Outcome;
use tidegate_core::input::Target;
use tidegate_core::inquiry::{Inquiry, Mode, Refusal, Reply, Service};
use tidegate_core::tools::content;
use tidegate_smol::{Call, Host, Inquiries, Settings};
use tidegate_tests::live::{World, say};

const PIN: &str = "4711-4711-4711";

fn serving(world: &World) -> (Settings, Inquiries) {
    let settings = world.settings(&[("a", world.scripted(&[]))]);
    settings.serving([Service::ElicitationForm])
}

fn inquire(host: &Host, timeout_ms: Option<u64>) -> Call {
    let target = Target::Tool { server: "a".into(), tool: "inquire".into() };
    host.call(target, Json::new("{}"), timeout_ms)
}

/// What the server says it was told: the action, how long the answer is, the code of an error.
fn told(outcome: &Outcome) -> Value {
    let Outcome::Answered(result) = outcome else { panic!("{outcome:?}") };
    serde_json::from_str(&content::flatten(result).expect("a result").text).expect("JSON")
}

fn accepted() -> Reply {
    Reply::Done(Json::new(json!({"action": "accept", "content": {"pin": PIN}}).to_string()))
}

/// G49: a person is asked while a call is under way, takes longer than calls may take, and what is
/// said is in no record of the run, which comes out the same when it is replayed.
#[test]
fn a_person_answers_in_the_course_of_a_call_and_no_record_has_it() {
    let world = World::default();
    let (settings, mut inquiries) = serving(&world);
    world.run_with(settings, async |host| {
        host.start().await;
        let person = async {
            let asked = inquiries.next().await.expect("a question");
            assert_eq!((asked.server.as_str(), asked.call), ("a", None));
            let Inquiry::Elicitation { mode: Mode::Form, params } = &asked.what else {
                panic!("{asked:?}")
            };
            assert!(params.as_str().contains("The number?"));
            Timer::after(Duration::from_millis(700)).await;
            asked.reply(accepted());
        };
        let (outcome, ()) = future::zip(inquire(host, Some(300)), person).await;
        assert_eq!(told(&outcome), json!(["accept", PIN.len(), null]));
    });
    let trace = fs::read_to_string(world.dir().join("trace.jsonl")).unwrap();
    assert!(trace.contains("<hidden>") && !trace.contains(PIN));
}

/// G49: what nobody does is not declared.
#[test]
fn a_host_that_serves_nothing_is_not_asked() {
    let world = World::default();
    let mut settings = world.settings(&[("a", world.scripted(&[]))]);
    // Whoever says so has to listen as well.
    settings.options.services = [Service::ElicitationForm].into_iter().collect();
    world.run_with(settings, async |host| {
        host.start().await;
        assert_eq!(told(&inquire(host, None).await), json!([null, null, -32_601]));
    });
}

#[test]
fn what_nobody_answers_is_refused() {
    let world = World::default();
    let (settings, mut inquiries) = serving(&world);
    world.run_with(settings, async |host| {
        host.start().await;
        let forgetful = async { drop(inquiries.next().await) };
        let (outcome, ()) = future::zip(inquire(host, None), forgetful).await;
        assert_eq!(told(&outcome), json!([null, null, -32_603]));
        let person = async {
            let asked = inquiries.next().await.expect("a question");
            asked.reply(Reply::Refused(Refusal::Declined));
        };
        let (outcome, ()) = future::zip(inquire(host, None), person).await;
        assert_eq!(told(&outcome), json!(["decline", null, null]));
        drop(inquiries);
        assert_eq!(told(&inquire(host, None).await), json!([null, null, -32_603]));
    });
}

/// L8: a person who is being asked is told when nobody needs the answer any more.
#[test]
fn a_question_is_over_with_its_server() {
    let world = World::default();
    let (settings, mut inquiries) = serving(&world);
    world.run_with(settings, async |host| {
        host.start().await;
        let call = inquire(host, None);
        let mut asked = inquiries.next().await.expect("a question");
        let exit = Target::Tool { server: "a".into(), tool: "exit".into() };
        let exit = host.call(exit, Json::new(r#"{"code":3}"#), None);
        asked.over().await;
        asked.reply(accepted());
        assert_eq!(call.await, Outcome::Failed(CallError::Closed));
        drop(exit);
        host.await_connected("a", None).await;
        assert_eq!(say(host, "a", "echo", json!({"text": "back"})).await, "back");
    });
    let (_, mut inquiries) = serving(&world);
    assert!(future::block_on(future::poll_once(inquiries.next())).is_none());
}
