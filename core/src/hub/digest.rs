//! What tells one hub from another for the explorer: all that can change what it will do.
//!
//! Floor 4, private feature `_explore`. Times are taken relative to `now`, so that the same
//! situation a second later is the same situation. For the same reason a number that only tells
//! one thing from another counts from the newest of its kind, or is left out where its place
//! says as much. History that only a person reads (problems, counters, tails, how long a failed
//! attempt had taken) stays out.

use core::hash::{Hash as _, Hasher};

use crate::id::{ReadId, ServerName};
use crate::server::{self, Server};
use crate::time::Timestamp;

use super::Hub;
use super::ops::Until;
use super::policy::{Backoff, Reconnect, Watch};
use super::slot::{Cached, Standing};

impl Hub {
    /// Feeds the state to a hasher.
    pub fn digest(&self, now: Timestamp, state: &mut impl Hasher) {
        (&self.order, self.stopping, self.slots.len()).hash(state);
        // Without files that are followed it makes no difference.
        (self.resting && self.options.policy.watch != Watch::Off).hash(state);
        for (name, slot) in &self.slots {
            (name, slot.told(), slot.era, &slot.live).hash(state);
            if let Standing::Later(at) = slot.standing {
                ("later", at.since(now)).hash(state);
            } else {
                slot.standing.hash(state);
            }
            slot.losses.digest(now, &self.options.policy.reconnect, state);
            slot.refused.hash(state);
            server::digest_failure(slot.failure.as_ref(), state);
            match &slot.cached {
                Cached::Asking(read) => self.age(*read).hash(state),
                cached @ (Cached::Unknown | Cached::Hit(_) | Cached::Miss) => cached.hash(state),
            }
            slot.server.is_some().hash(state);
            if let Some(server) = &slot.server {
                server.digest(now, self.calls.newest(), state);
            }
        }
        (&self.forbidden, &self.unapproved).hash(state);
        self.last_good.hash(state);
        self.watching.digest(now, state);
        self.reading.is_some().hash(state);
        if let Some(reading) = &self.reading {
            reading.digest(|read| self.age(read), state);
        }
        (self.gates.len(), self.ops.len()).hash(state);
        for gate in &self.gates {
            (gate.deadline.map(|at| at.since(now)), &gate.wait.started()).hash(state);
            gate.deadline().map(|deadline| (deadline.at.since(now), deadline.why)).hash(state);
        }
        for pending in &self.ops {
            self.digest_until(&pending.until, state);
            pending.deadline().map(|deadline| deadline.at.since(now)).hash(state);
        }
        if let Reconnect::OnLoss(backoff) = &self.options.policy.reconnect
            && backoff.delays_ms.iter().any(|delay| Backoff::jitter_ms(*delay) > 0)
        {
            self.entropy.hash(state);
        }
        self.answers.digest(now, state);
        self.calls.digest(now, state);
        self.inquiries.digest(state);
        self.live.watching.hash(state);
    }

    fn digest_until(&self, until: &Until, state: &mut impl Hasher) {
        core::mem::discriminant(until).hash(state);
        match until {
            Until::Reload(report) => report.hash(state),
            Until::Connect(name) | Until::Disconnect(name) | Until::Await { server: name, .. } => {
                name.hash(state)
            }
            Until::DisconnectAll(attempts) => {
                let left = attempts.iter().filter_map(|conn| self.by_conn.get(conn));
                left.for_each(|name| name.hash(state));
            }
        }
    }

    /// How many reads were asked for since this one.
    fn age(&self, read: ReadId) -> u64 {
        self.next_read.count().saturating_sub(read.number())
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
