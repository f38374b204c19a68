//! What the host asks while only the configuration being read can say what becomes of it.
//!
//! Floor 4. An ask about a server that is not known, or switched off, waits for the reading, so
//! that each server sees what the host asked in the order in which it was asked (G16), and
//! nothing is started that was let go meanwhile (G14).

use alloc::vec::Vec;

use crate::event::OpResult;
use crate::id::{OpId, ServerName};
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::Hub;
use super::asks::Ask;
use super::ops::done;
use super::slot::{LetGo, Standing};

/// What was asked and waits for the configuration that is being read, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Early(Vec<Waiting>);

#[derive(Clone, Debug)]
enum Waiting {
    /// One server is asked for something; nobody may be waiting for that any more.
    One { op: Option<OpId>, server: ServerName, ask: Ask },
    /// Every server was disconnected; those that were known and on are already.
    Rest,
}

impl Early {
    pub(super) fn ask(&mut self, op: OpId, server: &ServerName, ask: Ask) {
        self.0.push(Waiting::One { op: Some(op), server: server.clone(), ask });
    }

    pub(super) fn rest(&mut self) {
        // Once is enough, and the last time counts.
        self.wake();
        self.0.push(Waiting::Rest);
    }

    /// A start wants what rests.
    pub(super) fn wake(&mut self) {
        self.0.retain(|waiting| !matches!(waiting, Waiting::Rest));
    }

    /// Nobody waits for this operation any more; whether anybody did.
    pub(super) fn stop_waiting(&mut self, gone: OpId) -> bool {
        let mut ops = self.0.iter_mut().filter_map(|waiting| match waiting {
            Waiting::One { op, .. } if *op == Some(gone) => Some(op),
            Waiting::One { .. } | Waiting::Rest => None,
        });
        ops.next().map(Option::take).is_some()
    }

    /// Nothing is read any more.
    pub(super) fn shut_down(self, out: &mut Outbox) {
        self.ops().for_each(|op| done(op, OpResult::ShuttingDown, out));
    }

    pub(super) fn ops(&self) -> impl Iterator<Item = OpId> {
        self.0.iter().filter_map(|waiting| match waiting {
            Waiting::One { op, .. } => *op,
            Waiting::Rest => None,
        })
    }

    /// How much waits, also for nobody.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Which number an operation has, and which attempt failed, changes nothing here.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.0.len().hash(state);
        for waiting in &self.0 {
            core::mem::discriminant(waiting).hash(state);
            if let Waiting::One { op, server, ask } = waiting {
                (op.is_some(), server, core::mem::discriminant(ask)).hash(state);
            }
        }
    }
}

impl Hub {
    /// Whether only a configuration says what becomes of a server of this name.
    pub(super) fn is_undecided(&self, name: &ServerName) -> bool {
        let standing = self.slots.get(name).map(|slot| slot.standing);
        matches!(standing, None | Some(Standing::Off(_) | Standing::Removed))
    }

    /// The configuration was read, and nothing was started yet: does what waited for it, in
    /// order, so that the last word on each server counts; who may have to be started. `decided`
    /// are those on which it did.
    pub(super) fn catch_up(
        &mut self,
        early: Early,
        decided: &[ServerName],
        now: Timestamp,
        out: &mut Outbox,
    ) -> Vec<ServerName> {
        let mut asked = Vec::new();
        for waiting in early.0 {
            match waiting {
                Waiting::One { op, server, ask } => {
                    self.answer(now, op, &server, ask, out);
                    asked.push(server);
                }
                Waiting::Rest => {
                    for name in decided {
                        self.let_go(name, LetGo::WithAll, now, out);
                    }
                }
            }
        }
        asked
    }
}
