//! What tells one hub from another for the explorer: all that can change what it will do.
//!
//! Floor 4, private feature `_explore`. Times are taken relative to `now`, so that the same
//! situation a second later is the same situation. History that only a person reads (problems,
//! counters, tails) stays out.

use core::hash::{Hash as _, Hasher};

use crate::id::ServerName;
use crate::server::Server;
use crate::time::Timestamp;

use super::Hub;

impl Hub {
    /// Feeds the state to a hasher.
    pub fn digest(&self, now: Timestamp, state: &mut impl Hasher) {
        (&self.next_conn, &self.order, self.stopping).hash(state);
        for (name, slot) in &self.slots {
            (name, slot.definition(), slot.standing, &slot.failure).hash(state);
            slot.cached.hash(state);
            if let Some(server) = &slot.server {
                server.digest(now, state);
            }
        }
        if let Some(reading) = &self.reading {
            reading.digest(state);
        }
        for gate in &self.gates {
            (gate.op, gate.deadline.map(|at| at.since(now)), &gate.wait.started()).hash(state);
            gate.deadline().map(|deadline| (deadline.at.since(now), deadline.why)).hash(state);
        }
        self.ops.hash(state);
        self.calls.digest(now, state);
    }

    /// The name of a server's phase, for the explorer's table.
    #[must_use]
    pub fn phase_of(&self, name: &ServerName) -> &'static str {
        match self.slots.get(name) {
            Some(slot) => slot.server.as_ref().map_or("idle", Server::phase_name),
            None => "absent",
        }
    }
}
