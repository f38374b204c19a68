//! Sockets that wait for the next request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::origin::Origin;
use super::socket::Socket;
use crate::pollset::{Interest, PollSet, SocketId};

/// How many sockets to one origin may wait: as many calls as are usual at once.
const ORIGIN_MAX: usize = 64;

/// How many sockets may wait in all; they count against what a process may open.
const ALL_MAX: usize = 256;

/// How long a socket waits at most: many servers end theirs a little later.
const IDLE_MAX: Duration = Duration::from_secs(15);

/// How much earlier than the server says a socket is ended.
const MARGIN: Duration = Duration::from_secs(1);

/// The sockets.
#[derive(Debug, Default)]
pub(super) struct Pool {
    idle: BTreeMap<SocketId, Idle>,
    /// Those of each origin, the one that was used last at the end.
    by_origin: BTreeMap<Origin, Vec<SocketId>>,
    /// No socket is to be ended before.
    sweep: Option<Instant>,
}

#[derive(Debug)]
struct Idle {
    socket: Socket,
    origin: Origin,
    until: Instant,
}

impl Pool {
    /// A socket to an origin whose other side is still there.
    pub(super) fn take(&mut self, origin: &Origin, poll: &mut PollSet) -> Option<Socket> {
        while let Some(id) = self.by_origin.get_mut(origin).and_then(Vec::pop) {
            if self.by_origin.get(origin).is_some_and(Vec::is_empty) {
                self.by_origin.remove(origin);
            }
            let idle = self.idle.remove(&id)?;
            if idle.until > Instant::now() && idle.socket.is_quiet() {
                return Some(idle.socket);
            }
            idle.socket.close(poll);
        }
        None
    }

    /// Keeps a socket, as long as its server says it waits for it at most.
    pub(super) fn put(
        &mut self,
        origin: Origin,
        mut socket: Socket,
        keep: Option<Duration>,
        poll: &mut PollSet,
    ) {
        let patience = keep.map_or(IDLE_MAX, |keep| keep.saturating_sub(MARGIN).min(IDLE_MAX));
        let here = self.by_origin.get(&origin).map_or(0, Vec::len);
        let room = here < ORIGIN_MAX && self.idle.len() < ALL_MAX && !patience.is_zero();
        if !room || socket.await_(Interest::Read, poll).is_err() {
            return socket.close(poll);
        }
        let until = Instant::now() + patience;
        self.sweep = Some(self.sweep.map_or(until, |sweep| sweep.min(until)));
        self.by_origin.entry(origin.clone()).or_default().push(socket.id());
        self.idle.insert(socket.id(), Idle { socket, origin, until });
    }

    /// Ends a socket that said something: the end, or what nobody asked for.
    pub(super) fn ready(&mut self, id: SocketId, poll: &mut PollSet) {
        if let Some(idle) = self.idle.remove(&id) {
            if let Some(of_origin) = self.by_origin.get_mut(&idle.origin) {
                of_origin.retain(|other| *other != id);
                if of_origin.is_empty() {
                    self.by_origin.remove(&idle.origin);
                }
            }
            idle.socket.close(poll);
        }
    }

    /// Ends those to an origin that nobody is left to ask.
    pub(super) fn leave(&mut self, origin: &Origin, poll: &mut PollSet) {
        for id in self.by_origin.remove(origin).unwrap_or_default() {
            self.ready(id, poll);
        }
    }

    /// When sockets are to be ended at the earliest.
    pub(super) fn next_sweep(&self) -> Option<Instant> {
        self.sweep.filter(|_| !self.idle.is_empty())
    }

    /// Ends what waited long enough.
    pub(super) fn sweep(&mut self, now: Instant, poll: &mut PollSet) {
        if self.sweep.is_none_or(|sweep| sweep > now) {
            return;
        }
        let over = self.idle.iter().filter(|(_, idle)| idle.until <= now);
        for id in over.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.ready(id, poll);
        }
        self.sweep = self.idle.values().map(|idle| idle.until).min();
    }

    /// Ends them all; whether there were any.
    pub(super) fn clear(&mut self, poll: &mut PollSet) -> bool {
        let had = !self.idle.is_empty();
        self.by_origin.clear();
        for (_, idle) in std::mem::take(&mut self.idle) {
            idle.socket.close(poll);
        }
        had
    }
}
