//! Why an HTTP exchange did not come to its end.
//!
//! Floor 0.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// Why an exchange did not come to its end. Reported by the driver.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct ExchangeError {
    /// What went wrong.
    pub fault: ExchangeFault,
    /// Whether the server can have seen anything of the request.
    pub sent: Sent,
}

/// Whether anything of a request reached its server.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    /// Nothing did, and that is certain: the request may be made again.
    Nothing,
    /// Some of it may have.
    Perhaps,
}

/// What went wrong with an exchange.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ExchangeFault {
    /// No connection could be made.
    Connect {
        /// In which step.
        step: ConnectStep,
        /// What the system or the other side said, in one line without secrets.
        message: String,
    },
    /// No connection was made in time.
    TimedOut {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The connection ended before the head of the answer was complete.
    CutHead,
    /// The connection ended before the body of the answer was complete.
    CutBody,
    /// What came is no answer of HTTP.
    BadHead {
        /// What is wrong with it.
        message: String,
    },
    /// The request would have gone to another origin than the server's, so it was not made.
    ForeignOrigin {
        /// The other one.
        origin: String,
    },
}

/// A step on the way to a connection.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectStep {
    /// Its name could not be resolved.
    Resolve,
    /// Nothing listens there.
    Refused,
    /// There is no way to it.
    Unreachable,
    /// The encryption could not be agreed on, or its certificate is not trusted.
    Tls,
    /// The proxy does not pass it on.
    Proxy,
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl fmt::Display for ExchangeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { step, message } => {
                f.write_str(match step {
                    ConnectStep::Resolve => "its name was not found",
                    ConnectStep::Refused => "nothing listens there",
                    ConnectStep::Unreachable => "it cannot be reached",
                    ConnectStep::Tls => "no encrypted connection could be made",
                    ConnectStep::Proxy => "the proxy does not pass it on",
                })?;
                if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
            }
            Self::TimedOut { limit_ms } => write!(f, "no connection within {limit_ms}ms"),
            Self::CutHead => f.write_str("the connection ended without an answer"),
            Self::CutBody => f.write_str("the connection ended in the middle of an answer"),
            Self::BadHead { message } => write!(f, "what it answers is not HTTP: {message}"),
            Self::ForeignOrigin { origin } => {
                write!(f, "it points to another origin, {origin}, where nothing is sent")
            }
        }
    }
}
