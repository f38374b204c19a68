//! What the machine does where the documents and the field disagree: data, not code.
//!
//! Floor 4. [`Policy::documented`] is the documented runtime to the letter,
//! [`Policy::default`] what is best. Each difference is one field, and the property tests run
//! under both.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use crate::config::Protocol;
pub use crate::config::filter::Filters;
pub use crate::config::launch::{Empty, Unresolved};
pub use crate::server::live::Extras;
pub use crate::server::refresh::ListChanged;
pub use crate::server::stop::StopLadder;

/// The choices.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Policy {
    /// How long a start waits for live answers before it offers what is cached. Default 250 ms;
    /// 0 answers at once from the cache.
    pub gate_ms: u64,
    /// When a start has to end, counted from the request, whatever is still missing. Default
    /// 30 s; documented: never.
    pub startup_deadline_ms: Option<u64>,
    /// How long one server may take from its start to its tools, unless its definition says
    /// otherwise. Default 30 s.
    pub connect_ms: u64,
    /// How long one list may take, all its pages together, unless the definition says otherwise.
    /// Default 30 s.
    pub list_ms: u64,
    /// How long a call may go without progress, unless it or its server says otherwise.
    /// Default 60 s; documented: 30 s.
    pub call_ms: u64,
    /// How long a call may take however much progress it reports. Default 10 min.
    pub call_max_ms: u64,
    /// What becomes of deferred tools whose server fails after the gate.
    pub late_failure: LateFailure,
    /// What happens when a server says that its tools, resources or prompts changed. Default:
    /// they are listed again; documented: nothing.
    pub list_changed: ListChanged,
    /// Whether resources and prompts are loaded. Default: yes; documented: no.
    pub extras: Extras,
    /// What happens when a server that was ready is lost.
    pub reconnect: Reconnect,
    /// Which eras of the protocol are spoken with a server whose definition does not say.
    /// Default: whichever it speaks; documented: those with a handshake.
    pub protocol: Protocol,
    /// How tools are named for the model.
    pub names: Names,
    /// Which definitions run without the user's approval.
    pub trust: Trust,
    /// Which definitions are left out. Default: none; documented: those of the Exa search.
    pub filters: Filters,
    /// Whether changes of the configuration's files are followed by themselves.
    pub watch: Watch,
    /// What becomes of values with something in them that is missing.
    pub unresolved: Unresolved,
    /// What becomes of values that come out empty.
    pub empty: Empty,
    /// The ladder that ends a process.
    pub stop: StopLadder,
}

/// What becomes of deferred tools whose server fails after the gate.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateFailure {
    /// They stay as they are; calls to them fail (documented).
    Keep,
    /// They stay in the list, marked as failed (default).
    MarkFailed,
}

/// What happens when a server that was ready is lost.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reconnect {
    /// It has failed, until somebody acts (documented).
    Off,
    /// It is started again, more and more slowly, and in the end suspended (default).
    OnLoss(Backoff),
}

/// How a lost server is started again (G50).
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct Backoff {
    /// How long to wait before each automatic start, in milliseconds, at least 1; the last one
    /// counts for all later ones. Up to a quarter is added by chance, so that many servers lost at once do
    /// not come back at once. Default 0.5, 1, 2, 4, 8 s.
    pub delays_ms: Vec<u64>,
    /// How many automatic starts there may be before the server is suspended. Default 5.
    pub starts_max: u32,
    /// How long a server has to stay ready for its count to begin anew. Default 30 s.
    pub stable_ms: u64,
}

/// How tools are named for the model.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// The letter of the documented rule: digits are lost, the last of two equal names wins.
    Documented,
    /// Digits are kept, names have at most 64 characters, and equal names are told apart.
    Distinct,
}

/// Which definitions run without the user's approval.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Those the user wrote or named; a project's own need approval (F-038).
    Ask,
    /// All (documented, and `--trust-project`).
    All,
}

/// Whether changes of the configuration's files are followed by themselves.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// When the host asks for a reload (documented, and the default: who runs for a moment only
    /// need not watch).
    Off,
    /// When they were left alone for a while.
    Follow {
        /// How long nothing may change before the files are read, in milliseconds.
        quiet_ms: u64,
        /// How long after the first change they are read at the latest, in milliseconds.
        most_ms: u64,
    },
}

impl Watch {
    /// Follows changes after 150 ms without another one, and after 1 s at the latest.
    #[must_use]
    pub const fn follow() -> Self {
        Self::Follow { quiet_ms: 150, most_ms: 1_000 }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self { delays_ms: vec![500, 1_000, 2_000, 4_000, 8_000], starts_max: 5, stable_ms: 30_000 }
    }
}

impl Backoff {
    /// How long to wait before the automatic start with this number, from 0, chance left out.
    #[must_use]
    pub fn delay_ms(&self, start: u32) -> u64 {
        let at = usize::try_from(start).unwrap_or(usize::MAX);
        self.delays_ms.get(at).or_else(|| self.delays_ms.last()).copied().unwrap_or(0)
    }

    /// How much chance adds to a delay at most, in milliseconds.
    #[must_use]
    pub const fn jitter_ms(delay_ms: u64) -> u64 {
        delay_ms / 4
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            gate_ms: 250,
            startup_deadline_ms: Some(30_000),
            connect_ms: 30_000,
            list_ms: 30_000,
            call_ms: 60_000,
            call_max_ms: 600_000,
            late_failure: LateFailure::MarkFailed,
            list_changed: ListChanged::default(),
            extras: Extras::Load,
            reconnect: Reconnect::OnLoss(Backoff::default()),
            protocol: Protocol::Auto,
            names: Names::Distinct,
            trust: Trust::Ask,
            filters: Filters::default(),
            watch: Watch::Off,
            unresolved: Unresolved::LeaveOut,
            empty: Empty::Keep,
            stop: StopLadder::default(),
        }
    }
}

impl Policy {
    /// The documented behaviour to the letter.
    #[must_use]
    pub fn documented() -> Self {
        Self {
            startup_deadline_ms: None,
            call_ms: 30_000,
            late_failure: LateFailure::Keep,
            list_changed: ListChanged::Ignore,
            extras: Extras::Skip,
            reconnect: Reconnect::Off,
            protocol: Protocol::Legacy,
            names: Names::Documented,
            trust: Trust::All,
            filters: Filters::documented(),
            unresolved: Unresolved::AsWritten,
            empty: Empty::LeaveOut,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G50: the last delay counts for all later ones; chance adds a quarter at most.
    #[test]
    fn delays_grow_as_listed_and_then_stay() {
        let backoff = Backoff { delays_ms: vec![500, 1_000], ..Backoff::default() };
        assert_eq!(
            [0, 1, 2, u32::MAX].map(|start| backoff.delay_ms(start)),
            [500, 1_000, 1_000, 1_000]
        );
        assert_eq!([0, 3, 4, 500, 8_000].map(Backoff::jitter_ms), [0, 0, 1, 125, 2_000]);
        let none = Backoff { delays_ms: vec![], ..Backoff::default() };
        assert_eq!(none.delay_ms(0), 0);
    }

    /// Design section 4: each difference between what is documented and what is best is a field,
    /// and these are the differences.
    #[test]
    fn what_is_documented_differs_from_what_is_best_in_these_fields() {
        let (documented, best) = (Policy::documented(), Policy::default());
        let differs = [
            (documented.startup_deadline_ms.is_none(), best.startup_deadline_ms == Some(30_000)),
            (documented.call_ms == 30_000, best.call_ms == 60_000),
            (
                documented.late_failure == LateFailure::Keep,
                best.late_failure == LateFailure::MarkFailed,
            ),
            (
                documented.list_changed == ListChanged::Ignore,
                best.list_changed == ListChanged::default(),
            ),
            (documented.extras == Extras::Skip, best.extras == Extras::Load),
            (
                documented.reconnect == Reconnect::Off,
                best.reconnect == Reconnect::OnLoss(Backoff::default()),
            ),
            (documented.protocol == Protocol::Legacy, best.protocol == Protocol::Auto),
            (documented.names == Names::Documented, best.names == Names::Distinct),
            (documented.trust == Trust::All, best.trust == Trust::Ask),
            (documented.filters == Filters::documented(), best.filters == Filters::default()),
            (
                documented.unresolved == Unresolved::AsWritten,
                best.unresolved == Unresolved::LeaveOut,
            ),
            (documented.empty == Empty::LeaveOut, best.empty == Empty::Keep),
        ];
        assert_eq!(differs, [(true, true); 12]);
        let same =
            (documented.gate_ms, documented.connect_ms, documented.list_ms, documented.watch);
        assert_eq!(same, (best.gate_ms, best.connect_ms, best.list_ms, Watch::Off));
        assert_eq!(Watch::follow(), Watch::Follow { quiet_ms: 150, most_ms: 1_000 });
    }
}
