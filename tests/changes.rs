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

// Resources and prompts.

fn rich() -> Script {
    Script::default()
        .resources(["file:///a", "file:///b"])
        .templates(["file:///{name}"])
        .prompts(["greet"])
}

/// They come after the tools and the calls that waited, and the gate does not wait for them.
#[test]
fn resources_and_prompts_come_after_the_tools() -> Result<(), Violation> {
    let mut world = Scene::default().server("one", rich().lists_taking(100)).cached().world();
    world.start()?;
    world.run_for(50)?;
    world.call("one", "echo")?;
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G25, D14: each list has its own clock, and only a real change counts.
#[test]
fn changed_resources_and_prompts_are_read_again() -> Result<(), Violation> {
    let mut world = best(rich())?;
    world.change("one", |offers| offers.resources = tools(&["file:///b", "file:///c"]));
    world.run_for(100)?;
    world.change("one", |offers| offers.prompts = tools(&["greet", "plan"]));
    world.storm("one", "resources", 2);
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G28, D14: the half that can be read counts, the other one stays as it was.
#[test]
fn templates_count_although_the_resources_cannot_be_read() -> Result<(), Violation> {
    let mut world = best(rich())?;
    let half = rich().templates(["file:///{other}"]).with(Fault::refuses(
        "resources/list",
        -32_603,
        "busy",
    ));
    world.driver.set_script("one", half);
    world.storm("one", "resources", 1);
    world.run_for(1_000)?;
    world.driver.set_script("one", rich().templates(["file:///{other}"]));
    world.run_until_quiet()?;
    tell!(world)
}

/// G33, F-048: what is wrong with an entry is told, and what is not implemented is empty.
#[test]
fn bad_entries_are_left_out_and_missing_methods_are_empty_lists() -> Result<(), Violation> {
    let resources = r#"{"resources":[{"name":"x"},{"uri":"file:///a"},{"uri":"file:///a"}]}"#;
    let script = rich()
        .with(Fault::results("resources/list", resources))
        .with(Fault::refuses("resources/templates/list", -32_601, "Method not found"))
        .with(Fault::results("prompts/list", r#"{"prompts":{}}"#));
    let mut world = best(script)?;
    world.run_until_quiet()?;
    tell!(world)
}

/// They go with the connection, and that is a change (D34).
#[test]
fn resources_and_prompts_go_with_their_server() -> Result<(), Violation> {
    let mut world = best(rich())?;
    world.disconnect("one")?;
    world.run_until_quiet()?;
    tell!(world)
}

// Subscriptions.

/// G51: updates are passed on from the moment a subscription stands until it is taken back.
#[test]
fn what_is_watched_is_subscribed_to_and_follows_the_list() -> Result<(), Violation> {
    let mut world = best(rich())?;
    world.update("one", "file:///a");
    world.run_for(0)?;
    world.watch(true)?;
    world.run_for(0)?;
    world.update("one", "file:///a");
    world.update("one", "file:///z");
    world.change("one", |offers| offers.resources = tools(&["file:///b", "file:///c"]));
    world.run_until_quiet()?;
    world.check_model()?;
    world.update("one", "file:///a");
    world.update("one", "file:///c");
    world.run_until_quiet()?;
    world.watch(false)?;
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G51, D35: a subscription that succeeds after all was switched off is taken back.
#[test]
fn a_subscription_that_stands_too_late_is_taken_back() -> Result<(), Violation> {
    let mut script = rich();
    script.delays.watch = 400;
    let mut world = best(script)?;
    world.watch(true)?;
    world.run_for(100)?;
    world.watch(false)?;
    world.run_for(300)?;
    world.update("one", "file:///a");
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// G51, D35: what is refused is not recorded; an equal list tries it again.
#[test]
fn a_refused_subscription_is_not_recorded() -> Result<(), Violation> {
    let refusing = rich().with(Fault::refuses("resources/subscribe", -32_603, "too many"));
    let mut world = best(refusing)?;
    world.watch(true)?;
    world.update("one", "file:///a");
    world.run_until_quiet()?;
    world.driver.set_script("one", rich());
    world.storm("one", "resources", 1);
    world.run_until_quiet()?;
    world.update("one", "file:///a");
    world.run_until_quiet()?;
    tell!(world)
}

/// L10: no more subscriptions, and no more requests at once, than the limits say.
#[test]
fn subscriptions_are_bounded() -> Result<(), Violation> {
    let uris = ["a:1", "a:2", "a:3", "a:4", "a:5"];
    let mut scene = Scene::default().server("one", Script::default().resources(uris));
    scene.options.limits.subscriptions_per_server = 3;
    scene.options.limits.subscribing_at_once = 2;
    let mut world = scene.world();
    world.watch(true)?;
    world.start()?;
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// C-RES-09, D35: a new connection begins without subscriptions, and is subscribed anew.
#[test]
fn a_new_connection_is_subscribed_anew() -> Result<(), Violation> {
    let mut world = best(rich())?;
    world.watch(true)?;
    world.run_until_quiet()?;
    world.crash("one", Exit::Code(1));
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}

/// What concerns nobody here is the host's to read.
#[test]
fn other_notifications_are_passed_on() -> Result<(), Violation> {
    let mut world = best(Script::default())?;
    let told = r#"{"jsonrpc":"2.0","method":"notifications/weather","params":{"rain":true}}"#;
    world.say("one", &format!("{told}\n"));
    world.storm("one", "prompts", 1);
    world.run_until_quiet()?;
    tell!(world)
}
