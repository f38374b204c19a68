//! What changes at a server that goes on running, as timelines.
//!
//! Every law is checked after every step of each story, and each ends with a shutdown that
//! leaves nothing behind.

use tidegate_core::error::Exit;
use tidegate_core::hub::policy::Policy;
use tidegate_sim::scene::Scene;
use tidegate_sim::script::{Fault, Script};
use tidegate_sim::violation::{Violation, timeline};
use tidegate_sim::world::World;

/// Compares the story so far with its snapshot, then ends it.
macro_rules! tell {
    ($world:expr) => {{
        let mut world = $world;
        insta::assert_snapshot!(timeline(world.trace()));
        world.finish()
    }};
}

/// A world with one server that has been ready for a second.
fn ready(policy: Policy, script: Script) -> Result<World, Violation> {
    let mut world = Scene::new(policy).server("one", script).world();
    world.start()?;
    world.run_for(1_000)?;
    Ok(world)
}

fn best(script: Script) -> Result<World, Violation> {
    ready(Policy::default(), script)
}

fn tools(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).into()).collect()
}

// Tools.

/// G25, F-060: one change, one new list, one revision more; the cache follows.
#[test]
fn a_changed_tool_list_is_read_once_it_is_quiet() -> Result<(), Violation> {
    let mut world = best(Script::default())?;
    world.change("one", |offers| offers.tools = tools(&["echo", "grow"]));
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G27: a storm of two and a half seconds comes to two lists: one at the latest two seconds
/// after it began, one when it is over.
#[test]
fn a_storm_of_changes_comes_to_two_lists() -> Result<(), Violation> {
    let mut world = best(Script::default())?;
    for _ in 0..25 {
        world.storm("one", "tools", 1);
        world.run_for(100)?;
    }
    world.run_until_quiet()?;
    tell!(world)
}

/// G27, D13, D14: however many changes come during a request, exactly one more follows it.
#[test]
fn changes_during_a_list_lead_to_exactly_one_more() -> Result<(), Violation> {
    let mut world = best(Script::default().lists_taking(900))?;
    world.run_for(1_000)?;
    world.change("one", |offers| offers.tools = tools(&["echo", "grow"]));
    world.run_for(600)?;
    world.change("one", |offers| offers.tools = tools(&["grow"]));
    world.storm("one", "tools", 3);
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// D13: a change while the first list is read is not lost.
#[test]
fn a_change_during_the_first_list_is_followed_when_it_is_there() -> Result<(), Violation> {
    let mut world = Scene::default().server("one", Script::default().lists_taking(500)).world();
    world.start()?;
    world.run_for(100)?;
    world.change("one", |offers| offers.tools = tools(&["grow"]));
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G28: a list that fails leaves the earlier one; it is tried again after 1, 2 and 4 seconds, is
/// reported once, and then rests until the next change.
#[test]
fn a_list_that_fails_keeps_the_earlier_one_and_is_tried_again() -> Result<(), Violation> {
    let mut world = best(Script::default())?;
    let failing = Script::tools(["echo", "grow"]);
    let failing = failing.with(Fault::refuses("tools/list", -32_603, "busy"));
    world.driver.set_script("one", failing);
    world.storm("one", "tools", 1);
    world.run_until_quiet()?;
    world.call("one", "echo")?;
    world.run_until_quiet()?;
    world.driver.set_script("one", Script::tools(["echo", "grow"]));
    world.storm("one", "tools", 1);
    world.run_until_quiet()?;
    tell!(world)
}

/// G28: a list that never comes is called off and tried again.
#[test]
fn a_list_that_never_comes_is_called_off() -> Result<(), Violation> {
    let mut scene = Scene::default().server("one", Script::default());
    scene.options.policy.list_ms = 5_000;
    let mut world = scene.world();
    world.start()?;
    world.run_until_quiet()?;
    world.driver.set_script("one", Script::default().lists_taking(60_000));
    world.storm("one", "tools", 1);
    world.run_for(5_500)?;
    world.driver.set_script("one", Script::default());
    world.run_until_quiet()?;
    tell!(world)
}

/// G11, D34: what was asked of an old connection is about nothing any more.
#[test]
fn a_list_of_an_old_connection_changes_nothing() -> Result<(), Violation> {
    let mut world = best(Script::default().lists_taking(300))?;
    world.change("one", |offers| offers.tools = tools(&["old"]));
    world.run_for(400)?;
    world.crash("one", Exit::Code(1));
    world.run_for(0)?;
    world.change("one", |offers| offers.tools = tools(&["new"]));
    world.connect("one")?;
    world.run_until_quiet()?;
    tell!(world)
}

/// D14: an equal list is no change.
#[test]
fn a_list_that_is_the_same_changes_nothing() -> Result<(), Violation> {
    let mut world = best(Script::default())?;
    world.storm("one", "tools", 2);
    world.run_until_quiet()?;
    tell!(world)
}

/// A call to a tool that is gone says so; one that is under way goes on.
#[test]
fn a_tool_that_is_gone_answers_so() -> Result<(), Violation> {
    let mut world = best(Script::tools(["echo", "stay"]).calls_taking(1_000))?;
    world.call("one", "echo")?;
    world.change("one", |offers| offers.tools = tools(&["stay"]));
    world.run_for(500)?;
    world.call("one", "echo")?;
    world.run_until_quiet()?;
    tell!(world)
}

/// The documents ignore changes; the host is told of them as of any other notification.
#[test]
fn by_the_documented_policy_changes_are_only_told() -> Result<(), Violation> {
    let mut world = ready(Policy::documented(), Script::default().prompts(["greet"]))?;
    world.change("one", |offers| offers.tools = tools(&["grow"]));
    world.run_until_quiet()?;
    tell!(world)
}
