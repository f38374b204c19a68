//! Every order of the events of small stories: two servers, one of them with cached tools, and a
//! host that starts, calls, cancels, connects, disconnects, reloads and shuts down while servers
//! start, fail, answer, are slow and crash.
//!
//! `DEEP=1` searches what takes minutes instead of seconds.

use tidegate_sim::explore::{Budget, Met, explore};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;

/// The columns of the table: the phases of an attempt, and none.
const PHASES: [&str; 7] = ["absent", "idle", "opening", "greeting", "listing", "ready", "stopping"];
/// Often enough for every deadline of a story to pass while something is on its way.
const ALWAYS: u8 = u8::MAX;

/// One thing a host or a server does, in a story of two, whoever is slow.
fn alone() -> Vec<Budget> {
    let start = Budget { start: 1, slow: ALWAYS, ..Budget::default() };
    vec![
        start.clone(),
        Budget { call: 1, ..start.clone() },
        Budget { crash: 1, ..start.clone() },
        Budget { pipe: 1, ..start.clone() },
        Budget { fail: 1, ..start.clone() },
        Budget { connect: 1, ..start.clone() },
        Budget { disconnect: 1, ..start.clone() },
        Budget { disconnect_all: 1, ..start.clone() },
        Budget { reload: vec![fewer()], ..start.clone() },
        Budget { shutdown: 1, ..start },
    ]
}

/// Two things, in a story of two, somebody being slow twice.
fn pairs() -> Vec<Budget> {
    let start = Budget { start: 1, slow: 2, ..Budget::default() };
    let call = Budget { call: 1, ..start.clone() };
    let reload = Budget { start: 1, reload: vec![changed()], slow: 1, ..Budget::default() };
    vec![
        Budget { start: 2, ..start.clone() },
        Budget { call: 2, ..call.clone() },
        Budget { cancel: 1, ..call.clone() },
        Budget { crash: 1, ..call.clone() },
        Budget { pipe: 1, ..call.clone() },
        Budget { disconnect: 1, ..call.clone() },
        Budget { disconnect_all: 1, ..call.clone() },
        Budget { shutdown: 1, ..call.clone() },
        Budget { reload: vec![fewer()], ..call },
        Budget { crash: 1, connect: 1, ..start.clone() },
        Budget { crash: 1, shutdown: 1, ..start.clone() },
        Budget { fail: 1, connect: 1, ..start.clone() },
        Budget { disconnect: 1, connect: 1, ..start.clone() },
        Budget { disconnect_all: 1, connect: 1, ..start },
        Budget { shutdown: 1, slow: 2, ..reload.clone() },
        Budget { disconnect: 1, ..reload.clone() },
        Budget { crash: 1, ..reload.clone() },
        Budget { call: 1, ..reload },
    ]
}

/// Everything once, in a story of one.
fn everything() -> Budget {
    Budget {
        start: 1,
        call: 1,
        cancel: 1,
        crash: 1,
        pipe: 0,
        fail: 1,
        disconnect: 1,
        disconnect_all: 0,
        connect: 1,
        reload: Vec::new(),
        shutdown: 1,
        slow: 1,
    }
}

#[test]
fn no_order_of_a_small_story_breaks_a_law() -> Result<(), Violation> {
    let mut met = Met::default();
    for budget in alone().iter().chain(&pairs()) {
        met.add(search(&two(), budget)?);
    }
    met.add(search(&one(), &everything())?);
    let reloading = Budget { fail: 0, cancel: 0, reload: vec![changed_one()], ..everything() };
    met.add(search(&one(), &reloading)?);
    if std::env::var_os("DEEP").is_some() {
        met.add(search(&two(), &Budget { slow: 0, ..everything() })?);
        met.add(search(&two(), &Budget { slow: ALWAYS, ..reloading })?);
        return Ok(());
    }
    println!("{} worlds, {} steps, {} ends", met.states, met.edges, met.ends);
    insta::assert_snapshot!("phases_and_facts", met.table(&PHASES));
    let sometimes: Vec<_> = met.sometimes.into_iter().collect();
    insta::assert_snapshot!("sometimes", sometimes.join("\n"));
    Ok(())
}

fn search(scene: &Scene, budget: &Budget) -> Result<Met, Violation> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    explore(&scene.world(), budget, threads)
}

fn two() -> Scene {
    one().server("two", Script::default())
}

/// Deadlines that are multiples of one number meet in fewer ways, and in every order.
fn one() -> Scene {
    let mut scene = Scene::default().server("one", Script::default()).cached();
    let policy = &mut scene.options.policy;
    (policy.gate_ms, policy.startup_deadline_ms) = (1_000, Some(4_000));
    (policy.connect_ms, policy.list_ms, policy.call_ms) = (3_000, 3_000, 2_000);
    let stop = &mut policy.stop;
    (stop.polite_ms, stop.terminate_ms, stop.kill_ms) = (1_000, 1_000, 1_000);
    scene
}

fn changed_one() -> Vec<Entry> {
    vec![Entry { version: 2, ..Entry::new("one") }]
}

fn changed() -> Vec<Entry> {
    vec![Entry { version: 2, ..Entry::new("one") }, Entry::new("two")]
}

fn fewer() -> Vec<Entry> {
    vec![Entry::new("two")]
}
