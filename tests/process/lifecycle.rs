//! Servers that are lost, come back, and are switched on and off.

use std::fs;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::poll_once;
use serde_json::{Value, json};
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, Skip};
use tidegate_core::hub::policy::{Backoff, Reconnect};
use tidegate_smol::{Events, Host, News, Settings};
use tidegate_tests::live::{World, call, say, state};
use tidegate_tests::processes;

/// Settings by which lost servers are started again after so long, and so often.
fn losing(world: &World, servers: &[(&str, Value)], delay_ms: u64, starts_max: u32) -> Settings {
    let mut settings = world.settings(servers);
    let backoff = Backoff { delays_ms: vec![delay_ms], starts_max, ..Backoff::default() };
    settings.options.policy.reconnect = Reconnect::OnLoss(backoff);
    settings
}

/// A server that notes each of its starts, and where it does.
fn noted(world: &World) -> (Value, PathBuf) {
    let mark = world.dir().join("mark");
    (world.scripted(&["--mark", &mark.display().to_string()]), mark)
}

fn starts(mark: &PathBuf) -> usize {
    fs::read_to_string(mark).expect("a server that started").lines().count()
}

async fn lose(host: &Host, server: &str) {
    let lost = call(host, server, "exit", json!({"code": 3})).await;
    assert_eq!(lost, Outcome::Failed(CallError::Closed));
}

/// The states that were told so far.
fn told(events: &mut Events) -> Vec<&'static str> {
    let mut states: Vec<&str> = std::iter::from_fn(|| events.try_next())
        .filter_map(|news| match news {
            News::Event(Event::ServerChanged { state: ServerState::Retrying { .. }, .. }) => {
                Some("retrying")
            }
            News::Event(Event::ServerChanged { state, .. }) => Some(state.name()),
            News::Event(_) | News::Missed(_) => None,
        })
        .collect();
    // A loss is told again when it is known how the process ended.
    states.dedup();
    states
}

#[test]
fn a_server_that_crashes_comes_back_and_answers_the_call_that_waited() {
    // G50, L8
    let world = World::default();
    let settings = losing(&world, &[("a", world.scripted(&[]))], 200, 5);
    world.run_with(settings, async |host| {
        host.start().await;
        let before = say(host, "a", "pid", json!({})).await;
        let mut events = host.events();
        lose(host, "a").await;
        let lost = state(host, "a").await;
        assert!(matches!(lost, ServerState::Retrying { start: 1, .. }), "{lost:?}");
        // Asked for while nobody is there to answer.
        let after = say(host, "a", "pid", json!({})).await;
        assert_ne!(after, before);
        assert_eq!(processes::marked(world.mark()), [after.parse::<u32>().unwrap()]);
        assert_eq!(told(&mut events), ["retrying", "connecting", "connected"]);
    });
}

#[test]
fn a_server_that_is_lost_too_often_is_suspended_until_somebody_acts() {
    // G50
    let world = World::default();
    let (entry, mark) = noted(&world);
    world.run_with(losing(&world, &[("a", entry)], 10, 2), async |host| {
        host.start().await;
        // Each waits for the server to be back, and takes it down again.
        for _ in 0..3 {
            lose(host, "a").await;
        }
        let suspended = state(host, "a").await;
        assert!(matches!(suspended, ServerState::Suspended { .. }), "{suspended:?}");
        let refused = call(host, "a", "echo", json!({})).await;
        assert!(matches!(refused, Outcome::Failed(CallError::NotConnected { .. })), "{refused:?}");
        let awaited = host.await_connected("a", None).await;
        assert!(matches!(awaited, OpResult::Failed { .. }), "{awaited:?}");
        assert_eq!(starts(&mark), 3);
        assert_eq!(host.reconnect("a", None).await, OpResult::Done);
        assert_eq!(say(host, "a", "echo", json!({"text": "again"})).await, "again");
        assert_eq!(starts(&mark), 4);
    });
}

#[test]
fn a_server_that_is_disabled_while_it_waits_to_be_started_again_is_not() {
    // D21, G14
    let world = World::default();
    let (entry, mark) = noted(&world);
    world.run_with(losing(&world, &[("a", entry)], 300, 5), async |host| {
        host.start().await;
        lose(host, "a").await;
        assert_eq!(host.disable("a").await, OpResult::Done);
        // Past the moment at which it would have been started.
        Timer::after(Duration::from_millis(500)).await;
        host.reload().await;
        assert_eq!((state(host, "a").await, starts(&mark)), (ServerState::Disabled, 1));
        assert_eq!(host.connect("a").await, OpResult::Skipped { reason: Skip::Disabled });
        assert_eq!(host.enable("a").await, OpResult::Done);
        assert_eq!(starts(&mark), 2);
    });
}

#[test]
fn disconnecting_during_the_start_leaves_nothing() {
    // D16, G2, G4
    let world = World::default();
    let servers = crate::teardown::stuck_in_the_start(&world);
    for pause_ms in [0, 1, 10, 100] {
        world.run_with(world.settings(&servers), async |host| {
            let mut start = pin!(host.start());
            assert!(poll_once(&mut start).await.is_none());
            Timer::after(Duration::from_millis(pause_ms)).await;
            for (name, _) in &servers {
                assert_eq!(host.disconnect(*name).await, OpResult::Done);
                assert_eq!(state(host, name).await, ServerState::Disconnected);
            }
            world.check_nothing_left(Duration::ZERO);
            let report = start.await;
            assert_eq!(report.skipped.len(), servers.len(), "{report:?}");
        });
    }
}

#[test]
fn tools_that_a_server_says_have_changed_are_listed_again() {
    let world = World::default();
    world.run(&[("a", world.scripted(&["--page-size", "5"]))], async |host| {
        let mut events = host.events();
        say(host, "a", "grow", json!({})).await;
        let has_grown = async || {
            let catalog = host.catalog().await;
            catalog.tools.iter().any(|tool| tool.tool == "grown")
        };
        while !has_grown().await {
            events.next().await.expect("a host that goes on");
        }
    });
}

/// What is asked of one server, or of all.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Connect,
    Disconnect,
    Reconnect,
    Restart,
    Enable,
    Disable,
    Reload,
}

fn ask<'a>(host: &'a Host, ask: Ask) -> Pin<Box<dyn Future<Output = OpResult> + 'a>> {
    match ask {
        Ask::Connect => Box::pin(host.connect("a")),
        Ask::Disconnect => Box::pin(host.disconnect("a")),
        Ask::Reconnect => Box::pin(host.reconnect("a", None)),
        Ask::Restart => Box::pin(host.restart("a")),
        Ask::Enable => Box::pin(host.enable("a")),
        Ask::Disable => Box::pin(host.disable("a")),
        Ask::Reload => Box::pin(host.reload()),
    }
}

#[test]
fn operations_that_overlap_end_as_the_last_of_them() {
    // G16, G5
    use Ask::{Connect, Disable, Disconnect, Enable, Reconnect, Reload, Restart};
    let stories: [(&[Ask], ServerState); 6] = [
        (&[Restart, Reconnect, Reload, Disable, Enable], ServerState::Connected),
        (&[Disable, Reload, Restart, Enable, Disable], ServerState::Disabled),
        (&[Reload, Disable], ServerState::Disabled),
        (&[Enable, Restart, Disconnect, Reload], ServerState::Disconnected),
        (&[Connect, Restart, Restart, Restart, Reload], ServerState::Connected),
        (&[Disconnect, Reconnect, Disconnect, Connect], ServerState::Connected),
    ];
    let manners: [&[&str]; 3] = [&[], &["--ignore-eof"], &["--init-delay-ms", "30"]];
    for manner in manners {
        let world = World::default();
        let mut settings = losing(&world, &[("a", world.scripted(manner))], 20, 5);
        settings.options.policy.stop.polite_ms = 50;
        world.run_with(settings, async |host| {
            host.start().await;
            for (asked, end) in &stories {
                let mut waiting = Vec::new();
                for one in *asked {
                    let mut answer = ask(host, *one);
                    if poll_once(&mut answer).await.is_none() {
                        waiting.push(answer);
                    }
                }
                for answer in waiting {
                    answer.await;
                }
                assert_eq!(state(host, "a").await, *end, "{manner:?} {asked:?}");
                let running = processes::marked(world.mark());
                let wanted = usize::from(*end == ServerState::Connected);
                assert_eq!(running.len(), wanted, "{asked:?}\n{}", processes::describe(&running));
            }
        });
    }
}
