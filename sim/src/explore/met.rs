//! What a search has met.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::Machine;
use crate::violation::timeline;

use super::node::Node;

/// What a search has met.
#[derive(Clone, Debug, Default)]
pub struct Met {
    /// Different worlds.
    pub worlds: usize,
    /// How often one of them was searched: again when more may happen in it than before.
    pub searched: usize,
    /// Steps from one world to another.
    pub steps: usize,
    /// Worlds in which nothing could happen any more.
    pub ends: usize,
    /// How often each fact, request or tick met each phase of the server it was about.
    pub table: BTreeMap<(&'static str, &'static str), usize>,
    /// What some story came to, and a shortest one that did.
    pub witnesses: BTreeMap<&'static str, Witness>,
}

/// A shortest story that came to something.
#[derive(Clone, Debug)]
pub struct Witness {
    /// How many things happened in it.
    pub length: usize,
    /// The story.
    pub timeline: String,
}

impl Witness {
    pub(super) fn new<M: Machine>(length: usize, node: &Node<M>) -> Self {
        Self { length, timeline: timeline(node.world.trace()) }
    }
}

impl Met {
    /// Takes in what another search has met.
    pub fn add(&mut self, mut other: Self) {
        for (what, witness) in std::mem::take(&mut other.witnesses) {
            let shorter = self.witnesses.get(what).is_none_or(|own| witness.length < own.length);
            if shorter {
                self.witnesses.insert(what, witness);
            }
        }
        self.add_level(other);
    }

    /// Takes in the counts of a part of the same search.
    pub(super) fn add_level(&mut self, other: Self) {
        self.worlds += other.worlds;
        self.searched += other.searched;
        self.steps += other.steps;
        self.ends += other.ends;
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
