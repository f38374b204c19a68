//! One configured server: its definition, whether it is wanted, and its present attempt.
//!
//! Floor 4.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::command::Question;
use crate::config::Definition;
use crate::error::{AskError, Cause, Failure, Stage};
use crate::event::{ServerState, Skip};
use crate::held::Held;
use crate::id::ReadId;
use crate::server::{Server, View};
use crate::time::Timestamp;
use crate::wire::dialect::Era;
use crate::wire::mcp::ToolDef;

use super::Worth;
use super::cache::Identity;
use super::losses::Losses;
use super::policy::LateFailure;

/// A configured server.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    definition: Held<Definition>,
    /// Made when it is needed: canonical text and two fingerprints.
    identity: Option<Identity>,
    pub(super) standing: Standing,
    /// How the host let it go, unless it asked for it since.
    pub(super) let_go: Option<LetGo>,
    pub(super) server: Option<Server>,
    /// Why the last attempt failed, or why none can be made.
    pub(super) failure: Option<Failure>,
    /// What could not be found out for the present attempt, and why.
    pub(super) refused: BTreeMap<Question, AskError>,
    pub(super) cached: Cached,
    /// The era it was of last, if that is known: what is tried first.
    pub(super) era: Option<Era>,
    /// The list it had when it was ready last, for the time until it is ready again.
    pub(super) live: Option<Arc<[ToolDef]>>,
    /// What the host said about its being on or off; it stands above what is configured.
    switch: Option<bool>,
    pub(super) losses: Losses,
    /// When the hub will be woken to start it again, as far as the hub knows.
    pub(super) armed: Option<Timestamp>,
    said: Option<ServerState>,
    since: Timestamp,
}

/// Whether a server is to run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Standing {
    /// It is.
    Wanted,
    /// It is, and the present attempt has to be gone first.
    Again,
    /// It is, at this time: it was lost.
    Later(Timestamp),
    /// It would be, but it was lost too often.
    Suspended,
    /// It is not, for a reason that lies in its definition or in the options.
    Off(Skip),
    /// It is not, because the host let it go.
    Disconnected,
    /// It is no longer configured; it leaves the table with its attempt.
    Removed,
}

/// How the host let a server go, the firmer way last. Whatever its definition says meanwhile, only
/// the host brings it back, unless it is removed and configured again (G14).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum LetGo {
    /// With all others: the next start brings it back.
    WithAll,
    /// By its name: only its name brings it back.
    ByName,
}

/// What is known of a server's stored tool list.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Cached {
    /// Nobody asked, or a live list took its place.
    Unknown,
    /// This read will say.
    Asking(ReadId),
    /// This is it.
    Hit(Arc<[ToolDef]>),
    /// There is none.
    Miss,
}

impl Slot {
    pub(super) fn new(definition: Definition, standing: Standing, now: Timestamp) -> Self {
        Self {
            definition: Held::new(definition),
            identity: None,
            standing,
            let_go: None,
            server: None,
            failure: None,
            refused: BTreeMap::new(),
            cached: Cached::Unknown,
            era: None,
            live: None,
            switch: None,
            losses: Losses::default(),
            armed: None,
            said: None,
            since: now,
        }
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The limit of starting and greeting that its definition sets, in milliseconds.
    pub(super) fn attempt_ms(&self) -> Option<u64> {
        self.definition.startup_timeout_ms.or(self.definition.timeout_ms)
    }

    /// What it is told to be: its definition, and what the host said of its being on or off.
    #[cfg(feature = "_explore")]
    pub(super) const fn told(&self) -> (&Held<Definition>, Option<bool>, Option<LetGo>) {
        (&self.definition, self.switch, self.let_go)
    }

    /// Gives it another definition.
    pub(super) fn define(&mut self, definition: Definition) {
        if !self.definition.runs_like(&definition) {
            self.era = None;
        }
        self.definition = Held::new(definition);
        self.identity = None;
    }

    /// The host switches it on or off.
    pub(super) fn switch(&mut self, on: bool) {
        self.switch = Some(on);
        self.definition.enabled = on;
    }

    /// Lays what the host said over a definition as it was read. One that is on its way out and
    /// configured again begins anew.
    pub(super) fn overrule(&mut self, definition: &mut Definition) {
        if self.standing == Standing::Removed {
            (self.switch, self.let_go, self.said) = (None, None, None);
        }
        definition.enabled = self.switch.unwrap_or(definition.enabled);
    }

    /// Whose list an entry of the cache has to be for it. `cwd` is the same in a whole run.
    pub(super) fn identity(&mut self, cwd: &str) -> Identity {
        *self.identity.get_or_insert_with(|| Identity::of(&self.definition, cwd))
    }

    /// Its definition cannot be used: it failed before any attempt.
    pub(super) fn set_invalid(&mut self, message: &str) {
        self.failure = Some(Failure {
            stage: Stage::Config,
            cause: Cause::Invalid { message: message.into() },
            after_ms: 0,
            stderr_tail: alloc::string::String::new(),
        });
    }

    /// Its state, derived.
    pub(super) fn state(&self) -> ServerState {
        match self.standing {
            Standing::Off(Skip::Disabled) => ServerState::Disabled,
            Standing::Off(Skip::NeedsApproval) => ServerState::NeedsApproval,
            Standing::Off(reason) => ServerState::Skipped { reason },
            Standing::Disconnected | Standing::Removed => ServerState::Disconnected,
            Standing::Again => ServerState::Connecting,
            Standing::Later(_) => self.failure.clone().map_or(ServerState::Connecting, |failure| {
                ServerState::Retrying { failure, start: self.losses.starts() }
            }),
            Standing::Suspended => self
                .failure
                .clone()
                .map_or(ServerState::Disconnected, |failure| ServerState::Suspended { failure }),
            Standing::Wanted => match (self.view(), &self.failure) {
                (Some(View::Connecting), _) => ServerState::Connecting,
                (Some(View::Connected), _) => ServerState::Connected,
                (Some(View::Failed | View::Leaving) | None, Some(failure)) => {
                    ServerState::Failed { failure: failure.clone() }
                }
                (Some(View::Failed | View::Leaving) | None, None) => ServerState::Disconnected,
            },
        }
    }

    /// Whether it is on its way, so that waiting for it makes sense.
    pub(super) fn is_connecting(&self) -> bool {
        match self.standing {
            Standing::Again | Standing::Later(_) => true,
            Standing::Wanted => self.view() == Some(View::Connecting),
            Standing::Suspended | Standing::Off(_) | Standing::Disconnected | Standing::Removed => {
                false
            }
        }
    }

    /// Whether an attempt is under way or follows as soon as the old one is gone.
    pub(super) fn is_on_its_way(&self) -> bool {
        self.is_connecting() && !matches!(self.standing, Standing::Later(_))
    }

    /// Whether it is ready.
    pub(super) fn is_connected(&self) -> bool {
        self.standing == Standing::Wanted && self.view() == Some(View::Connected)
    }

    fn view(&self) -> Option<View> {
        self.server.as_ref().map(Server::view)
    }

    /// Its state, if it is not the one that was said last.
    pub(super) fn news(&mut self, now: Timestamp) -> Option<ServerState> {
        let state = self.state();
        if self.said.as_ref() == Some(&state) {
            return None;
        }
        if self.said.as_ref().map(ServerState::name) != Some(state.name()) {
            self.since = now;
        }
        self.said = Some(state.clone());
        Some(state)
    }

    pub(super) const fn since(&self) -> Timestamp {
        self.since
    }

    /// What it offers (G20): live tools while it is ready, cached ones while it is on its way
    /// or, marked or not by policy, after it failed.
    pub(super) fn offer(&self, late_failure: LateFailure) -> Option<(&Arc<[ToolDef]>, Worth)> {
        if self.is_connected() {
            return Some((self.server.as_ref()?.tools()?, Worth::Live));
        }
        let Cached::Hit(tools) = &self.cached else { return None };
        if self.is_connecting() {
            return Some((tools, Worth::Deferred));
        }
        let failed = matches!(self.standing, Standing::Wanted | Standing::Suspended);
        let failure = self.failure.as_ref().filter(|_| failed)?;
        let worth = match late_failure {
            LateFailure::Keep => Worth::Deferred,
            LateFailure::MarkFailed => Worth::Failed(failure.describe(&self.definition.name)),
        };
        Some((tools, worth))
    }
}
