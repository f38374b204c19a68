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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;

    fn set(text: &str) -> Vec<Definition> {
        read(&Source::inline("test", text), text.as_bytes()).definitions
    }

    fn name(change: &Change) -> (&'static str, &str) {
        match change {
            Change::Keep(definition) => ("keep", definition.name.as_str()),
            Change::Start(definition) => ("start", definition.name.as_str()),
            Change::Restart(definition) => ("restart", definition.name.as_str()),
            Change::Stop(server) => ("stop", server.as_str()),
        }
    }

    /// F-033.
    #[test]
    fn only_what_changed_is_restarted_and_what_is_gone_is_stopped() {
        let old = set(r#"{"mcpServers":{"gone":{"command":"g"},"same":{"command":"s"},
            "args":{"command":"a","args":["1"]},"off":{"command":"o"}}}"#);
        let new = set(r#"{"mcpServers":{"fresh":{"command":"f"},
            "args":{"command":"a","args":["2"]},

            "same":{"command":"s"},"off":{"command":"o","disabled":true}}}"#);
        let changes = diff(&old, &new);
        let names: Vec<_> = changes.iter().map(name).collect();
        assert_eq!(
            names,
            [
                ("start", "fresh"),
                ("restart", "args"),
                ("keep", "same"),
                ("restart", "off"),
                ("stop", "gone")
            ]
        );
    }

    #[test]
    fn what_is_kept_carries_its_new_place() {
        let old = set(r#"{"mcpServers":{"a":{"command":"a"}}}"#);
        let new = set("{\"mcpServers\":{\n\n\"a\":{\"command\":\"a\"}}}");
        let [Change::Keep(kept)] = &diff(&old, &new)[..] else { panic!() };
        assert_eq!(kept.source.line, 3);
    }

    /// Reload with equal bytes does nothing.
    #[test]
    fn equal_sets_are_kept() {
        let set = set(r#"{"mcpServers":{"a":{"command":"a"},"b":{"args":[]}}}"#);
        assert!(diff(&set, &set).iter().all(|change| matches!(change, Change::Keep(_))));
    }
}
