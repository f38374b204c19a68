//! A simulated server behind HTTP: exchanges in, messages to the server, and back.
//!
//! It keeps the driver's half of the contract: one `Head` at most, then bodies, then one end an
//! exchange, and nothing of one that was broken off.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use serde_json::Value;
use tidegate_core::command::{HttpRequest, Method, SessionId};
use tidegate_core::error::{ConnectStep, ExchangeError, ExchangeFault, Exit, Sent};
use tidegate_core::id::{ConnId, ExchangeId};
use tidegate_core::input::Fact;
use tidegate_core::time::Timestamp;

use crate::front::{Front, Probe, Wrong};
use crate::peer::call_of;
use crate::process::Process;
use crate::script::{Script, Speaks};

mod facts;
mod headers;

use facts::about;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What servers with sessions say to who has none.
const NO_SESSION: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#;
/// What servers say to what they do not know.
const UNKNOWN: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;

/// How many facts a server may bring about of which none shows.
const FACTS_MAX: usize = 100_000;

/// The HTTP side of one attempt.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    conn: ConnId,
    front: Front,
    speaks: Speaks,
    chunk_bytes: usize,
    open: BTreeMap<ExchangeId, Open>,
    /// How many exchanges there were.
    made: usize,
    /// What happened and was not reported yet.
    ready: VecDeque<Fact>,
    ready_since: Timestamp,
    /// What the server wrote of a line.
    line: Vec<u8>,
    /// What it said by itself while nobody listened.
    unheard: VecDeque<String>,
    /// What it said about requests whose streams were cut, by event.
    stored: Vec<(String, u64, String)>,
    /// Requests whose streams were cut.
    cut: BTreeSet<String>,
    /// What is still to be said after an answer, by its exchange.
    more: BTreeMap<ExchangeId, &'static str>,
    events: u64,
    /// Whether it is spoken to without a handshake.
    modern: bool,
    /// Whether there was one although there need not be.
    greeted: bool,
    /// Whether the session is known.
    session: bool,
    /// Whether the server is gone.
    down: bool,
    /// Whether something it said was broken off on its way.
    lost: bool,
}

/// An exchange that has not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Open {
    /// A request, by its id; whether its answer has begun as a stream.
    Request { id: String, begun: bool },
    /// What the server says by itself.
    Listen,
    /// Nothing ever comes.
    Silent,
}

impl Web {
    pub(crate) fn new(conn: ConnId, front: &Front, script: &Script, now: Timestamp) -> Self {
        Self {
            conn,
            front: front.clone(),
            speaks: script.speaks,
            chunk_bytes: script.chunk_bytes,
            open: BTreeMap::new(),
            made: 0,
            ready: VecDeque::new(),
            ready_since: now,
            line: Vec::new(),
            unheard: VecDeque::new(),
            stored: Vec::new(),
            cut: BTreeSet::new(),
            more: BTreeMap::new(),
            events: 0,
            modern: false,
            greeted: false,
            session: false,
            down: false,
            lost: false,
        }
    }

    /// Nothing is there.
    pub(crate) const fn unplug(&mut self) {
        self.down = true;
    }

    pub(crate) fn due(&self, process: &Process) -> Option<Timestamp> {
        if self.ready.is_empty() { process.due() } else { Some(self.ready_since) }
    }

    pub(crate) fn next_fact(&mut self, process: &mut Process, now: Timestamp) -> Option<Fact> {
        for _ in 0..FACTS_MAX {
            if let Some(fact) = self.ready.pop_front() {
                return Some(fact);
            }
            let fact = process.next_fact(now)?;
            self.ready_since = now;
            self.take(fact);
        }
        panic!("a scripted server did {FACTS_MAX} things and none of them shows")
    }

    /// An exchange is ordered.
    pub(crate) fn exchange(
        &mut self,
        exchange: ExchangeId,
        request: &HttpRequest,
        process: &mut Process,
        now: Timestamp,
    ) {
        if self.ready.is_empty() {
            self.ready_since = now;
        }
        let number = self.made;
        self.made += 1;
        let wrong = self.front.faults.iter().find(|mishap| mishap.exchange == number);
        let wrong = wrong.map(|mishap| mishap.what.clone());
        if self.down || wrong == Some(Wrong::Refused) {
            return self.end(exchange, Err(refused()));
        }
        if wrong == Some(Wrong::Forgets) {
            self.session = false;
        }
        match wrong {
            Some(Wrong::Silent) => {
                if request.method == Method::Post {
                    self.tell(request, process, now);
                }
                self.open.insert(exchange, Open::Silent);
                return;
            }
            Some(Wrong::Stalls) => {
                if request.method == Method::Post {
                    self.tell(request, process, now);
                }
                self.head(exchange, 200, Some(("content-type", JSON)), self.session);
                self.body(exchange, "{");
                self.open.insert(exchange, Open::Silent);
                return;
            }
            Some(Wrong::Answers { status, header, body }) => {
                self.head(exchange, status, header, false);
                self.body(exchange, body);
                return self.end(exchange, Ok(()));
            }
            _ => {}
        }
        if self.answer_modern(exchange, request, wrong.as_ref(), process, now) {
            return;
        }
        let opens = request.session == SessionId::Keep;
        if self.front.sessions && !self.front.older && !opens && !self.session {
            self.head(exchange, 404, None, false);
            return self.end(exchange, Ok(()));
        }
        match request.method {
            Method::Post => self.post(exchange, request, wrong.as_ref(), process, now),
            Method::Get => self.get(exchange, request),
            Method::Delete => {
                self.session = false;
                self.head(exchange, 200, None, false);
                self.end(exchange, Ok(()));
            }
        }
    }

    fn post(
        &mut self,
        exchange: ExchangeId,
        request: &HttpRequest,
        wrong: Option<&Wrong>,
        process: &mut Process,
        now: Timestamp,
    ) {
        if self.front.older && request.target.is_empty() {
            self.head(exchange, 404, None, false);
            return self.end(exchange, Ok(()));
        }
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let begins = message["method"] == "initialize";
        self.session |= begins && self.front.sessions;
        self.greeted |= begins && self.speaks == Speaks::Dual;
        self.tell(request, process, now);
        let asks = message.get("method").is_some() && message.get("id").is_some();
        if wrong == Some(&Wrong::CutHead) {
            let fault = ExchangeFault::CutHead;
            return self.end(exchange, Err(ExchangeError { fault, sent: Sent::Perhaps }));
        }
        if !asks || self.front.older {
            self.head(exchange, 202, None, false);
            return self.end(exchange, Ok(()));
        }
        let id = message["id"].to_string();
        if wrong == Some(&Wrong::CutStream) {
            self.begin(exchange);
            self.event(exchange, Some(&id), "");
            self.cut.insert(id);
            return self.end(exchange, Ok(()));
        }
        let goes_on = wrong.and_then(|wrong| match wrong {
            Wrong::GoesOn(more) => Some(*more),
            _ => None,
        });
        if let Some(more) = goes_on {
            self.begin(exchange);
            self.more.insert(exchange, more);
        }
        self.open.insert(exchange, Open::Request { id, begun: goes_on.is_some() });
    }

    /// What is said without a handshake; whether that is so.
    fn answer_modern(
        &mut self,
        exchange: ExchangeId,
        request: &HttpRequest,
        wrong: Option<&Wrong>,
        process: &mut Process,
        now: Timestamp,
    ) -> bool {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let modern = headers::is_modern(&message);
        if self.modern && !modern {
            let what = format!("{} where there is no handshake", request.method);
            process.peer.breaches.push(what);
        }
        if !modern || (self.front.older && request.target.is_empty()) {
            return false;
        }
        process.peer.breaches.extend(headers::check(request, &message));
        match (self.speaks, self.front.probe) {
            (Speaks::Modern | Speaks::Dual, _) => {
                // Whoever hears no answer to the question may try a handshake yet.
                self.modern |= message["method"] != "server/discover";
                self.tell(request, process, now);
                self.open_modern(exchange, message["id"].to_string(), wrong);
            }
            (Speaks::Legacy, Probe::NoSession) => {
                self.head(exchange, 400, Some(("content-type", JSON)), false);
                self.body(exchange, NO_SESSION);
                self.end(exchange, Ok(()));
            }
            (Speaks::Legacy, Probe::Status(status)) => {
                self.head(exchange, status, None, false);
                self.end(exchange, Ok(()));
            }
            (Speaks::Legacy, probe @ (Probe::Error | Probe::Nothing)) => {
                let member = if probe == Probe::Nothing { "\"result\":{}" } else { UNKNOWN };
                let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{member}}}", message["id"]);
                self.head(exchange, 200, Some(("content-type", JSON)), false);
                self.body(exchange, &text);
                self.end(exchange, Ok(()));
            }
        }
        true
    }

    fn open_modern(&mut self, exchange: ExchangeId, id: String, wrong: Option<&Wrong>) {
        match wrong {
            Some(Wrong::CutHead) => {
                let fault = ExchangeFault::CutHead;
                self.end(exchange, Err(ExchangeError { fault, sent: Sent::Perhaps }));
            }
            Some(Wrong::CutStream) => {
                self.begin(exchange);
                self.event(exchange, Some(&id), "");
                self.end(exchange, Ok(()));
            }
            _ => drop(self.open.insert(exchange, Open::Request { id, begun: false })),
        }
    }

    fn tell(&self, request: &HttpRequest, process: &mut Process, now: Timestamp) {
        let mut line = request.body.to_vec();
        line.push(b'\n');
        if !self.down {
            process.handle_input(&line, now);
        }
    }

    fn get(&mut self, exchange: ExchangeId, request: &HttpRequest) {
        let last = request.headers.iter().find(|(name, _)| name == "Last-Event-ID");
        if let Some((id, number)) = last.and_then(|(_, last)| last.split_once('.')) {
            let number: u64 = number.parse().unwrap_or_default();
            let id = id.to_owned();
            self.begin(exchange);
            self.open.insert(exchange, Open::Request { id: id.clone(), begun: true });
            self.cut.remove(&id);
            let (own, others) = std::mem::take(&mut self.stored)
                .into_iter()
                .partition(|(of, at, _)| *of == id && *at > number);
            self.stored = others;
            let own: Vec<(String, u64, String)> = own;
            own.iter().for_each(|(_, _, line)| self.say(line));
            return;
        }
        if !self.front.listens && !self.front.older {
            self.head(exchange, 405, None, false);
            return self.end(exchange, Ok(()));
        }
        self.begin(exchange);
        self.open.insert(exchange, Open::Listen);
        if self.front.older {
            self.body(exchange, "event: endpoint\ndata: /messages\n\n");
        }
        for line in std::mem::take(&mut self.unheard) {
            self.say(&line);
        }
    }

    /// An exchange is broken off.
    pub(crate) fn abort(&mut self, exchange: ExchangeId) {
        self.open.remove(&exchange);
        self.more.remove(&exchange);
        let said = |fact: &Fact| matches!(fact, Fact::Body { .. });
        self.lost |= self.ready.iter().any(|fact| about(fact) == Some(exchange) && said(fact));
        self.ready.retain(|fact| about(fact) != Some(exchange));
    }

    /// Everything is broken off and forgotten.
    pub(crate) fn kill(&mut self, now: Timestamp) {
        self.open.clear();
        self.more.clear();
        self.ready.clear();
        self.ready_since = now;
        self.ready.push_back(Fact::Closed { conn: self.conn, exit: Exit::Unknown });
    }

    /// Whether everything arrives that the server says.
    pub(crate) fn is_heard(&self) -> bool {
        self.front.is_whole() && !self.down && !self.lost
    }

    pub(crate) fn digest(&self, state: &mut impl Hasher) {
        (&self.front, &self.open, self.made, &self.ready, &self.line).hash(state);
        (&self.unheard, &self.stored, &self.cut, &self.more).hash(state);
        (self.session, self.down, self.lost).hash(state);
        (self.speaks, self.modern, self.greeted).hash(state);
    }

    /// What happened at the server, as its client sees it.
    fn take(&mut self, fact: Fact) {
        match fact {
            Fact::Opened { conn, .. } => self.ready.push_back(Fact::Opened { conn, pid: None }),
            Fact::OpenFailed { .. } => self.ready.push_back(fact),
            Fact::Received { bytes, .. } => {
                self.line.extend_from_slice(&bytes);
                while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.line.drain(..=end).collect();
                    self.say(String::from_utf8_lossy(&line).trim_end());
                }
            }
            Fact::OutputEnded { .. } | Fact::Closed { .. } => {
                self.down = true;
                for (exchange, open) in std::mem::take(&mut self.open) {
                    let fault = match open {
                        Open::Request { begun: true, .. } | Open::Listen => ExchangeFault::CutBody,
                        Open::Request { .. } | Open::Silent => ExchangeFault::CutHead,
                    };
                    self.end(exchange, Err(ExchangeError { fault, sent: Sent::Perhaps }));
                }
            }
            _ => {}
        }
    }

    /// The server says a line, which goes where it belongs.
    fn say(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let answers = message.get("id").is_some() && message.get("method").is_none();
        let of = if answers {
            Some(message["id"].to_string())
        } else {
            let token = message["params"].get("progressToken").map(Value::to_string);
            token.or_else(|| call_of(&message["id"]).map(Into::into))
        };
        if let Some(of) = of.as_ref().filter(|of| self.cut.contains(*of)) {
            self.events += 1;
            return self.stored.push((of.clone(), self.events, line.into()));
        }
        let own = self.open.iter().find_map(|(exchange, open)| match open {
            Open::Request { id, begun } if Some(id) == of.as_ref() => Some((*exchange, *begun)),
            _ => None,
        });
        match own {
            Some((exchange, begun))
                if begun || (self.front.streams && self.status(&message) == 200) =>
            {
                if !begun {
                    self.begin(exchange);
                }
                let id = of.unwrap_or_default();
                self.event(exchange, Some(&id), line);
                if answers {
                    if let Some(more) = self.more.remove(&exchange) {
                        self.event(exchange, None, more);
                    }
                    self.open.remove(&exchange);
                    self.end(exchange, Ok(()));
                } else {
                    self.open.insert(exchange, Open::Request { id, begun: true });
                }
            }
            Some((exchange, _)) if answers => {
                self.open.remove(&exchange);
                let status = self.status(&message);
                self.head(exchange, status, Some(("content-type", JSON)), self.session);
                self.body(exchange, line);
                self.end(exchange, Ok(()));
            }
            // C-LHTTP-12: an answer goes nowhere else.
            None if answers && !self.front.older => {}
            Some(_) | None => self.say_aside(line),
        }
    }

    fn status(&self, message: &Value) -> u16 {
        let modern = self.speaks != Speaks::Legacy && !self.greeted;
        if modern { headers::status(message) } else { 200 }
    }

    /// What belongs to no request goes over the stream for that, or waits for one.
    fn say_aside(&mut self, line: &str) {
        let listen = self.open.iter().find(|(_, open)| **open == Open::Listen);
        match listen.map(|(exchange, _)| *exchange) {
            Some(exchange) => self.event(exchange, None, line),
            None => self.unheard.push_back(line.into()),
        }
    }
}

fn refused() -> ExchangeError {
    let fault = ExchangeFault::Connect { step: ConnectStep::Refused, message: String::new() };
    ExchangeError { fault, sent: Sent::Nothing }
}
