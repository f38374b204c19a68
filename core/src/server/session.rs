//! The conversation on one connection: what was asked, what is heard.
//!
//! Floor 3. Numbers requests from a counter that never repeats (C-RPC-05), matches answers to
//! requests by number (C-RPC-06), answers the server's own requests (G49) and counts what fits
//! nowhere (G39, G43). Decides nothing about the server's phase. What is asked, and how, is in
//! `asking`; what is asked once more, in `again`.

mod again;
mod asking;
mod hear;
mod inquired;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::{ExchangeError, HttpFailure, RpcError};
use crate::id::{CallId, ConnId, Counter, ExchangeId};
use crate::input::HttpHead;
use crate::inquiry::Inquiry;
use crate::limits::Limits;
use crate::time::Deadline;
use crate::wire::dialect::{Era, Revision};
use crate::wire::lines::{Frame, Lines};
use crate::wire::mcp::{List, Meta};
use crate::wire::rpc::Id;

use super::channel::{Came, Channel, Speech, Step};
use super::greeting::Patience;
use again::Again;

/// What a request of ours was for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Asked {
    /// The handshake.
    Initialize,
    /// What takes its place where there is none.
    Discover,
    /// A page of the first list of tools.
    ListTools,
    /// A page of a list that is followed.
    List(List),
    /// To be told of changes of a resource, or no more; the number of the request.
    Watch(u64),
    /// What is logged.
    SetLevel,
    /// To be told of changes, until it is over; the number of the request.
    Listen(u64),
    /// A tool call.
    Call(CallId),
}

/// What was heard.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// An answer to a request of ours.
    Answered {
        /// What the request was for.
        asked: Asked,
        /// The answer.
        reply: Result<Json, RpcError>,
    },
    /// Progress of a call that is under way.
    Progressed {
        /// The call.
        call: CallId,
        /// The report as received.
        progress: Json,
    },
    /// The server asks the host, perhaps in the course of a call.
    Inquired {
        /// What the answer must carry.
        id: Id,
        /// What it asks for.
        inquiry: Inquiry,
        /// The call, where that is known.
        call: Option<CallId>,
    },
    /// The server takes back what it asked.
    Withdrawn(Id),
    /// A log message.
    Logged(Json),
    /// Any other notification.
    Notified {
        /// Its method.
        method: String,
        /// Its parameters as received.
        params: Option<Json>,
    },
    /// A message larger than the bound.
    TooLong {
        /// The request it would have answered, if that can be told.
        asked: Option<Asked>,
        /// The bound, in bytes.
        limit: u64,
    },
    /// An answer that cannot be read.
    Spoiled {
        /// The request it answers.
        asked: Asked,
        /// What is wrong with it.
        message: String,
    },
    /// A call that the server refused before it did anything, for how it was put and not for what
    /// it is.
    Misput {
        /// The call.
        call: CallId,
        /// The refusal.
        error: RpcError,
    },
    /// The server has to be told something before it goes on with a call.
    Wants {
        /// The call.
        call: CallId,
        /// What the server answered, whole.
        result: Json,
    },
    /// A request that no answer comes to any more.
    Lost {
        /// What it was for.
        asked: Asked,
        /// Why.
        failure: HttpFailure,
        /// Whether the server certainly did nothing about it.
        unsent: bool,
    },
    /// Nothing more can be said.
    Broken(HttpFailure),
    /// Something that fits nowhere, in words; told once per connection, counted always.
    Odd(String),
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Session {
    conn: ConnId,
    nesting_max: usize,
    channel: Channel,
    next: Counter,
    asked: BTreeMap<u64, Asked>,
    last_progress: BTreeMap<u64, u64>,
    /// What the server asked the host and was not answered yet.
    inquiries: BTreeSet<Id>,
    /// The revision in which the server was told what the host does for it.
    declared: Revision,
    /// What may be asked once more.
    again: Again,
    /// What stands in every request.
    meta: Meta,
    revision: Option<Revision>,
    skipped_lines: u64,
    unknown_answers: u64,
    text_ids: u64,
    odd_told: bool,
}

impl Session {
    /// A conversation in which nothing was said.
    pub(super) fn new(conn: ConnId, speech: Speech, patience: Patience, limits: &Limits) -> Self {
        Self {
            conn,
            nesting_max: limits.nesting,
            channel: Channel::new(conn, speech, patience, limits),
            next: Counter::default(),
            asked: BTreeMap::new(),
            last_progress: BTreeMap::new(),
            inquiries: BTreeSet::new(),
            declared: Revision::LATEST_LEGACY,
            again: Again::default(),
            meta: Meta::default(),
            revision: None,
            skipped_lines: 0,
            unknown_answers: 0,
            text_ids: 0,
            odd_told: false,
        }
    }

    /// Takes in what the server wrote up to the end of one line, or all of it. Line by line,
    /// because what one line leads to decides what the next one means, whether both came in one
    /// chunk or not (G44).
    pub(super) fn handle_received(&mut self, bytes: &mut &[u8], step: &mut Step<'_>) -> Vec<Heard> {
        let mut heard = Vec::new();
        let Channel::Stdio(lines) = &mut self.channel else {
            *bytes = &[];
            return heard;
        };
        let mut lines = core::mem::replace(lines, Lines::new(0));
        let mut frames = lines.push(bytes);
        if let Some(frame) = frames.next() {
            self.hear(frame, None, &mut heard, step);
        }
        let left = frames.left();
        self.channel = Channel::Stdio(lines);
        *bytes = bytes.get(bytes.len() - left..).unwrap_or_default();
        heard
    }

    /// Takes in the unterminated rest when the output has ended.
    pub(super) fn handle_end(&mut self, step: &mut Step<'_>) -> Vec<Heard> {
        let mut heard = Vec::new();
        let Channel::Stdio(lines) = &mut self.channel else { return heard };
        if let Some(frame) = lines.finish() {
            self.hear(frame, None, &mut heard, step);
        }
        heard
    }

    /// A server began to answer an exchange.
    pub(super) fn handle_head(
        &mut self,
        exchange: ExchangeId,
        head: &HttpHead,
        step: &mut Step<'_>,
    ) -> Vec<Heard> {
        let came = self.channel.http().map(|http| http.head(exchange, head, step));
        self.hear_all(came.unwrap_or_default(), step)
    }

    /// Takes in a part of an answer up to the end of one message, or all of it.
    pub(super) fn handle_body(
        &mut self,
        exchange: ExchangeId,
        bytes: &mut &[u8],
        step: &mut Step<'_>,
    ) -> Vec<Heard> {
        let Some(http) = self.channel.http() else {
            *bytes = &[];
            return Vec::new();
        };
        let came = http.body(exchange, bytes, step);
        self.hear_all(came, step)
    }

    /// An exchange is over.
    pub(super) fn handle_ended(
        &mut self,
        exchange: ExchangeId,
        end: Result<(), ExchangeError>,
        step: &mut Step<'_>,
    ) -> Vec<Heard> {
        let Some(http) = self.channel.http() else { return Vec::new() };
        let request = http.request_of(exchange);
        let open = request.is_some_and(|request| self.asked.contains_key(&request));
        let came = http.ended(exchange, end, open, step);
        self.hear_all(came, step)
    }

    /// Lets time pass.
    pub(super) fn fire(&mut self, step: &mut Step<'_>) -> Vec<Heard> {
        let came = self.channel.http().map(|http| http.fire(step));
        self.hear_all(came.unwrap_or_default(), step)
    }

    /// When something has to be done by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.channel.deadline()
    }

    /// Whether this is the exchange that ends the session.
    #[must_use]
    pub fn is_goodbye(&mut self, exchange: ExchangeId) -> bool {
        self.channel.http().is_some_and(|http| http.is_goodbye(exchange))
    }

    fn hear_all(&mut self, came: Vec<Came>, step: &mut Step<'_>) -> Vec<Heard> {
        let mut heard = Vec::new();
        for came in came {
            match came {
                Came::Message { frame, by, request } => {
                    let too_long = matches!(frame, Frame::TooLong { .. });
                    self.hear(frame, request, &mut heard, step);
                    let Some(request) = request else { continue };
                    if too_long {
                        self.charge(request, &mut heard);
                    }
                    if !self.asked.contains_key(&request)
                        && let Some(http) = self.channel.http()
                    {
                        http.answered(by, step);
                    }
                }
                Came::Complaint { request, error } => {
                    self.answered(request, Err(error), &mut heard, step);
                }
                Came::Over { request, failure, unsent } => {
                    if failure.is_lost() && self.ask_again(request, step) {
                        continue;
                    }
                    if let Some(asked) = self.take(request) {
                        heard.push(Heard::Lost { asked, failure, unsent });
                    }
                }
                Came::Untaken(failure) => {
                    self.odd(alloc::format!("did not take a message: {failure}"), &mut heard);
                }
                Came::Broken(failure) => heard.push(Heard::Broken(failure)),
            }
        }
        heard
    }

    /// L10: what is too long and says nothing of itself is the answer that its exchange was for.
    fn charge(&mut self, request: u64, heard: &mut [Heard]) {
        if let Some(Heard::TooLong { asked: asked @ None, .. }) = heard.last_mut() {
            *asked = self.take(request);
        }
    }

    fn take(&mut self, request: u64) -> Option<Asked> {
        self.again.over(request);
        self.last_progress.remove(&request);
        self.asked.remove(&request)
    }

    /// Whether it goes over HTTP.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self.channel, Channel::Http(_))
    }

    /// Whether it goes over the transport of 2024-11-05.
    #[must_use]
    pub fn is_older(&self) -> bool {
        matches!(&self.channel, Channel::Http(http) if http.is_older())
    }

    /// The era that was agreed on or found out.
    #[must_use]
    pub fn era(&self) -> Option<Era> {
        self.revision.map(Revision::era)
    }

    /// Lines that were no messages.
    #[must_use]
    pub const fn skipped_lines(&self) -> u64 {
        self.skipped_lines
    }

    /// Answers whose id was the text of our number.
    #[must_use]
    pub const fn text_ids(&self) -> u64 {
        self.text_ids
    }

    /// Answers to nothing we asked.
    #[must_use]
    pub const fn unknown_answers(&self) -> u64 {
        self.unknown_answers
    }

    /// Feeds the state to a hasher: requests counted from the newest of this connection, calls
    /// from the newest of all.
    #[cfg(feature = "_explore")]
    pub fn digest(
        &self,
        now: crate::time::Timestamp,
        newest_call: Option<CallId>,
        state: &mut impl core::hash::Hasher,
    ) {
        use core::hash::Hash as _;
        let newest = self.next.count();
        self.channel.digest(now, newest, state);
        (self.revision, self.declared, &self.inquiries, self.asked.len()).hash(state);
        self.again.digest(newest, state);
        for (request, asked) in &self.asked {
            (newest - request, core::mem::discriminant(asked)).hash(state);
            match asked {
                Asked::Call(call) => {
                    newest_call.map(|newest| newest.number() - call.number()).hash(state);
                }
                Asked::List(list) => list.hash(state),
                Asked::Watch(_)
                | Asked::SetLevel
                | Asked::Listen(_)
                | Asked::Initialize
                | Asked::Discover
                | Asked::ListTools => {}
            }
        }
        for (request, progress) in &self.last_progress {
            (newest - request, progress).hash(state);
        }
    }
}
