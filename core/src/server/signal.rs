//! What a server tells its hub.
//!
//! Floor 3.

use alloc::string::String;

use crate::bytes::Json;
use crate::error::{CallError, Problem};
use crate::id::CallId;
use crate::inquiry::Inquiry;
use crate::wire::dialect::Era;
use crate::wire::rpc::Id;

/// What a server tells its hub.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Signal {
    /// It is known what it speaks and what it has.
    Greeted,
    /// Its process ended at a first word of the wrong era: it is to be started once more and
    /// spoken to in this one.
    Again(Era),
    /// The tools are known: it is ready.
    Ready,
    /// Its tools are others than before.
    ToolsListed,
    /// Its resources or their templates are others than before.
    ResourcesListed,
    /// Its prompts are others than before.
    PromptsListed,
    /// A resource whose changes are followed changed.
    Updated(String),
    /// It notified of something that concerns nobody here.
    Notified {
        /// The method.
        method: String,
        /// The parameters as received.
        params: Option<Json>,
    },
    /// It can no longer answer: whatever was asked of it ends (L8).
    Deaf,
    /// It failed; see [`Server::failure`](super::Server::failure).
    Failed,
    /// The attempt is over and nothing more comes of it.
    Gone,
    /// A call was answered.
    Answered {
        /// The call.
        call: CallId,
        /// The answer.
        reply: Result<Json, CallError>,
    },
    /// It wants to be told something before it answers a call (C-MRTR-01).
    Wants {
        /// The call.
        call: CallId,
        /// What it wants, as received.
        result: Json,
    },
    /// A call certainly did not reach its tool; it may be made again, once the server is ready or
    /// says so.
    Unsent {
        /// The call.
        call: CallId,
        /// Why not.
        error: CallError,
    },
    /// What did not reach its tool may be made again.
    Resumed,
    /// A call made progress.
    Progressed {
        /// The call.
        call: CallId,
        /// The report as received.
        progress: Json,
    },
    /// It asks the host.
    Inquired {
        /// What the answer must carry.
        id: Id,
        /// What it asks for.
        inquiry: Inquiry,
        /// The call in the course of which it asks, where that is known.
        call: Option<CallId>,
    },
    /// It takes back what it asked.
    Withdrawn(Id),
    /// The server logged something.
    Logged(Json),
    /// Something a person may want to know.
    Found(Problem),
}

impl Signal {
    /// Whether the hub has to act on it before the server hears the next line.
    pub(super) const fn is_turn(&self) -> bool {
        match self {
            Self::Greeted
            | Self::Again(_)
            | Self::Resumed
            | Self::Ready
            | Self::ToolsListed
            | Self::ResourcesListed
            | Self::PromptsListed
            | Self::Deaf
            | Self::Failed
            | Self::Gone => true,
            Self::Updated(_)
            | Self::Notified { .. }
            | Self::Answered { .. }
            | Self::Wants { .. }
            | Self::Unsent { .. }
            | Self::Progressed { .. }
            | Self::Inquired { .. }
            | Self::Withdrawn(_)
            | Self::Logged(_)
            | Self::Found(_) => false,
        }
    }
}
