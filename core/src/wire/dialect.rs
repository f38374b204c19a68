//! The revisions of the protocol as data.
//!
//! Floor 1. May import floor 0.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A revision that starts with `initialize`, oldest first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Revision {
    /// The first one.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// The one with batches.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Structured results, no batches.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// The last one with a handshake.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
}

impl Revision {
    /// The revision we offer first.
    pub const LATEST: Self = Self::V2025_11_25;

    /// All of them, oldest first.
    pub const ALL: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The spelling on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// The revision with this spelling, if we speak it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Whether a line may hold an array of messages (C-RPC-10, C-RPC-13).
    #[must_use]
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_survives_its_spelling() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
            let text = serde_json::to_string(&revision).unwrap();
            assert_eq!(text, alloc::format!("\"{revision}\""));
            assert_eq!(serde_json::from_str::<Revision>(&text).unwrap(), revision);
        }
        for text in ["", "2024-11-5", "2026-07-28", "2025-03-26 "] {
            assert_eq!(Revision::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn revisions_are_ordered_by_age_and_the_last_is_the_latest() {
        assert!(Revision::ALL.is_sorted());
        assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    }

    /// C-RPC-10, C-RPC-13.
    #[test]
    fn one_revision_has_batches() {
        let with: alloc::vec::Vec<_> =
            Revision::ALL.into_iter().filter(|revision| revision.has_batches()).collect();
        assert_eq!(with, [Revision::V2025_03_26]);
    }
}
