//! One server, as configured.
//!
//! Floor 2. A definition is what a file says, unresolved: no variable is expanded and no command
//! run in it, so its fingerprint is stable.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::inputs::Input;
use super::secret;
use super::source::{Level, Provider};
use super::template::{Part, Role, Template, Variables};
use crate::approval::Approval;
use crate::canon::{Fingerprint, canonical};
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
    /// The limit of connecting alone, in milliseconds, where the tool has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_timeout_ms: Option<u64>,
    /// Which eras of the protocol are spoken with it (`protocol`), if the file says so; else what
    /// the host has for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// How to sign in, if the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Which of its tools are wanted.
    #[serde(default, skip_serializing_if = "ToolFilter::is_open")]
    pub tools: ToolFilter,
    /// The tools that the user of the tool approved in advance; for information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auto_approve: Vec<String>,
    /// Which placeholders in its texts are filled in.
    #[serde(default)]
    pub variables: Variables,
    /// What stands for variables of the tool itself: `workspaceFolder`, `CLAUDE_PLUGIN_ROOT`.
    /// All definitions of a file share them.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub constants: Arc<BTreeMap<String, String>>,
    /// What the file says of the values that are asked for in it, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Input>,
    /// Whether it says no more than whether a server is on that a weaker file of its tool defines.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub overlay: bool,
    /// Where it stands.
    pub source: SourceRef,
}

fn is_empty(constants: &Arc<BTreeMap<String, String>>) -> bool {
    constants.is_empty()
}

/// Which eras of the protocol are spoken with a server.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Whichever it speaks; what is remembered of it is tried first.
    #[default]
    Auto,
    /// Only those with a handshake, `initialize`.
    Legacy,
    /// Only those without one, from 2026-07-28 on.
    Modern,
}

impl Protocol {
    /// Its names in configuration, each with what it is.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("legacy", Self::Legacy), ("modern", Self::Modern)];
}

/// Which of a server's tools are wanted, by the names the server gives them.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct ToolFilter {
    /// Only these, if there is a list; an empty one means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<String>>,
    /// Not these, whatever `include` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
}

impl ToolFilter {
    /// Whether every tool is wanted.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty()
    }

    /// Whether a tool is wanted. A name may carry arguments in parentheses, as older files have
    /// it, which do not count.
    #[must_use]
    pub fn wants(&self, tool: &str) -> bool {
        let is = |name: &String| {
            name == tool || name.split_once('(').is_some_and(|(name, _)| name == tool)
        };
        let included = self.include.as_ref().is_none_or(|names| names.iter().any(is));
        included && !self.exclude.iter().any(is)
    }
}

/// How to sign in to a server.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Auth {
    /// Not at all, whatever it asks for.
    None,
    /// With OAuth.
    Oauth(OauthClient),
    /// With a bearer token from a variable of the host.
    BearerEnv {
        /// The variable.
        var: String,
    },
    /// With a key that is kept elsewhere.
    Apikey,
}

/// What a file says about an OAuth client, as written.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct OauthClient {
    /// Its id, if it is registered.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// Where the browser is sent back to.
    pub redirect_uri: Option<String>,
    /// The port to listen at for that.
    pub callback_port: Option<u16>,
    /// The path to listen at for that.
    pub callback_path: Option<String>,
    /// What to ask for, if not what the server says.
    pub scopes: Option<Vec<String>>,
    /// Under which id a credential was stored.
    pub credential_id: Option<String>,
    /// Where to get tokens.
    pub token_url: Option<String>,
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
    /// An address of which the file does not say what is spoken there: streamable HTTP first,
    /// then the older one.
    Auto(Remote),
}

impl Transport {
    /// The name of the transport in configuration and in `list --json`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
            Self::Auto(_) => "auto",
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
    /// Variables of the host that it must not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_unset: Vec<String>,
    /// Variables that it gets from the host as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_inherit: Vec<String>,
    /// A file with further variables, `NAME=value` a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_file: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
}

/// Where a remote server is, as written.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Remote {
    /// Its address.
    pub url: String,
    /// Headers for it. Values may be secrets.
    pub headers: BTreeMap<String, String>,
    /// Headers whose value is that of a variable of the host: header → variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers_env: BTreeMap<String, String>,
    /// Variables of the host that its headers may need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_inherit: Vec<String>,
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
    /// Where that file really is, every symbolic link in its path resolved, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl Definition {
    /// A definition of which nothing is known yet but its name and place; not valid.
    #[must_use]
    pub fn new(name: ServerName, source: SourceRef) -> Self {
        Self {
            name,
            transport: Err(String::new()),
            enabled: true,
            timeout_ms: None,
            startup_timeout_ms: None,
            protocol: None,
            auth: None,
            tools: ToolFilter::default(),
            auto_approve: Vec::new(),
            variables: Variables::None,
            constants: Arc::default(),
            inputs: BTreeMap::new(),
            overlay: false,
            source,
        }
    }

    /// One of its texts in parts.
    #[must_use]
    pub fn template(&self, text: &str, role: Role) -> Template {
        Template::of(text, role, self.variables, &self.constants)
    }

    /// Whether something that looks like a secret stands in it as such, and not as a placeholder,
    /// a command or the name of a variable: nothing to share with others.
    #[must_use]
    pub fn has_plain_secret(&self) -> bool {
        let (values, role, mut found) = match &self.transport {
            Ok(Transport::Stdio(stdio)) => {
                let mut found = false;
                let args = core::iter::once(&stdio.command).chain(&stdio.args);
                secret::in_arguments(args.map(String::as_str), |text| plain(text, &mut found));
                (&stdio.env, Role::Env, found)
            }
            Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) => {
                let mut found = false;
                secret::in_address(&remote.url, |text| plain(text, &mut found));
                (&remote.headers, Role::Header, found)
            }
            Err(_) => return false,
        };
        for (name, value) in values {
            let is_written = self.template(value, role).parts.iter().all(|part| match part {
                Part::Text(_) => true,
                Part::Named(name) => !name.chars().all(|c| c.is_ascii_uppercase() || c == '_'),
                Part::Variable { .. }
                | Part::Input { .. }
                | Part::Command { .. }
                | Part::File { .. }
                | Part::Foreign { .. } => false,
            });
            if is_written && !value.is_empty() {
                found |= secret::is_telling(name);
                secret::in_line(value, |text| plain(text, &mut found));
            }
        }
        found
    }

    /// What this definition is, without where it stands and without its secrets: the names of
    /// environment variables and headers count, their values do not, and neither does what looks
    /// like a secret in the command line or the address. So rotating a secret does not make a
    /// cached tool list invalid (G35), and a run over redacted files asks for the same lists.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let hidden = |_: &str| "<secret>".into();
        let transport = match &self.transport {
            Ok(Transport::Stdio(stdio)) => {
                let mut json = json!({
                    "type": "stdio",
                    "command": secret::in_line(&stdio.command, hidden),
                    "args": secret::in_arguments(stdio.args.iter().map(String::as_str), hidden),
                    "env": stdio.env.keys().collect::<Vec<_>>(),
                    "cwd": stdio.cwd,
                });
                add(&mut json, "env_unset", &stdio.env_unset);
                add(&mut json, "env_inherit", &stdio.env_inherit);
                add(&mut json, "env_file", &stdio.env_file.iter().collect::<Vec<_>>());
                json
            }
            Ok(
                transport @ (Transport::Http(remote)
                | Transport::Sse(remote)
                | Transport::Auto(remote)),
            ) => remote_json(transport.name(), remote),
            Err(message) => json!({ "invalid": message }),
        };
        Fingerprint::of(canonical(&transport).as_bytes())
    }

    /// What a user approves: this exact definition, every value in it, under this name and in
    /// this file, by its path and by where that path leads. So what was approved is asked for
    /// again once anything of it changes, if another entry or another file says the same, if
    /// the project moved, and if a symbolic link leads elsewhere. Whether it is switched on and
    /// on which line it stands does not count.
    #[must_use]
    pub fn approval(&self) -> Approval {
        let mut exact = json!(self);
        if let Some(members) = exact.as_object_mut() {
            members.remove("enabled");
            // They follow from the place of the file.
            members.remove("constants");
            let source = members.get_mut("source").and_then(serde_json::Value::as_object_mut);
            source.and_then(|source| source.remove("line"));
        }
        Approval::of(canonical(&exact).as_bytes())
    }

    /// Whether a running server has to be restarted to follow `other` (F-033): anything that
    /// reaches the server or limits it differs. Where the definition stands does not.
    #[must_use]
    pub fn runs_like(&self, other: &Self) -> bool {
        self.transport == other.transport
            && self.enabled == other.enabled
            && self.timeout_ms == other.timeout_ms
            && self.startup_timeout_ms == other.startup_timeout_ms
            && self.protocol == other.protocol
            && self.auth == other.auth
            && self.tools == other.tools
            && self.variables == other.variables
            && self.constants == other.constants
    }
}

fn remote_json(kind: &str, remote: &Remote) -> serde_json::Value {
    let url = secret::in_address(&remote.url, |_| "<secret>".into());
    let headers: Vec<&String> = remote.headers.keys().collect();
    let mut json = json!({ "type": kind, "url": url, "headers": headers });
    let headers_env: Vec<_> = remote.headers_env.iter().collect();
    add(&mut json, "headers_env", &headers_env);
    json
}

/// Adds a list that is not empty, so that definitions without one keep their fingerprint.
fn add(json: &mut serde_json::Value, key: &str, list: &[impl Serialize]) {
    if let (false, Some(members)) = (list.is_empty(), json.as_object_mut()) {
        members.insert(key.into(), json!(list));
    }
}

/// Notes that a text that looks like a secret is one as it stands, and leaves it.
fn plain(text: &str, found: &mut bool) -> String {
    *found |= !text.contains('$');
    text.into()
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
