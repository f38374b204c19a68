//! Whole stories as timelines, reviewed as prose.
//!
//! Every law is checked after every step of each, and each ends with a shutdown that leaves
//! nothing behind.

use tidegate_core::error::Exit;
use tidegate_core::hub::policy::{Policy, Watch};
use tidegate_core::input::{Found, Target};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::{Fault, Script, Spawn, Stopping};
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

/// A world in which everything configured has settled.
fn started(scene: &Scene) -> Result<World, Violation> {
    let mut world = scene.world();
    world.start()?;
    world.run_until_quiet()?;
    Ok(world)
}

fn slow() -> Script {
    Script::default().taking(600)
}

// Starting.

/// G30: all settled at 80 ms, so the gate opens at 80 ms.
#[test]
fn a_start_is_over_when_all_servers_are_ready() -> Result<(), Violation> {
    let scene = Scene::default()
        .server("one", Script::default().taking(80))
        .server("two", Script::default().taking(30));
    tell!(started(&scene)?)
}

/// G30: the gate opens at 250 ms with the cached tools of what is still starting.
#[test]
fn a_slow_server_with_cached_tools_is_deferred_and_then_live() -> Result<(), Violation> {
    let scene = Scene::default()
        .server("fast", Script::default().taking(40))
        .server("slow", slow())
        .cached();
    tell!(started(&scene)?)
}

/// G30: nobody knows the tools of `slow`, so the start waits for it.
#[test]
fn a_slow_server_without_cached_tools_is_awaited() -> Result<(), Violation> {
    let scene = Scene::default().server("fast", Script::default()).server("slow", slow());
    tell!(started(&scene)?)
}

#[test]
fn a_gate_of_nothing_answers_from_the_cache_at_once() -> Result<(), Violation> {
    let mut scene = Scene::default().server("slow", slow()).cached();
    scene.options.policy.gate_ms = 0;
    tell!(started(&scene)?)
}

/// The best policy only: a start ends although nobody knows the tools of `silent`.
#[test]
fn the_startup_deadline_ends_a_start() -> Result<(), Violation> {
    let mut scene = Scene::default()
        .server("fast", Script::default())
        .entry(Entry { timeout_ms: Some(60_000), ..Entry::new("silent") }, Script::silent());
    scene.options.policy.startup_deadline_ms = Some(5_000);
    tell!(started(&scene)?)
}

/// G55, G32: what is wrong with one server is that server's.
#[test]
fn servers_that_cannot_start_fail_alone() -> Result<(), Violation> {
    let scene = Scene::default()
        .server("missing", Script::missing(3))
        .entry(Entry { enabled: false, ..Entry::new("off") }, Script::default())
        .server(
            "crashing",
            Script::default().with(Fault::Crashes { after_bytes: 20, exit: Exit::Code(1) }),
        )
        .server("fine", Script::default().taking(5));
    tell!(started(&scene)?)
}

/// G34: no cache content can raise an error out of a start.
#[test]
fn a_spoilt_cache_entry_is_dropped_and_its_server_awaited() -> Result<(), Violation> {
    let mut world = Scene::default().server("slow", slow()).cached().world();
    world.driver.spoil_cache(&Found::Content("{\"version\":1".into()));
    world.start()?;
    world.run_until_quiet()?;
    tell!(world)
}

// Failing late.

#[test]
fn deferred_tools_of_a_server_that_fails_are_marked() -> Result<(), Violation> {
    let refusing = slow().with(Fault::refuses("initialize", -32603, "no licence"));
    tell!(started(&Scene::default().server("slow", refusing).cached())?)
}

/// The documents keep them as they are; calls to them fail.
#[test]
fn by_the_documented_policy_they_stay_deferred() -> Result<(), Violation> {
    let refusing = slow().with(Fault::refuses("initialize", -32603, "no licence"));
    let scene = Scene::new(Policy::documented()).server("slow", refusing).cached();
    let mut world = started(&scene)?;
    world.call("slow", "echo")?;
    world.run_until_quiet()?;
    tell!(world)
}

// Calling.

#[test]
fn a_call_to_a_deferred_tool_waits_for_its_server() -> Result<(), Violation> {
    let mut world = Scene::default().server("slow", slow()).cached().world();
    world.start()?;
    world.run_for(300)?;
    world.call_target(Target::Exposed("mcp_slow_echo".into()), None)?;
    world.run_until_quiet()?;
    tell!(world)
}

/// L8: the call ends with the server it waits for.
#[test]
fn a_call_to_a_deferred_tool_fails_with_its_server() -> Result<(), Violation> {
    let mut world = Scene::default().server("slow", slow()).cached().world();
    world.start()?;
    world.run_for(300)?;
    world.call("slow", "echo")?;
    world.crash("slow", Exit::Code(3));
    world.run_until_quiet()?;
    tell!(world)
}

/// G42, G77.
#[test]
fn a_cancelled_call_is_over_at_once_and_its_server_is_told() -> Result<(), Violation> {
    let script = Script::default().calls_taking(500).with(Fault::AnswersCancelled);
    let mut world = started(&Scene::default().server("slow", script))?;
    let call = world.call("slow", "echo")?;
    world.run_for(100)?;
    world.cancel(call)?;
    world.run_until_quiet()?;
    tell!(world)
}

/// G38, C-TIME-03: 300 ms without progress is the limit; every 200 ms there is some, until 600.
#[test]
fn progress_extends_the_limit_of_a_call() -> Result<(), Violation> {
    let script = Script::tools(["hang"]).with(Fault::Progress { every: 200, times: 3 });
    let mut world = started(&Scene::default().server("slow", script))?;
    let target = Target::Tool { server: "slow".into(), tool: "hang".into() };
    world.call_target(target, Some(300))?;
    world.run_until_quiet()?;
    tell!(world)
}

/// L8: nobody knows whether the call was carried out.
#[test]
fn a_crash_ends_the_calls_under_way() -> Result<(), Violation> {
    let script = Script::default().calls_taking(1_000);
    let scene = Scene::default().server("one", script.clone()).server("two", script);
    let mut world = started(&scene)?;
    world.call("one", "echo")?;
    world.call("two", "echo")?;
    world.run_for(10)?;
    world.crash("one", Exit::Signal(11));
    world.run_until_quiet()?;
    tell!(world)
}

#[test]
fn what_a_tool_and_what_a_server_calls_a_failure() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("one", Script::tools(["fail", "refuse"])))?;
    world.call("one", "fail")?;
    world.call("one", "refuse")?;
    world.call("one", "nothing")?;
    world.call("nobody", "echo")?;
    world.run_until_quiet()?;
    tell!(world)
}

// Misbehaving.

/// F-041, G39, G43: what is no message and what nobody asked for changes nothing.
#[test]
fn a_chatty_server_is_heard_through_its_noise() -> Result<(), Violation> {
    let script = Script::default()
        .with(Fault::line(0, "Server running on stdio"))
        .with(Fault::answers_unasked(1))
        .with(Fault::Repeats { message: 1, times: 2 })
        .with(Fault::FloodsStderr { bytes: 9 });
    tell!(started(&Scene::default().server("chatty", script))?)
}

/// G44: a message cut into pieces is the same message.
#[test]
fn a_server_that_stutters_is_understood() -> Result<(), Violation> {
    let script = Script { chunk_bytes: 70, ..Script::default() };
    tell!(started(&Scene::default().server("stutters", script))?)
}

/// G37, L10.
#[test]
fn lists_that_never_end_are_ended() -> Result<(), Violation> {
    let mut scene = Scene::default()
        .server("endless", Script::default().with(Fault::EndlessPages))
        .server("circle", Script::default().with(Fault::RepeatsCursor));
    scene.options.limits.pages = 3;
    tell!(started(&scene)?)
}

/// L10: nobody can say what was lost in a line that is too long.
#[test]
fn an_oversized_line_ends_its_server() -> Result<(), Violation> {
    let mut scene =
        Scene::default().server("loud", Script::default().with(Fault::long_line(1, 500)));
    scene.options.limits.message_bytes = 400;
    tell!(started(&scene)?)
}

#[test]
fn a_server_of_an_older_revision_is_spoken_to_in_it() -> Result<(), Violation> {
    let of = |revision: &str| Script { revision: Some(revision.into()), ..Script::default() };
    let scene = Scene::default().server("old", of("2024-11-05")).server("alien", of("1999-12-31"));
    tell!(started(&scene)?)
}

/// G49: `ping` and `roots/list` are answered, everything else is refused.
#[test]
fn what_a_server_asks_is_answered_once() -> Result<(), Violation> {
    let script = Script::default()
        .with(Fault::asks(1, "1", "ping"))
        .with(Fault::asks(1, "\"one\"", "roots/list"))
        .with(Fault::asks(1, "2", "sampling/createMessage"));
    tell!(started(&Scene::default().server("curious", script))?)
}

/// It was connected and is not, whatever its process goes on doing.
#[test]
fn a_server_that_closes_its_output_has_failed_at_once() -> Result<(), Violation> {
    let script =
        Script::default().with(Fault::ClosesOutput { before: 2 }).stopping(Stopping::IgnoresEof);
    let mut world = started(&Scene::default().server("mute", script))?;
    world.call("mute", "echo")?;
    world.run_until_quiet()?;
    tell!(world)
}

// Stopping.

/// G6: each server takes what it needs, all at the same time.
#[test]
fn servers_are_stopped_side_by_side_each_by_its_ladder() -> Result<(), Violation> {
    let scene = [
        ("polite", Stopping::Polite),
        ("deaf", Stopping::IgnoresEof),
        ("stubborn", Stopping::IgnoresTerm),
        ("stuck", Stopping::Unkillable),
    ]
    .into_iter()
    .fold(Scene::default(), |scene, (name, stop)| {
        scene.server(name, Script::default().stopping(stop))
    });
    let mut world = started(&scene)?;
    world.shutdown()?;
    world.run_until_quiet()?;
    insta::assert_snapshot!(timeline(world.trace()));
    Ok(())
}

/// L5: after a sleep every rung still lasts its whole time.
#[test]
fn a_host_that_slept_gives_every_rung_its_time() -> Result<(), Violation> {
    let script = Script::default().stopping(Stopping::Unkillable);
    let mut world = started(&Scene::default().server("stuck", script))?;
    world.disconnect("stuck")?;
    world.oversleep(90_000);
    world.run_until_quiet()?;
    tell!(world)
}

#[test]
fn a_shutdown_while_servers_start_leaves_nothing() -> Result<(), Violation> {
    let spawning = Script { spawn: Spawn::Runs(300), ..Script::default() };
    let scene = Scene::default().server("greeting", slow()).server("spawning", spawning);
    let mut world = scene.world();
    world.start()?;
    world.run_for(100)?;
    world.call("spawning", "echo")?;
    world.shutdown()?;
    world.run_until_quiet()?;
    insta::assert_snapshot!(timeline(world.trace()));
    Ok(())
}

// Disconnecting and connecting.

/// A disconnect of all waits for the processes that there were, not for later ones.
#[test]
fn a_disconnect_of_all_ends_although_a_server_is_connected_again() -> Result<(), Violation> {
    let scene = Scene::default().server("one", Script::default()).server("two", Script::default());
    let mut world = started(&scene)?;
    world.disconnect_all()?;
    world.connect("one")?;
    world.run_until_quiet()?;
    tell!(world)
}

/// G5: the new attempt waits until the old one is gone; its cached tools are deferred meanwhile.
#[test]
fn a_failed_server_is_connected_again_once_its_process_is_gone() -> Result<(), Violation> {
    let failing =
        slow().with(Fault::results("tools/list", "{\"tools\":{}}")).stopping(Stopping::IgnoresEof);
    let mut world = started_until_failed(&Scene::default().server("slow", failing).cached())?;
    world.driver.set_script("slow", Script::default());
    world.connect("slow")?;
    world.run_until_quiet()?;
    tell!(world)
}

fn started_until_failed(scene: &Scene) -> Result<World, Violation> {
    let mut world = scene.world();
    world.start()?;
    world.run_for(700)?;
    Ok(world)
}

// Reloading.

/// F-033: only what changed is touched.
#[test]
fn a_reload_keeps_restarts_stops_and_starts() -> Result<(), Violation> {
    let scene = ["gone", "changed", "same"]
        .into_iter()
        .fold(Scene::default(), |scene, name| scene.server(name, Script::default()));
    let mut world = started(&scene)?;
    world.driver.set_script("new", Script::default());
    let changed = Entry { version: 2, ..Entry::new("changed") };
    world.set_config(vec![changed, Entry::new("same"), Entry::new("new")]);
    world.reload()?;
    world.run_until_quiet()?;
    tell!(world)
}

/// Saving a file twice is one reading, what it says anew is followed, and what it said before
/// goes on.
#[test]
fn a_file_that_is_saved_is_read_again_when_it_is_left_alone() -> Result<(), Violation> {
    let mut policy = Policy::default();
    policy.watch = Watch::follow();
    let mut world = started(&Scene::new(policy).server("same", Script::default()))?;
    world.driver.set_script("new", Script::default());
    world.save_config(vec![Entry::new("same")])?;
    world.run_for(100)?;
    world.save_config(vec![Entry::new("same"), Entry::new("new")])?;
    world.run_until_quiet()?;
    world.save_config(vec![Entry::new("same"), Entry::new("new")])?;
    world.run_until_quiet()?;
    tell!(world)
}

/// G16: two overlapping reloads end as the second alone.
#[test]
fn of_two_overlapping_reloads_the_second_counts() -> Result<(), Violation> {
    let scene = Scene::default()
        .server("one", Script::default())
        .server("two", Script::default())
        .reads_taking(20);
    let mut world = started(&scene)?;
    world.set_config(vec![Entry::new("one")]);
    world.reload()?;
    world.run_for(10)?;
    world.set_config(vec![Entry::new("two")]);
    world.reload()?;
    world.run_until_quiet()?;
    tell!(world)
}

/// L6: what the old process says late is about nothing any more.
#[test]
fn a_restart_ends_the_calls_of_the_old_process_and_not_those_of_the_new() -> Result<(), Violation> {
    let script = Script::default().calls_taking(200).stopping(Stopping::IgnoresEof);
    let mut world = started(&Scene::default().server("one", script))?;
    world.call("one", "echo")?;
    world.set_config(vec![Entry { version: 2, ..Entry::new("one") }]);
    world.reload()?;
    world.run_for(0)?;
    world.call("one", "echo")?;
    world.run_until_quiet()?;
    tell!(world)
}

/// G31: what ran already when a start looked at it has failed when the start answers.
#[test]
fn a_start_tells_how_a_server_that_ran_already_is_when_it_answers() -> Result<(), Violation> {
    // Where nothing comes back by itself.
    let scene = Scene::new(Policy::documented());
    let scene = scene.server("old", Script::default()).server("new", slow());
    let mut world = scene.world();
    let both = world.model.file().to_vec();
    world.set_config(both[..1].to_vec());
    world.start()?;
    world.run_until_quiet()?;
    world.set_config(both);
    world.start()?;
    world.run_for(100)?;
    world.crash("old", Exit::Code(3));
    world.model.doubt(Some("old"));
    world.run_until_quiet()?;
    tell!(world)
}

/// G14: what was disconnected by name waits to be connected by name, the others for a start.
#[test]
fn a_start_after_disconnecting_all_connects_again() -> Result<(), Violation> {
    let scene = Scene::default().server("one", Script::default()).server("two", Script::default());
    let mut world = started(&scene)?;
    world.disconnect("two")?;
    world.disconnect_all()?;
    world.run_until_quiet()?;
    world.reload()?;
    world.run_until_quiet()?;
    world.check_model()?;
    world.start()?;
    world.run_until_quiet()?;
    world.check_model()?;
    tell!(world)
}
