//! The startup gate: it opens when it should, and what it says is true.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tidegate_core::event::{Event, OpResult, Skip, StartReport};
use tidegate_core::held::Held;
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::{OpId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::time::Timestamp;
use tidegate_core::tools::catalog::ToolState;

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Gates {
    /// The state of each server as the host was told last.
    said: Held<BTreeMap<ServerName, &'static str>>,
    shut: BTreeMap<OpId, Shut>,
    /// Reads of the configuration and of approvals that were asked for last and not answered.
    reading: BTreeSet<u64>,
    /// Cache reads that were asked for and not answered.
    asking: BTreeSet<u64>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Shut {
    since: Timestamp,
    /// Since when the configuration is known, and which servers it names.
    armed: Option<(Timestamp, Arc<BTreeSet<ServerName>>)>,
    /// Whether, after the last step, it waited for tools that nobody knows.
    needed: bool,
}

impl Gates {
    pub(super) fn check(
        &mut self,
        seen: &Seen<'_>,
        policy: &Policy,
        overslept: bool,
    ) -> Result<(), Breach> {
        self.note(seen);
        for event in seen.events {
            if let Event::Done { op, result: OpResult::TooMany { .. } } = event {
                self.shut.remove(op);
            }
        }
        // Where the configuration comes as late as the deadline, the deadline is first (L5).
        let limit = policy.startup_deadline_ms.unwrap_or(u64::MAX);
        let waits = |shut: &Shut| shut.armed.is_none() && seen.now.since(shut.since) < limit;
        if self.reading.is_empty() && self.shut.values().any(waits) {
            let names = seen.status.servers.iter().map(|server| server.name.clone());
            let given: Arc<BTreeSet<_>> = Arc::new(names.collect());
            for shut in self.shut.values_mut().filter(|shut| waits(shut)) {
                shut.armed = Some((seen.now, Arc::clone(&given)));
            }
        }
        for event in seen.events {
            if let Event::ServerChanged { server, state } = event {
                self.said.insert(server.clone(), state.name());
            }
            let Event::GateOpened(report) = event else { continue };
            let Some(shut) = self.shut.remove(&report.op) else { continue };
            if !overslept {
                shut.check_in_time(report.op, seen.now, policy)?;
            }
            self.check_report(report, &shut, seen, policy)?;
        }
        Law::Gate.demands(seen.status.gate_shut != self.shut.is_empty(), || {
            format!("gate_shut is {} with {:?} shut", seen.status.gate_shut, self.shut.keys())
        })?;
        self.shut.iter().try_for_each(|(op, shut)| self.check_shut(*op, shut, seen, policy))?;
        let mut starting = seen.status.servers.iter().filter(|server| server.state.is_connecting());
        let needed = !self.reading.is_empty()
            || !self.asking.is_empty()
            || starting.any(|server| !has_cached(seen, &server.name));
        self.shut.values_mut().for_each(|shut| shut.needed = needed);
        Ok(())
    }

    pub(super) fn is_shut(&self) -> bool {
        !self.shut.is_empty()
    }

    pub(super) fn is_reading(&self) -> bool {
        !self.reading.is_empty()
    }

    pub(super) fn digest(&self, now: Timestamp, state: &mut impl Hasher) {
        (self.reading.len(), self.asking.len(), self.shut.len()).hash(state);
        for shut in self.shut.values() {
            (now.since(shut.since), shut.needed).hash(state);
            shut.armed.as_ref().map(|(at, given)| (now.since(*at), given)).hash(state);
        }
    }

    /// G31: every configured server in exactly one list, and in the one that is true.
    fn check_report(
        &self,
        report: &StartReport,
        shut: &Shut,
        seen: &Seen<'_>,
        policy: &Policy,
    ) -> Result<(), Breach> {
        let StartReport { op, elapsed_ms, connected, deferred, failed, skipped } = report;
        let waited = seen.now.since(shut.since);
        Law::Gate.demands(*elapsed_ms == waited, || {
            format!("{op} took {waited}ms and says {elapsed_ms}ms")
        })?;
        if seen.status.stopping {
            return Ok(());
        }
        let listed: Vec<&ServerName> = connected
            .iter()
            .chain(deferred)
            .chain(failed.iter().map(|(server, _)| server))
            .chain(skipped.iter().map(|(server, _)| server))
            .collect();
        let unique: BTreeSet<&ServerName> = listed.iter().copied().collect();
        Law::Gate.demands(unique.len() == listed.len(), || format!("{op} lists a server twice"))?;
        for name in shut.armed.iter().flat_map(|(_, given)| given.iter()) {
            let gone = seen.server(name).is_none();
            Law::Gate.demands(gone || unique.contains(&name), || {
                format!("{op} does not list {name} (G31)")
            })?;
        }
        // As the host was told before: a step may bring more than one change.
        let state = |name: &ServerName| self.said.get(name).copied();
        for (list, wanted) in [(connected, "connected"), (deferred, "connecting")] {
            for name in list {
                Law::Gate.demands(state(name) == Some(wanted), || {
                    format!("{op} lists {name} as if it were {wanted}; it is {:?}", state(name))
                })?;
            }
        }
        for (name, reason) in skipped {
            let wanted = match reason {
                Skip::AlreadyConnected => "connected",
                Skip::AlreadyConnecting => "connecting",
                _ => continue,
            };
            Law::Gate.demands(state(name) == Some(wanted), || {
                format!("{op} says that {name} is {wanted} already; it is {:?}", state(name))
            })?;
        }
        for name in deferred {
            let still = seen.server(name).is_some_and(|s| s.state.is_connecting());
            Law::Gate.demands(!still || has_cached(seen, name), || {
                format!("{op} defers {name}, whose tools nobody knows")
            })?;
            Law::Gate.demands(waited >= policy.gate_ms, || {
                format!("{op} defers {name} before the gate")
            })?;
        }
        let still = |(name, _): &&(ServerName, _)| state(name) == Some("connecting");
        let limit = policy.startup_deadline_ms.unwrap_or(u64::MAX);
        Law::Gate.demands(waited >= limit || !failed.iter().any(|entry| still(&entry)), || {
            format!("{op} calls a server failed that is still starting")
        })
    }

    fn note(&mut self, seen: &Seen<'_>) {
        use tidegate_core::command::Command;
        match seen.input {
            Some(Input::Host(Request::Start { op })) => {
                self.shut.insert(*op, Shut { since: seen.now, armed: None, needed: true });
            }
            Some(Input::Io(
                Fact::ConfigRead { read, .. }
                | Fact::FolderListed { read, .. }
                | Fact::ApprovalsRead { read, .. },
            )) => {
                self.reading.remove(&read.number());
            }
            Some(Input::Io(Fact::CacheRead { read, .. })) => {
                self.asking.remove(&read.number());
            }
            Some(_) | None => {}
        }
        if seen.commands.iter().any(|command| matches!(command, Command::ReadConfig { .. })) {
            // Nobody waits any more for a read that was overtaken (G16).
            self.reading.clear();
        }
        for command in seen.commands {
            match command {
                Command::ReadConfig { read, .. }
                | Command::ListFolder { read, .. }
                | Command::ReadApprovals { read } => {
                    self.reading.insert(read.number());
                }
                Command::ReadCache { read, .. } => {
                    self.asking.insert(read.number());
                }
                _ => {}
            }
        }
    }

    /// G30: while the gate is shut there is something to wait for.
    fn check_shut(
        &self,
        op: OpId,
        shut: &Shut,
        seen: &Seen<'_>,
        policy: &Policy,
    ) -> Result<(), Breach> {
        let limit = policy.startup_deadline_ms.unwrap_or(u64::MAX);
        let total = seen.now.since(shut.since);
        Law::Gate
            .demands(total < limit, || format!("{op} waits beyond the deadline of {limit}ms"))?;
        let Some((armed, _)) = shut.armed.as_ref().filter(|_| self.reading.is_empty()) else {
            return Ok(());
        };
        let waited = seen.now.since(*armed);
        let mut waiting = seen
            .status
            .servers
            .iter()
            .filter(|server| server.state.is_connecting())
            .map(|server| &server.name);
        let late = waited >= policy.gate_ms && self.asking.is_empty();
        let holds = if late {
            waiting.any(|server| !has_cached(seen, server))
        } else {
            waiting.next().is_some() || !self.asking.is_empty()
        };
        Law::Gate.demands(holds, || format!("{op} waits after {waited}ms and for nobody"))
    }
}

impl Shut {
    /// G30: it does not open later than it had to.
    fn check_in_time(&self, op: OpId, now: Timestamp, policy: &Policy) -> Result<(), Breach> {
        let Some((armed, _)) = self.armed.as_ref().filter(|_| !self.needed) else { return Ok(()) };
        let waited = now.since(*armed);
        Law::Gate.demands(waited <= policy.gate_ms, || {
            format!("{op} waited for {waited}ms although all tools were known")
        })
    }
}

/// Whether tools of this server are offered from the cache, or it is known to have none.
fn has_cached(seen: &Seen<'_>, server: &ServerName) -> bool {
    let mut tools = seen.catalog.tools.iter().filter(|tool| tool.server == *server);
    tools.any(|tool| matches!(tool.state, ToolState::Deferred | ToolState::Quarantined { .. }))
}
