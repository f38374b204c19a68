//! Every order in which the events of a small story can come.
//!
//! A bounded depth-first search over what happens next: any waiting fact (in order on each lane),
//! the machine's own deadline, and whatever the host and the servers may still do. Worlds that
//! will go on alike are visited once. *Always* conditions are the laws, checked after every step;
//! *sometimes* conditions say what the search must have met to be worth its name; and instead of
//! *eventually* the search demands that no story runs in a circle and that every one that has
//! ended is quiet and agrees with the model.

mod node;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::laws::{Breach, Law};
use crate::machine::Machine;
use crate::scene::Entry;
use crate::violation::Violation;
use crate::world::{Effort, World};

use node::{Act, Node};
use search::Search;

/// What may happen in a story besides what follows from it, each so many times.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Budget {
    /// Starts.
    pub start: u8,
    /// Calls, of the first tool of any server.
    pub call: u8,
    /// Cancellations, of the latest call.
    pub cancel: u8,
    /// Crashes of any running process.
    pub crash: u8,
    /// Pipes that a process closes while it goes on running.
    pub pipe: u8,
    /// Starts of processes that fail.
    pub fail: u8,
    /// Disconnects of any server.
    pub disconnect: u8,
    /// Disconnects of every server.
    pub disconnect_all: u8,
    /// Connects of any server.
    pub connect: u8,
    /// Reloads, the next of these configurations being written before.
    pub reload: Vec<Vec<Entry>>,
    /// Shutdowns.
    pub shutdown: u8,
    /// How often a deadline may pass while a fact is waiting: how often somebody is slow.
    pub slow: u8,
}

/// What a search has met.
#[derive(Clone, Debug, Default)]
pub struct Met {
    /// Different worlds.
    pub states: usize,
    /// Steps from one of them to another.
    pub edges: usize,
    /// Worlds in which nothing could happen any more.
    pub ends: usize,
    /// How often each fact, request or tick met each phase of the server it was about.
    pub table: BTreeMap<(&'static str, &'static str), usize>,
    /// What some story came to.
    pub sometimes: BTreeSet<&'static str>,
}

impl Met {
    /// Takes in what another search has met.
    pub fn add(&mut self, other: Self) {
        self.states += other.states;
        self.edges += other.edges;
        self.ends += other.ends;
        self.sometimes.extend(other.sometimes);
        for (cell, times) in other.table {
            *self.table.entry(cell).or_insert(0) += times;
        }
    }

    /// The table, one row for each thing that happens and one column for each phase, in orders
    /// of magnitude so that it changes only when something does.
    #[must_use]
    pub fn table(&self, phases: &[&'static str]) -> String {
        let rows: BTreeSet<&str> = self.table.keys().map(|(fact, _)| *fact).collect();
        let mut text = format!("{:16}", "");
        text.extend(phases.iter().map(|phase| format!("{phase:>10}")));
        for row in rows {
            text += &format!("\n{row:16}");
            for phase in phases {
                let times = self.table.get(&(row, *phase)).copied().unwrap_or(0);
                text += &format!("{:>10}", magnitude(times));
            }
        }
        text + "\n"
    }
}

fn magnitude(times: usize) -> String {
    match times {
        0 => "-".into(),
        1..10 => "1+".into(),
        10..100 => "10+".into(),
        100..1_000 => "100+".into(),
        1_000..10_000 => "1k+".into(),
        10_000..100_000 => "10k+".into(),
        _ => "100k+".into(),
    }
}

/// Searches every story that begins in `world` and stays within `budget`, on `threads` threads.
///
/// # Errors
/// The first law that was broken, and the story in which it was.
pub fn explore(world: &World, budget: &Budget, threads: usize) -> Result<Met, Violation> {
    explore_any(world, budget, threads)
}

/// The same for any machine.
///
/// # Errors
/// The first law that was broken, and the story in which it was.
pub fn explore_any<M: Machine + Send + Sync>(
    world: &World<M>,
    budget: &Budget,
    threads: usize,
) -> Result<Met, Violation> {
    let start = Node::new(world.clone().with_effort(Effort::Light), budget.clone());
    let search = Search::new(start, threads > 1);
    let met = Mutex::new(Met::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let found = search.run();
                met.lock().unwrap_or_else(PoisonError::into_inner).add(found);
            });
        }
    });
    match search.failed() {
        Some(path) => Err(retrace(world, budget, &path.acts())),
        None => Ok(met.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// Walks a path again, this time writing it down.
fn retrace<M: Machine>(world: &World<M>, budget: &Budget, path: &[Act]) -> Violation {
    let mut node = Node::new(world.clone().with_effort(Effort::Full), budget.clone());
    let story = format!("{path:?}");
    for act in path {
        if let Err(violation) = node.perform(*act) {
            return violation.in_story(story);
        }
    }
    let ended = node.world.quiet().and_then(|()| node.world.check_model());
    let breach = Breach { law: Law::HonestDeadline, how: "the story runs in a circle".into() };
    let circle = Violation::new(breach, node.world.trace());
    ended.err().filter(|_| !node.goes_on()).unwrap_or(circle).in_story(story)
}
