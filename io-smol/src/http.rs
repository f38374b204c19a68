//! Remote servers: their exchanges, and nothing that waits for any of them.
//!
//! One stack for calls and for streams that stay open, without a thread and without a task for
//! either: non-blocking sockets in the driver's own poll set, HTTP/1.1 by `ureq-proto` and TLS by
//! `rustls`, both state machines without I/O. A blocking client would pin a thread to each open
//! stream and could be woken only by shutting its socket down; here breaking an exchange off is
//! closing its socket. An open stream takes 3.3 KiB (`an_idle_stream_takes_a_few_kib`), where a
//! blocking client with small buffers takes 53 KiB and its thread. A call on an idle socket costs
//! what a call to a process does: a write, a wait, a read; so calls need no second stack.
//!
//! Keeps the driver's half of the contract: per `Connect` one `Opened` or `OpenFailed`, per
//! exchange at most one `Head`, then `Body`s, then one `ExchangeEnded`, unless it was broken off.

mod answer;
mod dial;
mod exchange;
mod lookup;
pub(crate) mod network;
mod origin;
mod outgoing;
mod pool;
mod proxy;
mod remote;
mod socket;
mod tls;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::command::{FilledRemote, HttpRequest};
use tidegate_core::error::{ExchangeError, Exit, Sent};
use tidegate_core::id::{ConnId, ExchangeId};
use tidegate_core::input::Fact;

use crate::connection::Shared;
use crate::inbox::Inbox;
use crate::pollset::SocketId;

use exchange::{Course, Exchange, Wires};
use lookup::{Key, Lookups};
use network::Network;
use pool::Pool;
use proxy::Proxies;
use remote::Remote;
use tls::Tls;

pub(crate) use lookup::Place;

/// The remote servers.
pub(crate) struct Http {
    proxies: Proxies,
    tls: Arc<Tls>,
    lookups: Lookups,
    remotes: BTreeMap<ConnId, Remote>,
    exchanges: BTreeMap<Key, Entry>,
    /// When exchanges want to be looked at.
    timers: BTreeSet<(Instant, Key)>,
    owners: BTreeMap<SocketId, Key>,
    pool: Pool,
    /// How many sockets were made.
    made: u64,
    buffer: Vec<u8>,
}

struct Entry {
    exchange: Exchange,
    /// Its entry among the timers.
    timer: Option<Instant>,
}

impl Http {
    pub(crate) fn new(network: Network, inbox: Arc<Inbox>) -> Self {
        let Network { proxies, ca_file } = network;
        let tls = Arc::new(Tls::new(ca_file));
        Self {
            proxies,
            lookups: Lookups::new(Arc::clone(&tls), inbox),
            tls,
            remotes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            timers: BTreeSet::new(),
            owners: BTreeMap::new(),
            pool: Pool::default(),
            made: 0,
            buffer: Vec::new(),
        }
    }

    /// Whether an attempt is one of these.
    pub(crate) fn has(&self, conn: ConnId) -> bool {
        self.remotes.contains_key(&conn)
    }

    /// Keeps where a server is; the headers of its definition that are not sent.
    pub(crate) fn connect(
        &mut self,
        conn: ConnId,
        filled: &FilledRemote,
        shared: &mut Shared,
    ) -> Vec<String> {
        match Remote::new(filled) {
            Ok((remote, ignored)) => {
                self.remotes.insert(conn, remote);
                shared.facts.push_back(Fact::Opened { conn, pid: None });
                ignored
            }
            Err(error) => {
                shared.facts.push_back(Fact::OpenFailed { conn, error });
                Vec::new()
            }
        }
    }

    /// Begins an exchange.
    pub(crate) fn exchange(
        &mut self,
        conn: ConnId,
        exchange: ExchangeId,
        request: &HttpRequest,
        shared: &mut Shared,
    ) {
        let key = (conn, exchange);
        let Some(remote) = self.remotes.get(&conn) else { return };
        let proxy = self.proxies.to(remote.origin());
        match Exchange::new(key, remote, request, proxy) {
            Ok(exchange) => {
                self.exchanges.insert(key, Entry { exchange, timer: None });
                let course = self.with(key, shared, |exchange, _, wires| exchange.begin(wires));
                match course.flatten() {
                    Some(course) => self.settle(key, course, shared),
                    None => self.look(key, shared),
                }
            }
            Err(fault) => {
                let end = Err(ExchangeError { fault, sent: Sent::Nothing });
                shared.facts.push_back(Fact::ExchangeEnded { conn, exchange, end });
            }
        }
    }

    /// Breaks an exchange off: nothing more is heard of it, not even what happened already.
    pub(crate) fn abort(&mut self, conn: ConnId, exchange: ExchangeId, shared: &mut Shared) {
        let key = (conn, exchange);
        self.with(key, shared, |exchange, _, wires| exchange.drop_sockets(wires));
        self.remove(key);
        shared.facts.retain(|fact| of(fact) != Some(key));
    }

    /// Breaks off everything with a server, forgets it, and says so.
    pub(crate) fn kill(&mut self, conn: ConnId, shared: &mut Shared) {
        self.abandon(conn, shared);
        shared.facts.push_back(Fact::Closed { conn, exit: Exit::Unknown });
    }

    /// Breaks off everything with a server and forgets it.
    pub(crate) fn abandon(&mut self, conn: ConnId, shared: &mut Shared) {
        let from = (conn, ExchangeId::new(0));
        let of_conn = self.exchanges.range(from..).map(|(key, _)| *key);
        for key in of_conn.take_while(|key| key.0 == conn).collect::<Vec<_>>() {
            self.abort(key.0, key.1, shared);
        }
        shared.facts.retain(|fact| of(fact).is_none_or(|key| key.0 != conn));
        let Some(gone) = self.remotes.remove(&conn) else { return };
        if self.remotes.values().all(|remote| remote.origin() != gone.origin()) {
            self.pool.leave(gone.origin(), &mut shared.poll);
        }
    }

    /// Ends every socket that waits for another request.
    pub(crate) fn end(&mut self, shared: &mut Shared) {
        self.pool.clear(&mut shared.poll);
    }

    /// A place was looked up.
    pub(crate) fn looked_up(
        &mut self,
        place: &Place,
        found: &io::Result<Vec<SocketAddr>>,
        shared: &mut Shared,
    ) {
        let now = Instant::now();
        for key in self.lookups.looked_up(place) {
            let found = found.as_ref().cloned().map_err(ToString::to_string);
            let course =
                self.with(key, shared, |exchange, _, wires| exchange.looked_up(found, now, wires));
            self.settle(key, course.unwrap_or(Course::Waits), shared);
        }
    }

    /// Does what a ready socket asks for.
    pub(crate) fn ready(&mut self, socket: SocketId, shared: &mut Shared) {
        match self.owners.get(&socket) {
            Some(key) => {
                let key = *key;
                let course = self.with(key, shared, |exchange, remote, wires| {
                    exchange.ready(socket, remote, wires)
                });
                self.settle(key, course.unwrap_or(Course::Waits), shared);
            }
            None => self.pool.ready(socket, &mut shared.poll),
        }
    }

    /// When something is to be done although nothing happened.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let timer = self.timers.first().map(|(at, _)| *at);
        [timer, self.pool.next_sweep()].into_iter().flatten().min()
    }

    /// Does what time demands.
    pub(crate) fn pass(&mut self, now: Instant, shared: &mut Shared) {
        self.pool.sweep(now, &mut shared.poll);
        while let Some((at, key)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            if let Some(entry) = self.exchanges.get_mut(&key) {
                entry.timer = None;
            }
            let course = self.with(key, shared, |exchange, _, wires| exchange.pass(now, wires));
            self.settle(key, course.unwrap_or(Course::Waits), shared);
        }
    }

    /// Has its place looked up for an exchange that has no socket.
    fn look(&mut self, key: Key, shared: &mut Shared) {
        let Some(entry) = self.exchanges.get(&key) else { return };
        let place = entry.exchange.place();
        let course = self.lookups.look(&place, key).and_then(|found| {
            let now = Instant::now();
            self.with(key, shared, |exchange, _, wires| exchange.looked_up(Ok(found), now, wires))
        });
        self.settle(key, course.unwrap_or(Course::Waits), shared);
    }

    /// Does what the course of an exchange asks for.
    fn settle(&mut self, key: Key, course: Course, shared: &mut Shared) {
        match course {
            Course::Waits => {
                let Some(entry) = self.exchanges.get_mut(&key) else { return };
                let due = entry.exchange.due();
                if due != entry.timer {
                    if let Some(before) = entry.timer {
                        self.timers.remove(&(before, key));
                    }
                    self.timers.extend(due.map(|due| (due, key)));
                    entry.timer = due;
                }
            }
            Course::Again => {
                if let Some(entry) = self.exchanges.get_mut(&key) {
                    entry.exchange.begin_again();
                    self.look(key, shared);
                }
            }
            Course::Ended(end) => {
                self.remove(key);
                let (conn, exchange) = key;
                shared.facts.push_back(Fact::ExchangeEnded { conn, exchange, end });
            }
        }
    }

    fn remove(&mut self, key: Key) {
        if let Some(entry) = self.exchanges.remove(&key)
            && let Some(timer) = entry.timer
        {
            self.timers.remove(&(timer, key));
        }
    }

    /// Does something with an exchange and its server.
    fn with<T>(
        &mut self,
        key: Key,
        shared: &mut Shared,
        act: impl FnOnce(&mut Exchange, &mut Remote, &mut Wires<'_>) -> T,
    ) -> Option<T> {
        let entry = self.exchanges.get_mut(&key)?;
        let remote = self.remotes.get_mut(&key.0)?;
        let mut wires = Wires {
            poll: &mut shared.poll,
            facts: &mut shared.facts,
            pool: &mut self.pool,
            tls: &self.tls,
            owners: &mut self.owners,
            made: &mut self.made,
            buffer: &mut self.buffer,
        };
        Some(act(&mut entry.exchange, remote, &mut wires))
    }
}

/// The exchange that a fact is of.
fn of(fact: &Fact) -> Option<Key> {
    if let Fact::Head { conn, exchange, .. }
    | Fact::Body { conn, exchange, .. }
    | Fact::ExchangeEnded { conn, exchange, .. } = fact
    {
        Some((*conn, *exchange))
    } else {
        None
    }
}

#[cfg(test)]
#[path = "http/tests/mod.rs"]
mod tests;
