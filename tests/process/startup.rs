//! The gate and the cache with real processes and files.

use std::time::Duration;

use async_io::Timer;
use serde_json::json;
use tidegate_core::tools::catalog::ToolState;
use tidegate_smol::{Host, Settings};
use tidegate_tests::live::{World, say};

fn cached(world: &World, slow: bool) -> Settings {
    // In the environment, so that the definition is the one that was cached.
    let delay = if slow { "600" } else { "0" };
    let mut entry = world.wrapped(r#"exec "$@" --init-delay-ms "$DELAY""#, &[]);
    entry["env"]["DELAY"] = json!(delay);
    let servers = [("slow", entry), ("quick", world.scripted(&[]))];
    world.settings(&servers).with_cache_dir(world.dir().join("cache"))
}

async fn states(host: &Host, server: &str) -> Vec<ToolState> {
    let catalog = host.catalog().await;
    let own = catalog.tools.iter().filter(|tool| tool.server.as_str() == server);
    own.map(|tool| tool.state.clone()).collect()
}

#[test]
fn a_slow_server_with_a_cached_list_is_deferred_and_a_call_waits_for_it() {
    // G30, F-002, F-005
    let world = World::default();
    world.run_with(cached(&world, false), async |host| {
        let report = host.start().await;
        assert_eq!(report.connected.len(), 2, "{report:?}");
    });
    world.run_with(cached(&world, true), async |host| {
        let report = host.start().await;
        assert_eq!(report.deferred, ["slow".into()], "{report:?}");
        assert_eq!(states(host, "slow").await, vec![ToolState::Deferred; 17]);
        assert_eq!(states(host, "quick").await, vec![ToolState::Live; 17]);
        assert_eq!(say(host, "slow", "echo", json!({"text": "at last"})).await, "at last");
        assert_eq!(states(host, "slow").await, vec![ToolState::Live; 17]);
    });
}

#[test]
fn a_gate_of_nothing_answers_at_once_from_the_cache() {
    let world = World::default();
    world.run_with(cached(&world, false), async |host| {
        host.start().await;
    });
    let mut settings = cached(&world, true);
    settings.options.policy.gate_ms = 0;
    world.run_with(settings, async |host| {
        let report = host.start().await;
        assert_eq!(report.deferred.len(), 2, "{report:?}");
        assert_eq!(say(host, "quick", "echo", json!({"text": "live"})).await, "live");
    });
}

#[test]
fn a_damaged_cache_is_a_miss() {
    // G34
    let world = World::default();
    world.run_with(cached(&world, false), async |host| {
        host.start().await;
    });
    let mut damaged = 0;
    for entry in std::fs::read_dir(world.dir().join("cache/tools")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"{\"version\":1,\"tools\":[{\"na").unwrap();
        damaged += 1;
    }
    assert_eq!(damaged, 2);
    world.run_with(cached(&world, true), async |host| {
        // Without a cached list the slow one is waited for.
        let report = host.start().await;
        assert_eq!(report.connected.len(), 2, "{report:?}");
    });
}

#[test]
fn a_silent_server_fails_at_its_own_limit_and_holds_up_no_call() {
    // F-003
    let world = World::default();
    let mut silent = world.scripted(&["--silent"]);
    silent["timeout"] = json!(700);
    let servers = [("silent", silent), ("quick", world.scripted(&[]))];
    world.run_with(world.settings(&servers), async |host| {
        let start = host.start();
        let call = async {
            // The quick one answers calls although the gate is still shut.
            while !states(host, "quick").await.contains(&ToolState::Live) {
                Timer::after(Duration::from_millis(10)).await;
            }
            say(host, "quick", "echo", json!({"text": "early"})).await
        };
        let (report, early) = futures_lite::future::zip(start, call).await;
        assert_eq!(early, "early");
        let (server, failure) = &report.failed[0];
        assert_eq!(
            failure.describe(server),
            "Connection to MCP server \"silent\" timed out after 700ms (initialize)"
        );
    });
}
