//! The search itself: a stack for each thread, and a set of the worlds that were seen.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::machine::Machine;
use crate::sometimes;

use super::Met;
use super::node::{Act, Node, Path, named};

const SHARDS: usize = 16;

/// A search that several threads work on.
pub(super) struct Search<M: Machine> {
    seen: Vec<Mutex<HashSet<u128>>>,
    work: Mutex<Work<M>>,
    changed: Condvar,
    /// Whether there is anybody to share work with.
    shares: bool,
}

struct Work<M: Machine> {
    nodes: Vec<Node<M>>,
    busy: usize,
    /// The path to a broken law.
    failed: Option<Path>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Machine> Search<M> {
    pub(super) fn new(start: Node<M>, shares: bool) -> Self {
        Self {
            seen: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
            work: Mutex::new(Work { nodes: vec![start], busy: 0, failed: None }),
            changed: Condvar::new(),
            shares,
        }
    }

    /// One thread's part: works until nobody has any work left.
    pub(super) fn run(&self) -> Met {
        let mut met = Met::default();
        while let Some(node) = self.next() {
            let failed = self.search(node, &mut met).err();
            let mut work = lock(&self.work);
            work.busy -= 1;
            work.failed = work.failed.take().or(failed);
            self.changed.notify_all();
        }
        met
    }

    /// The path to a broken law, if there is one.
    pub(super) fn failed(&self) -> Option<Path> {
        lock(&self.work).failed.take()
    }

    fn next(&self) -> Option<Node<M>> {
        let mut work = lock(&self.work);
        loop {
            if work.failed.is_some() {
                return None;
            }
            if let Some(node) = work.nodes.pop() {
                work.busy += 1;
                return Some(node);
            }
            if work.busy == 0 {
                return None;
            }
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Searches all that follows from a world; the path to a broken law is the error.
    fn search(&self, node: Node<M>, met: &mut Met) -> Result<(), Path> {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let fingerprint = node.fingerprint();
            if node.path.came_through(fingerprint) {
                return Err(node.path);
            }
            let shard = &self.seen[(fingerprint % SHARDS as u128) as usize];
            if !lock(shard).insert(fingerprint) {
                continue;
            }
            met.states += 1;
            if node.world.probe().is_err() {
                return Err(node.path);
            }
            let mut next = Vec::new();
            for act in node.acts() {
                next.push(step(&node, fingerprint, act, met)?);
            }
            if !node.goes_on() {
                met.ends += 1;
                let ended = node.world.quiet().and_then(|()| node.world.check_model());
                ended.map_err(|_| node.path)?;
            }
            stack.extend(next);
            self.share(&mut stack);
        }
        Ok(())
    }

    /// Leaves the oldest part of the work to whoever waits.
    fn share(&self, stack: &mut Vec<Node<M>>) {
        if !self.shares || stack.len() < 2 {
            return;
        }
        let Ok(mut work) = self.work.try_lock() else { return };
        if work.nodes.is_empty() {
            work.nodes.push(stack.remove(0));
            self.changed.notify_one();
        }
    }
}

/// Lets one thing happen in a copy of a world.
fn step<M: Machine>(node: &Node<M>, from: u128, act: Act, met: &mut Met) -> Result<Node<M>, Path> {
    let mut next = node.clone();
    next.path.push(act, from);
    let about = next.about(act);
    let told = next.perform(act);
    met.edges += 1;
    let what = named(act, next.world.last_input());
    for server in &about {
        let phase = node.world.machine().phase_of(server);
        *met.table.entry((what, phase)).or_insert(0) += 1;
    }
    sometimes::note(&node.world, &next.world, &mut met.sometimes);
    match told {
        Ok(()) => Ok(next),
        Err(_) => Err(next.path),
    }
}
