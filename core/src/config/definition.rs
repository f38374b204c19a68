//! One server, as configured.
//!
//! Floor 2. A definition is what a file says, unresolved: no variable is expanded and no command
//! run in it, so its fingerprint is stable.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::source::{Level, Provider};
use crate::canon::{Fingerprint, canonical};
use crate::command::Launch;
use crate::id::ServerName;

/// A server's definition.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Definition {
    /// Its name: the key in `mcpServers`.
    pub name: ServerName,
    /// How it is reached; `Err` with every message of the validation, joined with `; `, if the
    /// entry is not valid.
    pub transport: Result<Transport, String>,
    /// Whether it is switched on (`enabled`, `disabled`; default on).
    pub enabled: bool,
    /// `timeout` in milliseconds: the limit of connecting and of each call, if given.
    pub timeout_ms: Option<u64>,
    /// Where it stands.
    pub source: SourceRef,
}

/// How a server is reached.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Transport {
    /// A process, spoken to over its standard input and output.
    Stdio(Stdio),
    /// Streamable HTTP.
    Http(Remote),
    /// HTTP with server-sent events, as of 2024-11-05.
    Sse(Remote),
}

impl Transport {
    /// The name of the transport in configuration and in `list --json`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }
}

/// What to run for a stdio server, as written.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables for it. Values may be secrets.
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub cwd: Option<String>,
}

impl Stdio {
    /// What the driver is asked to run.
    #[must_use]
    pub fn launch(&self) -> Launch {
        Launch {
            command: self.command.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
        }
    }
}

/// Where a remote server is, as written.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Remote {
    /// Its address.
    pub url: String,
    /// Headers for it. Values may be secrets.
    pub headers: BTreeMap<String, String>,
}

/// Where a definition stands.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct SourceRef {
    /// Whose file it is.
    pub provider: Provider,
    /// At which level.
    pub level: Level,
    /// Which file.
    pub path: String,
    /// At which line, from 1.
    pub line: u32,
}

impl Definition {
    /// What this definition is, without where it stands and without its secrets: the names of
    /// environment variables and headers count, their values do not, so that rotating a secret
    /// does not make a cached tool list invalid (G35).
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let transport = match &self.transport {
            Ok(Transport::Stdio(stdio)) => json!({
                "type": "stdio", "command": stdio.command, "args": stdio.args,
                "env": stdio.env.keys().collect::<Vec<_>>(), "cwd": stdio.cwd,
            }),
            Ok(Transport::Http(remote)) => remote_json("http", remote),
            Ok(Transport::Sse(remote)) => remote_json("sse", remote),
            Err(message) => json!({ "invalid": message }),
        };
        Fingerprint::of(canonical(&transport).as_bytes())
    }

    /// Whether a running server has to be restarted to follow `other` (F-033): anything that
    /// reaches the server or limits it differs. Where the definition stands does not.
    #[must_use]
    pub fn runs_like(&self, other: &Self) -> bool {
        self.transport == other.transport
            && self.enabled == other.enabled
            && self.timeout_ms == other.timeout_ms
    }
}

fn remote_json(kind: &str, remote: &Remote) -> serde_json::Value {
    json!({
        "type": kind, "url": remote.url, "headers": remote.headers.keys().collect::<Vec<_>>(),
    })
}
