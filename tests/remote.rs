//! Do real remote servers list, answer, end and come back?
//!
//! They are installed by `tests/servers/install`, pinned, which `tests/run` does. The tests are
//! ignored unless asked for; asked for without the servers, they fail.

#[path = "servers/asking.rs"]
mod asking;
#[path = "servers/command.rs"]
mod command;
#[path = "remote/served.rs"]
mod served;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::tools::content;
use tidegate_smol::Host;
use tidegate_tests::live::{World, call, config, say, state};

use command::{run, tidegate};
use served::{KINDS, Kind, Served};

#[test]
#[ignore = "needs tests/servers/install"]
fn remote_servers_are_listed_called_and_left_without_a_socket() {
    for kind in KINDS {
        let served = Served::start(kind);
        World::default().run(&[("s", served.entry())], async |host| {
            assert_eq!(state(host, "s").await, ServerState::Connected, "{kind:?}");
            let (tool, arguments, wanted) = kind.call();
            for _ in 0..3 {
                let said = say(host, "s", tool, arguments.clone()).await;
                assert!(said.contains(wanted), "{kind:?}: {said}");
            }
            let all = (0..20).map(|_| call(host, "s", tool, arguments.clone()));
            for outcome in all.collect::<Vec<_>>() {
                assert_answered(&outcome.await, wanted);
            }
        });
        served.check_no_socket();
    }
}

/// F-065, F-068: progress arrives and a call that is given up leaves its connection in order.
#[test]
#[ignore = "needs tests/servers/install"]
fn a_call_that_is_given_up_leaves_the_session_in_order() {
    for kind in [Kind::PythonHttp, Kind::PythonJson, Kind::PythonSse] {
        let served = Served::start(kind);
        World::default().run(&[("s", served.entry())], async |host| {
            let long = call(host, "s", "count", json!({"steps": 100, "pause": 0.1}));
            let tired = async {
                async_io::Timer::after(Duration::from_millis(300)).await;
                Outcome::Aborted
            };
            assert_eq!(futures_lite::future::or(long, tired).await, Outcome::Aborted);
            assert!(say(host, "s", "add", json!({"a": 2, "b": 3})).await.contains('5'));
            let short = say(host, "s", "count", json!({"steps": 3, "pause": 0.01})).await;
            assert!(short.contains("counted to 3"), "{kind:?}: {short}");
        });
        served.check_no_socket();
    }
}

/// F-070, F-079: every call ends, and the server is used again once it is back.
#[test]
#[ignore = "needs tests/servers/install"]
fn a_server_that_is_killed_under_load_is_used_again_once_it_is_back() {
    for kind in [Kind::PythonHttp, Kind::EverythingHttp, Kind::PythonSse] {
        let mut served = Served::start(kind);
        World::default().run(&[("s", served.entry())], async |host| {
            let (tool, arguments, wanted) = kind.call();
            for round in 0..2 {
                let load: Vec<_> =
                    (0..40).map(|_| call(host, "s", tool, arguments.clone())).collect();
                async_io::Timer::after(Duration::from_millis(3 + round * 20)).await;
                served.kill();
                for outcome in load {
                    // Answered or failed, but over.
                    assert_ne!(outcome.await, Outcome::Aborted);
                }
                served.start_again();
                if matches!(state(host, "s").await, ServerState::Suspended { .. }) {
                    // It took so long to start that it was given up.
                    host.reconnect("s", None).await;
                }
                comes_back(host, kind).await;
                assert!(say(host, "s", tool, arguments.clone()).await.contains(wanted));
            }
        });
        served.check_no_socket();
    }
}

/// C-RES-01, C-PROM-01, C-COMP-01: over HTTP as over pipes.
#[test]
#[ignore = "needs tests/servers/install"]
fn resources_prompts_and_completions_of_a_remote_server_are_answered() {
    for kind in [Kind::EverythingHttp, Kind::EverythingSse] {
        let served = Served::start(kind);
        World::default().run(&[("s", served.entry())], async |host| {
            asking::fetch(host, "s").await;
        });
        served.check_no_socket();
    }
}

/// G49, C-LHTTP-07: what a real server asks while a call is under way is asked of the host.
#[test]
#[ignore = "needs tests/servers/install"]
fn a_remote_server_has_a_model_and_a_person_asked() {
    for kind in [Kind::EverythingHttp, Kind::EverythingSse] {
        let served = Served::start(kind);
        let world = World::default();
        let settings = world.settings(&[("s", served.entry())]);
        let (settings, mut inquiries) = settings.serving(asking::SERVICES);
        world.run_with(settings, async |host| {
            host.start().await;
            asking::check(host, &mut inquiries, "s").await;
        });
        served.check_no_socket();
    }
}

/// Calls until the server answers again.
async fn comes_back(host: &Host, kind: Kind) {
    let (tool, arguments, _) = kind.call();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let outcome = call(host, "s", tool, arguments.clone()).await;
        if matches!(outcome, Outcome::Answered(_)) {
            return;
        }
        assert!(Instant::now() < until, "{kind:?}: {outcome:?}");
        async_io::Timer::after(Duration::from_millis(100)).await;
    }
}

#[test]
#[ignore = "needs tests/servers/install"]
fn the_command_lists_and_calls_remote_servers() {
    let world = World::default();
    let served: Vec<Served> = KINDS.into_iter().map(Served::start).collect();
    let entries: Vec<(&str, Value)> =
        served.iter().map(|one| (one.kind().name(), one.entry())).collect();
    fs::write(world.dir().join("servers.json"), config(&entries)).unwrap();
    let tidegate = tidegate();
    let list = run(&world, &tidegate, &["list", "--wait", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    for (own, server) in list["servers"].as_array().unwrap().iter().zip(&served) {
        assert_eq!(own["name"], server.kind().name());
        assert_eq!(own["state"], "connected", "{own}");
        let (tool, ..) = server.kind().call();
        let mut tools = own["tools"].as_array().unwrap().iter();
        assert!(tools.any(|it| it["tool"] == tool), "{own}");
    }
    for server in &served {
        let (tool, arguments, wanted) = server.kind().call();
        let words = ["call", server.kind().name(), tool, &arguments.to_string(), "--json"];
        let call = run(&world, &tidegate, &words);
        let call: Value = serde_json::from_slice(&call.stdout).unwrap();
        assert_eq!(call["outcome"], "ok", "{call}");
        assert!(call["text"].as_str().unwrap().contains(wanted), "{call}");
    }
}

fn assert_answered(outcome: &Outcome, wanted: &str) {
    let Outcome::Answered(result) = outcome else { panic!("{outcome:?}") };
    let text = content::flatten(result).expect("a result").text;
    assert!(text.contains(wanted), "{text}");
}
