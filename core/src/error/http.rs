//! Why a request over HTTP came to nothing.
//!
//! Floor 0.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{ExchangeError, ExchangeFault, RpcError};
use crate::quote::Quoted;

/// Why a request over HTTP came to nothing.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HttpFailure {
    /// Its exchange did not come to its end.
    Exchange(ExchangeError),
    /// The server answered with a status that means no.
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it said with it, in one line; empty if it said nothing.
        excerpt: String,
    },
    /// The server says that what was asked for is elsewhere, where nothing is sent unasked.
    Elsewhere {
        /// The status.
        status: u16,
        /// Where; empty if it does not say.
        location: String,
    },
    /// The server sent the request on more often than is followed.
    TooManyRedirects {
        /// The bound.
        limit: u64,
    },
    /// What the server answered is of a type that no message comes in.
    ContentType {
        /// The type; empty if it does not say.
        found: String,
    },
    /// The answer of HTTP ended, and the answer to the request was not in it.
    NoAnswer,
    /// The answer stopped coming before its end.
    Stalled {
        /// How long nothing came, in milliseconds.
        limit_ms: u64,
    },
    /// The server did not begin to answer what needs no answer.
    NoHead {
        /// How long it had, in milliseconds.
        limit_ms: u64,
    },
    /// The server does not know the session any more.
    SessionLost,
    /// The stream that all answers come by ended.
    StreamEnded,
    /// The server did not say where messages are to be sent.
    NoEndpoint {
        /// How long it had, in milliseconds.
        limit_ms: u64,
    },
    /// Streamable HTTP failed, and so did the transport before it.
    Neither {
        /// Why the first one failed.
        first: Box<Self>,
        /// Why the second one did.
        second: Box<Self>,
    },
}

impl HttpFailure {
    /// A refusal with the beginning of what was said with it.
    pub(crate) fn status(status: u16, text: &str) -> Self {
        let excerpt = if text.trim().is_empty() {
            String::new()
        } else {
            alloc::format!("{}", Quoted(text.trim()))
        };
        Self::Status { status, excerpt }
    }

    /// Whether a request was lost on its way, or its answer was.
    pub(crate) const fn is_lost(&self) -> bool {
        match self {
            Self::NoAnswer => true,
            Self::Exchange(error) => {
                matches!(error.fault, ExchangeFault::CutHead | ExchangeFault::CutBody)
            }
            Self::Status { .. }
            | Self::Elsewhere { .. }
            | Self::TooManyRedirects { .. }
            | Self::ContentType { .. }
            | Self::Stalled { .. }
            | Self::NoHead { .. }
            | Self::SessionLost
            | Self::StreamEnded
            | Self::NoEndpoint { .. }
            | Self::Neither { .. } => false,
        }
    }

    /// A refusal in the words of an error of the protocol.
    pub(crate) fn refused(status: u16, error: &RpcError) -> Self {
        Self::status(status, &error.message)
    }
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(error) => error.fmt(f),
            Self::Status { status, excerpt } => {
                write!(f, "HTTP {status}")?;
                if *status == 401 {
                    f.write_str(
                        ", it wants to know who asks; a token goes into \"headers\" in its \
                         definition, as \"Authorization\"",
                    )?;
                }
                if excerpt.is_empty() { Ok(()) } else { write!(f, ": {excerpt}") }
            }
            Self::Elsewhere { status, location } if location.is_empty() => {
                write!(f, "HTTP {status}: it is elsewhere and does not say where")
            }
            Self::Elsewhere { status, location } => write!(
                f,
                "HTTP {status}: it is at {} now; put that address into its definition",
                Quoted(location)
            ),
            Self::TooManyRedirects { limit } => write!(f, "more than {limit} redirects"),
            Self::ContentType { found } if found.is_empty() => {
                f.write_str("it answers with something that is no message")
            }
            Self::ContentType { found } => write!(
                f,
                "it answers with {}, which is neither JSON nor a stream of events",
                Quoted(found)
            ),
            Self::NoAnswer => f.write_str("no answer came to this request"),
            Self::Stalled { limit_ms } => {
                write!(f, "nothing came for {limit_ms}ms in the middle of an answer")
            }
            Self::NoHead { limit_ms } => write!(f, "no answer within {limit_ms}ms"),
            Self::SessionLost => f.write_str("it does not know the session any more"),
            Self::StreamEnded => f.write_str("its stream of events ended"),
            Self::NoEndpoint { limit_ms } => {
                write!(f, "it did not say within {limit_ms}ms where messages are to be sent")
            }
            Self::Neither { first, second } => {
                write!(f, "{first}; the transport before streamable HTTP fails too: {second}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn who_has_to_say_who_he_is_hears_where() {
        let told = |status| HttpFailure::status(status, "no").to_string();
        assert_eq!(told(403), "HTTP 403: no");
        assert!(told(401).contains("\"Authorization\"") && told(401).ends_with(": no"));
    }
}
