//! Which definitions are switched on and off from outside of their entries.
//!
//! Floor 2. May import floors 0 and 1. A file can name servers that are off wherever they are
//! defined, a tool can have such lists for all of its files, and where a tool merges its files an
//! entry can say no more than whether a server is on that another one defines.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Definition;
use super::format::dialect::Switches;
use super::parse::Reading;
use super::source::{Level, Provider};
use crate::id::ServerName;

/// What all files say about servers that are defined in any of them.
#[derive(Debug, Default)]
pub(super) struct Switched {
    /// Names that are off wherever they are defined, and the file that says so.
    named: BTreeMap<ServerName, String>,
    /// The lists of tools, each with its file.
    lists: Vec<(String, Switches)>,
    /// What overlays say of the definition at a place, and in which file.
    overlays: BTreeMap<usize, (bool, String)>,
}

impl Switched {
    /// Takes in what one more file says; the strongest comes first.
    pub(super) fn take_in(&mut self, reading: &Reading) {
        for name in &reading.disabled {
            self.named.entry(name.clone()).or_insert_with(|| reading.path.clone());
        }
        let lists = reading.switches.iter().cloned();
        self.lists.extend(lists.map(|list| (reading.path.clone(), list)));
    }

    /// Finds for each overlay the definition that it is about: the strongest one of its tool that
    /// is weaker than the overlay itself. What the user switches off stays off, also where a
    /// project defines it in a stronger file. `counts` tells which definitions are not left out.
    pub(super) fn overlay(
        &mut self,
        all: &[&Definition],
        counts: impl Fn(usize) -> bool,
    ) -> BTreeMap<usize, usize> {
        let mut waiting: BTreeMap<(&ServerName, Provider), Vec<usize>> = BTreeMap::new();
        // Definitions of projects of which the user has said nothing so far.
        let mut unsaid: BTreeMap<(&ServerName, Provider), Vec<usize>> = BTreeMap::new();
        let mut bases = BTreeMap::new();
        if !all.iter().any(|definition| definition.overlay) {
            return bases;
        }
        for (at, definition) in all.iter().enumerate().filter(|(at, _)| counts(*at)) {
            let key = (&definition.name, definition.source.provider);
            if definition.overlay {
                waiting.entry(key).or_default().push(at);
                let stronger = is_the_users(definition).then(|| unsaid.remove(&key)).flatten();
                for stronger in stronger.into_iter().flatten().filter(|_| !definition.enabled) {
                    bases.entry(at).or_insert(stronger);
                    let file = definition.source.path.clone();
                    self.overlays.insert(stronger, (false, file));
                }
                continue;
            }
            let mut is_unsaid = !is_the_users(definition);
            for overlay in waiting.remove(&key).into_iter().flatten() {
                bases.entry(overlay).or_insert(at);
                let Some(over) = all.get(overlay) else { continue };
                is_unsaid &= !is_the_users(over);
                if over.enabled && !is_the_users(over) && is_the_users(definition) {
                    continue;
                }
                let said = || (over.enabled, over.source.path.clone());
                self.overlays.entry(at).or_insert_with(said);
            }
            if is_unsaid {
                unsaid.entry(key).or_default().push(at);
            }
        }
        bases
    }

    /// The file that switches the definition at a place off, if one does.
    pub(super) fn off_by(&self, at: usize, definition: &Definition) -> Option<String> {
        let source = &definition.source;
        if let Some(file) = self.named.get(&definition.name) {
            return Some(file.clone());
        }
        // A file that the user named is its tool's, too.
        let off = |(file, list): &&(String, Switches)| {
            (list.reaches(source) || *file == source.path) && list.is_off(definition.name.as_str())
        };
        if let Some((file, _)) = self.lists.iter().find(off) {
            return Some(file.clone());
        }
        match self.overlays.get(&at) {
            Some((true, _)) => None,
            Some((false, file)) => Some(file.clone()),
            None => (!definition.enabled).then(|| source.path.clone()),
        }
    }
}

/// Whether a definition is not a project's: only the user can switch it on.
fn is_the_users(definition: &Definition) -> bool {
    definition.source.level != Level::Project
}
