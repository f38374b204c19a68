//! Reloads of a file with real processes, and their races with calls and the end.

use std::fs;
use std::path::PathBuf;

use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Places;
use tidegate_core::error::CallError;
use tidegate_core::event::{OpResult, Outcome};
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_smol::{Host, Settings};
use tidegate_tests::live::{World, call, config, say};
use tidegate_tests::processes;

fn file(world: &World) -> PathBuf {
    world.dir().join("servers.json")
}

fn write(world: &World, servers: &[(&str, Value)]) {
    fs::write(file(world), config(servers)).expect("a file");
}

fn settings(world: &World) -> Settings {
    let cwd = world.dir().display().to_string();
    let explicit = vec![file(world).display().to_string()];
    let places = Places { cwd: cwd.clone(), explicit, ..Places::default() };
    Settings::new(Options::new(&cwd, places.sources()))
}

async fn pid(host: &Host, server: &str) -> String {
    say(host, server, "pid", json!({})).await
}

#[test]
fn a_reload_keeps_what_is_the_same_and_restarts_what_is_not() {
    // F-033
    let world = World::default();
    let same = world.scripted(&[]);
    write(&world, &[("same", same.clone()), ("new-args", same.clone()), ("gone", same.clone())]);
    world.run_with(settings(&world), async |host| {
        host.start().await;
        let before = (pid(host, "same").await, pid(host, "new-args").await);
        let changed = world.scripted(&["--page-size", "5"]);
        write(&world, &[("same", same.clone()), ("new-args", changed), ("added", same.clone())]);
        let result = host.reload().await;
        let OpResult::Reloaded { started, restarted, stopped, kept } = result else {
            panic!("{result:?}")
        };
        assert_eq!((started, restarted), (vec!["added".into()], vec!["new-args".into()]));
        assert_eq!((stopped, kept), (vec!["gone".into()], vec!["same".into()]));
        assert_eq!(pid(host, "same").await, before.0);
        assert_ne!(pid(host, "new-args").await, before.1);
        assert_eq!(say(host, "added", "echo", json!({"text": "here"})).await, "here");
        let gone = call(host, "gone", "echo", json!({})).await;
        assert_eq!(gone, Outcome::Failed(CallError::UnknownServer { server: "gone".into() }));
        assert_eq!(processes::marked(world.mark()).len(), 3);
    });
}

#[test]
fn a_file_that_becomes_unreadable_stops_nothing_silently() {
    let world = World::default();
    write(&world, &[("a", world.scripted(&[]))]);
    world.run_with(settings(&world), async |host| {
        host.start().await;
        fs::write(file(&world), "{ \"mcpServers\": { \"a\": ").unwrap();
        host.reload().await;
        let status = host.status().await;
        assert!(!status.problems.is_empty());
    });
}

#[test]
fn calls_of_a_server_that_a_reload_restarts_end_at_once() {
    let world = World::default();
    write(&world, &[("a", world.scripted(&[]))]);
    world.run_with(settings(&world), async |host| {
        host.start().await;
        let target = Target::Tool { server: "a".into(), tool: "wait".into() };
        let waiting = host.call(target, Json::new(r#"{"ms":3600000}"#), None);
        write(&world, &[("a", world.scripted(&["--page-size", "3"]))]);
        let (outcome, _) = future::zip(waiting, host.reload()).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
        assert_eq!(say(host, "a", "echo", json!({"text": "again"})).await, "again");
    });
}

#[test]
fn of_two_overlapping_reloads_the_second_alone_counts() {
    // G16, G53
    let world = World::default();
    let entry = |pages| world.scripted(&["--page-size", pages]);
    write(&world, &[("a", entry("1")), ("b", entry("1"))]);
    world.run_with(settings(&world), async |host| {
        host.start().await;
        let before = pid(host, "a").await;
        write(&world, &[("a", entry("2")), ("c", entry("1"))]);
        let mut first = Box::pin(host.reload());
        assert!(future::poll_once(&mut first).await.is_none());
        write(&world, &[("a", entry("3")), ("d", entry("1"))]);
        for result in <[_; 2]>::from(future::zip(first, host.reload()).await) {
            assert!(matches!(result, OpResult::Reloaded { .. }), "{result:?}");
        }
        let servers = host.status().await.servers;
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["a", "d"]);
        assert_ne!(pid(host, "a").await, before);
        pid(host, "d").await;
        assert_eq!(processes::marked(world.mark()).len(), 2);
    });
}

#[test]
fn many_reloads_calls_and_the_end_in_any_order_leave_nothing() {
    let world = World::default();
    let versions = [
        vec![("a", world.scripted(&[])), ("b", world.scripted(&["--ignore-eof"]))],
        vec![("a", world.scripted(&["--page-size", "3"])), ("c", world.scripted(&["--garbage"]))],
        vec![("b", world.scripted(&["--ignore-eof"])), ("d", world.scripted(&["--exit", "1"]))],
    ];
    write(&world, &versions[0]);
    let mut settings = settings(&world);
    settings.options.policy.stop.polite_ms = 50;
    world.run_with(settings, async |host| {
        host.start().await;
        let mut reloads = Vec::new();
        let mut calls = Vec::new();
        for round in 0..30 {
            write(&world, &versions[round % 3]);
            // Asked for without waiting for the one before.
            let mut reload = Box::pin(host.reload());
            assert!(future::poll_once(&mut reload).await.is_none());
            reloads.push(reload);
            for server in ["a", "b", "c", "d"] {
                let target = Target::Tool { server: server.into(), tool: "wait".into() };
                calls.push(host.call(target, Json::new(r#"{"ms":3}"#), None));
            }
            if round % 5 == 4 {
                let last = reloads.pop().expect("the last one").await;
                assert!(matches!(last, OpResult::Reloaded { .. }), "{last:?}");
            }
        }
        host.shutdown().await;
        for call in calls {
            call.await;
        }
        for reload in reloads {
            reload.await;
        }
    });
}
