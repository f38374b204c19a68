//! A world on its way through a search, and what may still happen to it.

use std::hash::Hash as _;
use std::sync::Arc;

use tidegate_core::id::ServerName;

use crate::digest::Wide;
use crate::machine::Machine;
use crate::scene::Entry;
use crate::world::World;

use super::Reduction;
use super::act::Kind;

/// How often each kind of thing may still happen, and how many things in all.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Left {
    each: [u8; Kind::ALL.len()],
    all: u8,
}

/// Nothing, as often as one likes.
impl Default for Left {
    fn default() -> Self {
        Self { each: [0; Kind::ALL.len()], all: u8::MAX }
    }
}

impl Left {
    pub(super) const fn set(&mut self, kind: Kind, times: u8) {
        self.each[kind as usize] = times;
    }

    pub(super) const fn set_all(&mut self, times: u8) {
        self.all = times;
    }

    pub(super) const fn allows(&self, kind: Kind) -> bool {
        self.each[kind as usize] > 0 && self.all > 0
    }

    /// How often it may happen after this time.
    pub(super) const fn spend(&mut self, kind: Kind) -> u8 {
        let times = &mut self.each[kind as usize];
        *times = less(*times);
        self.all = less(self.all);
        *times
    }

    /// Whether everything that may happen under `other` may happen under this.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let counts = self.each.iter().zip(&other.each);
        let each = |(own, others): (&u8, &u8)| own >= others.min(&other.all);
        self.all >= other.all && { counts }.all(each)
    }
}

/// [`u8::MAX`] is without end.
const fn less(times: u8) -> u8 {
    if times < u8::MAX { times.saturating_sub(1) } else { times }
}

/// A world on the way.
#[derive(Clone)]
pub(super) struct Node<M: Machine> {
    pub(super) world: World<M>,
    pub(super) left: Left,
    pub(super) reduction: Reduction,
    pub(super) servers: Arc<[ServerName]>,
    /// What is written before each reload, the first one first.
    pub(super) configs: Arc<[Vec<Entry>]>,
    /// What is written each time the file is saved, the first one first.
    pub(super) saved: Arc<[Vec<Entry>]>,
}

impl<M: Machine> Node<M> {
    /// A number that is equal for worlds of which one stands for all, from that of the machine.
    pub(super) fn fingerprint(&self, machine: u128) -> u128 {
        let fingerprint = self.world.fingerprint_with(machine);
        if self.reduction == Reduction::Full {
            return fingerprint;
        }
        let mut wide = Wide::default();
        (fingerprint, self.left, self.world.counts()).hash(&mut wide);
        wide.value()
    }

    /// Whether anything happens by itself.
    pub(super) fn goes_on(&self) -> bool {
        self.world.next_due().is_some()
    }
}
