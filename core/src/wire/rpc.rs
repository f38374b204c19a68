//! The JSON-RPC envelope.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::error::RpcError;
use crate::wire::json::JsonError;

/// The id of a request.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Id {
    /// An integer, however it was spelled: `1` and `1.0` are the same (C-RPC-23).
    Number(i64),
    /// A text; `"1"` is not `1` (C-RPC-06).
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
    Batch(Vec<Result<Message, Malformed>>),
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
    /// A batch of more than [`BATCH_MAX`] messages.
    BatchTooLong,
}

impl core::fmt::Display for Malformed {
    fn fmt(&self, _f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        todo!()
    }
}

/// How many messages one batch may have.
pub const BATCH_MAX: usize = 65_536;

/// Reads one line.
///
/// # Errors
/// Why it is no message.
pub fn read(_line: &str, _nesting_max: usize) -> Result<Incoming, Malformed> {
    todo!()
}

/// What a line that was not kept is about, from its first and its last bytes; also serves for
/// a whole line that [`read`] refused (with an empty tail).
#[must_use]
pub fn peek(_head: &[u8], _tail: &[u8]) -> Peek {
    todo!()
}

/// The line of a request.
#[must_use]
pub fn request(_id: u64, _method: &str, _params: &str) -> Vec<u8> {
    todo!()
}

/// The line of a notification.
#[must_use]
pub fn notification(_method: &str, _params: &str) -> Vec<u8> {
    todo!()
}

/// The line of an answer.
#[must_use]
pub fn result(_id: &Id, _json: &str) -> Vec<u8> {
    todo!()
}

/// The line of an error as an answer.
#[must_use]
pub fn error(_id: &Id, _code: i64, _message: &str) -> Vec<u8> {
    todo!()
}
