//! The JSON-RPC envelope.
//!
//! Floor 1. May import floor 0. Reading checks a whole line in one scan and leaves `params` and
//! `result` where they stand in it. Unknown members are ignored, and so is what `jsonrpc` says:
//! a server that forgets it is still understood.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::error::RpcError;
use crate::wire::json::JsonError;

mod peek;
mod read;
mod write;

pub use peek::peek;
pub use read::{read, read_outlined};
pub use write::{error, notification, request, result};

/// How many messages one line may hold. A message can be as short as `{}` plus a comma, and what
/// is kept of each is much larger: without a bound, a line within its own bound could fill the
/// memory.
pub const BATCH_MAX: usize = 65_536;

/// The id of a request.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Id {
    /// An integer, however it was spelled: `1` and `1.0` are the same (C-RPC-23).
    Number(i64),
    /// A text; `"1"` is not `1` (C-RPC-06). Whether it may stand for it, whoever asked decides.
    Text(String),
}

/// One message. Ranges are places in the line it was read from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// The server asks and waits for our answer.
    Request {
        /// What the answer must carry.
        id: Id,
        /// What it asks for.
        method: String,
        /// Where `params` stands; `None` if absent or null.
        params: Option<Range<usize>>,
    },
    /// The server tells.
    Notification {
        /// What it tells.
        method: String,
        /// Where `params` stands; `None` if absent or null.
        params: Option<Range<usize>>,
    },
    /// The server answers one of our requests.
    Answer {
        /// Which.
        id: Id,
        /// Where `result` stands, or the error.
        reply: Result<Range<usize>, RpcError>,
    },
    /// The server answers something it could not read (C-RPC-08).
    Complaint {
        /// The error.
        error: RpcError,
    },
}

/// What one line holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Incoming {
    /// A message.
    One(Message),
    /// An array of messages; whether that is allowed depends on the revision.
    Batch(Vec<Result<Message, Broken>>),
    /// Several messages without the line ends that belong between them (D39).
    Joined(Vec<Result<Message, Broken>>),
}

/// One of several on a line that is no message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Broken {
    /// Why not.
    pub why: Malformed,
    /// Where it stands; up to the end of the line if nobody can say where it ends.
    pub at: Range<usize>,
}

/// What the ends of an oversized line say about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Peek {
    /// It answers this request.
    Answer(Id),
    /// It is a request or a notification.
    HasMethod,
    /// Nothing certain.
    Unknown,
}

/// Why a line is no message.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Malformed {
    /// It is not JSON.
    NotJson(JsonError),
    /// It is JSON, but not an object.
    NotAnObject,
    /// A member has the wrong type.
    BadMember {
        /// Which.
        name: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// The id is neither an integer, nor a string, nor null.
    BadId,
    /// A result without an id.
    NoId,
    /// It is an answer and its opposite.
    BothResultAndError,
    /// It is a question and an answer.
    BothMethodAndReply,
    /// It has neither method, nor result, nor error.
    Nothing,
    /// A member of the envelope stands there twice: nobody can know which counts.
    DuplicateMember {
        /// Which.
        name: &'static str,
    },
    /// A batch of nothing.
    EmptyBatch,
    /// More than [`BATCH_MAX`] messages.
    TooMany,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(error) => write!(f, "not JSON: {error}"),
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::BadMember { name, wanted } => write!(f, "{name} is not {wanted}"),
            Self::BadId => f.write_str("id is neither an integer nor a string"),
            Self::NoId => f.write_str("a result without an id"),
            Self::BothResultAndError => f.write_str("both a result and an error"),
            Self::BothMethodAndReply => f.write_str("both a method and a result or an error"),
            Self::Nothing => f.write_str("neither a method, nor a result, nor an error"),
            Self::DuplicateMember { name } => write!(f, "{name} stands there twice"),
            Self::EmptyBatch => f.write_str("an empty batch"),
            Self::TooMany => write!(f, "more than {BATCH_MAX} messages on one line"),
        }
    }
}

impl core::error::Error for Malformed {}

impl From<JsonError> for Malformed {
    fn from(error: JsonError) -> Self {
        Self::NotJson(error)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
#[path = "rpc_tests.rs"]
mod tests;
