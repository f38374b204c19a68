//! What the runtime knows about its servers, as plain data.
//!
//! Floor 4. Derived on request and never stored, so it cannot disagree with what the machine
//! does.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::config::consent::Consent;
use crate::config::{Environment, SourceRef};
use crate::error::Problem;
use crate::event::ServerState;
use crate::id::{ConnId, ServerName};
use crate::server::Server;
use crate::time::Timestamp;

use super::Hub;
use super::slot::Slot;

/// Everything at one moment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Every configured server, in configuration order.
    pub servers: Vec<ServerStatus>,
    /// What turned up that a person may want to mend, in order.
    pub problems: Vec<Problem>,
    /// Calls that have not ended.
    pub open_calls: usize,
    /// Whether a startup is waiting at its gate.
    pub gate_shut: bool,
    /// Whether a shutdown was asked for.
    pub stopping: bool,
    /// Facts about attempts that were over (L6).
    pub stale_facts: u64,
}

/// One server at one moment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name.
    pub name: ServerName,
    /// Its state and the reason for it.
    pub state: ServerState,
    /// Since when.
    pub since: Timestamp,
    /// The documented three-valued status, derived from the same data.
    pub link: Link,
    /// Where its definition stands.
    pub source: SourceRef,
    /// What the user is to be asked, if it waits for an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// `stdio`, `http`, `sse`; empty if its definition is not valid.
    pub transport: String,
    /// The protocol revision agreed on, while it is connected.
    pub revision: Option<String>,
    /// The name and version it gave itself. Untrusted text.
    pub server_info: Option<String>,
    /// Its instructions. Untrusted text.
    pub instructions: Option<String>,
    /// Milliseconds from its start to its tools, once it was connected.
    pub connect_ms: Option<u64>,
    /// Its process, while there is one.
    pub pid: Option<u32>,
    /// The present attempt, while there is one.
    pub conn: Option<ConnId>,
    /// The addresses of its resources whose changes are followed, in order (G51).
    #[serde(default)]
    pub subscriptions: Vec<String>,
    /// Lines of its output that were no messages (F-041).
    pub skipped_lines: u64,
    /// Answers nobody had asked for, or that came twice (G39).
    pub unknown_answers: u64,
    /// Answers whose id was the text of our number (C-RPC-06), taken as meant.
    #[serde(default)]
    pub text_ids: u64,
    /// The end of its standard error.
    pub stderr_tail: String,
}

/// The documented status of a name: `connected` if there is a connection, else `connecting` if
/// a connection or its first tool list is under way, else `disconnected`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// There is a connection: the handshake is done.
    Connected,
    /// The handshake is under way.
    Connecting,
    /// Neither.
    Disconnected,
}

impl Hub {
    /// Everything at this moment.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            servers: self
                .order
                .iter()
                .filter_map(|name| self.slots.get(name))
                .map(|slot| slot.status(&self.options.environment))
                .collect(),
            problems: self.problems.all(),
            open_calls: self.calls.len(),
            gate_shut: !self.gates.is_empty(),
            stopping: self.stopping,
            stale_facts: self.stale_facts,
        }
    }
}

impl Slot {
    fn status(&self, environment: &Environment) -> ServerStatus {
        let definition = self.definition();
        let server = self.server.as_ref();
        let hello = server.and_then(Server::hello);
        let state = self.state();
        let link = match server {
            Some(server) if server.is_greeted() => Link::Connected,
            _ if self.is_connecting() => Link::Connecting,
            _ => Link::Disconnected,
        };
        let stderr_tail = match state.failure() {
            Some(failure) => failure.stderr_tail.clone(),
            None => server.map(Server::stderr_tail).unwrap_or_default(),
        };
        ServerStatus {
            name: definition.name.clone(),
            since: self.since(),
            link,
            source: definition.source.clone(),
            consent: (state == ServerState::NeedsApproval)
                .then(|| Consent::of(definition, environment))
                .flatten(),
            transport: match &definition.transport {
                Ok(transport) => transport.name().into(),
                Err(_) => String::new(),
            },
            revision: hello.map(|hello| hello.revision.clone()),
            server_info: hello.and_then(|hello| hello.server_info.clone()),
            instructions: hello.and_then(|hello| hello.instructions.clone()),
            connect_ms: server.and_then(Server::connect_ms),
            pid: server.and_then(Server::pid),
            conn: server.map(Server::conn),
            subscriptions: server.map(Server::subscriptions).unwrap_or_default(),
            skipped_lines: server.map(Server::skipped_lines).unwrap_or_default(),
            unknown_answers: server.map(Server::unknown_answers).unwrap_or_default(),
            text_ids: server.map(Server::text_ids).unwrap_or_default(),
            stderr_tail,
            state,
        }
    }
}
