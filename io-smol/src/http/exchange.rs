//! One exchange on its way: from a name to a socket, to a request, to an answer.
//!
//! ```text
//! Looking ─► Dialing ─► Tunneling ─► Securing ─► Talking ─► over
//!    ▲          (through a proxy, encrypted)        ▲  │
//!    │                                   an idle socket│
//!    └─────── it was dead, and nothing was lost ───────┘
//! ```

mod talk;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use tidegate_core::command::{HttpRequest, Method, SessionId};
use tidegate_core::error::{ConnectStep, ExchangeError, ExchangeFault, Sent};
use tidegate_core::input::Fact;

use super::answer::Answer;
use super::dial::Dial;
use super::lookup::{Key, Place};
use super::origin::Origin;
use super::outgoing::{Outgoing, outgoing};
use super::pool::Pool;
use super::proxy::{Proxy, Unusable};
use super::remote::Remote;
use super::socket::Socket;
use super::tls::Tls;
use super::tunnel::Tunnel;
use crate::pollset::{Interest, PollSet, SocketId};

/// How long a connection may take to be made at most.
const CONNECT_MS_MAX: u64 = 24 * 60 * 60 * 1000;

/// What all exchanges work with.
pub(super) struct Wires<'a> {
    pub(super) poll: &'a mut PollSet,
    pub(super) facts: &'a mut VecDeque<Fact>,
    pub(super) pool: &'a mut Pool,
    pub(super) tls: &'a Tls,
    /// Who has which socket.
    pub(super) owners: &'a mut BTreeMap<SocketId, Key>,
    /// How many sockets were made.
    pub(super) made: &'a mut u64,
    /// Where what comes is read first.
    pub(super) buffer: &'a mut Vec<u8>,
}

/// An exchange.
pub(super) struct Exchange {
    key: Key,
    origin: Origin,
    proxy: Option<Proxy>,
    session: SessionId,
    /// Whether making it twice is the same as making it once (RFC 9110, 9.2.2).
    repeatable: bool,
    out: Vec<u8>,
    /// How much of `out` the socket took.
    taken: usize,
    answer: Answer,
    /// What came and cannot be read yet.
    waiting: Vec<u8>,
    /// Whether the request cannot be sent to its end.
    spoiled: bool,
    step: Step,
    limit: Duration,
    /// Until when there must be a connection.
    by: Instant,
    /// How long the server says it waits for another request.
    keep: Option<Duration>,
}

enum Step {
    Looking,
    Dialing(Dial),
    Tunneling(Socket, Tunnel),
    Securing(Socket),
    /// Whether the socket was used before.
    Talking(Socket, Used),
    Over,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Used {
    Before,
    Never,
}

/// How an exchange goes on.
#[derive(Debug)]
pub(super) enum Course {
    /// By what happens next.
    Waits,
    /// Not at all.
    Ended(Result<(), ExchangeError>),
    /// From its beginning: the idle socket was dead.
    Again,
}

impl Exchange {
    /// An exchange that nothing is done for yet.
    pub(super) fn new(
        key: Key,
        remote: &Remote,
        request: &HttpRequest,
        proxy: Result<Option<&Proxy>, Unusable>,
    ) -> Result<Self, ExchangeFault> {
        let url = remote.target(&request.target)?;
        let proxy = proxy.map_err(|Unusable(message)| ExchangeFault::Connect {
            step: ConnectStep::Proxy,
            message,
        })?;
        let origin = remote.origin();
        let outgoing = outgoing(&url, origin, request, remote.headers(request), proxy);
        let Outgoing { bytes, call } =
            outgoing.map_err(|error| ExchangeFault::BadHead { message: error.to_string() })?;
        let limit = Duration::from_millis(remote.connect_ms.min(CONNECT_MS_MAX));
        Ok(Self {
            key,
            origin: origin.clone(),
            proxy: proxy.cloned(),
            session: request.session,
            repeatable: request.method != Method::Post,
            out: bytes,
            taken: 0,
            answer: Answer::new(call),
            waiting: Vec::new(),
            spoiled: false,
            step: Step::Looking,
            limit,
            by: Instant::now() + limit,
            keep: None,
        })
    }

    /// What is to be looked up for it.
    pub(super) fn place(&self) -> Place {
        let (host, port) = match &self.proxy {
            Some(proxy) => (proxy.host.clone(), proxy.port),
            None => (self.origin.host.clone(), self.origin.port),
        };
        Place { host, port, secure: self.origin.secure }
    }

    /// When something is to be done for it although nothing happened.
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.step {
            Step::Talking(..) | Step::Over => None,
            Step::Dialing(dial) => Some(dial.due().map_or(self.by, |due| due.min(self.by))),
            Step::Looking | Step::Tunneling(..) | Step::Securing(_) => Some(self.by),
        }
    }

    /// Takes an idle socket, if there is one; otherwise its place has to be looked up.
    pub(super) fn begin(&mut self, wires: &mut Wires<'_>) -> Option<Course> {
        let socket = wires.pool.take(&self.origin, wires.poll)?;
        wires.owners.insert(socket.id(), self.key);
        Some(self.talk(socket, Used::Before, wires))
    }

    /// Begins again, with a new socket: its place has to be looked up.
    pub(super) fn begin_again(&mut self) {
        (self.taken, self.spoiled) = (0, false);
        self.by = Instant::now() + self.limit;
        self.step = Step::Looking;
    }

    /// The place was looked up.
    pub(super) fn looked_up(
        &mut self,
        found: Result<Vec<std::net::SocketAddr>, String>,
        now: Instant,
        wires: &mut Wires<'_>,
    ) -> Course {
        if !matches!(self.step, Step::Looking) {
            return Course::Waits;
        }
        match found {
            Ok(addresses) => {
                self.step = Step::Dialing(Dial::new(addresses));
                self.dial(now, wires)
            }
            Err(message) => {
                self.fail(ExchangeFault::Connect { step: ConnectStep::Resolve, message }, wires)
            }
        }
    }

    /// Time went by.
    pub(super) fn pass(&mut self, now: Instant, wires: &mut Wires<'_>) -> Course {
        match &self.step {
            Step::Talking(..) | Step::Over => Course::Waits,
            _ if self.by <= now => {
                let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
                self.fail(ExchangeFault::TimedOut { limit_ms }, wires)
            }
            Step::Dialing(_) => self.dial(now, wires),
            Step::Looking | Step::Tunneling(..) | Step::Securing(_) => Course::Waits,
        }
    }

    /// One of its sockets is ready.
    pub(super) fn ready(
        &mut self,
        id: SocketId,
        remote: &mut Remote,
        wires: &mut Wires<'_>,
    ) -> Course {
        match std::mem::replace(&mut self.step, Step::Over) {
            Step::Dialing(mut dial) => {
                let before: Vec<SocketId> = dial.sockets().collect();
                let connected = dial.ready(id, wires.poll);
                for gone in before.iter().filter(|it| dial.sockets().all(|other| other != **it)) {
                    wires.owners.remove(gone);
                }
                match connected {
                    Some(socket) => {
                        wires.owners.insert(socket.id(), self.key);
                        self.connected(socket, wires)
                    }
                    None => {
                        self.step = Step::Dialing(dial);
                        self.dial(Instant::now(), wires)
                    }
                }
            }
            Step::Tunneling(socket, tunnel) => self.tunnel(socket, tunnel, wires),
            Step::Securing(socket) => self.secure(socket, wires),
            Step::Talking(socket, used) => match self.send(socket, used, wires) {
                Ok(socket) => self.receive(socket, used, remote, wires),
                Err(course) => course,
            },
            step @ (Step::Looking | Step::Over) => {
                self.step = step;
                Course::Waits
            }
        }
    }

    /// Gives up what it holds.
    pub(super) fn drop_sockets(&mut self, wires: &mut Wires<'_>) {
        match std::mem::replace(&mut self.step, Step::Over) {
            Step::Dialing(mut dial) => {
                for id in dial.sockets() {
                    wires.owners.remove(&id);
                }
                dial.close(wires.poll);
            }
            Step::Tunneling(socket, _) | Step::Securing(socket) | Step::Talking(socket, _) => {
                close(socket, wires);
            }
            Step::Looking | Step::Over => {}
        }
    }

    fn dial(&mut self, now: Instant, wires: &mut Wires<'_>) -> Course {
        let Step::Dialing(dial) = &mut self.step else { return Course::Waits };
        let (owners, made, key) = (&mut *wires.owners, &mut *wires.made, self.key);
        dial.advance(now, wires.poll, || {
            let id = SocketId(*made);
            *made += 1;
            owners.insert(id, key);
            id
        });
        match dial.failure() {
            None => Course::Waits,
            // Those that wait are worth less than this one.
            Some(_) if dial.is_out_of_descriptors() && wires.pool.clear(wires.poll) => {
                Course::Again
            }
            Some(ExchangeFault::Connect { step, message }) if self.proxy.is_some() => {
                let proxy = self.proxy.as_ref().map(ToString::to_string).unwrap_or_default();
                let error = ExchangeFault::Connect { step, message };
                let message = format!("{proxy}: {error}");
                self.fail(ExchangeFault::Connect { step: ConnectStep::Proxy, message }, wires)
            }
            Some(fault) => self.fail(fault, wires),
        }
    }

    fn connected(&mut self, socket: Socket, wires: &mut Wires<'_>) -> Course {
        match &self.proxy {
            Some(proxy) if self.origin.secure => {
                let tunnel = Tunnel::new(&self.origin, proxy);
                self.tunnel(socket, tunnel, wires)
            }
            Some(_) | None => self.start(socket, wires),
        }
    }

    fn tunnel(&mut self, mut socket: Socket, mut tunnel: Tunnel, wires: &mut Wires<'_>) -> Course {
        match tunnel.advance(&mut socket) {
            Ok(true) => self.start(socket, wires),
            Ok(false) => {
                let interest =
                    if tunnel.is_writing() { Interest::ReadWrite } else { Interest::Read };
                match socket.await_(interest, wires.poll) {
                    Ok(()) => {
                        self.step = Step::Tunneling(socket, tunnel);
                        Course::Waits
                    }
                    Err(error) => self.refuse(socket, ConnectStep::Proxy, error.to_string(), wires),
                }
            }
            Err(fault) => self.fail_with(socket, fault, wires),
        }
    }

    /// The way is open: all that is left is to encrypt it, if it is to be.
    fn start(&mut self, mut socket: Socket, wires: &mut Wires<'_>) -> Course {
        if !self.origin.secure {
            return self.talk(socket, Used::Never, wires);
        }
        match wires.tls.connection(&self.origin.host) {
            Ok(tls) => {
                socket.secure(tls);
                self.secure(socket, wires)
            }
            Err(message) => {
                let message = wires.tls.explained(message);
                self.refuse(socket, ConnectStep::Tls, message, wires)
            }
        }
    }

    fn secure(&mut self, mut socket: Socket, wires: &mut Wires<'_>) -> Course {
        let done = socket.handshake().and_then(|done| {
            let waits = socket.await_(socket.wanted(), wires.poll);
            waits.map(|()| done).map_err(|error| error.to_string())
        });
        match done {
            Ok(true) => self.talk(socket, Used::Never, wires),
            Ok(false) => {
                self.step = Step::Securing(socket);
                Course::Waits
            }
            Err(message) => {
                let message = wires.tls.explained(message);
                self.refuse(socket, ConnectStep::Tls, message, wires)
            }
        }
    }

    fn refuse(
        &self,
        socket: Socket,
        step: ConnectStep,
        message: String,
        wires: &mut Wires<'_>,
    ) -> Course {
        self.fail_with(socket, ExchangeFault::Connect { step, message }, wires)
    }

    fn fail_with(&self, socket: Socket, fault: ExchangeFault, wires: &mut Wires<'_>) -> Course {
        let connecting = matches!(fault, ExchangeFault::Connect { .. });
        let sent = if connecting || !socket.was_touched() { Sent::Nothing } else { Sent::Perhaps };
        close(socket, wires);
        Course::Ended(Err(ExchangeError { fault, sent }))
    }

    /// Fails on the way to a connection.
    fn fail(&mut self, fault: ExchangeFault, wires: &mut Wires<'_>) -> Course {
        self.drop_sockets(wires);
        Course::Ended(Err(ExchangeError { fault, sent: Sent::Nothing }))
    }
}

fn close(socket: Socket, wires: &mut Wires<'_>) {
    wires.owners.remove(&socket.id());
    socket.close(wires.poll);
}
