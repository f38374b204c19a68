//! One server, as configured.
//!
//! Floor 2. A definition is what a file says, unresolved: no variable is expanded and no command
//! run in it, so its fingerprint is stable.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::secret;
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
    /// environment variables and headers count, their values do not, and neither does what looks
    /// like a secret in the command line or the address. So rotating a secret does not make a
    /// cached tool list invalid (G35), and a run over redacted files asks for the same lists.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let hidden = |_: &str| "<secret>".into();
        let transport = match &self.transport {
            Ok(Transport::Stdio(stdio)) => json!({
                "type": "stdio",
                "command": secret::in_line(&stdio.command, hidden),
                "args": secret::in_arguments(stdio.args.iter().map(String::as_str), hidden),
                "env": stdio.env.keys().collect::<Vec<_>>(),
                "cwd": stdio.cwd,
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
    let url = secret::in_address(&remote.url, |_| "<secret>".into());
    json!({ "type": kind, "url": url, "headers": remote.headers.keys().collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;

    fn fingerprint(entry: &str) -> Fingerprint {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let reading = read(&Source::inline("test", &text), text.as_bytes());
        reading.definitions.first().expect("a definition").fingerprint()
    }

    /// G35.
    #[test]
    fn rotating_a_secret_does_not_change_a_fingerprint() {
        for (one, two) in [
            (r#"{"command":"x","env":{"A":"1"}}"#, r#"{"env":{"A":"2"},"command":"x"}"#),
            (r#"{"command":"x","args":["--token=1"]}"#, r#"{"command":"x","args":["--token=2"]}"#),
            (r#"{"url":"https://u:1@h/"}"#, r#"{"url":"https://u:2@h/","type":"http"}"#),
            (
                r#"{"url":"https://h/","headers":{"X":"1"}}"#,
                r#"{"url":"https://h/","headers":{"X":"2"}}"#,
            ),
        ] {
            assert_eq!(fingerprint(one), fingerprint(two), "{one} {two}");
        }
    }

    #[test]
    fn anything_else_does() {
        let base = fingerprint(r#"{"command":"x","args":["a"],"env":{"A":"1"}}"#);
        for other in [
            r#"{"command":"y","args":["a"],"env":{"A":"1"}}"#,
            r#"{"command":"x","args":["b"],"env":{"A":"1"}}"#,
            r#"{"command":"x","args":["a"],"env":{"B":"1"}}"#,
            r#"{"command":"x","args":["a"],"env":{"A":"1"},"cwd":"/"}"#,
        ] {
            assert_ne!(fingerprint(other), base, "{other}");
        }
    }
}
