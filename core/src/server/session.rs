//! The conversation on one connection: what was asked, what is heard.
//!
//! Floor 3. Numbers requests from a counter that never repeats (C-RPC-05), matches answers to
//! requests by number (C-RPC-06), answers the server's own requests (G49) and counts what fits
//! nowhere (G39, G43). Decides nothing about the server's phase.

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
use crate::wire::dialect::Revision;
use crate::wire::lines::{Frame, Lines};
use crate::wire::mcp::{self, List};
use crate::wire::rpc::{self, Id};

use super::channel::{Came, Channel, Close, Kind, Outgoing, Speech, Step};

/// What a request of ours was for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Asked {
    /// The handshake.
    Initialize,
    /// A page of the first list of tools.
    ListTools,
    /// A page of a list that is followed.
    List(List),
    /// To be told of changes of a resource, or no more; the number of the request.
    Watch(u64),
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
    revision: Option<Revision>,
    skipped_lines: u64,
    unknown_answers: u64,
    text_ids: u64,
    odd_told: bool,
}

impl Session {
    /// A conversation in which nothing was said.
    #[must_use]
    pub fn new(conn: ConnId, speech: Speech, limits: &Limits) -> Self {
        Self {
            conn,
            nesting_max: limits.nesting,
            channel: Channel::new(conn, speech, limits),
            next: Counter::default(),
            asked: BTreeMap::new(),
            last_progress: BTreeMap::new(),
            inquiries: BTreeSet::new(),
            declared: Revision::LATEST,
            revision: None,
            skipped_lines: 0,
            unknown_answers: 0,
            text_ids: 0,
            odd_told: false,
        }
    }

    /// Opens the handshake, with the newest revision we speak unless another one is wanted
    /// (C-VER-22).
    pub(super) fn initialize(&mut self, step: &mut Step<'_>) {
        self.initialize_with(step.setting.offered, step);
    }

    /// Opens the handshake with a given revision.
    pub(super) fn initialize_with(&mut self, revision: Revision, step: &mut Step<'_>) {
        self.declared = revision;
        let (name, version) = (&step.setting.client_name, &step.setting.client_version);
        let capabilities = mcp::capabilities(revision, &step.setting.services);
        let params = mcp::initialize_params(revision, &capabilities, name, version);
        let id = self.ask(Asked::Initialize);
        self.send(rpc::request(id, mcp::INITIALIZE, &params), Kind::Initialize(id), step);
    }

    /// Ends the handshake, and asks for the first page of tools in the same breath.
    pub(super) fn initialized(
        &mut self,
        revision: Revision,
        lists_tools: bool,
        step: &mut Step<'_>,
    ) {
        self.revision = Some(revision);
        self.channel.agreed(revision);
        let line = rpc::notification(mcp::INITIALIZED, "{}");
        let end = Outgoing { line, kind: Kind::Initialized };
        if lists_tools {
            let id = self.ask(Asked::ListTools);
            let line = rpc::request(id, mcp::TOOLS_LIST, &mcp::list_params(None));
            let list = Outgoing { line, kind: Kind::Harmless(id) };
            self.channel.send_both(self.conn, end, list, step);
        } else {
            self.channel.send(self.conn, end, step);
        }
    }

    /// Asks for a page of tools.
    pub(super) fn list_tools(&mut self, cursor: Option<&str>, step: &mut Step<'_>) {
        let id = self.ask(Asked::ListTools);
        let line = rpc::request(id, mcp::TOOLS_LIST, &mcp::list_params(cursor));
        self.send(line, Kind::Harmless(id), step);
    }

    /// Asks for a page of a list that is followed; the number of the request.
    pub(super) fn list(&mut self, list: List, cursor: Option<&str>, step: &mut Step<'_>) -> u64 {
        let id = self.ask(Asked::List(list));
        let line = rpc::request(id, list.method(), &mcp::list_params(cursor));
        self.send(line, Kind::Harmless(id), step);
        id
    }

    /// Asks to be told of changes of a resource, or no more; the number of the request.
    pub(super) fn watch(&mut self, method: &str, uri: &str, step: &mut Step<'_>) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, Asked::Watch(id));
        self.send(rpc::request(id, method, &mcp::uri_params(uri)), Kind::Harmless(id), step);
        id
    }

    /// Sends a call, perhaps for the second time; the number of its request.
    pub(super) fn call(
        &mut self,
        call: CallId,
        tool: &str,
        arguments: &Json,
        again: bool,
        step: &mut Step<'_>,
    ) -> u64 {
        let id = self.ask(Asked::Call(call));
        self.send(mcp::call_request(id, tool, arguments), Kind::Call(id, again), step);
        id
    }

    /// Nobody waits for a request any more: its answer will be one nobody asked for, and the
    /// server is told, if it was under way (C-CANC-01, C-CANC-03).
    pub(super) fn cancel(&mut self, request: u64, reason: &str, step: &mut Step<'_>) {
        self.last_progress.remove(&request);
        if self.asked.remove(&request).is_some() && self.channel.drop_request(request, step) {
            self.send(mcp::cancelled(request, reason), Kind::Aside, step);
        }
    }

    /// Forgets every request and what was received of a message, and says nothing more but
    /// goodbye; what has to be waited for then.
    pub(super) fn close(&mut self, step: &mut Step<'_>) -> Close {
        self.asked.clear();
        self.last_progress.clear();
        self.inquiries.clear();
        self.channel.close(step)
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
                    if let Some(asked) = self.take(request) {
                        heard.push(Heard::Answered { asked, reply: Err(error) });
                    }
                }
                Came::Over { request, failure, unsent } => {
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
        self.last_progress.remove(&request);
        self.asked.remove(&request)
    }

    /// Whether it goes over HTTP.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self.channel, Channel::Http(_))
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
        for (request, asked) in &self.asked {
            (newest - request, core::mem::discriminant(asked)).hash(state);
            match asked {
                Asked::Call(call) => {
                    newest_call.map(|newest| newest.number() - call.number()).hash(state);
                }
                Asked::List(list) => list.hash(state),
                Asked::Watch(_) | Asked::Initialize | Asked::ListTools => {}
            }
        }
        for (request, progress) in &self.last_progress {
            (newest - request, progress).hash(state);
        }
    }

    fn ask(&mut self, asked: Asked) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, asked);
        id
    }

    /// Numbered from 1: a server that answers everything with 0 answers nothing of ours (F-044).
    fn next_id(&mut self) -> u64 {
        self.next.next() + 1
    }

    fn send(&mut self, line: Vec<u8>, kind: Kind, step: &mut Step<'_>) {
        self.channel.send(self.conn, Outgoing { line, kind }, step);
    }
}
