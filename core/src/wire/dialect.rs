//! The revisions of the protocol as data.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// How a conversation with a server begins, and what goes with that. It is the server's, not a
/// request's (C-VER-04).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// With a handshake, `initialize`, whose outcome holds for all that follows.
    Legacy,
    /// Without one: every request says for itself what it needs.
    Modern,
}

impl Era {
    /// Its name in configuration and in `list --json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A revision of the protocol, oldest first.
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
    /// The first one without a handshake.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// The revision that `initialize` offers first (C-VER-22).
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The revision that `server/discover` is sent in first.
    pub const LATEST: Self = Self::V2026_07_28;

    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The spelling on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era it belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Era::Legacy
            }
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// The revision with this spelling, if we speak it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// The newest of `offered` that we speak, in one era (C-VER-18).
    #[must_use]
    pub fn mutual(offered: &[String], era: Era) -> Option<Self> {
        let spoken = offered.iter().filter_map(|text| Self::parse(text));
        spoken.filter(|revision| revision.era() == era).max()
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
        for text in ["", "2024-11-5", "2026-07-29", "2025-03-26 "] {
            assert_eq!(Revision::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn revisions_are_ordered_by_age_and_the_last_is_the_latest() {
        assert!(Revision::ALL.is_sorted());
        assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
        let of = |era| Revision::ALL.into_iter().rfind(|revision| revision.era() == era);
        assert_eq!(of(Era::Legacy), Some(Revision::LATEST_LEGACY));
        assert_eq!(of(Era::Modern), Some(Revision::LATEST));
    }

    /// C-VER-18.
    #[test]
    fn the_newest_that_both_speak_is_chosen_within_an_era() {
        let mutual = |offered: &[&str], era| {
            let offered: alloc::vec::Vec<String> = offered.iter().map(|it| (*it).into()).collect();
            Revision::mutual(&offered, era)
        };
        let all = ["2099-01-01", "2025-06-18", "2026-07-28", "2024-11-05", "x"];
        assert_eq!(mutual(&all, Era::Modern), Some(Revision::V2026_07_28));
        assert_eq!(mutual(&all, Era::Legacy), Some(Revision::V2025_06_18));
        assert_eq!(mutual(&["2025-06-18"], Era::Modern), None);
        assert_eq!(mutual(&["2099-01-01"], Era::Legacy), None);
    }

    /// C-RPC-10, C-RPC-13.
    #[test]
    fn one_revision_has_batches() {
        let with: alloc::vec::Vec<_> =
            Revision::ALL.into_iter().filter(|revision| revision.has_batches()).collect();
        assert_eq!(with, [Revision::V2025_03_26]);
    }
}
