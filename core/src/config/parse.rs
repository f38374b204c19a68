//! One file's bytes → the definitions in it.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::vec::Vec;

use super::definition::Definition;
use super::source::Source;
use crate::error::Problem;

/// What one file says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reading {
    /// Its definitions in the order of the file; those that are not valid among them, with the
    /// messages of the validation for a transport.
    pub definitions: Vec<Definition>,
    /// What a person may want to mend in it, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads one file. Total: any bytes give a reading.
#[must_use]
pub fn read(_source: &Source, _bytes: &[u8]) -> Reading {
    Reading::default()
}
