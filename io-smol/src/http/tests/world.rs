//! A driver that does nothing but exchanges.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::bytes::Bytes;
use tidegate_core::command::{FilledRemote, HttpRequest, Method, SessionId};
use tidegate_core::error::{ExchangeError, ExchangeFault, Sent};
use tidegate_core::id::{ConnId, ExchangeId};
use tidegate_core::input::{Fact, HttpHead};

use crate::connection::Shared;
use crate::http::Http;
use crate::http::network::Network;
use crate::inbox::{Inbox, Message, Stamped};
use crate::pollset::Source;

/// How long a test waits for what should take no time.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a connection may take to be made.
pub(super) const CONNECT_MS: u64 = 10_000;

pub(super) struct World {
    pub(super) http: Http,
    shared: Shared,
    inbox: Arc<Inbox>,
    seen: BTreeMap<ExchangeId, Answer>,
    exchanges: u64,
    conns: u64,
    /// Is broken off as soon as its head is heard.
    pub(super) unwanted: Option<ExchangeId>,
}

/// What came of an exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) head: Option<HttpHead>,
    pub(super) body: Vec<u8>,
    /// The length of the longest piece of the body.
    pub(super) longest: usize,
    pub(super) end: Option<Result<(), ExchangeError>>,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |head| head.status)
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// What went wrong, which must be something.
    pub(super) fn error(&self) -> (ExchangeFault, Sent) {
        let error = self.end.clone().unwrap().unwrap_err();
        (error.fault, error.sent)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.end == Some(Ok(()))
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(Network::direct())
    }

    pub(super) fn with(network: Network) -> Self {
        let inbox = Arc::new(Inbox::new());
        Self {
            http: Http::new(network, Arc::clone(&inbox)),
            shared: Shared::new().unwrap(),
            inbox,
            seen: BTreeMap::new(),
            exchanges: 0,
            conns: 0,
            unwanted: None,
        }
    }

    pub(super) fn connect(&mut self, url: &str) -> ConnId {
        self.connect_within(url, CONNECT_MS)
    }

    pub(super) fn connect_within(&mut self, url: &str, connect_ms: u64) -> ConnId {
        let conn = ConnId::new(self.conns);
        self.conns += 1;
        let filled = FilledRemote { url: url.into(), headers: BTreeMap::new(), connect_ms };
        assert!(self.http.connect(conn, &filled, &mut self.shared).is_empty());
        assert_eq!(self.shared.facts.pop_front(), Some(Fact::Opened { conn, pid: None }));
        conn
    }

    pub(super) fn begin(&mut self, conn: ConnId, request: &HttpRequest) -> ExchangeId {
        let exchange = ExchangeId::new(self.exchanges);
        self.exchanges += 1;
        self.seen.insert(exchange, Answer::default());
        self.http.exchange(conn, exchange, request, &mut self.shared);
        exchange
    }

    pub(super) fn abort(&mut self, conn: ConnId, exchange: ExchangeId) {
        self.http.abort(conn, exchange, &mut self.shared);
    }

    pub(super) fn kill(&mut self, conn: ConnId) {
        self.http.kill(conn, &mut self.shared);
        let last = self.shared.facts.pop_back();
        assert!(matches!(last, Some(Fact::Closed { conn: closed, .. }) if closed == conn));
    }

    pub(super) fn ask(&mut self, conn: ConnId, request: &HttpRequest) -> Answer {
        let exchange = self.begin(conn, request);
        self.end_of(exchange)
    }

    pub(super) fn end_of(&mut self, exchange: ExchangeId) -> Answer {
        self.until(exchange, |answer| answer.end.is_some())
    }

    /// Goes on until an exchange has come so far.
    pub(super) fn until(&mut self, exchange: ExchangeId, far: impl Fn(&Answer) -> bool) -> Answer {
        let until = Instant::now() + PATIENCE;
        while !far(&self.seen[&exchange]) {
            assert!(Instant::now() < until, "{:?}", self.seen[&exchange]);
            self.turn(Duration::from_millis(100));
        }
        self.seen[&exchange].clone()
    }

    /// Goes on for a while, whatever happens.
    pub(super) fn rest(&mut self, pause: Duration) {
        let until = Instant::now() + pause;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.turn(left);
        }
    }

    /// How many sockets and descriptors this has open, those it waits with left out.
    pub(super) fn sockets(&self) -> usize {
        self.http.owners.len()
    }

    fn turn(&mut self, patience: Duration) {
        self.listen();
        let due = self.http.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        let mut ready = Vec::new();
        if self.shared.facts.is_empty() {
            // Looked-up names ring no bell here.
            let patience = patience.min(Duration::from_millis(5)).min(due.unwrap_or(patience));
            self.shared.poll.wait(Some(patience), &mut ready).unwrap();
        }
        for source in ready {
            match source {
                Source::Socket(id) => self.http.ready(id, &mut self.shared),
                Source::Process { .. } | Source::Guard => unreachable!("there is none"),
            }
        }
        self.http.pass(Instant::now(), &mut self.shared);
        while let Some(fact) = self.shared.facts.pop_front() {
            self.note(fact);
        }
    }

    fn listen(&mut self) {
        let mut messages = VecDeque::new();
        self.inbox.take(&mut messages);
        for Stamped { message, .. } in messages {
            let Message::LookedUp(place, found) = message else { unreachable!("{message:?}") };
            self.http.looked_up(&place, &found, &mut self.shared);
        }
    }

    /// Notes a fact, and whether the contract holds.
    fn note(&mut self, fact: Fact) {
        if let Fact::Head { conn, exchange, head } = fact {
            let answer = self.seen.get_mut(&exchange).unwrap();
            assert!(answer.head.is_none() && answer.end.is_none());
            answer.head = Some(head);
            if let Some(unwanted) = self.unwanted.take_if(|unwanted| *unwanted == exchange) {
                self.http.abort(conn, unwanted, &mut self.shared);
            }
        } else if let Fact::Body { exchange, bytes, .. } = fact {
            let answer = self.seen.get_mut(&exchange).unwrap();
            assert!(answer.head.is_some() && answer.end.is_none() && !bytes.0.is_empty());
            answer.longest = answer.longest.max(bytes.0.len());
            answer.body.extend(bytes.0);
        } else if let Fact::ExchangeEnded { exchange, end, .. } = fact {
            let answer = self.seen.get_mut(&exchange).unwrap();
            assert!(answer.end.is_none() && (answer.head.is_some() || end.is_err()));
            answer.end = Some(end);
        } else {
            unreachable!("{fact:?}");
        }
    }
}

pub(super) fn get() -> HttpRequest {
    request(Method::Get, "")
}

pub(super) fn post(body: &str) -> HttpRequest {
    request(Method::Post, body)
}

pub(super) fn request(method: Method, body: &str) -> HttpRequest {
    HttpRequest {
        method,
        target: vec![],
        headers: vec![("Accept".into(), "text/event-stream".into())],
        session: SessionId::Ignore,
        body: Bytes(body.as_bytes().to_vec()),
    }
}
