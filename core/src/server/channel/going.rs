//! What goes out over HTTP.
//!
//! Floor 3. One function orders an exchange, from whatever it is for.

use alloc::vec::Vec;
use core::mem;

use crate::command::{Command, SessionId};
use crate::id::ExchangeId;
use crate::time::Timestamp;
use crate::wire::http::{delete, get, post};

use super::exchange::{Exchange, Role, Stage, Thread};
use super::http::{Http, Way};
use super::{Kind, Outgoing, Step};

impl Http {
    /// Sends a message, or keeps it until it may go.
    pub(super) fn send(&mut self, message: Outgoing, step: &mut Step<'_>) {
        let waits = match &self.way {
            Way::Modern => false,
            Way::Streamable => self.holds && message.kind.request().is_some(),
            Way::Events { endpoint, .. } => endpoint.is_none(),
        };
        if waits {
            self.held.push_back(message);
            self.open_stream(step);
        } else {
            self.go(message, step);
        }
    }

    fn go(&mut self, Outgoing { mut line, labels, kind }: Outgoing, step: &mut Step<'_>) {
        while line.last().is_some_and(|byte| *byte == b'\n') {
            line.pop();
        }
        self.begin(Role::Post { kind, labels, text: line.into() }, step);
        if kind == Kind::Initialized && self.way == Way::Streamable {
            self.holds = true;
            // The server may speak by itself from here on, and nothing waits for that (G46).
            self.begin(Role::Listen { opened: false }, step);
        }
    }

    /// The handshake has arrived, or it is known where messages go: what waited for that goes.
    pub(super) fn release(&mut self, step: &mut Step<'_>) {
        self.holds = false;
        for message in mem::take(&mut self.held) {
            self.send(message, step);
        }
    }

    /// Asks for the stream that everything comes by, if that is not under way.
    pub(super) fn open_stream(&mut self, step: &mut Step<'_>) {
        let events = matches!(self.way, Way::Events { .. });
        if events && !self.exchanges.values().any(|own| own.role == Role::Stream) {
            self.begin(Role::Stream, step);
        }
    }

    /// Makes an exchange.
    pub(super) fn begin(&mut self, role: Role, step: &mut Step<'_>) -> ExchangeId {
        let stage = Stage::Waiting { until: step.now };
        let hops = if self.is_older() { Vec::new() } else { self.moved.clone() };
        let exchange = Exchange { role, hops, thread: Thread::default(), stage };
        self.schedule(exchange, step.now, step)
    }

    /// Makes an exchange when its time has come, under a number that none had.
    pub(super) fn schedule(
        &mut self,
        exchange: Exchange,
        until: Timestamp,
        step: &mut Step<'_>,
    ) -> ExchangeId {
        let id = ExchangeId::new(self.next.next());
        self.exchanges.insert(id, Exchange { stage: Stage::Waiting { until }, ..exchange });
        if until <= step.now {
            self.order(id, step);
        }
        id
    }

    /// Has the driver make an exchange that waited.
    pub(super) fn order(&mut self, id: ExchangeId, step: &mut Step<'_>) {
        let streamable = self.way == Way::Streamable;
        let session = if streamable { SessionId::Send } else { SessionId::Ignore };
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let limits = &step.setting.limits;
        let (mut request, limit_ms) = match &exchange.role {
            Role::Post { kind: Kind::Initialize(_), text, .. } => {
                let session = if streamable { SessionId::Keep } else { SessionId::Ignore };
                (post(None, session, text.clone()), None)
            }
            Role::Post { kind, labels, text } => {
                let limit_ms = match kind {
                    // C-VER-20: whoever is silent then is asked something else.
                    Kind::Discover(_) => Some(self.patience.probe_ms),
                    Kind::Initialize(_) | Kind::Harmless(_) | Kind::Call(..) => None,
                    Kind::Initialized | Kind::Aside => Some(limits.http_head_ms),
                };
                let mut request = post(self.revision, session, text.clone());
                request.headers.extend(labels.iter().cloned());
                (request, limit_ms)
            }
            // G46: a server may say nothing at all on a stream before it has something to say.
            Role::Listen { .. } | Role::Resume { .. } => {
                (get(self.revision, session, exchange.thread.last_id.as_deref()), None)
            }
            Role::Stream => {
                let instead = matches!(self.way, Way::Events { instead: Some(_), .. });
                (get(None, session, None), instead.then_some(limits.http_endpoint_ms))
            }
            Role::Goodbye => (delete(self.revision), None),
        };
        let endpoint = match (&self.way, &exchange.role) {
            (Way::Events { endpoint, .. }, Role::Post { .. }) => endpoint.as_ref(),
            _ => None,
        };
        request.target = endpoint.into_iter().chain(&exchange.hops).cloned().collect();
        exchange.stage = Stage::Asked { until: limit_ms.map(|limit_ms| step.now.plus(limit_ms)) };
        step.out.command(Command::Exchange { conn: self.conn, exchange: id, request });
    }
}
