//! The conversation on one connection: what was asked, what is heard.
//!
//! Floor 3. Numbers requests from a counter that never repeats (C-RPC-05), matches answers to
//! requests by number (C-RPC-06), answers the server's own requests (G49) and counts what fits
//! nowhere (G39, G43). Decides nothing about the server's phase.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::command::Command;
use crate::error::RpcError;
use crate::id::{CallId, ConnId, Counter, ServerName};
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::quote::Quoted;
use crate::wire::dialect::Revision;
use crate::wire::lines::{Frame, Lines};
use crate::wire::mcp::{self, List};
use crate::wire::rpc::{self, Broken, Id, Incoming, Malformed, Message, Peek};

use super::Setting;

/// How much of an odd line is shown.
const SAMPLE_CHARS: usize = 120;

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
    /// Something that fits nowhere, in words; told once per connection, counted always.
    Odd(String),
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Session {
    conn: ConnId,
    nesting_max: usize,
    lines: Lines,
    next: Counter,
    asked: BTreeMap<u64, Asked>,
    last_progress: BTreeMap<u64, u64>,
    revision: Option<Revision>,
    skipped_lines: u64,
    unknown_answers: u64,
    text_ids: u64,
    odd_told: bool,
}

impl Session {
    /// A conversation in which nothing was said.
    #[must_use]
    pub fn new(conn: ConnId, limits: &Limits) -> Self {
        Self {
            conn,
            nesting_max: limits.nesting,
            lines: Lines::new(limits.message_bytes),
            next: Counter::default(),
            asked: BTreeMap::new(),
            last_progress: BTreeMap::new(),
            revision: None,
            skipped_lines: 0,
            unknown_answers: 0,
            text_ids: 0,
            odd_told: false,
        }
    }

    /// Opens the handshake with the newest revision we speak (C-VER-22).
    pub fn initialize(&mut self, setting: &Setting, out: &mut Outbox) {
        self.initialize_with(Revision::LATEST, setting, out);
    }

    /// Opens the handshake with a given revision.
    pub fn initialize_with(&mut self, revision: Revision, setting: &Setting, out: &mut Outbox) {
        let params =
            mcp::initialize_params(revision, &setting.client_name, &setting.client_version);
        let id = self.ask(Asked::Initialize);
        self.send(rpc::request(id, mcp::INITIALIZE, &params), out);
    }

    /// Ends the handshake, and asks for the first page of tools in the same breath.
    pub fn initialized(&mut self, revision: Revision, lists_tools: bool, out: &mut Outbox) {
        self.revision = Some(revision);
        let mut bytes = rpc::notification(mcp::INITIALIZED, "{}");
        if lists_tools {
            let id = self.ask(Asked::ListTools);
            bytes.extend(rpc::request(id, mcp::TOOLS_LIST, &mcp::list_params(None)));
        }
        self.send(bytes, out);
    }

    /// Asks for a page of tools.
    pub fn list_tools(&mut self, cursor: Option<&str>, out: &mut Outbox) {
        let id = self.ask(Asked::ListTools);
        self.send(rpc::request(id, mcp::TOOLS_LIST, &mcp::list_params(cursor)), out);
    }

    /// Asks for a page of a list that is followed; the number of the request.
    pub fn list(&mut self, list: List, cursor: Option<&str>, out: &mut Outbox) -> u64 {
        let id = self.ask(Asked::List(list));
        self.send(rpc::request(id, list.method(), &mcp::list_params(cursor)), out);
        id
    }

    /// Asks to be told of changes of a resource, or no more; the number of the request.
    pub fn watch(&mut self, method: &str, uri: &str, out: &mut Outbox) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, Asked::Watch(id));
        self.send(rpc::request(id, method, &mcp::uri_params(uri)), out);
        id
    }

    /// Sends a call; the number of its request.
    pub fn call(&mut self, call: CallId, tool: &str, arguments: &Json, out: &mut Outbox) -> u64 {
        let id = self.ask(Asked::Call(call));
        self.send(mcp::call_request(id, tool, arguments), out);
        id
    }

    /// Forgets a request: its answer will be one nobody asked for. Whether it was known.
    pub fn forget(&mut self, request: u64) -> bool {
        self.last_progress.remove(&request);
        self.asked.remove(&request).is_some()
    }

    /// Forgets every request and what was received of a message.
    pub fn forget_all(&mut self) {
        self.asked.clear();
        self.last_progress.clear();
        self.lines = Lines::new(0);
    }

    /// Takes in what the server wrote up to the end of one line, or all of it. Line by line,
    /// because what one line leads to decides what the next one means, whether both came in one
    /// chunk or not (G44).
    pub fn handle_received(
        &mut self,
        bytes: &mut &[u8],
        name: &ServerName,
        setting: &Setting,
        out: &mut Outbox,
    ) -> Vec<Heard> {
        let mut lines = core::mem::replace(&mut self.lines, Lines::new(0));
        let mut heard = Vec::new();
        let mut frames = lines.push(bytes);
        if let Some(frame) = frames.next() {
            self.hear(frame, name, setting, &mut heard, out);
        }
        let left = frames.left();
        self.lines = lines;
        *bytes = bytes.get(bytes.len() - left..).unwrap_or_default();
        heard
    }

    /// Takes in the unterminated rest when the output has ended.
    pub fn handle_end(
        &mut self,
        name: &ServerName,
        setting: &Setting,
        out: &mut Outbox,
    ) -> Vec<Heard> {
        let mut heard = Vec::new();
        if let Some(frame) = self.lines.finish() {
            self.hear(frame, name, setting, &mut heard, out);
        }
        heard
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
    pub fn digest(&self, newest_call: Option<CallId>, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        let newest = self.next.count();
        (&self.lines, self.revision, self.asked.len()).hash(state);
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

    fn hear(
        &mut self,
        frame: Frame<'_>,
        name: &ServerName,
        setting: &Setting,
        heard: &mut Vec<Heard>,
        out: &mut Outbox,
    ) {
        let (line, incoming) = match frame {
            Frame::Line(line) => {
                let incoming = rpc::read(&line, self.nesting_max);
                (line, incoming)
            }
            Frame::Long(line, outline) => {
                let incoming = rpc::read_outlined(&line, &outline, self.nesting_max);
                (line.into(), incoming)
            }
            Frame::NotUtf8 { bytes, head, tail } => {
                self.spoiled(&rpc::peek(&head, &tail), "it is not UTF-8".into(), heard);
                let what = alloc::format!("skipped a line of {bytes} bytes that is not UTF-8");
                return self.odd(what, heard);
            }
            Frame::TooLong { head, tail, bytes_max } => {
                let limit = bytes_max as u64;
                let peek = rpc::peek(&head, &tail);
                if peek == Peek::HasMethod {
                    let what = alloc::format!("skipped a message longer than {limit} bytes");
                    return self.odd(what, heard);
                }
                let asked = self.asked_by(&peek);
                return heard.push(Heard::TooLong { asked, limit });
            }
        };
        match incoming {
            Ok(Incoming::One(message)) => {
                self.hear_message(message, Text::Whole(line), name, setting, heard, out);
            }
            // C-RPC-13: only one revision has batches; elsewhere the line is dropped, and who
            // waits for an answer in it hears so.
            Ok(Incoming::Batch(messages)) if !self.revision.is_some_and(Revision::has_batches) => {
                for message in messages.into_iter().flatten() {
                    if let Message::Answer { id, .. } = message {
                        let why = "it came in a batch, which this revision lacks".into();
                        self.spoiled(&Peek::Answer(id), why, heard);
                    }
                }
                self.odd("skipped a batch, which this revision lacks".into(), heard);
            }
            Ok(Incoming::Batch(messages) | Incoming::Joined(messages)) => {
                for message in messages {
                    match message {
                        Ok(message) => {
                            let text = Text::Part(&line);
                            self.hear_message(message, text, name, setting, heard, out);
                        }
                        Err(Broken { why, at }) => {
                            self.malformed(&why, line.get(at).unwrap_or_default(), heard);
                        }
                    }
                }
            }
            Err(malformed) => self.malformed(&malformed, &line, heard),
        }
    }

    /// Skips what is no message; who waits for it as an answer hears so (L8).
    fn malformed(&mut self, why: &Malformed, text: &str, heard: &mut Vec<Heard>) {
        // Of two ids nobody knows which counts.
        if *why != (Malformed::DuplicateMember { name: "id" }) {
            self.spoiled(&rpc::peek(text.as_bytes(), b""), why.to_string(), heard);
        }
        let sample: String = text.chars().take(SAMPLE_CHARS).collect();
        self.odd(alloc::format!("skipped a line ({why}): {sample}"), heard);
    }

    fn hear_message(
        &mut self,
        message: Message,
        text: Text<'_>,
        name: &ServerName,
        setting: &Setting,
        heard: &mut Vec<Heard>,
        out: &mut Outbox,
    ) {
        match message {
            Message::Answer { id, reply } => match self.take_asked(&id) {
                Some(asked) => {
                    if let Id::Text(_) = &id {
                        self.mistyped(&id, heard);
                    }
                    heard.push(Heard::Answered { asked, reply: reply.map(|at| text.json(at)) });
                }
                None => self.unknown(&id, name, heard),
            },
            Message::Request { id, method, .. } => self.answer(&id, &method, setting, out),
            Message::Notification { method, params } => {
                self.notified(method, params.map(|at| text.json(at)), heard);
            }
            Message::Complaint { error } => {
                let error = error.quoted();
                self.odd(alloc::format!("complained without saying about what: {error}"), heard);
            }
        }
    }

    fn notified(&mut self, method: String, params: Option<Json>, heard: &mut Vec<Heard>) {
        match method.as_str() {
            mcp::LOG => heard.extend(params.map(Heard::Logged)),
            mcp::PROGRESS => heard.extend(params.and_then(|params| self.progressed(params))),
            // What a server asks is answered at once, so there is nothing to call off.
            mcp::CANCELLED => {}
            _ => heard.push(Heard::Notified { method, params }),
        }
    }

    fn progressed(&mut self, params: Json) -> Option<Heard> {
        let progress = mcp::read_progress(params.as_str())?;
        let Id::Number(token) = progress.token else { return None };
        let token = u64::try_from(token).ok()?;
        let Some(Asked::Call(call)) = self.asked.get(&token).copied() else { return None };
        // C-PROG-02: progress increases; what does not is no progress. The bits of floats
        // that are not negative order as the floats do.
        let value = progress.value.max(0.0).to_bits();
        let last = self.last_progress.entry(token).or_insert(0);
        if value > *last || (value == 0 && *last == 0) {
            *last = value;
            return Some(Heard::Progressed { call, progress: params });
        }
        None
    }

    /// Answers a request of the server's at once (C-RPC-18).
    fn answer(&self, id: &Id, method: &str, setting: &Setting, out: &mut Outbox) {
        let bytes = if method == mcp::PING {
            rpc::result(id, "{}")
        } else if method == mcp::ROOTS_LIST {
            rpc::result(id, &mcp::roots_result(&setting.cwd))
        } else {
            let method = Quoted(method);
            let message = alloc::format!("Unsupported server request: {method}");
            rpc::error(id, mcp::METHOD_NOT_FOUND, &message)
        };
        self.send(bytes, out);
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

    fn send(&self, bytes: Vec<u8>, out: &mut Outbox) {
        out.command(Command::Send { conn: self.conn, bytes: bytes.into() });
    }

    fn unknown(&mut self, id: &Id, _name: &ServerName, heard: &mut Vec<Heard>) {
        self.unknown_answers += 1;
        if self.unknown_answers == 1 {
            let id = id.to_string();
            let id = Quoted(&id);
            let what = alloc::format!("answered id {id}, which nobody asked or which has ended");
            heard.push(Heard::Odd(what));
        }
    }

    /// L8: an answer that cannot be read is the only one there will be, so whoever asked hears
    /// of it at once.
    fn spoiled(&mut self, peek: &Peek, message: String, heard: &mut Vec<Heard>) {
        if let Some(asked) = self.asked_by(peek) {
            heard.push(Heard::Spoiled { asked, message });
        }
    }

    /// Takes out what a line answers of which only a part was read.
    fn asked_by(&mut self, peek: &Peek) -> Option<Asked> {
        match peek {
            Peek::Answer(id) => self.take_asked(id),
            Peek::HasMethod | Peek::Unknown => None,
        }
    }

    /// Takes out the request that an answer with this id is for. C-RPC-06 knows numbers of ours
    /// only; that some servers give a number back as its text is tolerated, because no other
    /// request can be meant.
    fn take_asked(&mut self, id: &Id) -> Option<Asked> {
        let number = match id {
            Id::Number(number) => u64::try_from(*number).ok()?,
            Id::Text(text) => {
                text.parse().ok().filter(|number: &u64| number.to_string() == *text)?
            }
        };
        self.last_progress.remove(&number);
        self.asked.remove(&number)
    }

    fn mistyped(&mut self, id: &Id, heard: &mut Vec<Heard>) {
        self.text_ids += 1;
        if self.text_ids == 1 {
            let what =
                alloc::format!("answered our number with the text {id}; it is taken as meant");
            heard.push(Heard::Odd(what));
        }
    }

    fn odd(&mut self, what: String, heard: &mut Vec<Heard>) {
        self.skipped_lines += 1;
        if !self.odd_told {
            self.odd_told = true;
            heard.push(Heard::Odd(what));
        }
    }
}

/// The line a message stands in: moved into what is made of it where it is the only one.
enum Text<'a> {
    Whole(alloc::borrow::Cow<'a, str>),
    Part(&'a str),
}

impl Text<'_> {
    fn json(self, at: core::ops::Range<usize>) -> Json {
        match self {
            Text::Whole(alloc::borrow::Cow::Owned(line)) => Json::within(line, at),
            Text::Whole(alloc::borrow::Cow::Borrowed(line)) => {
                Json::new(line.get(at).unwrap_or_default())
            }
            Text::Part(line) => Json::new(line.get(at).unwrap_or_default()),
        }
    }
}
