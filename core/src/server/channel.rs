//! What a conversation goes over: one place where a message goes out, one where it comes in.
//!
//! Floor 3. A process is spoken to in lines. A remote server is spoken to in exchanges of HTTP,
//! each message in one of its own; which exchanges those are and what their ends mean is in
//! [`http`]. Nothing here reads a message beyond what tells whom it is for.

mod coming;
mod ending;
mod exchange;
mod going;
pub(super) mod http;
mod refusal;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::command::Command;
use crate::error::{HttpFailure, RpcError};
use crate::id::{ConnId, ExchangeId};
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};
use crate::wire::dialect::Revision;
use crate::wire::lines::{Frame, Lines};

use super::Setting;
use super::greeting::Patience;
use http::Http;

/// What everything that is said needs beside its words.
pub(super) struct Step<'a> {
    pub(super) now: Timestamp,
    pub(super) setting: &'a Setting,
    pub(super) out: &'a mut Outbox,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Speech {
    /// In lines, over the pipes of its process.
    Lines,
    /// By streamable HTTP, and if it does not know that, by the transport before it (C-VER-17).
    Http,
    /// By the transport of 2024-11-05: one stream of events, and a place to send messages to.
    Events,
}

/// What a conversation goes over.
#[derive(Clone, Debug)]
pub(super) enum Channel {
    Stdio(Lines),
    Http(Box<Http>),
}

/// A message that goes out.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Outgoing {
    /// One line, its end included.
    pub(super) line: Vec<u8>,
    /// What its headers say of it, beyond what those of every message do.
    pub(super) labels: Vec<(String, String)>,
    pub(super) kind: Kind,
}

/// What a message that goes out is; requests by their numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    Initialize(u64),
    Discover(u64),
    /// A request that changes nothing but what we are told, so that it may be made again.
    Harmless(u64),
    /// A call; whether it was made before.
    Call(u64, bool),
    /// The notification that ends the handshake.
    Initialized,
    /// Any other notification, or an answer.
    Aside,
}

impl Kind {
    pub(super) const fn request(self) -> Option<u64> {
        match self {
            Self::Initialize(request)
            | Self::Discover(request)
            | Self::Harmless(request)
            | Self::Call(request, _) => Some(request),
            Self::Initialized | Self::Aside => None,
        }
    }
}

/// What came of an exchange.
#[derive(Debug)]
pub(super) enum Came {
    /// A message, by an exchange that was made for a request or not.
    Message { frame: Frame<'static>, by: ExchangeId, request: Option<u64> },
    /// An error that can only be about this request (C-RPC-08).
    Complaint { request: u64, error: RpcError },
    /// Nothing more comes of a request: it is lost, if it was not answered.
    Over { request: u64, failure: HttpFailure, unsent: bool },
    /// The server did not take what needs no answer.
    Untaken(HttpFailure),
    /// Nothing more can be said on this connection.
    Broken(HttpFailure),
}

impl Channel {
    pub(super) fn new(conn: ConnId, speech: Speech, patience: Patience, limits: &Limits) -> Self {
        match speech {
            Speech::Lines => Self::Stdio(Lines::new(limits.message_bytes)),
            Speech::Http | Speech::Events => {
                Self::Http(Box::new(Http::new(conn, speech, patience)))
            }
        }
    }

    /// Sends a message.
    pub(super) fn send(&mut self, conn: ConnId, message: Outgoing, step: &mut Step<'_>) {
        match self {
            Self::Stdio(_) => {
                step.out.command(Command::Send { conn, bytes: message.line.into() });
            }
            Self::Http(http) => http.send(message, step),
        }
    }

    /// Sends two messages, in one write where that can be.
    pub(super) fn send_both(
        &mut self,
        conn: ConnId,
        mut first: Outgoing,
        second: Outgoing,
        step: &mut Step<'_>,
    ) {
        match self {
            Self::Stdio(_) => {
                first.line.extend(second.line);
                step.out.command(Command::Send { conn, bytes: first.line.into() });
            }
            Self::Http(http) => {
                http.send(first, step);
                http.send(second, step);
            }
        }
    }

    /// What is said from here on is said without a handshake, in this revision, or is one.
    pub(super) fn turn(&mut self, modern: Option<Revision>) {
        if let Self::Http(http) = self {
            http.turn(modern);
        }
    }

    /// The revision was agreed on.
    pub(super) const fn agreed(&mut self, revision: Revision) {
        if let Self::Http(http) = self {
            http.agreed(revision);
        }
    }

    /// Nobody waits for a request any more. Whether the server may be at it.
    pub(super) fn drop_request(&mut self, request: u64, step: &mut Step<'_>) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http(http) => http.drop_request(request, step),
        }
    }

    /// Whether the server asks faster than it takes the answers.
    pub(super) fn is_crowded(&self, limits: &Limits) -> bool {
        match self {
            Self::Http(http) => http.is_crowded(limits.http_asides),
            Self::Stdio(_) => false,
        }
    }

    pub(super) fn http(&mut self) -> Option<&mut Http> {
        match self {
            Self::Http(http) => Some(http),
            Self::Stdio(_) => None,
        }
    }

    /// When something has to be done by itself.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        match self {
            Self::Http(http) => http.deadline(),
            Self::Stdio(_) => None,
        }
    }

    /// Says nothing and hears nothing from here on.
    pub(super) fn close(&mut self, step: &mut Step<'_>) -> Close {
        match self {
            Self::Stdio(lines) => {
                *lines = Lines::new(0);
                Close::Process
            }
            Self::Http(http) => {
                if http.close(step) {
                    Close::Goodbye
                } else {
                    Close::Nothing
                }
            }
        }
    }

    /// Feeds the state to a hasher, times relative to `now`, requests counted from `newest`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, newest: u64, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        match self {
            Self::Stdio(lines) => lines.hash(state),
            Self::Http(http) => http.digest(now, newest, state),
        }
    }
}

/// What has to be waited for before a closed channel is gone.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Close {
    /// The end of a process.
    Process,
    /// The answer to a goodbye.
    Goodbye,
    /// Nothing.
    Nothing,
}
