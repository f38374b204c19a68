//! When a list is asked for again: the clock of one list, without its content.
//!
//! Floor 3. One per list, so at most one request for a list is in flight and lists apply in the
//! order they were asked for (G26, D13). A change that arrives during a request leads to one
//! more after it, however many they are (G27, D14). It lives in the phase of a ready server, so
//! nothing of it survives that phase.
//!
//! ```text
//!           changed           quiet, or at most so late             last page
//!   Idle ───────────► Due ─────────────────────────────► Asking ──────────────► Idle
//!                      ▲                                   │  │
//!                      │ changed, or a change meanwhile    │  │ failed
//!                      ├───────────────────────────────────┘  ▼
//!                      └─────────────────────────────────── Retry ──► Asking
//! ```

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::time::{Deadline, Timestamp};

/// What happens when a server says that a list changed.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListChanged {
    /// Nothing; the host is told as of any other notification (documented).
    Ignore,
    /// The list is asked for again (default).
    Refresh {
        /// How long after the last of several changes, in milliseconds. Default 300.
        quiet_ms: u64,
        /// How long after the first of several changes at the latest. Default 2 s.
        most_ms: u64,
        /// How long after each failure in a row it is tried again; after as many, not before
        /// the next change. Default 1, 2, 4 s.
        retry_ms: Vec<u64>,
    },
}

impl Default for ListChanged {
    fn default() -> Self {
        Self::Refresh { quiet_ms: 300, most_ms: 2_000, retry_ms: vec![1_000, 2_000, 4_000] }
    }
}

impl ListChanged {
    /// The pause after so many failures in a row, if there is another try.
    pub(super) fn pause(&self, failures: usize) -> Option<u64> {
        match self {
            Self::Ignore => None,
            Self::Refresh { retry_ms, .. } => retry_ms.get(failures.checked_sub(1)?).copied(),
        }
    }
}

/// Changes that are answered together.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Burst {
    /// When they are answered, if no further one comes.
    at: Timestamp,
    /// When they are answered at the latest.
    last: Timestamp,
}

impl Burst {
    /// One change more; `None` if changes are ignored.
    pub(super) fn grown(burst: Option<Self>, now: Timestamp, pace: &ListChanged) -> Option<Self> {
        let ListChanged::Refresh { quiet_ms, most_ms, retry_ms: _ } = pace else { return None };
        let last = burst.map_or_else(|| now.plus(*most_ms), |burst| burst.last);
        Some(Self { at: now.plus(*quiet_ms).min(last), last })
    }

    /// What is left of it in milliseconds.
    #[cfg(feature = "_explore")]
    pub(super) const fn left(&self, now: Timestamp) -> (u64, u64) {
        (self.at.since(now), self.last.since(now))
    }
}

/// The clock of one list.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Refresh {
    /// The list is believed to be right, or nothing more is tried.
    #[default]
    Idle,
    /// It changed, and is asked for when the changes are over.
    Due(Burst),
    /// It is being asked for, by this request; what changed meanwhile; how many tries failed
    /// before.
    Asking { request: u64, deadline: Timestamp, again: Option<Burst>, failures: usize },
    /// The last try failed.
    Retry { at: Timestamp, failures: usize },
}

/// What a moment leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fired {
    /// Nothing.
    Nothing,
    /// The list is to be asked for.
    Ask,
    /// The list did not come in time.
    TimedOut,
}

impl Refresh {
    /// A list that changed while it was read for the first time.
    pub(super) fn after(burst: Option<Burst>) -> Self {
        burst.map_or(Self::Idle, Self::Due)
    }

    /// The server says that the list changed.
    pub(super) fn changed(&mut self, now: Timestamp, pace: &ListChanged) {
        match self {
            Self::Due(burst) => *burst = Burst::grown(Some(*burst), now, pace).unwrap_or(*burst),
            Self::Asking { again, .. } => *again = Burst::grown(*again, now, pace),
            Self::Idle | Self::Retry { .. } => {
                if let Some(burst) = Burst::grown(None, now, pace) {
                    *self = Self::Due(burst);
                }
            }
        }
    }

    /// The list was asked for, and has to be here by then.
    pub(super) fn asked(&mut self, request: u64, deadline: Timestamp) {
        let failures = match self {
            Self::Retry { failures, .. } => *failures,
            Self::Idle | Self::Due(_) | Self::Asking { .. } => 0,
        };
        *self = Self::Asking { request, deadline, again: None, failures };
    }

    /// Its next page was asked for.
    pub(super) fn asked_on(&mut self, next: u64) {
        if let Self::Asking { request, .. } = self {
            *request = next;
        }
    }

    /// The list is here.
    pub(super) fn succeeded(&mut self) {
        if let Self::Asking { again, .. } = self {
            *self = Self::after(*again);
        }
    }

    /// The list did not come. Whether this is the first failure in a row.
    pub(super) fn failed(&mut self, now: Timestamp, pace: &ListChanged) -> bool {
        let Self::Asking { again, failures, .. } = self else { return false };
        let (again, failures) = (*again, *failures + 1);
        *self = match (again, pace.pause(failures)) {
            (Some(burst), _) => Self::Due(burst),
            (None, Some(ms)) => Self::Retry { at: now.plus(ms), failures },
            (None, None) => Self::Idle,
        };
        failures == 1
    }

    /// The request under way.
    pub(super) const fn request(&self) -> Option<u64> {
        match self {
            Self::Asking { request, .. } => Some(*request),
            Self::Idle | Self::Due(_) | Self::Retry { .. } => None,
        }
    }

    /// What this moment leads to.
    pub(super) fn fire(&self, now: Timestamp) -> Fired {
        match self {
            Self::Due(Burst { at, .. }) | Self::Retry { at, .. } if *at <= now => Fired::Ask,
            Self::Asking { deadline, .. } if *deadline <= now => Fired::TimedOut,
            Self::Idle | Self::Due(_) | Self::Asking { .. } | Self::Retry { .. } => Fired::Nothing,
        }
    }

    /// When it wants to be woken.
    pub(super) const fn deadline(&self) -> Option<Deadline> {
        match self {
            Self::Idle => None,
            Self::Due(Burst { at, .. }) => Some(Deadline { at: *at, why: "list changed" }),
            Self::Asking { deadline, .. } => Some(Deadline { at: *deadline, why: "list" }),
            Self::Retry { at, .. } => Some(Deadline { at: *at, why: "list retry" }),
        }
    }

    /// Feeds the state to a hasher, times relative to `now`; the session knows which request it
    /// is.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        match self {
            Self::Idle => 0_u8.hash(state),
            Self::Due(burst) => (1_u8, burst.left(now)).hash(state),
            Self::Asking { request: _, deadline, again, failures } => {
                (2_u8, deadline.since(now), again.map(|burst| burst.left(now)), failures)
                    .hash(state);
            }
            Self::Retry { at, failures } => (3_u8, at.since(now), failures).hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn due(refresh: &Refresh) -> Option<u64> {
        refresh.deadline().map(|deadline| deadline.at.as_millis())
    }

    #[test]
    fn changes_are_answered_together_when_they_are_over() {
        let (mut refresh, pace) = (Refresh::Idle, ListChanged::default());
        for ms in [0, 100, 250] {
            refresh.changed(at(ms), &pace);
            assert_eq!(due(&refresh), Some(ms + 300));
        }
        assert_eq!(refresh.fire(at(549)), Fired::Nothing);
        assert_eq!(refresh.fire(at(550)), Fired::Ask);
    }

    #[test]
    fn changes_that_never_end_are_answered_after_two_seconds() {
        let (mut refresh, pace) = (Refresh::Idle, ListChanged::default());
        for ms in (0..2_000).step_by(200) {
            refresh.changed(at(ms), &pace);
        }
        assert_eq!(due(&refresh), Some(2_000));
    }

    /// G27, D14.
    #[test]
    fn changes_during_a_request_lead_to_one_more() {
        let (mut refresh, pace) = (Refresh::Idle, ListChanged::default());
        refresh.asked(7, at(100));
        for ms in [10, 20, 30] {
            refresh.changed(at(ms), &pace);
        }
        refresh.succeeded();
        assert_eq!(due(&refresh), Some(330));
        refresh.asked(7, at(500));
        refresh.succeeded();
        assert_eq!(refresh, Refresh::Idle);
    }

    #[test]
    fn failures_in_a_row_are_tried_again_less_often_and_then_rest() {
        let (mut refresh, pace) = (Refresh::Idle, ListChanged::default());
        refresh.changed(at(0), &pace);
        let mut first = Vec::new();
        for wanted in [Some(1_000), Some(2_000), Some(4_000), None] {
            refresh.asked(7, at(30_000));
            first.push(refresh.failed(at(0), &pace));
            assert_eq!(due(&refresh), wanted);
        }
        assert_eq!(first, [true, false, false, false]);
        refresh.changed(at(0), &pace);
        refresh.asked(7, at(30_000));
        assert!(refresh.failed(at(0), &pace), "a further change begins anew");
    }

    #[test]
    fn a_change_takes_the_place_of_a_retry() {
        let (mut refresh, pace) = (Refresh::Idle, ListChanged::default());
        refresh.asked(7, at(50));
        refresh.failed(at(0), &pace);
        refresh.changed(at(10), &pace);
        assert_eq!(due(&refresh), Some(310));
    }

    #[test]
    fn by_the_documented_policy_nothing_follows() {
        let mut refresh = Refresh::Idle;
        refresh.changed(at(0), &ListChanged::Ignore);
        assert_eq!(refresh, Refresh::Idle);
        refresh.asked(7, at(50));
        refresh.failed(at(50), &ListChanged::Ignore);
        assert_eq!(refresh, Refresh::Idle);
    }
}
