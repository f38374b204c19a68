//! What the host asks of the hub, and when each operation has ended.
//!
//! Floor 4. Operations are applied in the order they are asked for, per server (G16).

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
use super::losses::Losses;
use super::reload::Report;
use super::slot::{Cached, Slot, Standing};
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
    Reload(Report),
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
        self.ops.push(Pending { op, until, straggler: Straggler::default() });
        self.progressed = true;
    }

    pub(super) fn arm_reloads(&mut self, reloads: Vec<OpId>, report: &Report) {
        for op in reloads {
            self.wait_for(op, Until::Reload(report.clone()));
        }
    }

    /// Connects one server.
    pub fn connect(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        let Some(slot) = self.slot_to_start(op, name, out) else { return };
        if !slot.is_connected() {
            slot.losses = Losses::default();
            if !slot.is_on_its_way() {
                self.bring_up(name, now, out);
            }
        }
        self.wait_for(op, Until::Connect(name.clone()));
    }

    /// Connects one server again, unless another attempt took the place of the failed one.
    pub fn reconnect(
        &mut self,
        now: Timestamp,
        op: OpId,
        name: &ServerName,
        failed: Option<ConnId>,
        out: &mut Outbox,
    ) {
        let Some(slot) = self.slot_to_start(op, name, out) else { return };
        let present = slot.server.as_ref().map(crate::server::Server::conn);
        if slot.is_connected() && (failed.is_none() || failed == present) {
            return self.restart(now, op, name, out);
        }
        self.connect(now, op, name, out);
    }

    /// Stops one server and starts it anew.
    pub fn restart(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        let Some(slot) = self.slot_to_start(op, name, out) else { return };
        slot.losses = Losses::default();
        slot.failure = None;
        self.stop(name, now, out);
        self.bring_up(name, now, out);
        self.wait_for(op, Until::Connect(name.clone()));
    }

    /// Switches one server on and connects it.
    pub fn enable(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        let Some(slot) = self.present(name) else { return done(op, OpResult::UnknownServer, out) };
        slot.switch(true);
        let reason = self.slots.get(name).and_then(|slot| self.skip(slot.definition()));
        if let Some(slot) = self.slots.get_mut(name)
            && let Standing::Off(_) = slot.standing
        {
            slot.standing = reason.map_or(Standing::Disconnected, Standing::Off);
            self.touched.insert(name.clone());
        }
        self.connect(now, op, name, out);
    }

    /// Switches one server off.
    pub fn disable(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        let Some(slot) = self.present(name) else { return done(op, OpResult::UnknownServer, out) };
        slot.switch(false);
        self.take_down(name, Standing::Off(Skip::Disabled), now, out);
        self.wait_for(op, Until::Disconnect(name.clone()));
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
        if self.stopping {
            return done(op, OpResult::ShuttingDown, out);
        }
        if self.present(name).is_none() {
            return done(op, OpResult::UnknownServer, out);
        }
        self.wait_for(op, Until::Await { server: name.clone(), since: now, timeout_ms });
    }

    /// Ends an operation that has not ended; what it set going goes on.
    pub fn stop_waiting(&mut self, op: OpId, out: &mut Outbox) {
        let reading = self.reading.iter_mut().flat_map(|reading| &mut reading.reloads);
        let waiting = self.ops.iter().map(|pending| pending.op).chain(reading.map(|op| *op));
        if waiting.into_iter().all(|waiting| waiting != op) {
            return;
        }
        self.ops.retain(|pending| pending.op != op);
        if let Some(reading) = &mut self.reading {
            reading.reloads.retain(|reload| *reload != op);
        }
        done(op, OpResult::Aborted, out);
    }

    /// The server, unless it is no longer configured.
    fn present(&mut self, name: &ServerName) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(name)?;
        (slot.standing != Standing::Removed).then_some(slot)
    }

    /// The server an operation is to start, or the answer to the operation.
    fn slot_to_start(
        &mut self,
        op: OpId,
        name: &ServerName,
        out: &mut Outbox,
    ) -> Option<&mut Slot> {
        let result = if self.stopping {
            OpResult::ShuttingDown
        } else {
            match self.slots.get(name).map(|slot| slot.standing) {
                None | Some(Standing::Removed) => OpResult::UnknownServer,
                Some(Standing::Off(reason)) => OpResult::Skipped { reason },
                Some(_) => return self.slots.get_mut(name).map(|slot| &mut **slot),
            }
        };
        done(op, result, out);
        None
    }

    /// Disconnects one server.
    pub fn disconnect(&mut self, now: Timestamp, op: OpId, name: &ServerName, out: &mut Outbox) {
        if !self.slots.contains_key(name) {
            return done(op, OpResult::UnknownServer, out);
        }
        self.disconnect_one(name, Standing::Disconnected, now, out);
        self.wait_for(op, Until::Disconnect(name.clone()));
    }

    /// Disconnects every server, also for a start that has not read the configuration yet.
    pub fn disconnect_all(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        if let Some(reading) = &mut self.reading {
            reading.starts = false;
        }
        for name in Arc::clone(&self.order).iter() {
            self.disconnect_one(name, Standing::Resting, now, out);
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
            self.disconnect_one(name, Standing::Disconnected, now, out);
        }
    }

    fn disconnect_one(
        &mut self,
        name: &ServerName,
        to: Standing,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        let at = self.slots.get(name).map(|slot| slot.standing);
        let stays = at.filter(|at| match at {
            Standing::Off(_) | Standing::Removed | Standing::Disconnected => true,
            Standing::Wanted
            | Standing::Again
            | Standing::Later(_)
            | Standing::Suspended
            | Standing::Resting => false,
        });
        self.take_down(name, stays.unwrap_or(to), now, out);
    }

    /// Stops a server that is not to run any more; nothing starts it again by itself (G14).
    fn take_down(&mut self, name: &ServerName, to: Standing, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        if slot.standing != to {
            slot.standing = to;
            slot.failure = None;
            slot.cached = Cached::Unknown;
            slot.live = None;
        }
        self.stop(name, now, out);
        self.fail_waiting(name, out);
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
        match until {
            Until::Reload(report) => {
                let servers = || report.started.iter().chain(&report.restarted);
                let holds_up = |at| servers().nth(at).is_some_and(|name| !settled(name));
                let left = straggler.find(servers().count(), holds_up);
                (!left).then(|| report.clone().result())
            }
            Until::Connect(name) => {
                settled(name).then(|| self.settled_as(name, OpResult::Superseded))
            }
            Until::Await { server, since, timeout_ms } => {
                let late = timeout_ms.filter(|ms| since.plus(*ms) <= now);
                let nothing = OpResult::Skipped { reason: Skip::Disconnected };
                let ended = settled(server).then(|| self.settled_as(server, nothing));
                ended.or_else(|| late.map(|limit_ms| OpResult::TimedOut { limit_ms }))
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

fn done(op: OpId, result: OpResult, out: &mut Outbox) {
    out.event(Event::Done { op, result });
}
