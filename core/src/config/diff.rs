//! Two sets of definitions → what a reload has to do.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::definition::Definition;
use crate::id::ServerName;

/// What a reload has to do to one server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// Nothing: it goes on with this definition, which may stand elsewhere now.
    Keep(Definition),
    /// It is new.
    Start(Definition),
    /// It is there and has to follow another definition.
    Restart(Definition),
    /// Nobody defines it any more.
    Stop(ServerName),
}

/// Compares effective definitions (F-033): one change per name, those in `new` in the order of
/// `new`, then the stops in the order of `old`.
#[must_use]
pub fn diff(old: &[Definition], new: &[Definition]) -> Vec<Change> {
    let known: BTreeMap<&ServerName, &Definition> = old.iter().map(|d| (&d.name, d)).collect();
    let wanted: BTreeSet<&ServerName> = new.iter().map(|d| &d.name).collect();
    let kept = new.iter().map(|definition| match known.get(&definition.name) {
        None => Change::Start(definition.clone()),
        Some(before) if before.runs_like(definition) => Change::Keep(definition.clone()),
        Some(_) => Change::Restart(definition.clone()),
    });
    let gone = old.iter().filter(|d| !wanted.contains(&d.name));
    kept.chain(gone.map(|d| Change::Stop(d.name.clone()))).collect()
}
