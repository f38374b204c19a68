//! What the host asks of the hub as a whole, and when each operation has ended.
//!
//! Floor 4. Operations are applied in the order they are asked for, per server (G16). How many
//! may be open is bounded, so that looking at all of them each time something happened is cheap.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::CallError;
use crate::event::{Event, OpResult, ServerState, Skip};
use crate::id::{ConnId, OpId, ServerName};
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};

use super::Hub;
use super::gate::Gate;
use super::reload::Why;
use super::slot::{LetGo, Standing};
use super::straggler::Straggler;

/// An operation that has not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Pending {
    op: OpId,
    pub(super) until: Until,
    straggler: Straggler,
}

/// What an operation waits for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Until {
    /// The servers a reload started to settle.
    Reload(Arc<Report>),
    /// A server to settle.
    Connect(ServerName),
    /// A server to be connected, or nothing to be under way that could connect it, at most
    /// until a time.
    Await { server: ServerName, since: Timestamp, timeout_ms: Option<u64> },
    /// A server's attempt to be gone.
    Disconnect(ServerName),
    /// The attempts that there were to be gone; servers may have been connected again since.
    DisconnectAll(Vec<ConnId>),
}

impl Pending {
    /// When it ends at the latest.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let Until::Await { since, timeout_ms: Some(ms), .. } = &self.until else { return None };
        Some(Deadline { at: since.plus(*ms), why: "await" })
    }
}

/// What a reload did, in configuration order.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Report {
    pub(super) started: Vec<ServerName>,
    pub(super) restarted: Vec<ServerName>,
    pub(super) stopped: Vec<ServerName>,
    pub(super) kept: Vec<ServerName>,
}

impl Report {
    pub(super) fn result(&self) -> OpResult {
        let Self { started, restarted, stopped, kept } = self.clone();
        OpResult::Reloaded { started, restarted, stopped, kept }
    }
}

impl Hub {
    /// Starts everything that is configured.
    pub fn start(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        if !self.admit(op, out) {
            return;
        }
        self.gates.push(Gate::new(op, now, &self.options.policy));
        self.progressed = true;
        self.resting = false;
        if !self.stopping {
            self.read_config(now, Why::Start, out);
        }
    }

    /// Follows the configuration as it is.
    pub fn reload(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        if !self.admit(op, out) {
            return;
        }
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        self.read_config(now, Why::Reload(op), out);
    }

    /// Whether an operation may begin; says so if not.
    pub(super) fn admit(&self, op: OpId, out: &mut Outbox) -> bool {
        let starts = self.gates.iter().map(|gate| gate.op);
        let read = self.reading.iter().flat_map(|reading| reading.reloads.iter().copied());
        let early = self.reading.iter().flat_map(|reading| reading.early.ops());
        let mut open = self.ops.iter().map(|pending| pending.op).chain(starts).chain(read);
        if open.any(|other| other == op) || early.into_iter().any(|other| other == op) {
            out.event(Event::OpRefused { op });
            return false;
        }
        let reading =
            self.reading.as_ref().map_or(0, |reading| reading.reloads.len() + reading.early.len());
        let limit = self.options.setting.limits.open_ops;
        let full = self.ops.len() + self.gates.len() + reading >= limit;
        if full {
            done(op, OpResult::TooMany { limit: limit as u64 }, out);
        }
        !full
    }

    pub(super) fn wait_for(&mut self, op: OpId, until: Until) {
        self.ops.push(Pending { op, until, straggler: Straggler::default() });
        self.progressed = true;
    }

    pub(super) fn arm_reloads(&mut self, reloads: Vec<OpId>, report: Report) {
        let report = Arc::new(report);
        for op in reloads {
            self.wait_for(op, Until::Reload(Arc::clone(&report)));
        }
    }

    /// Waits for one server.
    pub fn await_connected(
        &mut self,
        now: Timestamp,
        op: OpId,
        name: &ServerName,
        timeout_ms: Option<u64>,
        out: &mut Outbox,
    ) {
        if !self.admit(op, out) {
            return;
        }
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        if self.reading.is_none() && self.present(name).is_none() {
            return done(op, OpResult::UnknownServer, out);
        }
        self.wait_for(op, Until::Await { server: name.clone(), since: now, timeout_ms });
    }

    /// Ends an operation that has not ended; what it set going goes on.
    pub fn stop_waiting(&mut self, op: OpId, out: &mut Outbox) {
        let mut waits = self.ops.iter().any(|pending| pending.op == op);
        self.ops.retain(|pending| pending.op != op);
        if let Some(reading) = &mut self.reading {
            waits |= reading.reloads.contains(&op) || reading.early.stop_waiting(op);
            reading.reloads.retain(|reload| *reload != op);
        }
        if waits {
            done(op, OpResult::Aborted, out);
        }
    }

    /// Disconnects every server and refuses everything from here on.
    pub fn shut_down(&mut self, now: Timestamp, out: &mut Outbox) {
        if self.stopping {
            return;
        }
        self.stopping = true;
        self.progressed = true;
        self.stop_asking(out);
        self.calls.fail_all(&CallError::ShuttingDown, out);
        if let Some(reading) = self.reading.take() {
            reading.reloads.iter().for_each(|op| done(*op, OpResult::ShuttingDown, out));
            reading.early.shut_down(out);
        }
        for name in Arc::clone(&self.order).iter() {
            self.let_go(name, LetGo::WithAll, now, out);
        }
    }

    pub(super) fn why_not_connected(&self, name: &ServerName) -> String {
        match self.slots.get(name).map(|slot| slot.state()) {
            Some(ServerState::Failed { failure }) => failure.describe(name),
            Some(ServerState::Suspended { failure }) => alloc::format!(
                "it was lost too often; reconnect it to try again. {}",
                failure.describe(name)
            ),
            Some(ServerState::Skipped { reason }) => reason.describe().into(),
            Some(ServerState::Disabled) => Skip::Disabled.describe().into(),
            Some(ServerState::NeedsApproval) => Skip::NeedsApproval.describe().into(),
            Some(
                ServerState::Connecting
                | ServerState::Retrying { .. }
                | ServerState::Connected
                | ServerState::Disconnected,
            )
            | None => String::new(),
        }
    }

    /// Ends the operations whose condition holds.
    pub(super) fn conclude_ops(&mut self, now: Timestamp, out: &mut Outbox) {
        let mut ops = core::mem::take(&mut self.ops);
        ops.retain_mut(|pending| {
            let result = self.result(pending, now);
            let ended = result.is_some();
            result.into_iter().for_each(|result| done(pending.op, result, out));
            !ended
        });
        self.ops = ops;
    }

    fn result(&self, pending: &mut Pending, now: Timestamp) -> Option<OpResult> {
        let settled = |name: &ServerName| self.slots.get(name).is_none_or(|s| !s.is_connecting());
        let gone = |name: &ServerName| self.slots.get(name).is_none_or(|s| s.server.is_none());
        let Pending { until, straggler, .. } = pending;
        let given_up = match until {
            Until::Reload(_) | Until::Connect(_) | Until::Await { .. } => self.stopping,
            Until::Disconnect(_) | Until::DisconnectAll(_) => false,
        };
        if given_up {
            return Some(OpResult::ShuttingDown);
        }
        match until {
            Until::Reload(report) => {
                let servers = || report.started.iter().chain(&report.restarted);
                let holds_up = |at| servers().nth(at).is_some_and(|name| !settled(name));
                let left = straggler.find(servers().count(), holds_up);
                (!left).then(|| report.result())
            }
            Until::Connect(name) => {
                settled(name).then(|| self.settled_as(name, OpResult::Superseded))
            }
            Until::Await { server, since, timeout_ms } => {
                let late = timeout_ms.filter(|ms| since.plus(*ms) <= now);
                let nothing = OpResult::Skipped { reason: Skip::Disconnected };
                // What is being read may connect it, or make it known.
                let ended = self.slots.get(server).is_some_and(|slot| slot.is_connected())
                    || self.reading.is_none() && settled(server);
                let result = ended.then(|| self.settled_as(server, nothing));
                result.or_else(|| late.map(|limit_ms| OpResult::TimedOut { limit_ms }))
            }
            Until::Disconnect(name) => {
                let back = self.slots.get(name).is_some_and(|slot| slot.is_connecting());
                if back { Some(OpResult::Superseded) } else { gone(name).then_some(OpResult::Done) }
            }
            Until::DisconnectAll(attempts) => {
                let is_left = |conn| self.by_conn.contains_key(conn);
                let holds_up = |at| attempts.get(at).is_some_and(is_left);
                let left = straggler.find(attempts.len(), holds_up);
                (!left).then_some(OpResult::Done)
            }
        }
    }

    /// What became of a server that is not on its way; `otherwise` if it is plainly not
    /// connected.
    fn settled_as(&self, name: &ServerName, otherwise: OpResult) -> OpResult {
        let Some(slot) = self.slots.get(name) else { return OpResult::UnknownServer };
        match (slot.standing, slot.state()) {
            (Standing::Off(reason), _) => OpResult::Skipped { reason },
            (Standing::Removed, _) => OpResult::UnknownServer,
            (_, ServerState::Connected) => OpResult::Done,
            (_, ServerState::Failed { failure } | ServerState::Suspended { failure }) => {
                OpResult::Failed { failure }
            }
            (_, _) => otherwise,
        }
    }
}

pub(super) fn done(op: OpId, result: OpResult, out: &mut Outbox) {
    out.event(Event::Done { op, result });
}
