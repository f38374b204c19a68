//! What can be read off a server.
//!
//! Floor 3. Pure getters.

use alloc::string::String;
use alloc::sync::Arc;

use crate::error::{CallError, Failure, Feature};
use crate::id::ConnId;
use crate::time::Timestamp;
use crate::wire::dialect::{Era, Revision};
use crate::wire::mcp::{Aim, Initialized, ToolDef};

use super::{Phase, Server, View, Why};

impl Server {
    /// The attempt's id.
    #[must_use]
    pub const fn conn(&self) -> ConnId {
        self.conn
    }

    /// Its process, once it runs and until it is gone.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| self.phase != Phase::Gone)
    }

    /// Whether the attempt is over.
    #[must_use]
    pub const fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Gone)
    }

    /// Whether it is spoken to over HTTP.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.session.is_remote()
    }

    /// Whether a call can certainly not have reached its tool although it was sent.
    #[must_use]
    pub fn may_miss_calls(&self) -> bool {
        self.is_remote() || self.era() == Some(Era::Modern)
    }

    /// Whether what to run is still being found out.
    #[must_use]
    pub const fn is_resolving(&self) -> bool {
        matches!(self.phase, Phase::Resolving { .. })
    }

    /// Milliseconds since the attempt began.
    #[must_use]
    pub const fn age_ms(&self, now: Timestamp) -> u64 {
        now.since(self.started)
    }

    /// How the attempt looks from outside.
    #[must_use]
    pub const fn view(&self) -> View {
        match &self.phase {
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. } => View::Connecting,
            Phase::Ready { .. } => View::Connected,
            Phase::Stopping { why: Why::Asked, .. } => View::Leaving,
            Phase::Stopping { why: Why::Ending { untold: Some(_), .. } | Why::Again, .. } => {
                View::Connecting
            }
            Phase::Stopping { why: Why::Ending { untold: None, .. } | Why::Failed, .. } => {
                View::Failed
            }
            Phase::Gone => {
                if self.failure.is_some() {
                    View::Failed
                } else {
                    View::Leaving
                }
            }
        }
    }

    /// Why it failed, once it did.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// What it said of itself, once it was greeted.
    #[must_use]
    pub fn hello(&self) -> Option<&Initialized> {
        self.hello.as_deref()
    }

    /// The era it is of, once that is known.
    #[must_use]
    pub fn era(&self) -> Option<Era> {
        self.session.era()
    }

    /// Its tools, while it is ready.
    #[must_use]
    pub fn tools(&self) -> Option<&Arc<[ToolDef]>> {
        if let Phase::Ready { tools, .. } = &self.phase { Some(&tools.list) } else { None }
    }

    /// Whether it has what a call is aimed at, as far as it says, while it is ready (C-LIFE-07).
    ///
    /// # Errors
    /// Why not.
    pub fn offers(&self, aim: &Aim) -> Result<(), CallError> {
        let hello = self.hello();
        let says = |what: fn(&Initialized) -> bool| hello.is_some_and(what);
        let (has, what) = match aim {
            Aim::Tool(tool) => {
                let listed = matches!(&self.phase, Phase::Ready { tools, .. } if tools.has(tool));
                let unknown = || CallError::UnknownTool { tool: tool.clone() };
                return if listed { Ok(()) } else { Err(unknown()) };
            }
            Aim::Resource(_) => (says(|hello| hello.resources), Feature::Resources),
            Aim::Prompt(_) => (says(|hello| hello.prompts), Feature::Prompts),
            // The first revision has no word for it (T-14).
            Aim::Completion(_) => (
                says(|it| it.completions || it.revision == Revision::V2024_11_05.as_str()),
                Feature::Completions,
            ),
        };
        if has { Ok(()) } else { Err(CallError::NotOffered { server: self.name.clone(), what }) }
    }

    /// Whether the handshake is done and the connection stands.
    #[must_use]
    pub const fn is_greeted(&self) -> bool {
        matches!(self.phase, Phase::Listing { .. } | Phase::Ready { .. })
    }

    /// Milliseconds from its start to its tools, while it is ready.
    #[must_use]
    pub const fn connect_ms(&self) -> Option<u64> {
        if let Phase::Ready { connect_ms, .. } = &self.phase { Some(*connect_ms) } else { None }
    }

    /// Lines of its output that were no messages (F-041).
    #[must_use]
    pub const fn skipped_lines(&self) -> u64 {
        self.session.skipped_lines()
    }

    /// Answers nobody had asked for, or that came twice (G39).
    #[must_use]
    pub const fn unknown_answers(&self) -> u64 {
        self.session.unknown_answers()
    }

    /// Answers whose id was the text of our number.
    #[must_use]
    pub const fn text_ids(&self) -> u64 {
        self.session.text_ids()
    }

    /// The end of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.stderr.text()
    }

    /// The name of the phase, for the explorer's table.
    #[must_use]
    pub const fn phase_name(&self) -> &'static str {
        match &self.phase {
            Phase::Resolving { .. } => "resolving",
            Phase::Opening { .. } => "opening",
            Phase::Greeting { .. } => "greeting",
            Phase::Listing { .. } => "listing",
            Phase::Ready { .. } => "ready",
            Phase::Stopping { .. } => "stopping",
            Phase::Gone => "gone",
        }
    }

    /// Feeds the state to a hasher, times relative to `now`, calls counted from the newest.
    #[cfg(feature = "_explore")]
    pub fn digest(
        &self,
        now: Timestamp,
        newest_call: Option<crate::id::CallId>,
        state: &mut impl core::hash::Hasher,
    ) {
        use core::hash::Hash as _;
        self.phase_name().hash(state);
        super::digest_failure(self.failure.as_ref(), state);
        self.deadline().map(|deadline| (deadline.at.since(now), deadline.why)).hash(state);
        self.session.digest(now, newest_call, state);
        match &self.phase {
            Phase::Greeting { decision, silence, .. } => {
                (decision, silence.map(|at| at.since(now))).hash(state);
            }
            Phase::Listing { listing, again, .. } => {
                listing.hash(state);
                again.map(|burst| burst.left(now)).hash(state);
            }
            Phase::Ready { tools, live, .. } => {
                tools.hash(state);
                live.digest(now, state);
            }
            Phase::Stopping { stop, why: Why::Ending { stage, cause, untold } } => {
                let rung = stop.deadline();
                let untold = untold.map(|at| at.min(rung.at).since(now));
                (stage, cause, untold, rung.at.since(now), rung.why).hash(state);
            }
            Phase::Stopping { why, .. } => why.hash(state),
            Phase::Resolving { .. } | Phase::Opening { .. } | Phase::Gone => {}
        }
    }
}
