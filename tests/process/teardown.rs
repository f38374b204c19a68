//! The end of servers: every process that was started is gone when the host says it stopped.

use std::fs;
use std::time::{Duration, Instant};

use async_io::Timer;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::CallError;
use tidegate_core::event::{OpResult, Outcome};
use tidegate_core::hub::policy::{Reconnect, StopLadder};
use tidegate_core::input::Target;
use tidegate_tests::live::{World, call, say};
use tidegate_tests::processes;

/// Ignores SIGTERM and SIGHUP, and so does what it becomes.
const STUBBORN: &str = r#"trap "" TERM HUP INT; exec "$@""#;
/// What package runners do: a shell that waits for the real server. (Without the detour a shell
/// gives a command in the background an empty input.)
const RUNNER: &str = r#"exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait"#;
/// The same, and the shell goes first.
const FORGETFUL: &str = r#"exec 3<&0; "$@" <&3 3<&- &"#;

/// A rung that is never climbed from: a test that needs the next one hangs.
const NEVER: u64 = 3_600_000;

/// Runs servers and stops them with a ladder of these rungs.
fn stop(world: &World, servers: &[(&str, Value)], polite_ms: u64, terminate_ms: u64) {
    let mut settings = world.settings(servers);
    settings.options.policy.stop = StopLadder { polite_ms, terminate_ms, kill_ms: NEVER };
    world.run_with(settings, async |host| {
        let report = host.start().await;
        assert_eq!(report.connected.len(), servers.len(), "{report:?}");
        assert!(processes::marked(world.mark()).len() >= servers.len());
    });
}

#[test]
fn servers_that_obey_the_end_of_their_input_are_asked_no_further() {
    let world = World::default();
    stop(&world, &[("a", world.scripted(&[])), ("b", world.scripted(&[]))], NEVER, NEVER);
}

#[test]
fn servers_that_ignore_the_end_of_their_input_get_sigterm() {
    let world = World::default();
    stop(&world, &[("a", world.scripted(&["--ignore-eof"]))], 50, NEVER);
}

#[test]
fn servers_that_ignore_sigterm_too_are_killed() {
    let world = World::default();
    stop(&world, &[("a", world.wrapped(STUBBORN, &["--ignore-eof"]))], 50, 50);
}

#[test]
fn the_whole_teardown_takes_at_most_five_seconds_however_many_ignore_everything() {
    let world = World::default();
    let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
    let stubborn = world.wrapped(STUBBORN, &["--ignore-eof"]);
    let servers: Vec<_> = names.iter().map(|name| (name.as_str(), stubborn.clone())).collect();
    let took = world.run(&servers, async |host| {
        let start = Instant::now();
        host.shutdown().await;
        start.elapsed()
    });
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn grandchildren_of_every_kind_of_wrapper_are_ended() {
    // F-010
    let world = World::default();
    let servers = [
        ("runner", world.wrapped(RUNNER, &["--ignore-eof"])),
        ("forgetful", world.wrapped(FORGETFUL, &[])),
        ("parent", world.scripted(&["--grandchild"])),
        ("stubborn", world.wrapped(STUBBORN, &["--grandchild", "--ignore-eof"])),
    ];
    stop(&world, &servers, 200, 200);
}

#[test]
fn a_server_that_dies_leaves_no_grandchildren() {
    let world = World::default();
    let mut settings = world.settings(&[("a", world.scripted(&["--grandchild"]))]);
    settings.options.policy.reconnect = Reconnect::Off;
    world.run_with(settings, async |host| {
        host.start().await;
        // L8: although the grandchild holds the pipes open.
        let outcome = call(host, "a", "exit", json!({"code": 3})).await;
        assert_eq!(outcome, Outcome::Failed(CallError::Closed));
        // The call ends first; the ladder of what it left behind takes its time.
        let end = Instant::now() + Duration::from_secs(15);
        while !processes::marked(world.mark()).is_empty() && Instant::now() < end {
            Timer::after(Duration::from_millis(20)).await;
        }
        world.check_nothing_left(Duration::ZERO);
    });
}

/// Servers stuck at every stage: before the first line is read, before `initialize`, before the
/// list.
pub(crate) fn stuck_in_the_start(world: &World) -> [(&'static str, Value); 4] {
    [
        ("starting", world.scripted(&["--start-delay-ms", "60000", "--ignore-eof"])),
        ("greeting", world.scripted(&["--init-delay-ms", "60000"])),
        ("listing", world.scripted(&["--list-delay-ms", "60000"])),
        ("silent", world.scripted(&["--silent"])),
    ]
}

#[test]
fn stopping_during_the_start_leaves_nothing() {
    let world = World::default();
    let servers = stuck_in_the_start(&world);
    for pause_ms in [0, 1, 10, 100] {
        world.run_with(world.settings(&servers), async |host| {
            let start = host.start();
            let pause = async {
                Timer::after(Duration::from_millis(pause_ms)).await;
                None
            };
            let early = futures_lite::future::or(async { Some(start.await) }, pause).await;
            assert!(early.is_none(), "{early:?}");
        });
    }
}

#[test]
fn once_a_shutdown_has_begun_nothing_is_started_and_nothing_is_called() {
    // F-013
    let world = World::default();
    let mark = world.dir().join("mark");
    let entry = world.scripted(&["--mark", &mark.display().to_string()]);
    world.run(&[("a", entry)], async |host| {
        let target = Target::Tool { server: "a".into(), tool: "wait".into() };
        let open = host.call(target, Json::new(r#"{"ms":3600000}"#), None);
        host.shutdown().await;
        let ended = open.await;
        assert!(matches!(ended, Outcome::Failed(_)), "{ended:?}");
        let outcome = call(host, "a", "echo", json!({})).await;
        assert_eq!(outcome, Outcome::Failed(CallError::ShuttingDown));
        assert_eq!(host.connect("a").await, OpResult::ShuttingDown);
    });
    assert_eq!(fs::read_to_string(mark).unwrap().lines().count(), 1);
}

#[test]
fn a_disconnected_server_is_gone_and_the_others_are_not() {
    let world = World::default();
    let servers = [("a", world.scripted(&["--ignore-eof"])), ("b", world.scripted(&[]))];
    world.run(&servers, async |host| {
        let before = say(host, "b", "pid", json!({})).await;
        assert_eq!(host.disconnect("a").await, OpResult::Done);
        assert_eq!(processes::marked(world.mark()).len(), 1);
        assert_eq!(say(host, "b", "pid", json!({})).await, before);
        assert_eq!(host.connect("a").await, OpResult::Done);
        assert_eq!(say(host, "a", "echo", json!({"text": "again"})).await, "again");
        assert_eq!(host.disconnect_all().await, OpResult::Done);
        world.check_nothing_left(Duration::ZERO);
    });
}
