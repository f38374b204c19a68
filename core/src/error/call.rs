//! Why a tool call ended without an answer from its tool.
//!
//! Floor 0.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{HttpFailure, RpcError};
use crate::id::ServerName;

/// Why a tool call ended without an answer from its tool.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CallError {
    /// No server of this name is configured.
    UnknownServer {
        /// The name.
        server: ServerName,
    },
    /// No tool of this name is offered, or none any more.
    UnknownTool {
        /// The name, as the caller gave it.
        tool: String,
    },
    /// The definition of the server leaves the tool out.
    ExcludedTool {
        /// The server.
        server: ServerName,
        /// The tool as the server calls it.
        tool: String,
    },
    /// The server does not say that it has any such thing.
    NotOffered {
        /// The server.
        server: ServerName,
        /// What it has none of.
        what: Feature,
    },
    /// The server wants to be told something before it answers, and cannot be.
    Unanswerable {
        /// Why not.
        message: String,
    },
    /// The server wanted to be told something before it answers too often in a row.
    TooManyRounds {
        /// The bound.
        limit: u64,
    },
    /// The server is not connected and will not be without somebody acting.
    NotConnected {
        /// The server.
        server: ServerName,
        /// Why not, in one line; empty if there is nothing to say.
        reason: String,
    },
    /// The server answered with a JSON-RPC error.
    Rpc {
        /// The error.
        error: RpcError,
    },
    /// No answer in time. The server was told.
    TimedOut {
        /// The limit that was reached, in milliseconds.
        limit_ms: u64,
    },
    /// The connection ended with the call under way; nobody knows whether it was executed.
    Closed,
    /// The exchange that it went by came to nothing; the server may have executed it all the same
    /// unless [`Sent`](super::Sent) says otherwise.
    Http {
        /// Why.
        failure: HttpFailure,
    },
    /// The answer was too large to take.
    TooLarge {
        /// The bound, in bytes.
        limit: u64,
    },
    /// The answer is not what the protocol says.
    Shape {
        /// Which member is wrong and how.
        message: String,
    },
    /// Too many calls are open.
    TooManyCalls {
        /// The bound.
        limit: u64,
    },
    /// The arguments are not a JSON object.
    BadArguments {
        /// What they are instead.
        message: String,
    },
    /// The runtime is shutting down.
    ShuttingDown,
}

impl CallError {
    /// Whether the request was lost on its way, or its answer was.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self, Self::Http { failure } if failure.is_lost())
    }
}

/// What a server may have beside tools.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Resources.
    Resources,
    /// Prompts.
    Prompts,
    /// What arguments could be.
    Completions,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Completions => "completions",
        })
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownServer { server } => write!(f, "no MCP server named \"{server}\""),
            Self::UnknownTool { tool } => write!(f, "no tool named {tool:?}"),
            Self::ExcludedTool { server, tool } => write!(
                f,
                "tool {tool:?} of MCP server \"{server}\" is left out by the server's definition"
            ),
            Self::NotOffered { server, what } => {
                write!(f, "MCP server \"{server}\" has no {what}")
            }
            Self::Unanswerable { message } => write!(
                f,
                "the server wants to be told something before it answers, and cannot be: {message}"
            ),
            Self::TooManyRounds { limit } => write!(
                f,
                "the server wanted to be told something before it answers more than {limit} times; \
                 Limits::rounds is how often it may"
            ),
            Self::NotConnected { server, reason } if reason.is_empty() => {
                write!(f, "MCP server not connected: {server}")
            }
            Self::NotConnected { server, reason } => {
                write!(f, "MCP server not connected: {server} ({reason})")
            }
            Self::Rpc { error } => write!(f, "{error}"),
            Self::TimedOut { limit_ms } => write!(f, "Request timeout after {limit_ms}ms"),
            Self::Closed => f.write_str("Transport closed"),
            Self::Http { failure } => write!(f, "{failure}"),
            Self::TooLarge { limit } => write!(
                f,
                "the answer is larger than {limit} bytes: ask for less, or raise \
                 Limits::message_bytes"
            ),
            Self::Shape { message } => write!(f, "malformed answer: {message}"),
            Self::TooManyCalls { limit } => write!(
                f,
                "more than {limit} calls at once: wait for some to end; Limits::open_calls is how \
                 many a host may have open"
            ),
            Self::BadArguments { message } => {
                write!(f, "the arguments must be a JSON object: {message}")
            }
            Self::ShuttingDown => f.write_str("the runtime is shutting down"),
        }
    }
}
