//! From addresses to a connection: one after the other, the next one before the last has
//! failed if that takes long.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tidegate_core::error::{ConnectStep, ExchangeFault};

use super::socket::Socket;
use crate::pollset::{PollSet, SocketId};

/// How long one address is tried alone (RFC 8305).
const ALONE: Duration = Duration::from_millis(250);

/// The addresses of one place being tried.
#[derive(Debug)]
pub(super) struct Dial {
    waiting: VecDeque<SocketAddr>,
    attempts: Vec<Socket>,
    /// When the next address is tried, if there is one.
    next: Instant,
    /// What the first address failed with that says most.
    error: Option<io::Error>,
}

impl Dial {
    pub(super) fn new(addresses: Vec<SocketAddr>) -> Self {
        Self { waiting: addresses.into(), attempts: Vec::new(), next: Instant::now(), error: None }
    }

    /// When the next address is to be tried.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.next)
    }

    /// The sockets that are being connected.
    pub(super) fn sockets(&self) -> impl Iterator<Item = SocketId> + '_ {
        self.attempts.iter().map(Socket::id)
    }

    /// Tries the next address if it is time; `make` gives a socket its number.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        poll: &mut PollSet,
        mut make: impl FnMut() -> SocketId,
    ) {
        while !self.waiting.is_empty() && (self.attempts.is_empty() || self.next <= now) {
            let Some(address) = self.waiting.pop_front() else { return };
            match Socket::connect(make(), address, poll) {
                Ok(socket) => {
                    self.attempts.push(socket);
                    self.next = now + ALONE;
                }
                Err(error) => self.note(error),
            }
        }
    }

    /// A socket is connected, or is not going to be; the one that is.
    pub(super) fn ready(&mut self, id: SocketId, poll: &mut PollSet) -> Option<Socket> {
        let at = self.attempts.iter().position(|socket| socket.id() == id)?;
        match self.attempts.get(at)?.connected()? {
            Ok(()) => {
                let socket = self.attempts.swap_remove(at);
                self.close(poll);
                Some(socket)
            }
            Err(error) => {
                self.attempts.swap_remove(at).close(poll);
                self.note(error);
                None
            }
        }
    }

    /// Why there is no connection, once nothing is left to be tried.
    pub(super) fn failure(&self) -> Option<ExchangeFault> {
        let over = self.attempts.is_empty() && self.waiting.is_empty();
        over.then(|| {
            let (step, message) = match &self.error {
                Some(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    (ConnectStep::Refused, String::new())
                }
                Some(error) => (ConnectStep::Unreachable, error.to_string()),
                None => (ConnectStep::Resolve, "it has no address".into()),
            };
            ExchangeFault::Connect { step, message }
        })
    }

    /// Gives up.
    pub(super) fn close(&mut self, poll: &mut PollSet) {
        for socket in self.attempts.drain(..) {
            socket.close(poll);
        }
        self.waiting.clear();
    }

    /// Whether the process may open no more descriptors.
    pub(super) fn is_out_of_descriptors(&self) -> bool {
        let errno = self.error.as_ref().and_then(io::Error::raw_os_error);
        errno.is_some_and(|errno| {
            [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE]
                .iter()
                .any(|full| full.raw_os_error() == errno)
        })
    }

    /// That nothing listens says more than that a family leads nowhere.
    fn note(&mut self, error: io::Error) {
        if self.error.is_none() || error.kind() == ErrorKind::ConnectionRefused {
            self.error = Some(error);
        }
    }
}
