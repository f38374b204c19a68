//! Calls to real processes.

use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::{CallError, RpcError};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::input::Target;
use tidegate_core::tools::content;
use tidegate_smol::Host;
use tidegate_tests::live::{World, call, say};

fn target(tool: &str) -> Target {
    Target::Tool { server: "a".into(), tool: tool.into() }
}

fn failed(outcome: Outcome) -> CallError {
    match outcome {
        Outcome::Failed(error) => error,
        other @ (Outcome::Answered(_) | Outcome::Aborted) => panic!("{other:?}"),
    }
}

async fn pid(host: &Host) -> String {
    say(host, "a", "pid", json!({})).await
}

#[test]
fn a_fast_call_returns_while_a_slow_one_is_open() {
    // F-043: the slow one would end the test by its own limit if it held the fast one up.
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let slow = host.call(target("wait"), Json::new(r#"{"ms":3600000}"#), None);
        assert_eq!(say(host, "a", "echo", json!({"text": "fast"})).await, "fast");
        drop(slow);
    });
}

#[test]
fn sixty_four_calls_in_flight_each_get_their_own_answer() {
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let text = |number: usize| format!("{number}-{}", "y".repeat(number * 100));
        let calls: Vec<_> = (0..64)
            .map(|n| {
                host.call(target("echo"), Json::new(json!({"text": text(n)}).to_string()), None)
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            let Outcome::Answered(result) = call.await else { panic!("call {number}") };
            assert_eq!(content::flatten(&result).unwrap().text, text(number));
        }
    });
}

#[test]
fn a_tools_own_failure_keeps_its_content() {
    // F-062
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let Outcome::Answered(result) = call(host, "a", "fail", json!({})).await else {
            panic!("no answer")
        };
        let flat = content::flatten(&result).unwrap();
        assert!(flat.is_error);
        assert_eq!(flat.text, "no such row");
    });
}

#[test]
fn an_error_answer_ends_the_call_with_its_code_and_message() {
    // F-064
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let error = failed(call(host, "a", "reject", json!({})).await);
        let wanted = RpcError { code: -32_602, message: "bad arguments".into(), data: None };
        assert_eq!(error, CallError::Rpc { error: wanted });
    });
}

#[test]
fn progress_keeps_a_call_alive_beyond_its_limit() {
    // F-065
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let arguments = Json::new(r#"{"times":8,"every_ms":250}"#);
        let outcome = host.call(target("progress"), arguments, Some(1_000)).await;
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    });
}

#[test]
fn a_call_that_times_out_ends_only_itself_and_its_late_answer_is_ignored() {
    // F-066, F-069
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let before = pid(host).await;
        let late = host.call(target("wait"), Json::new(r#"{"ms":400}"#), Some(100)).await;
        assert_eq!(failed(late), CallError::TimedOut { limit_ms: 100 });
        Timer::after(Duration::from_millis(500)).await;
        assert_eq!(pid(host).await, before);
        let cancelled: Vec<Value> =
            serde_json::from_str(&say(host, "a", "cancelled", json!({})).await).unwrap();
        assert_eq!(cancelled.len(), 1, "{cancelled:?}");
    });
}

#[test]
fn a_cancelled_call_stays_aborted_and_its_server_is_told() {
    // G77
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let waiting = host.call(target("wait"), Json::new(r#"{"ms":3600000}"#), None);
        waiting.cancel();
        assert_eq!(waiting.await, Outcome::Aborted);
        let dropped = host.call(target("wait"), Json::new(r#"{"ms":3600000}"#), None);
        drop(dropped);
        let cancelled: Vec<Value> =
            serde_json::from_str(&say(host, "a", "cancelled", json!({})).await).unwrap();
        assert_eq!(cancelled.len(), 2, "{cancelled:?}");
    });
}

#[test]
fn a_server_that_asks_within_a_call_is_answered() {
    // F-047
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let replies = say(host, "a", "ask", json!({})).await;
        let replies: Vec<Value> = serde_json::from_str(&replies).unwrap();
        let root = replies[0]["result"]["roots"][0]["uri"].as_str().expect("a root");
        assert!(root.starts_with("file:///"), "{root}");
        assert_eq!(replies[1]["error"]["code"], -32_601);
    });
}

#[test]
fn a_server_that_stops_reading_holds_nobody_up() {
    // L8: megabytes wait for the deaf one; the other one and the clock go on.
    let world = World::default();
    let servers = [("a", world.scripted(&[])), ("b", world.scripted(&[]))];
    world.run(&servers, async |host| {
        say(host, "a", "deaf", json!({"ms": 30_000})).await;
        let text = json!({"text": "x".repeat(4_000_000)}).to_string();
        let calls: Vec<_> = (0..4)
            .map(|_| host.call(target("echo"), Json::new(text.clone()), Some(1_000)))
            .collect();
        assert_eq!(say(host, "b", "echo", json!({"text": "fine"})).await, "fine");
        for call in calls {
            assert_eq!(failed(call.await), CallError::TimedOut { limit_ms: 1_000 });
        }
    });
}

#[test]
fn calls_under_way_end_when_their_server_dies_in_the_middle_of_an_answer() {
    // L8
    let world = World::default();
    world.run(&[("a", world.scripted(&[])), ("b", world.scripted(&[]))], async |host| {
        let waiting = host.call(target("wait"), Json::new(r#"{"ms":3600000}"#), None);
        let half = host.call(target("half"), Json::new("{}"), None);
        let (waiting, half) = future::zip(waiting, half).await;
        assert_eq!(failed(waiting), CallError::Closed);
        assert_eq!(failed(half), CallError::Closed);
        assert_eq!(say(host, "b", "echo", json!({"text": "fine"})).await, "fine");
    });
}

#[test]
fn a_server_that_exits_while_it_lists_fails_at_that_stage() {
    let world = World::default();
    let servers = [("a", world.scripted(&["--exit-at", "tools/list"])), ("b", world.scripted(&[]))];
    world.run(&servers, async |host| {
        let status = host.status().await;
        let ServerState::Failed { failure } = &status.servers[0].state else {
            panic!("{:?}", status.servers[0]);
        };
        assert_eq!(
            failure.describe(&"a".into()),
            "Server \"a\" exited with status 65 (tools/list)"
        );
        assert_eq!(status.servers[1].state, ServerState::Connected);
    });
}

#[test]
fn ten_servers_that_take_a_second_are_ready_together() {
    // F-004: within 2 s, which is the promise.
    let world = World::default();
    let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
    let slow = world.scripted(&["--init-delay-ms", "1000"]);
    let servers: Vec<_> = names.iter().map(|name| (name.as_str(), slow.clone())).collect();
    world.run_with(world.settings(&servers), async |host| {
        let start = Instant::now();
        let report = host.start().await;
        assert_eq!(report.connected.len(), 10, "{report:?}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}
