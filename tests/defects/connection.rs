//! D16–D25, D32 and D34: what was asked for while something else was under way.

use tidegate_core::command::Command;
use tidegate_core::error::Exit;
use tidegate_core::event::{Event, OpResult, Skip};
use tidegate_core::trace::TraceLine;
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::{Delays, Fault, Script, Stopping};
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

use crate::{
    comes_before, is_answered, names, offered, opens, processes, report, result, started, state,
    status, throughout, told, waits,
};

/// A server that goes on answering for a second after its input was closed.
fn slow() -> Script {
    Script::default().taking(600).stopping(Stopping::IgnoresEof)
}

/// The arguments of the last process that was started for a server.
fn last_version(world: &World, wanted: &str) -> Option<String> {
    world.trace().iter().rev().find_map(|line| match line {
        TraceLine::Command { command: Command::Open { server, launch, .. }, .. }
            if server.as_str() == wanted =>
        {
            launch.args.first().map(ToString::to_string)
        }
        _ => None,
    })
}

/// One server that was ready and lost, and whose next process is being greeted.
fn coming_back(script: &Script) -> Result<World, Violation> {
    let mut world = started(&Scene::default().server("a", script.clone()), 1_000)?;
    world.crash("a", Exit::Code(1));
    world.run_until(|world| opens(world, "a") == 2)?;
    world.run_for(100)?;
    assert_eq!(state(&world, "a"), "connecting");
    Ok(world)
}

/// D16: A is disconnected while it is greeted, and answers all the same; G2, G4.
#[test]
fn a_server_that_is_disconnected_while_it_connects_is_ended() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("a", slow()), 100)?;
    let op = world.disconnect("a")?;
    assert!(told(&world, "CloseInput c0") == 1, "at once");
    throughout(&mut world, |world| assert!(offered(world).is_empty()))?;
    assert!(comes_before(&world, "CloseInput c0", "Received c0 result#1"));
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!((state(&world, "a"), processes(&world)), ("disconnected", 0));
    assert_eq!(report(&world).skipped, [("a".into(), Skip::Disconnected)]);
    tell!(world)
}

/// D17: A is switched off while it is greeted, answers late, and dies later; G11, G15.
#[test]
fn a_late_success_and_a_late_death_do_not_bring_a_server_back() -> Result<(), Violation> {
    let script = slow().stopping(Stopping::IgnoresTerm);
    let mut world = started(&Scene::default().server("a", script), 100)?;
    world.disable("a")?;
    world.run_for(700)?;
    assert_eq!(told(&world, "Received c0 result#1"), 1);
    world.crash("a", Exit::Code(1));
    throughout(&mut world, |world| assert_eq!(state(world, "a"), "disabled"))?;
    world.run_for(120_000)?;
    assert_eq!((opens(&world, "a"), processes(&world)), (1, 0));
    assert!(offered(&world).is_empty());
    tell!(world)
}

/// D18: everything is disconnected, one server is slow to end, and another one is greeted
/// meanwhile; G3, G2. Sessions are ended within bounds in D43.
#[test]
fn a_disconnect_of_all_ends_what_connects_while_it_waits() -> Result<(), Violation> {
    let hung = Script::default().stopping(Stopping::IgnoresTerm);
    let scene = Scene::default().server("hung", hung).server("b", slow());
    let mut world = started(&scene, 100)?;
    let op = world.disconnect_all()?;
    throughout(&mut world, |world| assert!(offered(world).is_empty()))?;
    assert!(comes_before(&world, "DisconnectAll", "Received c1 result#1"));
    assert_eq!((told(&world, "CloseInput c0"), told(&world, "CloseInput c1")), (1, 1));
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    let done = format!("Done {op}");
    assert!(comes_before(&world, "Closed c0", &done) && comes_before(&world, "Closed c1", &done));
    assert_eq!(processes(&world), 0);
    tell!(world)
}

/// D19: two reloads and an enable, one over the other, while every server connects; G16, G2.
#[test]
fn overlapping_reloads_leave_one_process_a_server() -> Result<(), Violation> {
    let scene = Scene::default().server("a", slow()).server("b", slow()).reads_taking(20);
    let mut world = started(&scene, 100)?;
    for version in [2, 3] {
        let entry = |name| Entry { version, ..Entry::new(name) };
        world.set_config(vec![entry("a"), entry("b")]);
        world.reload()?;
        world.enable("a")?;
        world.run_for(30)?;
    }
    world.run_until_quiet()?;
    assert_eq!(offered(&world), ["mcp_a_echo live", "mcp_b_echo live"]);
    assert_eq!(processes(&world), 2);
    for server in ["a", "b"] {
        assert_eq!(opens(&world, server), 2, "the first and the last version of {server}");
        assert_eq!(last_version(&world, server).as_deref(), Some("v3"));
    }
    tell!(world)
}

/// D20: A is to be reconnected while it connects for the first time; G5, G11.
#[test]
fn a_reconnect_while_connecting_shares_the_attempt() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("a", slow()), 100)?;
    let op = world.reconnect("a", None)?;
    world.run_until_quiet()?;
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!((opens(&world, "a"), processes(&world)), (1, 1));
    assert_eq!(offered(&world), ["mcp_a_echo live"]);
    assert_eq!(told(&world, "> CloseInput"), 0);
    tell!(world)
}

/// D21: A was lost and is switched off while it is greeted again; G14.
#[test]
fn a_server_that_is_disabled_while_it_comes_back_stays_away() -> Result<(), Violation> {
    let mut world = coming_back(&slow())?;
    world.disable("a")?;
    throughout(&mut world, |world| assert_eq!(state(world, "a"), "disabled"))?;
    world.run_for(120_000)?;
    assert_eq!((opens(&world, "a"), processes(&world)), (2, 0));
    tell!(world)
}

/// D21: the same while it waits to be started again; G14.
#[test]
fn a_server_that_is_disabled_before_it_comes_back_is_not_started() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("a", slow()), 1_000)?;
    world.crash("a", Exit::Code(1));
    world.run_until(|world| waits(world, "a"))?;
    world.disable("a")?;
    world.run_until_quiet()?;
    world.run_for(120_000)?;
    assert_eq!((opens(&world, "a"), state(&world, "a")), (1, "disabled"));
    tell!(world)
}

/// D22: A comes back with its old definition, is switched off and on again with a new one, and
/// the old process answers; G11, G12.
#[test]
fn the_newest_definition_runs_although_an_older_one_answers_late() -> Result<(), Violation> {
    let mut world = coming_back(&slow())?;
    world.disable("a")?;
    world.set_config(vec![Entry { version: 2, ..Entry::new("a") }]);
    world.reload()?;
    world.run_for(0)?;
    let op = world.enable("a")?;
    world.run_until_quiet()?;
    assert!(comes_before(&world, "Received c1 result#1", "Closed c1"), "it answered late");
    assert!(comes_before(&world, "Closed c1", "Open c2 a: a v2"));
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!((opens(&world, "a"), processes(&world)), (3, 1));
    let call = world.call("a", "echo")?;
    world.run_until_quiet()?;
    assert!(is_answered(&world, call));
    assert_eq!(told(&world, "Send c2 tools/call"), 1);
    tell!(world)
}

/// D23: A comes back and is asked for its tools, is disconnected and connected anew, and then
/// the old list fails; G11. Requests over HTTP end with a close in D43.
#[test]
fn a_list_that_fails_late_hurts_no_newer_connection() -> Result<(), Violation> {
    let listing = Script { delays: Delays::default(), ..slow() }.lists_taking(500);
    let mut world = started(&Scene::default().server("a", listing.clone()), 1_000)?;
    world.driver.set_script("a", listing.with(Fault::refuses("tools/list", -1, "late")));
    world.crash("a", Exit::Code(1));
    world.run_until(|world| told(world, "Send c1 notifications/initialized, tools/list") == 1)?;
    world.disconnect_all()?;
    world.driver.set_script("a", Script::default());
    let op = world.connect("a")?;
    world.run_until_quiet()?;
    assert!(comes_before(&world, "Received c1 error#2", "Open c2"), "it came while c1 closed");
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert_eq!((state(&world, "a"), processes(&world)), ("connected", 1));
    assert_eq!(offered(&world), ["mcp_a_echo live"]);
    tell!(world)
}

/// D24: the same, and the old list comes late with other tools; G11, G22.
#[test]
fn a_list_that_comes_late_brings_no_tools_back() -> Result<(), Violation> {
    let listing = Script { delays: Delays::default(), ..slow() }.lists_taking(500);
    let mut world = started(&Scene::default().server("a", listing), 1_000)?;
    let lists = told(&world, "> WriteCache");
    world.change("a", |offers| offers.tools = names(&["old"]));
    world.run_for(400)?;
    world.disconnect_all()?;
    world.driver.set_script("a", Script::tools(["new"]));
    world.connect("a")?;
    let old = |world: &World| offered(world).iter().any(|tool| tool.contains("old"));
    throughout(&mut world, |world| assert!(!old(world)))?;
    assert_eq!(told(&world, "Received c0 result#3"), 1, "it came");
    assert_eq!(offered(&world), ["mcp_a_new live"]);
    assert_eq!(told(&world, "> WriteCache"), lists + 1, "and was not stored");
    tell!(world)
}

/// D25: a reconnect is cleared by a disconnect and a second one begins; the first one ends, and
/// a third caller comes; G5, G11.
#[test]
fn who_reconnects_during_a_reconnect_shares_it_although_an_earlier_one_ended()
-> Result<(), Violation> {
    let mut world = coming_back(&slow())?;
    let first = world.reconnect("a", None)?;
    world.disconnect("a")?;
    let second = world.reconnect("a", None)?;
    world.run_until(|world| told(world, "Closed c1") == 1)?;
    world.run_for(100)?;
    assert_eq!(state(&world, "a"), "connecting");
    let third = world.reconnect("a", None)?;
    world.run_until_quiet()?;
    assert!(result(&world, first).is_some());
    for op in [second, third] {
        assert_eq!(result(&world, op), Some(&OpResult::Done), "{op}");
    }
    assert_eq!((opens(&world, "a"), processes(&world)), (3, 1));
    tell!(world)
}

/// D32: A is being closed, slowly, and connected again meanwhile; G17.
#[test]
fn a_connect_while_closing_is_not_lost() -> Result<(), Violation> {
    let script = Script::default().stopping(Stopping::IgnoresEof);
    let mut world = started(&Scene::default().server("a", script), 1_000)?;
    let off = world.disable("a")?;
    world.run_for(100)?;
    let on = world.enable("a")?;
    assert_eq!(state(&world, "a"), "connecting");
    world.run_until_quiet()?;
    assert_eq!(result(&world, on), Some(&OpResult::Done));
    assert_eq!(result(&world, off), Some(&OpResult::Superseded));
    assert_eq!((state(&world, "a"), opens(&world, "a")), ("connected", 2));
    assert_eq!(offered(&world), ["mcp_a_echo live"]);
    tell!(world)
}

/// D34: A is disconnected while its prompts and resources are read and subscribed to, and the
/// answers come all the same; G11.
#[test]
fn prompts_and_resources_that_come_after_a_disconnect_say_nothing() -> Result<(), Violation> {
    let script = Script { delays: Delays::default(), ..slow() };
    let script = script.resources(["file:///a"]).prompts(["greet"]).lists_taking(500);
    let mut world = started(&Scene::default().server("a", script), 600)?;
    world.watch(true)?;
    assert_eq!(told(&world, "prompts/list"), 1, "they are being read");
    let op = world.disconnect("a")?;
    let heard = world.events().len();
    world.run_until_quiet()?;
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    let since = &world.events()[heard..];
    assert!(since.iter().all(|event| matches!(event, Event::Done { .. })), "{since:?}");
    assert!(comes_before(&world, "CloseInput c0", "Received c0 result#3"), "an answer came");
    assert!(world.machine().resources().servers.is_empty());
    assert!(world.machine().prompts().servers.is_empty());
    assert!(status(&world, "a").subscriptions.is_empty());
    tell!(world)
}

/// D34: A is disconnected while a subscription is under way, which succeeds late; G11.
#[test]
fn a_subscription_that_succeeds_after_a_disconnect_is_none() -> Result<(), Violation> {
    let mut script = Script::default().stopping(Stopping::IgnoresEof).resources(["file:///a"]);
    script.delays.watch = 500;
    let mut world = started(&Scene::default().server("a", script), 100)?;
    world.watch(true)?;
    world.run_for(100)?;
    assert_eq!(told(&world, "resources/subscribe"), 1, "it is under way");
    world.disconnect("a")?;
    throughout(&mut world, |world| assert!(status(world, "a").subscriptions.is_empty()))?;
    world.update("a", "file:///a");
    world.run_until_quiet()?;
    let updated = |event: &Event| matches!(event, Event::ResourceUpdated { .. });
    assert!(!world.events().iter().any(updated));
    tell!(world)
}
