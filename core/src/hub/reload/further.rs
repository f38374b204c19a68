//! The files that files lead to: they are read after those, and stand in their places.
//!
//! Floor 4.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Reading;
use crate::config;
use crate::config::Source;
use crate::id::{Counter, ReadId};

impl Reading {
    /// What the sources say, so many of them, each followed by the files that it leads to.
    pub(super) fn in_order(&mut self, sources: usize) -> Vec<config::parse::Reading> {
        let mut parts = core::mem::take(&mut self.parts);
        let further = parts.split_off(sources.min(parts.len()));
        let mut below: BTreeMap<usize, Vec<config::parse::Reading>> = BTreeMap::new();
        for (part, (at, _)) in further.into_iter().zip(&self.further) {
            below.entry(*at).or_default().extend(part);
        }
        let mut all = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            all.extend(part);
            all.extend(below.remove(&at).unwrap_or_default());
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
    ) -> Vec<(ReadId, String)> {
        let mut reads = Vec::new();
        for (place, source) in files.into_iter().enumerate() {
            let read = ReadId::new(next.next());
            self.missing.insert(read, first + place);
            reads.push((read, source.path.clone()));
            self.further.push((at, source));
            self.parts.push(None);
        }
        reads
    }
}
