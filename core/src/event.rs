//! News for the host.
//!
//! Floor 0. Past tense. Events carry ids, names and revisions, never an upper floor's type: the
//! host hears `ToolsChanged { revision }` and reads
//! [`Runtime::catalog`](crate::runtime::Runtime::catalog).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Json;
use crate::error::{CallError, Failure, Problem};
use crate::id::{CallId, InquiryId, OpId, ServerName};
use crate::inquiry::{Inquiry, Unneeded};

/// One piece of news.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// A server is in another state.
    ServerChanged {
        /// The server.
        server: ServerName,
        /// Its state from here on.
        state: ServerState,
    },
    /// The startup gate opened: the one answer to `Start` (L7).
    GateOpened(StartReport),
    /// The catalogue changed; its revision counts by one (G25).
    ToolsChanged {
        /// The revision of the catalogue from here on.
        revision: u64,
    },
    /// Resources or their templates changed; their revision counts by one (G25).
    ResourcesChanged {
        /// The revision of the resources from here on.
        revision: u64,
    },
    /// Prompts changed; their revision counts by one (G25).
    PromptsChanged {
        /// The revision of the prompts from here on.
        revision: u64,
    },
    /// A resource whose changes are followed changed; only after
    /// [`Request::Watch`](crate::input::Request::Watch).
    ResourceUpdated {
        /// The server.
        server: ServerName,
        /// Its address. Untrusted text.
        uri: String,
    },
    /// A call ended: the one answer to `Call` (L7).
    CallFinished {
        /// The call.
        call: CallId,
        /// How it ended.
        outcome: Outcome,
    },
    /// A call was not accepted because its number was used before. The earlier call goes on.
    CallRefused {
        /// The number.
        call: CallId,
    },
    /// A server reports how far a call has come.
    CallProgressed {
        /// The call.
        call: CallId,
        /// The server's report: `progress`, `total?`, `message?`, as received.
        progress: Json,
    },
    /// A server asks the host for something that it serves
    /// ([`Options::services`](crate::options::Options::services)). Ends with a
    /// [`Request::Reply`](crate::input::Request::Reply) of the host's or with
    /// [`InquiryEnded`](Self::InquiryEnded), never with both.
    Inquired {
        /// What the reply has to name.
        inquiry: InquiryId,
        /// The server.
        server: ServerName,
        /// The call in the course of which it asks, where that is known.
        call: Option<CallId>,
        /// What it asks for. Untrusted.
        what: Inquiry,
    },
    /// What a server asked needs no answer any more.
    InquiryEnded {
        /// What was asked.
        inquiry: InquiryId,
        /// Why not.
        why: Unneeded,
    },
    /// A server logged something (`notifications/message`).
    Logged {
        /// The server.
        server: ServerName,
        /// `level`, `logger?`, `data`, as received. Untrusted text.
        message: Json,
    },
    /// A server notified of something that the runtime does not heed itself.
    Notified {
        /// The server.
        server: ServerName,
        /// The method. Untrusted text.
        method: String,
        /// The parameters as received. Untrusted.
        #[serde(
            default,
            deserialize_with = "crate::bytes::present",
            skip_serializing_if = "Option::is_none"
        )]
        params: Option<Json>,
    },
    /// A server wrote to its standard error. Only with `Options::forward_stderr`.
    Complained {
        /// The server.
        server: ServerName,
        /// What it wrote, cut anywhere, invalid UTF-8 replaced. Untrusted text.
        text: String,
    },
    /// Something a person may want to mend turned up.
    ProblemFound(Problem),
    /// An operation ended: the one answer to every [`Request`](crate::input::Request) with an
    /// `op` but `Start`, and to a `Start` that is one too many.
    Done {
        /// The operation.
        op: OpId,
        /// How it ended.
        result: OpResult,
    },
    /// An operation was not accepted because one with its number has not ended. That one goes
    /// on.
    OpRefused {
        /// The number.
        op: OpId,
    },
    /// Everything has ended and nothing more comes: the one answer to `Shutdown` (L7).
    Stopped,
}

/// The state of a configured server; each is in exactly one (F-009).
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ServerState {
    /// On its way: being started, greeted, or asked for its tools.
    Connecting,
    /// It was ready and was lost, or did not come back yet; it is started again after a while.
    /// Calls wait for it. Its name is `connecting`.
    Retrying {
        /// Why it was lost.
        failure: Failure,
        /// Which automatic start comes next, from 1.
        start: u32,
    },
    /// Ready: its tools can be called.
    Connected,
    /// It failed, and nothing more is tried without somebody acting.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// It was lost too often in too short a time: nothing more is tried without somebody acting
    /// (G50).
    Suspended {
        /// How it was lost last.
        failure: Failure,
    },
    /// Switched off, in its definition (F-028) or by the host.
    Disabled,
    /// Known and not wanted in this run.
    Skipped {
        /// Why.
        reason: Skip,
    },
    /// A project brought it along and the user has not approved it (F-038).
    NeedsApproval,
    /// Disconnected because the host asked for it.
    Disconnected,
}

impl ServerState {
    /// Whether it is on its way, so that waiting for it makes sense.
    #[must_use]
    pub const fn is_connecting(&self) -> bool {
        matches!(self, Self::Connecting | Self::Retrying { .. })
    }

    /// Why it failed or was lost, if that is why it is in this state.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure }
            | Self::Suspended { failure }
            | Self::Retrying { failure, .. } => Some(failure),
            Self::Connecting
            | Self::Connected
            | Self::Disabled
            | Self::Skipped { .. }
            | Self::NeedsApproval
            | Self::Disconnected => None,
        }
    }

    /// Whether it has failed and nothing more is tried without somebody acting.
    #[must_use]
    pub const fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Suspended { .. })
    }

    /// The stable name of the state, as in `list --json`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Connecting | Self::Retrying { .. } => "connecting",
            Self::Connected => "connected",
            Self::Failed { .. } => "failed",
            Self::Suspended { .. } => "suspended",
            Self::Disabled => "disabled",
            Self::Skipped { .. } => "skipped",
            Self::NeedsApproval => "needs-approval",
            Self::Disconnected => "disconnected",
        }
    }
}

/// Why a configured server is not started.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Skip {
    /// Switched off, in its definition or by the host.
    Disabled,
    /// It waits for the user's approval.
    NeedsApproval,
    /// The organisation forbids it.
    Forbidden,
    /// The run is limited to other servers.
    Filtered,
    /// It is connected already.
    AlreadyConnected,
    /// It is connecting already.
    AlreadyConnecting,
    /// The host disconnected it, or the configuration no longer has it.
    Disconnected,
}

impl Skip {
    /// The reason in a few words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Disabled => "switched off",
            Self::NeedsApproval => "waits for your approval",
            Self::Forbidden => "forbidden by the rules of your organisation",
            Self::Filtered => "not selected for this run",
            Self::AlreadyConnected => "connected already",
            Self::AlreadyConnecting => "connecting already",
            Self::Disconnected => "disconnected",
        }
    }
}

/// What a startup came to: every configured server is in exactly one list (G31).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StartReport {
    /// The operation.
    pub op: OpId,
    /// Milliseconds from the request to the opening of the gate.
    pub elapsed_ms: u64,
    /// Ready, tools live.
    pub connected: Vec<ServerName>,
    /// Still starting; their tools are offered from the cache.
    pub deferred: Vec<ServerName>,
    /// Failed, or still starting without a cached list when the startup as a whole had to end.
    pub failed: Vec<(ServerName, Failure)>,
    /// Not started.
    pub skipped: Vec<(ServerName, Skip)>,
}

/// How a call ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The tool answered: the `result` of `tools/call` as received. Whether it is a success
    /// stands in it; [`tools::content`](crate::tools::content) reads it.
    Answered(Json),
    /// It failed.
    Failed(CallError),
    /// The host cancelled it; an abort stays an abort (G77).
    Aborted,
}

/// How an operation ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpResult {
    /// It is done.
    Done,
    /// A reload is done; what it did to each server, in configuration order.
    Reloaded {
        /// Servers that were not running and were started.
        started: Vec<ServerName>,
        /// Servers that were stopped and started with a new definition.
        restarted: Vec<ServerName>,
        /// Servers that were stopped.
        stopped: Vec<ServerName>,
        /// Servers that were left alone.
        kept: Vec<ServerName>,
    },
    /// No server of that name is configured.
    UnknownServer,
    /// The server failed.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The server is not to be started.
    Skipped {
        /// Why not.
        reason: Skip,
    },
    /// Another operation took its place.
    Superseded,
    /// What was waited for did not happen in time. What was asked for goes on.
    TimedOut {
        /// The time it had, in milliseconds.
        limit_ms: u64,
    },
    /// The host stopped waiting. What was asked for goes on.
    Aborted,
    /// Nothing was done: too many operations have not ended.
    TooMany {
        /// The bound, [`Limits::open_ops`](crate::limits::Limits::open_ops).
        limit: u64,
    },
    /// The runtime is shutting down.
    ShuttingDown,
}
