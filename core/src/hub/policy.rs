//! What the machine does where the documents and the field disagree: data, not code.
//!
//! Floor 4. [`Policy::documented`] is the documented runtime to the letter,
//! [`Policy::default`] what is best. Each difference is one field, and the property tests run
//! under both.

use serde::{Deserialize, Serialize};

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
    /// How tools are named for the model.
    pub names: Names,
    /// Which definitions run without the user's approval.
    pub trust: Trust,
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
            names: Names::Distinct,
            trust: Trust::Ask,
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
            names: Names::Documented,
            trust: Trust::All,
            ..Self::default()
        }
    }
}
