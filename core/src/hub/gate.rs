//! The startup gate: how long a start waits before it offers what is cached.
//!
//! Floor 4. Seed runtime section 4.4, steps 12 to 18, and design section 4. A gate opens once
//! (L7), at the first of: everything it waits for has settled; the gate time has passed and
//! every server that is still on its way has a cached list; the startup as a whole has to end.
//! A server without a cached list is waited for, as documented.

use alloc::vec::Vec;

use crate::error::{Cause, Failure, Stage};
use crate::event::{Event, ServerState, Skip, StartReport};
use crate::id::{OpId, ServerName};
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};

use super::slot::{Cached, Slot, Standing};
use super::straggler::Straggler;
use super::{Hub, policy::Policy};

/// A start that has not been answered.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Gate {
    pub(super) op: OpId,
    pub(super) asked_at: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) wait: Wait,
    straggler: Straggler,
}

/// What a gate waits for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Wait {
    /// The configuration.
    Config,
    /// The servers that were started, until the gate time.
    Servers { started: Vec<ServerName>, skipped: Vec<(ServerName, Skip)>, gate_at: Timestamp },
    /// The servers that were started, the gate time having passed.
    Stragglers { started: Vec<ServerName>, skipped: Vec<(ServerName, Skip)> },
}

impl Wait {
    /// The servers it waits for, and whether the gate time has passed.
    #[cfg(feature = "_explore")]
    pub(super) const fn started(&self) -> Option<(&Vec<ServerName>, bool)> {
        match self {
            Self::Config => None,
            Self::Servers { started, .. } => Some((started, false)),
            Self::Stragglers { started, .. } => Some((started, true)),
        }
    }
}

impl Gate {
    pub(super) fn new(op: OpId, now: Timestamp, policy: &Policy) -> Self {
        let deadline = policy.startup_deadline_ms.map(|ms| now.plus(ms));
        Self { op, asked_at: now, deadline, wait: Wait::Config, straggler: Straggler::default() }
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let last = self.deadline.map(|at| Deadline { at, why: "startup" });
        let gate = match &self.wait {
            Wait::Servers { gate_at, .. } => Some(Deadline { at: *gate_at, why: "gate" }),
            Wait::Config | Wait::Stragglers { .. } => None,
        };
        Deadline::earlier(gate, last)
    }
}

impl Hub {
    /// The configuration was applied: gates that waited for it wait for the servers it started.
    pub(super) fn arm_gates(
        &mut self,
        now: Timestamp,
        started: &[ServerName],
        skipped: &[(ServerName, Skip)],
    ) {
        let gate_at = now.plus(self.options.policy.gate_ms);
        self.progressed = true;
        for gate in self.gates.iter_mut().filter(|gate| gate.wait == Wait::Config) {
            let (started, skipped) = (started.to_vec(), skipped.to_vec());
            gate.wait = Wait::Servers { started, skipped, gate_at };
        }
    }

    /// Opens the gates whose time has come; asks the cache where the gate time has passed.
    pub(super) fn conclude_gates(&mut self, now: Timestamp, out: &mut Outbox) {
        let mut gates = core::mem::take(&mut self.gates);
        gates.retain_mut(|gate| {
            if let Wait::Servers { started, skipped, gate_at } = &mut gate.wait
                && *gate_at <= now
            {
                let (started, skipped) = (core::mem::take(started), core::mem::take(skipped));
                for name in &started {
                    self.ask_cache(name, out);
                }
                gate.wait = Wait::Stragglers { started, skipped };
            }
            let overdue = self.stopping || gate.deadline.is_some_and(|deadline| deadline <= now);
            let opens = overdue || self.may_open(gate);
            if opens {
                out.event(Event::GateOpened(self.report(gate, now)));
            }
            !opens
        });
        self.gates = gates;
    }

    fn may_open(&self, gate: &mut Gate) -> bool {
        let (started, from_cache) = match &gate.wait {
            Wait::Config => return false,
            Wait::Servers { started, .. } => (started, false),
            Wait::Stragglers { started, .. } => (started, true),
        };
        let holds_up = |name: &ServerName| {
            let connecting = self.slots.get(name).is_some_and(|slot| slot.is_connecting());
            connecting && !(from_cache && self.is_cached(name))
        };
        !gate.straggler.find(started.len(), |at| started.get(at).is_some_and(holds_up))
    }

    fn is_cached(&self, name: &ServerName) -> bool {
        self.slots.get(name).is_some_and(|slot| matches!(slot.cached, Cached::Hit(_)))
    }

    /// Every name in exactly one list (G31).
    fn report(&self, gate: &mut Gate, now: Timestamp) -> StartReport {
        let elapsed_ms = now.since(gate.asked_at);
        let (started, skipped) = match core::mem::replace(&mut gate.wait, Wait::Config) {
            Wait::Config => (Vec::new(), Vec::new()),
            Wait::Servers { started, skipped, .. } | Wait::Stragglers { started, skipped } => {
                (started, skipped)
            }
        };
        let mut report = StartReport {
            op: gate.op,
            elapsed_ms,
            connected: Vec::new(),
            deferred: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
        };
        for (name, reason) in skipped {
            let ran = matches!(reason, Skip::AlreadyConnected | Skip::AlreadyConnecting);
            // What ran already may have come to something else since the gate was armed.
            match self.slots.get(&name) {
                Some(slot) if ran && slot.is_connected() => {
                    report.skipped.push((name, Skip::AlreadyConnected));
                }
                Some(slot) if ran && slot.is_connecting() => {
                    report.skipped.push((name, Skip::AlreadyConnecting));
                }
                slot if ran => not_running(name, slot.map(|slot| &**slot), &mut report),
                _ => report.skipped.push((name, reason)),
            }
        }
        for name in started {
            match self.slots.get(&name) {
                Some(slot) if slot.is_connected() => report.connected.push(name),
                Some(slot) if slot.is_connecting() && matches!(slot.cached, Cached::Hit(_)) => {
                    report.deferred.push(name);
                }
                Some(slot) if slot.is_connecting() => {
                    report.failed.push((name, late(slot, elapsed_ms)));
                }
                slot => not_running(name, slot.map(|slot| &**slot), &mut report),
            }
        }
        report
    }
}

/// Says why a server neither runs nor is on its way.
fn not_running(name: ServerName, slot: Option<&Slot>, report: &mut StartReport) {
    match slot.map(|slot| (slot.state(), slot.standing)) {
        Some((ServerState::Failed { failure } | ServerState::Suspended { failure }, _)) => {
            report.failed.push((name, failure));
        }
        Some((_, Standing::Off(reason))) => report.skipped.push((name, reason)),
        Some((_, _)) | None => report.skipped.push((name, Skip::Disconnected)),
    }
}

fn late(slot: &Slot, limit_ms: u64) -> Failure {
    let stage = match &slot.server {
        Some(server) if server.is_greeted() => Stage::ListTools,
        Some(server) if server.is_resolving() => Stage::Resolve,
        Some(_) | None => Stage::Initialize,
    };
    Failure {
        stage,
        cause: Cause::StartupDeadline { limit_ms },
        after_ms: limit_ms,
        stderr_tail: slot.server.as_ref().map(|s| s.stderr_tail()).unwrap_or_default(),
    }
}
