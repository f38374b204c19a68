//! The defects of the runtime that this one learned from, each as the story in which it showed.
//!
//! A test's first line of documentation is the number of the defect, what happens, and the
//! guarantee that answers it; its name is the outcome here. `DEFECTS.md` lists them all. Every
//! law is checked after every step, and each story ends with a shutdown that leaves nothing.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a story looks at the few events it is about, and a new one must not touch it"
)]

use tidegate_core::command::Command;
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, StartReport};
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::id::{CallId, OpId};
use tidegate_core::tools::catalog::ToolState;
use tidegate_core::trace::TraceLine;
use tidegate_sim::scene::Scene;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

/// Compares the story so far with its snapshot, then ends it.
macro_rules! tell {
    ($world:expr) => {{
        let mut world = $world;
        insta::assert_snapshot!(tidegate_sim::violation::timeline(world.trace()));
        world.finish()
    }};
}

#[path = "defects/connection.rs"]
mod connection;
#[path = "defects/editing.rs"]
mod editing;
#[path = "defects/files.rs"]
mod files;
#[path = "defects/http.rs"]
mod http;
#[path = "defects/loss.rs"]
mod loss;
#[path = "defects/values.rs"]
mod values;
#[path = "defects/view.rs"]
mod view;

/// A world that was started so many milliseconds ago.
fn started(scene: &Scene, ms: u64) -> Result<World, Violation> {
    let mut world = scene.world();
    world.start()?;
    world.run_for(ms)?;
    Ok(world)
}

/// Lets everything happen until nothing is due any more; after every step this has to hold.
fn throughout(world: &mut World, holds: impl Fn(&World)) -> Result<(), Violation> {
    holds(world);
    while world.step()? {
        holds(world);
    }
    world.quiet()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).into()).collect()
}

/// What the catalogue offers, each with the word for its state.
fn offered(world: &World) -> Vec<String> {
    let word = |state: &ToolState| match state {
        ToolState::Live => "live",
        ToolState::Deferred => "deferred",
        ToolState::Failed { .. } => "failed",
        ToolState::Quarantined { .. } => "quarantined",
    };
    let tools = world.machine().catalog().tools.iter();
    tools.map(|tool| format!("{} {}", tool.exposed, word(&tool.state))).collect()
}

/// What the catalogue offers of one server.
fn offered_of(world: &World, server: &str) -> Vec<String> {
    let catalog = world.machine().catalog();
    let own = catalog.tools.iter().zip(offered(world));
    own.filter(|(tool, _)| tool.server.as_str() == server).map(|(_, offered)| offered).collect()
}

fn status(world: &World, server: &str) -> ServerStatus {
    let status = world.machine().status();
    let mut servers = status.servers.into_iter();
    servers.find(|status| status.name.as_str() == server).expect("a configured server")
}

/// The name of a server's state.
fn state(world: &World, server: &str) -> &'static str {
    status(world, server).state.name()
}

/// Whether a server waits to be started again.
fn waits(world: &World, server: &str) -> bool {
    matches!(status(world, server).state, ServerState::Retrying { .. })
}

/// How often a process of this server was started.
fn opens(world: &World, server: &str) -> usize {
    let opened = |line: &&TraceLine| matches!(line, TraceLine::Command { command: Command::Open { server: of, .. }, .. } if of.as_str() == server);
    world.trace().iter().filter(opened).count()
}

/// How many lines of the timeline contain this.
fn told(world: &World, text: &str) -> usize {
    world.trace().iter().filter(|line| line.to_string().contains(text)).count()
}

/// Whether the first line with one text comes before the first with the other, both being there.
fn comes_before(world: &World, earlier: &str, later: &str) -> bool {
    let at = |text| world.trace().iter().position(|line| line.to_string().contains(text));
    at(earlier).zip(at(later)).is_some_and(|(earlier, later)| earlier < later)
}

/// How a call ended; `None` if it has not.
fn outcome(world: &World, wanted: CallId) -> Option<&Outcome> {
    world.events().iter().find_map(|event| match event {
        Event::CallFinished { call, outcome } if *call == wanted => Some(outcome),
        _ => None,
    })
}

fn is_answered(world: &World, call: CallId) -> bool {
    matches!(outcome(world, call), Some(Outcome::Answered(_)))
}

/// How an operation ended; `None` if it has not.
fn result(world: &World, wanted: OpId) -> Option<&OpResult> {
    world.events().iter().find_map(|event| match event {
        Event::Done { op, result } if *op == wanted => Some(result),
        _ => None,
    })
}

/// What the last start came to.
fn report(world: &World) -> &StartReport {
    let mut reports = world.events().iter().filter_map(|event| match event {
        Event::GateOpened(report) => Some(report),
        _ => None,
    });
    reports.next_back().expect("a start that has ended")
}

/// How many processes there are.
fn processes(world: &World) -> usize {
    world.driver.process_count()
}
