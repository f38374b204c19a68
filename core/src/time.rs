//! Time as a value: whole milliseconds since an epoch the driver chose.
//!
//! Floor 0. The core never asks for the time; every input carries it. Whole milliseconds
//! because nothing in the lifecycle of a server is finer, and because a number can be
//! recorded, hashed, made from fuzz bytes and printed in a snapshot.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A moment, in whole milliseconds since the driver's epoch (the start of the run).
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The driver's epoch.
    pub const ZERO: Self = Self(0);

    /// The moment `ms` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The moment `ms` milliseconds later; saturates at the end of time.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here; 0 if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// When the core wants to be woken at the latest, and what for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Deadline {
    /// The moment at which something is due.
    pub at: Timestamp,
    /// What is due, as a noun for people: `"gate"`, `"call"`, `"stop: kill"`.
    pub why: &'static str,
}

impl Deadline {
    /// The earlier of two deadlines that may be absent; the first one wins a tie.
    #[must_use]
    pub fn earlier(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) if b.at < a.at => Some(b),
            (Some(a), _) => Some(a),
            (None, b) => b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Timestamp::from_millis(u64::MAX).plus(1).as_millis(), u64::MAX);
        assert_eq!(Timestamp::from_millis(5).since(Timestamp::from_millis(9)), 0);
    }

    #[test]
    fn the_earlier_deadline_wins_and_the_first_wins_a_tie() {
        let gate = Deadline { at: Timestamp::from_millis(5), why: "gate" };
        let call = Deadline { at: Timestamp::from_millis(5), why: "call" };
        let kill = Deadline { at: Timestamp::from_millis(4), why: "stop: kill" };
        assert_eq!(Deadline::earlier(Some(gate), Some(call)), Some(gate));
        assert_eq!(Deadline::earlier(Some(gate), Some(kill)), Some(kill));
        assert_eq!(Deadline::earlier(None, Some(call)), Some(call));
        assert_eq!(Deadline::earlier(Some(call), None), Some(call));
    }
}
