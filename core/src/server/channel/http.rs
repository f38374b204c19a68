//! A conversation over HTTP: its exchanges, its session, its streams.
//!
//! Floor 3. What goes out is in [`going`](super::going), what comes in in
//! [`coming`](super::coming). A request knows the exchange it went by, so that an exchange that
//! is lost ends exactly its request. The id of the session stays with the driver; here it is only
//! known that there is one.
//!
//! ```text
//!  initialize ─► head ─► answer ─► initialized ─► head ─► the rest
//!                                  GET, for what comes by itself
//! ```
//!
//! Without a handshake there is no session, no stream for what comes by itself and no goodbye: each
//! message is an exchange that says everything for itself, and breaking it off is how it is called
//! off (C-MHTTP-06, C-CANC-02).
//!
//! A session that the server does not know any more ends the connection: the next one begins with
//! a handshake, whose session is fixed by it (G48).

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use crate::command::Command;
use crate::error::HttpFailure;
use crate::id::{ConnId, Counter, ExchangeId};
use crate::time::{Deadline, Timestamp};
use crate::wire::dialect::Revision;

use super::exchange::{Exchange, Role, Stage};
use super::{Kind, Outgoing, Patience, Speech, Step};

/// The HTTP side of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    pub(super) conn: ConnId,
    pub(super) patience: Patience,
    pub(super) next: Counter,
    pub(super) way: Way,
    pub(super) revision: Option<Revision>,
    /// Whether the server gave the session an id.
    pub(super) session: bool,
    /// Where the server is for good, one place after the other, as it said (308).
    pub(super) moved: Vec<String>,
    /// What has to wait, in order.
    pub(super) held: VecDeque<Outgoing>,
    /// Whether requests have to wait for the end of the handshake to have arrived.
    pub(super) holds: bool,
    pub(super) exchanges: BTreeMap<ExchangeId, Exchange>,
}

/// Which transport is spoken.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Way {
    /// Streamable HTTP without a handshake.
    Modern,
    /// Streamable HTTP with one.
    Streamable,
    /// HTTP with server-sent events. `endpoint`: where messages go, once that is known.
    /// `instead`: why streamable HTTP failed, if that was tried.
    Events { endpoint: Option<String>, instead: Option<HttpFailure> },
}

impl Way {
    /// Whether answers come by a stream of their own: then what is said to a message that was
    /// taken means nothing, nor does how that ends (C-OLD-04).
    pub(super) const fn answers_beside(&self) -> bool {
        matches!(self, Self::Events { .. })
    }
}

impl Http {
    pub(super) fn new(conn: ConnId, speech: Speech, patience: Patience) -> Self {
        let way = match speech {
            Speech::Events => Way::Events { endpoint: None, instead: None },
            Speech::Http | Speech::Lines => Way::Streamable,
        };
        Self {
            conn,
            patience,
            next: Counter::default(),
            way,
            revision: None,
            session: false,
            moved: Vec::new(),
            held: VecDeque::new(),
            holds: false,
            exchanges: BTreeMap::new(),
        }
    }

    /// See [`Channel::turn`](super::Channel::turn).
    pub(super) fn turn(&mut self, modern: Option<Revision>) {
        match &self.way {
            Way::Modern | Way::Streamable => {
                self.way = if modern.is_some() { Way::Modern } else { Way::Streamable };
                self.revision = modern;
            }
            Way::Events { .. } => {}
        }
    }

    pub(super) const fn agreed(&mut self, revision: Revision) {
        self.revision = Some(revision);
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let until = self.exchanges.values().filter_map(Exchange::until).min()?;
        Some(Deadline { at: until, why: "http" })
    }

    /// Whether the transport of 2024-11-05 is spoken.
    pub(crate) const fn is_older(&self) -> bool {
        matches!(self.way, Way::Events { .. })
    }

    /// The request that an exchange was made for.
    pub(crate) fn request_of(&self, exchange: ExchangeId) -> Option<u64> {
        self.exchanges.get(&exchange)?.request()
    }

    /// Whether this is the exchange that ends the session.
    pub(crate) fn is_goodbye(&self, exchange: ExchangeId) -> bool {
        self.exchanges.get(&exchange).is_some_and(|exchange| exchange.role == Role::Goodbye)
    }

    /// Breaks an exchange off that the driver has.
    pub(super) fn abort(&mut self, exchange: ExchangeId, step: &mut Step<'_>) -> Option<Exchange> {
        let gone = self.exchanges.remove(&exchange)?;
        if gone.is_ordered() {
            step.out.command(Command::Abort { conn: self.conn, exchange });
        }
        Some(gone)
    }

    /// Nobody waits for a request any more: whatever was under way for it is not. Whether the
    /// server may be at it and does not know, which it is not before it was asked or if it had no
    /// time, and which it knows where there is no handshake.
    pub(super) fn drop_request(&mut self, request: u64, step: &mut Step<'_>) -> bool {
        let held = self.held.len();
        self.held.retain(|message| message.kind.request() != Some(request));
        let mut reached = held == self.held.len();
        let own = self.exchanges.iter().filter(|(_, own)| own.request() == Some(request));
        let own: Vec<ExchangeId> = own.map(|(exchange, _)| *exchange).collect();
        for exchange in own {
            let gone = self.abort(exchange, step);
            reached &= gone
                .is_some_and(|gone| gone.is_ordered() || !matches!(gone.role, Role::Post { .. }));
        }
        reached && self.way != Way::Modern
    }

    /// The request of a stream was answered: what else comes by it is heard, but not for ever
    /// (G45).
    pub(crate) fn answered(&mut self, exchange: ExchangeId, step: &mut Step<'_>) {
        if let Some(Exchange { stage: Stage::Events { answered, .. }, .. }) =
            self.exchanges.get_mut(&exchange)
        {
            *answered = true;
        }
        self.linger(step);
    }

    /// Whether so many messages that need no answer are on their way that no more should be.
    pub(super) fn is_crowded(&self, limit: usize) -> bool {
        let held = self.held.iter().filter(|message| message.kind == Kind::Aside).count();
        let aside = |own: &&Exchange| matches!(own.role, Role::Post { kind: Kind::Aside, .. });
        held + self.exchanges.values().filter(aside).count() >= limit
    }

    /// Closes the oldest of too many streams that nobody needs.
    pub(super) fn linger(&mut self, step: &mut Step<'_>) {
        let lingers = |(_, own): &(&ExchangeId, &Exchange)| {
            matches!(own.stage, Stage::Events { answered: true, .. })
        };
        let lingering: Vec<ExchangeId> =
            self.exchanges.iter().filter(lingers).map(|(exchange, _)| *exchange).collect();
        let over = lingering.len().saturating_sub(step.setting.limits.http_lingering);
        for exchange in lingering.into_iter().take(over) {
            self.abort(exchange, step);
        }
    }

    /// Breaks everything off and ends the session, if there is one: once (G48). Whether that is
    /// under way.
    pub(super) fn close(&mut self, step: &mut Step<'_>) -> bool {
        let all: Vec<ExchangeId> = self.exchanges.keys().copied().collect();
        for exchange in all {
            self.abort(exchange, step);
        }
        self.held.clear();
        let goodbye = core::mem::take(&mut self.session) && self.way == Way::Streamable;
        if goodbye {
            self.begin(Role::Goodbye, step);
        }
        goodbye
    }

    /// Feeds the state to a hasher, times relative to `now`, requests counted from `newest`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, newest: u64, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        (&self.way, self.revision, self.session, &self.moved, self.holds).hash(state);
        self.held.len().hash(state);
        for message in &self.held {
            core::mem::discriminant(&message.kind).hash(state);
            message.kind.request().map(|request| newest - request).hash(state);
        }
        self.exchanges.len().hash(state);
        for exchange in self.exchanges.values() {
            core::mem::discriminant(&exchange.role).hash(state);
            if let Role::Post { kind, .. } = &exchange.role {
                core::mem::discriminant(kind).hash(state);
            }
            exchange.request().map(|request| newest - request).hash(state);
            (&exchange.hops, &exchange.thread).hash(state);
            core::mem::discriminant(&exchange.stage).hash(state);
            exchange.until().map(|until| until.since(now)).hash(state);
            match &exchange.stage {
                Stage::Text { status, content, bytes, .. } => {
                    (status, content, bytes).hash(state);
                }
                Stage::Events { events, answered, .. } => (events, answered).hash(state),
                Stage::Waiting { .. } | Stage::Asked { .. } => {}
            }
        }
    }
}

/// What is due, for who lets time pass.
pub(super) fn due(exchanges: &BTreeMap<ExchangeId, Exchange>, now: Timestamp) -> Vec<ExchangeId> {
    let due = exchanges.iter().filter(|(_, own)| own.until().is_some_and(|until| until <= now));
    due.map(|(exchange, _)| *exchange).collect()
}
