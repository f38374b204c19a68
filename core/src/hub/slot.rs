//! One configured server: its definition, whether it is wanted, and its present attempt.
//!
//! Floor 4.

use alloc::sync::Arc;

use crate::config::Definition;
use crate::error::{Cause, Failure, Stage};
use crate::event::{ServerState, Skip};
use crate::held::Held;
use crate::id::ReadId;
use crate::server::{Server, View};
use crate::time::Timestamp;
use crate::wire::mcp::ToolDef;

use super::Worth;
use super::cache::Identity;
use super::policy::LateFailure;

/// A configured server.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    definition: Held<Definition>,
    /// Made when it is needed: canonical text and two fingerprints.
    identity: Option<Identity>,
    pub(super) standing: Standing,
    pub(super) server: Option<Server>,
    /// Why the last attempt failed, or why none can be made.
    pub(super) failure: Option<Failure>,
    pub(super) cached: Cached,
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
    /// It is not, for a reason that lies in its definition or in the options.
    Off(Skip),
    /// It is not, because the host disconnected it.
    Disconnected,
    /// It is no longer configured; it leaves the table with its attempt.
    Removed,
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
            server: None,
            failure: None,
            cached: Cached::Unknown,
            said: None,
            since: now,
        }
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Gives it another definition.
    pub(super) fn define(&mut self, definition: Definition) {
        self.definition = Held::new(definition);
        self.identity = None;
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
            Standing::Again => true,
            Standing::Wanted => self.view() == Some(View::Connecting),
            Standing::Off(_) | Standing::Disconnected | Standing::Removed => false,
        }
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
        let (Standing::Wanted, Some(failure)) = (self.standing, &self.failure) else { return None };
        let worth = match late_failure {
            LateFailure::Keep => Worth::Deferred,
            LateFailure::MarkFailed => Worth::Failed(failure.describe(&self.definition.name)),
        };
        Some((tools, worth))
    }
}
