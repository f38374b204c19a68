//! What a runtime is made with. All of it is data, so that a trace can carry it.
//!
//! Roof.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::config::{Environment, Source, Surroundings};
use crate::entropy::Entropy;
use crate::hub::policy::Policy;
use crate::id::ServerName;
use crate::inquiry::Services;
use crate::limits::Limits;
use crate::wire::dialect::Revision;
use crate::wire::mcp::LogLevel;

/// The options of one runtime.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Options {
    /// The name of the host, told to servers. Default `tidegate`.
    pub client_name: String,
    /// The version of the host, told to servers.
    pub client_version: String,
    /// The project: the root told to servers, and part of every cache key. Absolute.
    pub cwd: String,
    /// The configurations to read, the strongest first; see
    /// [`Places::sources`](crate::config::Places::sources).
    pub sources: Vec<Source>,
    /// The user's home, absolute, if it is known: for placeholders in the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The names of the host's variables, for placeholders in the configuration.
    #[serde(skip_serializing_if = "Environment::is_empty")]
    pub environment: Environment,
    /// The file with the rules of the organisation, which a host gives and no user; see
    /// [`Organisation`](crate::config::organisation::Organisation). Absent: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organisation: Option<String>,
    /// What the host does for servers that ask: so much is declared to them. Default: nothing.
    #[serde(skip_serializing_if = "Services::is_empty")]
    pub services: Services,
    /// Only these servers are started, if any are named.
    pub only: BTreeSet<ServerName>,
    /// The revision that handshakes offer, where it is not to be the newest one that has them: to
    /// try out what a server does in another one. It may still answer with any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Revision>,
    /// From which level on servers tell what they log; absent: as each of them likes where there is a
    /// handshake, and nothing where there is none (C-LOG-02, C-LOG-03).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LogLevel>,
    /// What to do where the documents and the field disagree.
    pub policy: Policy,
    /// The bounds.
    pub limits: Limits,
    /// Randomness for everything that is spread out.
    pub entropy: Entropy,
    /// Whether servers' standard error is passed on as events.
    pub forward_stderr: bool,
}

impl Options {
    /// Options for a project, everything else at its default.
    #[must_use]
    pub fn new(cwd: &str, sources: Vec<Source>) -> Self {
        Self {
            client_name: "tidegate".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            cwd: cwd.into(),
            sources,
            ..Self::default()
        }
    }

    /// What the configuration is read in.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            environment: &self.environment,
            project: &self.cwd,
            home: self.home.as_deref(),
        }
    }
}
