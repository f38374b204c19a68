//! What becomes of a definition.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::config::definition::SourceRef;
use crate::config::filter::Filter;
use crate::id::ServerName;

/// What became of one definition.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Told {
    /// Its name.
    pub server: ServerName,
    /// Where it stands.
    pub source: SourceRef,
    /// What became of it.
    pub fate: Fate,
}

/// What can become of a definition.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fate {
    /// It counts.
    Active,
    /// It counts, and the server is switched off.
    Disabled {
        /// The file that says so.
        by: String,
    },
    /// Another one of the same name counts.
    Shadowed {
        /// Where that one stands.
        by: SourceRef,
    },
    /// It says no more than whether the server is on that another one defines.
    Overlay {
        /// Where that one stands.
        on: SourceRef,
    },
    /// The settings leave it out.
    Filtered {
        /// Which of them.
        by: Filter,
    },
    /// The organisation forbids it.
    Forbidden {
        /// Why.
        message: String,
    },
    /// It is not valid.
    Invalid {
        /// All that is wrong, joined with `; `.
        message: String,
    },
    /// There are too many servers.
    Surplus,
}
