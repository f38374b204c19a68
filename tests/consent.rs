//! Approvals and values in the simulator: every law holds after every step, and the run replays.

use tidegate_core::approval::Approval;
use tidegate_core::command::{Command, Question};
use tidegate_core::config::environment::{Environment, Setting};
use tidegate_core::error::{AskError, Category};
use tidegate_core::event::ServerState;
use tidegate_core::hub::policy::Policy;
use tidegate_core::trace::TraceLine;
use tidegate_sim::driver::content;
use tidegate_sim::scene::{CONFIG, Scene};
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

/// Two servers with one command for a value of each, and one more that fails.
const VALUES: &str = r#"{"mcpServers":{
    "one":{"command":"one","env":{"T":"!token","V":"BANG"}},
    "two":{"command":"two","env":{"T":"!token","BAD":"!bad"}}}}"#;

fn scene(policy: Policy) -> Scene {
    let mut scene = Scene::new(policy).reads_taking(5);
    for name in ["one", "two"] {
        scene = scene.server(name, Script::default().taking(20));
    }
    let set = [("BANG".to_owned(), Setting::Filled)];
    scene.options.environment = set.into_iter().collect::<Environment>();
    scene
}

fn shell(line: &str) -> Question {
    Question::Shell { line: line.into() }
}

fn state(world: &World, server: &str) -> ServerState {
    let status = world.machine().status();
    status.servers.into_iter().find(|one| one.name.as_str() == server).expect("configured").state
}

fn asked(world: &World) -> Vec<Question> {
    let orders = world.trace().iter().filter_map(|line| {
        let TraceLine::Command { command: Command::Ask { what, .. }, .. } = line else {
            return None;
        };
        Some(what.clone())
    });
    orders.collect()
}

fn approval(world: &World, server: &str) -> Approval {
    let status = world.machine().status();
    let waiting = status.servers.into_iter().find(|one| one.name.as_str() == server);
    waiting.and_then(|one| one.consent).expect("it waits for an approval").approval
}

/// G61, G66, D64: whatever a variable holds is no command, a command for two servers runs once,
/// and neither a restart, a reload nor a crash runs it again.
#[test]
fn a_command_for_two_servers_runs_once_in_a_whole_life() -> Result<(), Violation> {
    for policy in [Policy::default(), Policy::documented()] {
        let mut world = scene(policy).world();
        world.driver.set_file(CONFIG, content(VALUES));
        let failed = AskError::TimedOut { limit_ms: 10_000 };
        world.driver.set_reply(shell("bad"), 30, Err(failed));
        world.driver.set_reply(shell("token"), 700, Ok(()));
        world.start()?;
        world.run_for(400)?;
        assert!(state(&world, "one").is_connecting() && state(&world, "two").is_connecting());
        world.run_until_quiet()?;
        assert_eq!(asked(&world), [shell("token"), shell("bad")]);
        assert_eq!(state(&world, "two"), ServerState::Connected);
        let problems = world.machine().status().problems;
        let left_out = problems.iter().filter(|problem| problem.category == Category::LeftOut);
        assert_eq!(left_out.count(), 1);
        world.restart("one")?;
        world.reload()?;
        world.run_until_quiet()?;
        assert_eq!(asked(&world).len(), 2, "what is known is not asked again");
        world.restart("two")?;
        world.run_until_quiet()?;
        assert_eq!(asked(&world).last(), Some(&shell("bad")), "what failed is tried again");
        world.tell_again()?;
        world.finish()?;
    }
    Ok(())
}

/// L8, F-013: whatever ends a server while a command runs for it, the command starts nothing.
#[test]
fn a_server_that_is_let_go_while_its_command_runs_is_not_started_by_it() -> Result<(), Violation> {
    for at in [0, 1, 10, 699, 700, 701] {
        let mut world = scene(Policy::default()).world();
        world.driver.set_file(CONFIG, content(VALUES));
        world.driver.set_reply(shell("token"), 700, Ok(()));
        world.start()?;
        world.run_for(at)?;
        let call = world.call("one", "echo")?;
        world.disable("one")?;
        world.run_until_quiet()?;
        assert_eq!(state(&world, "one"), ServerState::Disabled, "{at}");
        assert_eq!(world.open_calls().find(|open| *open == call), None, "{at}");
        assert_eq!(state(&world, "two"), ServerState::Connected, "{at}");
        world.tell_again()?;
        world.finish()?;
    }
    Ok(())
}

/// L9, L10: a command that never ends is stopped at its limit, and at a shutdown.
#[test]
fn a_command_that_never_ends_holds_up_nothing_for_good() -> Result<(), Violation> {
    let mut world = scene(Policy::default()).world();
    world.driver.set_file(CONFIG, content(VALUES));
    world.driver.set_reply(shell("token"), u64::MAX / 4, Ok(()));
    world.start()?;
    world.run_for(9_000)?;
    assert!(state(&world, "one").is_connecting());
    world.run_for(2_000)?;
    assert_eq!(state(&world, "one"), ServerState::Connected);
    world.finish()?;
    let mut world = scene(Policy::default()).world();
    world.driver.set_file(CONFIG, content(VALUES));
    world.driver.set_reply(shell("token"), u64::MAX / 4, Ok(()));
    world.start()?;
    world.run_for(100)?;
    world.finish()
}

/// F-038: what a project brought along asks and runs nothing until it is approved, and what was
/// approved of one server is no word about another.
#[test]
fn a_project_runs_and_asks_nothing_before_it_is_approved() -> Result<(), Violation> {
    let mut world = scene(Policy::default()).from_project().world();
    world.driver.set_file(CONFIG, content(VALUES));
    world.start()?;
    world.run_until_quiet()?;
    assert_eq!(asked(&world), []);
    assert_eq!(state(&world, "one"), ServerState::NeedsApproval);
    let one = approval(&world, "one");
    world.driver.approve(one);
    world.reload()?;
    world.run_until_quiet()?;
    assert_eq!(asked(&world), [shell("token")]);
    assert_eq!(state(&world, "one"), ServerState::Connected);
    assert_eq!(state(&world, "two"), ServerState::NeedsApproval);
    // The same text elsewhere is another definition.
    world.driver.set_origin(CONFIG, "/elsewhere/mcp.json");
    world.reload()?;
    world.run_until_quiet()?;
    assert_eq!(state(&world, "one"), ServerState::NeedsApproval);
    world.driver.set_origin(CONFIG, CONFIG);
    world.reload()?;
    world.run_until_quiet()?;
    assert_eq!(state(&world, "one"), ServerState::Connected);
    world.driver.revoke(one);
    world.reload()?;
    world.run_until_quiet()?;
    assert_eq!(state(&world, "one"), ServerState::NeedsApproval);
    world.tell_again()?;
    world.finish()
}
