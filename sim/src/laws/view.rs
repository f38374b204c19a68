//! The catalogue: what it must be, given the states of the servers, and that each change is
//! said once.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::event::{Event, ServerState};
use tidegate_core::held::Held;
use tidegate_core::hub::policy::{LateFailure, Names, Policy};
use tidegate_core::id::ServerName;
use tidegate_core::input::{Input, Request};
use tidegate_core::tools::catalog::{Catalog, Tool, ToolState};

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct View {
    last: Held<Catalog>,
    /// The state of each server as the host was told last.
    said: Held<BTreeMap<ServerName, ServerState>>,
    /// Servers the host disconnected since they were last on their way.
    let_go: BTreeSet<ServerName>,
    /// The host disconnected every server, and did not start them since: those that were being
    /// read then rest too.
    rest: bool,
}

impl View {
    pub(super) fn check(&mut self, seen: &Seen<'_>, policy: &Policy) -> Result<(), Breach> {
        let changed = self.last.revision != seen.catalog.revision;
        self.check_revision(seen)?;
        self.check_disconnected(seen)?;
        self.check_servers(seen)?;
        let places =
            seen.catalog.tools.iter().map(|tool| {
                seen.status.servers.iter().position(|server| server.name == tool.server)
            });
        Law::View.demands(places.is_sorted(), || {
            "the tools do not stand in configuration order (G19)".into()
        })?;
        if changed && policy.names == Names::Distinct {
            let mut names = BTreeSet::new();
            seen.catalog.tools.iter().try_for_each(|tool| {
                Law::View.demands(names.insert(&tool.exposed), || {
                    format!("two tools are called {} (G23)", tool.exposed)
                })
            })?;
        }
        seen.catalog.tools.iter().try_for_each(|tool| check_tool(tool, seen, policy))
    }

    /// A server is disconnected because the host asked for it or nobody defines it any more;
    /// every other end is a failure.
    fn check_disconnected(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        match seen.input {
            Some(Input::Host(Request::DisconnectAll { .. })) => self.rest = true,
            Some(Input::Host(Request::Start { .. })) => self.rest = false,
            Some(_) | None => {}
        }
        let asked: Vec<ServerName> = match seen.input {
            Some(Input::Host(Request::Disconnect { server, .. })) => vec![server.clone()],
            Some(Input::Host(Request::DisconnectAll { .. } | Request::Shutdown)) => {
                seen.status.servers.iter().map(|server| server.name.clone()).collect()
            }
            Some(_) | None => Vec::new(),
        };
        self.let_go.extend(asked.iter().cloned());
        for event in seen.events {
            let Event::ServerChanged { server, state } = event else { continue };
            // It may be off first, and rest when it is on.
            if self.rest && !self.said.contains_key(server) {
                self.let_go.insert(server.clone());
            }
            if state.is_connecting() && !asked.contains(server) {
                self.let_go.remove(server);
            }
            let asked = self.let_go.contains(server) || seen.server(server).is_none();
            Law::View.demands(*state != ServerState::Disconnected || asked, || {
                format!("{server} is disconnected and nobody asked for it")
            })?;
        }
        Ok(())
    }

    /// G25: one change, one event, one revision more.
    fn check_revision(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        let mut revision = self.last.revision;
        for event in seen.events {
            let Event::ToolsChanged { revision: said } = event else { continue };
            revision += 1;
            Law::View.demands(*said == revision, || {
                format!("revision {said} was said where {revision} comes next (G25)")
            })?;
        }
        Law::View.demands(seen.catalog.revision == revision, || {
            format!("the catalogue is at {} and {revision} was said", seen.catalog.revision)
        })?;
        if revision == self.last.revision {
            return Law::View.demands(seen.catalog.tools == self.last.tools, || {
                "the catalogue changed and nothing was said (G25)".into()
            });
        }
        // One change and back again in one step are two.
        let same = seen.catalog.tools == self.last.tools;
        Law::View.demands(!same || revision > self.last.revision + 1, || {
            format!("revision {revision} was said and nothing changed (G25)")
        })?;
        self.last = Held::new(seen.catalog.clone());
        Ok(())
    }

    /// G17, F-009: every configured server once, and every change of a state said once.
    fn check_servers(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        for event in seen.events {
            let Event::ServerChanged { server, state } = event else { continue };
            let before = self.said.insert(server.clone(), state.clone());
            Law::View.demands(before.as_ref() != Some(state), || {
                format!("{server} is said to be {} twice", state.name())
            })?;
        }
        let mut names = BTreeSet::new();
        for server in &seen.status.servers {
            Law::View.demands(names.insert(&server.name), || format!("{} twice", server.name))?;
            let connected = server.state == ServerState::Connected;
            Law::View.demands(!connected || server.conn.is_some(), || {
                format!("{} is connected without a connection", server.name)
            })?;
            let said = self.said.get(&server.name);
            Law::View.demands(said == Some(&server.state), || {
                format!("{} is {} and {said:?} was said last", server.name, server.state.name())
            })?;
        }
        // One that is configured again begins anew.
        if self.said.keys().any(|server| !names.contains(server)) {
            self.said.retain(|server, _| names.contains(server));
        }
        Ok(())
    }
}

/// G20, G22: what a tool says of itself is true of its server.
fn check_tool(tool: &Tool, seen: &Seen<'_>, policy: &Policy) -> Result<(), Breach> {
    let Some(server) = seen.server(&tool.server) else {
        return Law::View.broken(format!("{} is a tool of nobody (G21)", tool.exposed));
    };
    let fits = match (&tool.state, &server.state) {
        (ToolState::Live | ToolState::Quarantined { .. }, ServerState::Connected) => true,
        (ToolState::Deferred | ToolState::Quarantined { .. }, state) if state.is_connecting() => {
            true
        }
        (ToolState::Deferred, ServerState::Failed { .. } | ServerState::Suspended { .. }) => {
            policy.late_failure == LateFailure::Keep
        }
        (
            ToolState::Failed { .. } | ToolState::Quarantined { .. },
            ServerState::Failed { .. } | ServerState::Suspended { .. },
        ) => policy.late_failure == LateFailure::MarkFailed,
        (_, _) => false,
    };
    Law::View.demands(fits, || {
        format!(
            "{} is {:?} and {} is {}",
            tool.exposed,
            tool.state,
            server.name,
            server.state.name()
        )
    })
}
