//! What the host asks of the hub, and when each operation has ended.
//!
//! Floor 4. Operations are applied in the order they are asked for, per server (G16).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::CallError;
use crate::event::{Event, OpResult, Outcome, ServerState};
use crate::id::{CallId, ConnId, OpId, ServerName};
use crate::outbox::Outbox;
use crate::time::Timestamp;
use crate::wire::json::{self, Kind};

use super::Hub;
use super::calls::{Dropped, Ripe};
use super::gate::Gate;
use super::reload::Report;
use super::slot::{Cached, Standing};

/// An operation that has not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Pending {
    op: OpId,
    pub(super) until: Until,
}

/// What an operation waits for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Until {
    /// The servers a reload started to settle.
    Reload(Report),
    /// A server to settle.
    Connect(ServerName),
    /// A server's attempt to be gone.
    Disconnect(ServerName),
    /// The attempts that there were to be gone; servers may have been connected again since.
    DisconnectAll(Vec<ConnId>),
}

impl Hub {
    /// Starts everything that is configured.
    pub fn start(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        self.gates.push(Gate::new(op, now, &self.options.policy));
        self.progressed = true;
        if !self.stopping {
            self.read_config(now, None, out);
        }
    }

    /// Follows the configuration as it is.
    pub fn reload(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        self.read_config(now, Some(op), out);
    }

    fn wait_for(&mut self, op: OpId, until: Until) {
        self.ops.push(Pending { op, until });
        self.progressed = true;
    }

    pub(super) fn arm_reloads(&mut self, reloads: Vec<OpId>, report: &Report) {
        for op in reloads {
            self.wait_for(op, Until::Reload(report.clone()));
        }
    }

    /// Connects one server.
    pub fn connect(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        let Some(slot) = self.slots.get_mut(name).filter(|s| s.standing != Standing::Removed)
        else {
            return done(op, OpResult::UnknownServer, out);
        };
        match slot.standing {
            Standing::Off(reason) => return done(op, OpResult::Skipped { reason }, out),
            Standing::Again | Standing::Removed => {}
            Standing::Wanted | Standing::Disconnected => {
                let runs = slot.is_connecting() || slot.is_connected();
                if !runs && slot.server.is_some() {
                    // G5: the new attempt waits until the old one is gone.
                    slot.standing = Standing::Again;
                    self.touched.insert(name.clone());
                } else if !runs {
                    self.open(name, now, out);
                }
            }
        }
        self.wait_for(op, Until::Connect(name.clone()));
    }

    /// Disconnects one server.
    pub fn disconnect(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        if !self.slots.contains_key(name) {
            return done(op, OpResult::UnknownServer, out);
        }
        self.disconnect_one(name, now, out);
        self.wait_for(op, Until::Disconnect(name.clone()));
    }

    /// Disconnects every server.
    pub fn disconnect_all(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        for name in Arc::clone(&self.order).iter() {
            self.disconnect_one(name, now, out);
        }
        let attempts = self.by_conn.keys().copied().collect();
        self.wait_for(op, Until::DisconnectAll(attempts));
    }

    /// Disconnects every server and refuses everything from here on.
    pub fn shut_down(&mut self, now: Timestamp, out: &mut Outbox) {
        if self.stopping {
            return;
        }
        self.stopping = true;
        self.progressed = true;
        self.calls.fail_all(&CallError::ShuttingDown, out);
        let reloads = self.reading.take().map(|reading| reading.reloads).unwrap_or_default();
        for op in reloads {
            done(op, OpResult::ShuttingDown, out);
        }
        for name in Arc::clone(&self.order).iter() {
            self.disconnect_one(name, now, out);
        }
    }

    fn disconnect_one(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        if matches!(slot.standing, Standing::Wanted | Standing::Again) {
            slot.standing = Standing::Disconnected;
            slot.failure = None;
            slot.cached = Cached::Unknown;
        }
        self.stop(name, now, out);
        self.fail_waiting(name, out);
    }

    /// Accepts a call: sends it, lets it wait for its server, or ends it at once.
    pub fn call(
        &mut self,
        now: Timestamp,
        call: CallId,
        target: Result<(ServerName, String), CallError>,
        arguments: Json,
        timeout_ms: Option<u64>,
        out: &mut Outbox,
    ) {
        if !self.calls.admit(call) {
            return out.event(Event::CallRefused { call });
        }
        let accepted = target.and_then(|(server, tool)| {
            let arguments = self.check_call(arguments)?;
            self.place_call(now, call, &server, tool, arguments, timeout_ms, out)
        });
        if let Err(error) = accepted {
            out.event(Event::CallFinished { call, outcome: Outcome::Failed(error) });
        }
    }

    fn check_call(&self, arguments: Json) -> Result<Json, CallError> {
        if self.stopping {
            return Err(CallError::ShuttingDown);
        }
        if let Some(limit) = self.calls.full() {
            return Err(CallError::TooManyCalls { limit });
        }
        match json::check(arguments.as_str(), self.options.setting.limits.nesting) {
            Ok(Kind::Object) => Ok(one_line(arguments)),
            Ok(kind) => Err(CallError::BadArguments { message: alloc::format!("they are {kind}") }),
            Err(error) => Err(CallError::BadArguments { message: alloc::format!("{error}") }),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call, spelled out")]
    fn place_call(
        &mut self,
        now: Timestamp,
        call: CallId,
        name: &ServerName,
        tool: String,
        arguments: Json,
        timeout_ms: Option<u64>,
        out: &mut Outbox,
    ) -> Result<(), CallError> {
        let Some(slot) = self.slots.get_mut(name).filter(|s| s.standing != Standing::Removed)
        else {
            return Err(CallError::UnknownServer { server: name.clone() });
        };
        let timeout_ms = timeout_ms.or_else(|| slot.definition().timeout_ms);
        if slot.is_connecting() {
            self.calls.wait(now, call, name, timeout_ms, tool, arguments);
            return Ok(());
        }
        let ready = slot.is_connected();
        let Some(server) = slot.server.as_mut().filter(|_| ready) else {
            let reason = self.why_not_connected(name);
            return Err(CallError::NotConnected { server: name.clone(), reason });
        };
        if !server.offers(&tool) {
            return Err(CallError::UnknownTool { tool });
        }
        let conn = server.conn();
        if let Some(request) = server.call(call, &tool, &arguments, out) {
            self.calls.sent(now, call, name, timeout_ms, conn, request);
        }
        Ok(())
    }

    /// Sends the calls that waited for a server; a tool that is gone answers so.
    pub(super) fn send_waiting(&mut self, name: &ServerName, out: &mut Outbox) {
        let Some(server) = self.slots.get_mut(name).and_then(|slot| slot.server.as_mut()) else {
            return;
        };
        let conn = server.conn();
        for Ripe { call, tool, arguments } in self.calls.ripe(name) {
            let request =
                if server.offers(&tool) { server.call(call, &tool, &arguments, out) } else { None };
            match request {
                Some(request) => self.calls.was_sent(call, conn, request),
                None => self.calls.fail(call, CallError::UnknownTool { tool }, out),
            }
        }
    }

    /// Gives a call up.
    pub fn cancel(&mut self, call: CallId, out: &mut Outbox) {
        if let Some(dropped) = self.calls.abort(call, out) {
            self.tell_cancelled(dropped, "the host cancelled the call", out);
        }
    }

    pub(super) fn tell_cancelled(&mut self, dropped: Dropped, reason: &str, out: &mut Outbox) {
        let Some(name) = self.by_conn.get(&dropped.conn) else { return };
        if let Some(server) = self.slots.get_mut(name).and_then(|slot| slot.server.as_mut()) {
            server.cancel(dropped.request, reason, out);
        }
    }

    pub(super) fn why_not_connected(&self, name: &ServerName) -> String {
        match self.slots.get(name).map(|slot| slot.state()) {
            Some(ServerState::Failed { failure }) => failure.describe(name),
            Some(ServerState::Skipped { reason }) => reason.describe().into(),
            Some(ServerState::Disabled) => crate::event::Skip::Disabled.describe().into(),
            Some(ServerState::NeedsApproval) => crate::event::Skip::NeedsApproval.describe().into(),
            Some(ServerState::Connecting | ServerState::Connected | ServerState::Disconnected)
            | None => String::new(),
        }
    }

    /// Ends the operations whose condition holds.
    pub(super) fn conclude_ops(&mut self, out: &mut Outbox) {
        for pending in core::mem::take(&mut self.ops) {
            match self.result(&pending.until) {
                Some(result) => done(pending.op, result, out),
                None => self.ops.push(pending),
            }
        }
    }

    fn result(&self, until: &Until) -> Option<OpResult> {
        let settled = |name: &ServerName| self.slots.get(name).is_none_or(|s| !s.is_connecting());
        let gone = |name: &ServerName| self.slots.get(name).is_none_or(|s| s.server.is_none());
        match until {
            Until::Reload(report) => {
                let all = report.started.iter().chain(&report.restarted).all(settled);
                all.then(|| report.clone().result())
            }
            Until::Connect(name) => settled(name).then(|| match self.slots.get(name) {
                Some(slot) if slot.is_connected() => OpResult::Done,
                Some(slot) => {
                    if let ServerState::Failed { failure } = slot.state() {
                        OpResult::Failed { failure }
                    } else {
                        OpResult::Superseded
                    }
                }
                None => OpResult::UnknownServer,
            }),
            Until::Disconnect(name) => {
                let back = self.slots.get(name).is_some_and(|slot| slot.is_connecting());
                if back { Some(OpResult::Superseded) } else { gone(name).then_some(OpResult::Done) }
            }
            Until::DisconnectAll(attempts) => {
                let left = attempts.iter().any(|conn| self.by_conn.contains_key(conn));
                (!left).then_some(OpResult::Done)
            }
        }
    }
}

/// The wire has one message a line, and JSON has no line ends but as white space.
fn one_line(json: Json) -> Json {
    if json.as_str().contains(['\n', '\r']) {
        Json::new(json.as_str().replace(['\n', '\r'], " "))
    } else {
        json
    }
}

fn done(op: OpId, result: OpResult, out: &mut Outbox) {
    out.event(Event::Done { op, result });
}
