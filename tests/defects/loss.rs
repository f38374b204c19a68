//! D26–D31, D33, D35 and D36: servers that are lost, that fail, and that never come to an end.

use tidegate_core::command::Command;
use tidegate_core::error::{CallError, Cause, Exit, Stage};
use tidegate_core::event::{OpResult, Outcome, ServerState};
use tidegate_core::time::Timestamp;
use tidegate_core::trace::TraceLine;
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::{Fault, Script, Stopping};
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

use crate::{
    comes_before, is_answered, offered, opens, outcome, processes, report, result, started, state,
    status, told,
};

/// When the processes of all servers were started.
fn starts(world: &World) -> Vec<Timestamp> {
    let start = |line: &TraceLine| match line {
        TraceLine::Command { at, command: Command::Open { .. } } => Some(*at),
        _ => None,
    };
    world.trace().iter().filter_map(start).collect()
}

/// D26: two calls end with their connection; one caller reconnects, and when that is done the
/// other one does, naming the connection that failed it; G13.
#[test]
fn a_failure_on_an_old_connection_leaves_the_new_one_alone() -> Result<(), Violation> {
    let script = Script::default().calls_taking(300);
    let mut world = started(&Scene::default().server("a", script), 1_000)?;
    let old = status(&world, "a").conn;
    let calls = [world.call("a", "echo")?, world.call("a", "echo")?];
    world.run_for(100)?;
    world.crash("a", Exit::Code(1));
    world.run_for(0)?;
    for call in calls {
        assert_eq!(outcome(&world, call), Some(&Outcome::Failed(CallError::Closed)));
    }
    let first = world.reconnect("a", old)?;
    world.run_for(0)?;
    assert_eq!(result(&world, first), Some(&OpResult::Done));
    let again = world.call("a", "echo")?;
    world.run_for(100)?;
    let second = world.reconnect("a", old)?;
    assert_eq!(result(&world, second), Some(&OpResult::Done), "at once");
    world.run_until_quiet()?;
    assert!(is_answered(&world, again));
    assert_eq!((opens(&world, "a"), told(&world, "CloseInput c1")), (2, 0));
    tell!(world)
}

/// D27: a server answers a call with an error about a connection of its own; G41, G40.
#[test]
fn an_error_that_reads_like_a_lost_connection_is_an_answer() -> Result<(), Violation> {
    let words = "connect ECONNREFUSED 127.0.0.1:5432";
    let script = Script::default().with(Fault::refuses("tools/call", -32_603, words));
    let mut world = started(&Scene::default().server("a", script), 1_000)?;
    let call = world.call("a", "echo")?;
    world.run_until_quiet()?;
    let Some(Outcome::Failed(CallError::Rpc { error })) = outcome(&world, call) else {
        panic!("{:?}", outcome(&world, call));
    };
    assert_eq!((error.code, error.message.as_str()), (-32_603, words));
    assert_eq!((state(&world, "a"), opens(&world, "a")), ("connected", 1));
    assert_eq!(told(&world, "tools/call"), 1);
    tell!(world)
}

/// D28: a call was written, and its server is lost before it answers and comes back; G40.
#[test]
fn a_call_that_may_have_run_is_not_made_again() -> Result<(), Violation> {
    let script = Script::default().calls_taking(1_000);
    let mut world = started(&Scene::default().server("a", script), 1_000)?;
    let call = world.call("a", "echo")?;
    world.run_for(100)?;
    world.crash("a", Exit::Signal(9));
    world.run_until_quiet()?;
    assert_eq!(outcome(&world, call), Some(&Outcome::Failed(CallError::Closed)));
    assert_eq!((state(&world, "a"), opens(&world, "a")), ("connected", 2));
    assert_eq!(told(&world, "tools/call"), 1);
    tell!(world)
}

/// D29: a child crashes shortly after each handshake; G50. That a stream of events which is closed
/// again and again is no loss at all (G47) is `the_stream_is_opened_again_after_its_last_event`.
#[test]
fn a_server_that_crashes_after_each_handshake_is_started_less_and_less_and_then_rests()
-> Result<(), Violation> {
    let mut world = started(&Scene::default().server("a", Script::default()), 10)?;
    // Six are the bound; one that is never suspended has to come to an end here.
    for _ in 0..12 {
        if state(&world, "a") != "connected" {
            break;
        }
        world.crash("a", Exit::Code(1));
        world.run_for(0)?;
        world.run_until(|world| state(world, "a") != "connecting")?;
    }
    world.run_until_quiet()?;
    let starts = starts(&world);
    let waits: Vec<u64> = starts.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    for (wait, least) in waits.iter().zip([500, 1_000, 2_000, 4_000, 8_000]) {
        assert!((least..=least * 5 / 4).contains(wait), "{waits:?}");
    }
    assert_eq!((starts.len(), state(&world, "a")), (6, "suspended"));
    let op = world.reconnect("a", None)?;
    world.run_until_quiet()?;
    assert_eq!(result(&world, op), Some(&OpResult::Done), "somebody acted");
    tell!(world)
}

/// D30: the handshake succeeds and the first list of tools fails; G17.
#[test]
fn a_server_whose_list_fails_has_failed_and_can_be_connected_again() -> Result<(), Violation> {
    let failing = Script::default().with(Fault::refuses("tools/list", -32_603, "not yet"));
    let mut world = started(&Scene::default().server("a", failing), 5_000)?;
    let ServerState::Failed { failure } = status(&world, "a").state else {
        panic!("{:?}", status(&world, "a").state);
    };
    assert_eq!(failure.stage, Stage::ListTools);
    assert_eq!(report(&world).failed.len(), 1);
    assert_eq!(processes(&world), 0);
    world.driver.set_script("a", Script::default());
    let op = world.connect("a")?;
    world.run_until_quiet()?;
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!(offered(&world), ["mcp_a_echo live"]);
    tell!(world)
}

/// D31: a child ends anywhere between its start and its tools; G18. The end of a stream of events
/// is `the_end_of_the_stream_ends_the_session_and_another_one_is_begun`.
#[test]
fn an_end_is_seen_wherever_it_comes() -> Result<(), Violation> {
    for after_bytes in 0..400 {
        let crash = Fault::Crashes { after_bytes, exit: Exit::Code(1) };
        let mut world = started(&Scene::default().server("a", Script::default().with(crash)), 0)?;
        world.run_until_quiet()?;
        let end = state(&world, "a");
        let whole = end == "connected" && processes(&world) == 1;
        let seen = matches!(end, "failed" | "suspended") && processes(&world) == 0;
        assert!(whole || seen, "after {after_bytes} bytes it is {end}");
        world.finish()?;
    }
    // Between the handshake and the list: the moment at which there was no listener.
    let mut world = started(&Scene::default().server("a", Script::default().lists_taking(50)), 20)?;
    world.crash("a", Exit::Code(1));
    world.run_until_quiet()?;
    let ServerState::Failed { failure } = status(&world, "a").state else {
        panic!("{:?}", status(&world, "a").state);
    };
    assert_eq!(failure.stage, Stage::ListTools);
    assert!(!report(&world).failed.is_empty());
    tell!(world)
}

/// D33: A is restarted, and its old process takes its time to end; G5.
#[test]
fn a_new_process_is_started_when_the_old_one_is_gone() -> Result<(), Violation> {
    let script = Script::default().stopping(Stopping::IgnoresTerm);
    let mut world = started(&Scene::default().server("a", script), 100)?;
    let op = world.reconnect("a", None)?;
    world.run_until_quiet()?;
    assert!(comes_before(&world, "Closed c0", "Open c1"));
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!((opens(&world, "a"), processes(&world)), (2, 1));
    tell!(world)
}

/// D35: A is lost while its resources are watched, and neither all of its list nor all of the
/// subscriptions succeed when it is back; G51.
#[test]
fn what_counts_as_subscribed_is_what_the_present_connection_agreed_to() -> Result<(), Violation> {
    let script = Script::default().resources(["file:///a", "file:///b"]);
    let mut world = started(&Scene::default().server("a", script.clone()), 100)?;
    world.watch(true)?;
    world.run_until_quiet()?;
    let subscribed = |world: &World| status(world, "a").subscriptions;
    assert_eq!(subscribed(&world), ["file:///a", "file:///b"]);
    let refused = Fault::refuses("resources/list", -32_603, "not yet");
    world.driver.set_script("a", script.clone().with(refused));
    world.crash("a", Exit::Code(1));
    world.run_until_quiet()?;
    assert_eq!((state(&world, "a"), opens(&world, "a")), ("connected", 2));
    assert!(subscribed(&world).is_empty(), "{:?}", subscribed(&world));
    let refused = Fault::refuses("resources/subscribe", -32_603, "too many");
    world.driver.set_script("a", script.clone().with(refused));
    world.storm("a", "resources", 1);
    world.run_until_quiet()?;
    assert!(subscribed(&world).is_empty(), "{:?}", subscribed(&world));
    let updated = |world: &World| told(world, "! ResourceUpdated");
    world.update("a", "file:///a");
    world.run_until_quiet()?;
    assert_eq!(updated(&world), 0, "nothing is followed");
    world.driver.set_script("a", script);
    world.storm("a", "resources", 1);
    world.run_until_quiet()?;
    assert_eq!(subscribed(&world), ["file:///a", "file:///b"]);
    world.update("a", "file:///a");
    world.run_until_quiet()?;
    assert_eq!(updated(&world), 1);
    tell!(world)
}

/// D36: nothing is cached, and one server is silent, one lists without end and one in a circle;
/// G30, G37.
#[test]
fn a_start_ends_whatever_its_servers_do() -> Result<(), Violation> {
    let patient = |name| Entry { timeout_ms: Some(600_000), ..Entry::new(name) };
    let mut scene = Scene::default()
        .entry(patient("silent"), Script::silent())
        .entry(patient("endless"), Script::default().lists_taking(5_000).with(Fault::EndlessPages))
        .server("circle", Script::default().with(Fault::RepeatsCursor))
        .server("fine", Script::default());
    scene.options.limits.pages = 100;
    let mut world = started(&scene, 30_000)?;
    let start = report(&world);
    assert_eq!(start.elapsed_ms, 30_000);
    assert_eq!(start.connected, ["fine".into()]);
    let cause = |wanted: &str| {
        let mut failed = start.failed.iter();
        failed.find(|(name, _)| name.as_str() == wanted).map(|(_, failure)| failure.cause.clone())
    };
    assert_eq!(cause("circle"), Some(Cause::RepeatedCursor));
    let late = Some(Cause::StartupDeadline { limit_ms: 30_000 });
    assert_eq!((cause("silent"), cause("endless")), (late.clone(), late));
    let call = world.call("fine", "echo")?;
    world.run_for(0)?;
    assert!(is_answered(&world, call), "it is of use at once");
    world.run_until_quiet()?;
    assert_eq!((state(&world, "silent"), state(&world, "endless")), ("failed", "failed"));
    tell!(world)
}
