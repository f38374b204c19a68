//! What the host asks of one server.
//!
//! Floor 4. What only the configuration being read can decide waits in `early`.

use alloc::sync::Arc;

use crate::event::{OpResult, Skip};
use crate::id::{ConnId, OpId, ServerName};
use crate::outbox::Outbox;
use crate::server::Server;
use crate::time::Timestamp;

use super::Hub;
use super::losses::Losses;
use super::ops::{Until, done};
use super::reload::Reach;
use super::slot::{Cached, LetGo, Slot, Standing};

/// What is asked of one server.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Ask {
    /// Connect it.
    Connect,
    /// Disconnect it.
    Disconnect,
    /// Connect it again, unless another attempt took the place of the one that failed.
    Reconnect(Option<ConnId>),
    /// Stop it and start it anew.
    Restart,
    /// Switch it on and connect it.
    Enable,
    /// Switch it off.
    Disable,
}

impl Hub {
    /// Does what the host asks of one server, or lets it wait for the configuration.
    pub fn ask(&mut self, now: Timestamp, op: OpId, name: &ServerName, ask: Ask, out: &mut Outbox) {
        if !self.admit(op, out) {
            return;
        }
        let undecided = self.is_undecided(name);
        if let Some(reading) = self.reading.as_mut().filter(|_| undecided) {
            return reading.early.ask(op, name, ask);
        }
        self.answer(now, Some(op), name, ask, out);
        self.open_wanted(name, now, out);
    }

    /// Does what is asked, but for starting the server.
    pub(super) fn answer(
        &mut self,
        now: Timestamp,
        op: Option<OpId>,
        name: &ServerName,
        ask: Ask,
        out: &mut Outbox,
    ) {
        let done_when = match ask {
            Ask::Connect => self.connect(name),
            Ask::Disconnect => self.disconnect(now, name, out),
            Ask::Reconnect(failed) => self.reconnect(now, name, failed, out),
            Ask::Restart => self.restart(now, name, out),
            Ask::Enable => self.enable(name),
            Ask::Disable => self.disable(now, name, out),
        };
        match (op, done_when) {
            (Some(op), Ok(until)) => self.wait_for(op, until),
            (Some(op), Err(result)) => done(op, result, out),
            (None, _) => {}
        }
    }

    fn connect(&mut self, name: &ServerName) -> Result<Until, OpResult> {
        let slot = self.slot_to_start(name)?;
        if !slot.is_connected() {
            slot.losses = Losses::default();
            if !slot.is_on_its_way() {
                self.want(name);
            }
        }
        Ok(Until::Connect(name.clone()))
    }

    fn reconnect(
        &mut self,
        now: Timestamp,
        name: &ServerName,
        failed: Option<ConnId>,
        out: &mut Outbox,
    ) -> Result<Until, OpResult> {
        let slot = self.slot_to_start(name)?;
        let present = slot.server.as_ref().map(Server::conn);
        if slot.is_connected() && (failed.is_none() || failed == present) {
            return self.restart(now, name, out);
        }
        self.connect(name)
    }

    fn restart(
        &mut self,
        now: Timestamp,
        name: &ServerName,
        out: &mut Outbox,
    ) -> Result<Until, OpResult> {
        let slot = self.slot_to_start(name)?;
        slot.losses = Losses::default();
        slot.failure = None;
        self.stop(name, now, out);
        self.want(name);
        Ok(Until::Connect(name.clone()))
    }

    fn enable(&mut self, name: &ServerName) -> Result<Until, OpResult> {
        if self.stopping {
            return Err(OpResult::ShuttingDown);
        }
        let slot = self.present(name).ok_or(OpResult::UnknownServer)?;
        slot.switch(true);
        slot.let_go = None;
        let reason = self.slots.get(name).and_then(|slot| self.skip(slot.definition()));
        if let Some(slot) = self.slots.get_mut(name)
            && let Standing::Off(_) = slot.standing
        {
            slot.standing = reason.map_or(Standing::Disconnected, Standing::Off);
            self.touched.insert(name.clone());
        }
        self.connect(name)
    }

    fn disable(
        &mut self,
        now: Timestamp,
        name: &ServerName,
        out: &mut Outbox,
    ) -> Result<Until, OpResult> {
        self.present(name).ok_or(OpResult::UnknownServer)?.switch(false);
        self.take_down(name, Standing::Off(Skip::Disabled), now, out);
        Ok(Until::Disconnect(name.clone()))
    }

    fn disconnect(
        &mut self,
        now: Timestamp,
        name: &ServerName,
        out: &mut Outbox,
    ) -> Result<Until, OpResult> {
        if !self.slots.contains_key(name) {
            return Err(OpResult::UnknownServer);
        }
        self.let_go(name, LetGo::ByName, now, out);
        Ok(Until::Disconnect(name.clone()))
    }

    /// Disconnects every server, also those that only the configuration being read knows.
    pub fn disconnect_all(&mut self, now: Timestamp, op: OpId, out: &mut Outbox) {
        if !self.admit(op, out) {
            return;
        }
        self.resting = true;
        if let Some(reading) = &mut self.reading {
            reading.reach = reading.reach.min(Reach::Retries);
            reading.early.rest();
        }
        for name in Arc::clone(&self.order).iter() {
            self.let_go(name, LetGo::WithAll, now, out);
        }
        let attempts = self.by_conn.keys().copied().collect();
        self.wait_for(op, Until::DisconnectAll(attempts));
    }

    /// Disconnects a server; one that is off is let go all the same, for the time it is on again.
    pub(super) fn let_go(
        &mut self,
        name: &ServerName,
        how: LetGo,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        slot.let_go = slot.let_go.max(Some(how));
        let to = match slot.standing {
            stays @ (Standing::Off(_) | Standing::Removed) => stays,
            Standing::Wanted
            | Standing::Again
            | Standing::Later(_)
            | Standing::Suspended
            | Standing::Disconnected => Standing::Disconnected,
        };
        self.take_down(name, to, now, out);
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

    /// The server, unless it is no longer configured.
    pub(super) fn present(&mut self, name: &ServerName) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(name)?;
        (slot.standing != Standing::Removed).then_some(slot)
    }

    /// The server an operation is to start, or how the operation ends at once.
    fn slot_to_start(&mut self, name: &ServerName) -> Result<&mut Slot, OpResult> {
        if self.stopping {
            return Err(OpResult::ShuttingDown);
        }
        let slot = self.present(name).ok_or(OpResult::UnknownServer)?;
        match slot.standing {
            Standing::Off(reason) => Err(OpResult::Skipped { reason }),
            Standing::Wanted
            | Standing::Again
            | Standing::Later(_)
            | Standing::Suspended
            | Standing::Disconnected
            | Standing::Removed => Ok(slot),
        }
    }
}
