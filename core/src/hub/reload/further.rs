//! The files that sources lead to: they are read after those, and stand in their places.
//!
//! Floor 4. A file that was led to may lead to others.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Reading;
use crate::config;
use crate::config::Source;
use crate::id::{Counter, ReadId};

impl Reading {
    /// What the sources say, so many of them, each followed by the files that it leads to.
    pub(super) fn in_order(&mut self, sources: usize) -> Vec<config::parse::Reading> {
        let mut parts = core::mem::take(&mut self.parts);
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, (at, _)) in self.further.iter().enumerate() {
            below.entry(*at).or_default().push(sources + place);
        }
        let mut all = Vec::new();
        // What comes next is the last.
        let mut next: Vec<usize> = (0..sources).rev().collect();
        while let Some(at) = next.pop() {
            all.extend(parts.get_mut(at).and_then(Option::take));
            next.extend(below.remove(&at).into_iter().flatten().rev());
        }
        all
    }

    /// The source at a place: one of those, or a file that one of them led to.
    pub(super) fn source(&self, at: usize, sources: &[Source]) -> Option<Source> {
        let further = || self.further.get(at.checked_sub(sources.len())?).map(|(_, led)| led);
        sources.get(at).or_else(further).cloned()
    }

    /// Takes up the files that the source at a place leads to, from the place `first` on; what
    /// is to be read.
    pub(super) fn lead(
        &mut self,
        at: usize,
        first: usize,
        files: Vec<Source>,
        next: &mut Counter,
    ) -> Vec<(ReadId, Source)> {
        let mut reads = Vec::new();
        for (place, source) in files.into_iter().enumerate() {
            let read = ReadId::new(next.next());
            self.missing.insert(read, first + place);
            reads.push((read, source.clone()));
            self.further.push((at, source));
            self.parts.push(None);
        }
        reads
    }
}
