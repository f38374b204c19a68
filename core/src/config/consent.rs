//! What a user is asked to agree to before a project's own server may run.
//!
//! Floor 2. May import floors 0 and 1. Everything stands here as the project wrote it, and is
//! untrusted text: who shows it makes control characters in it visible.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::assignment::Assignment;
use super::definition::{Definition, Transport};
use super::environment::Environment;
use super::secret;
use super::template::{Part, Role};
use crate::approval::Approval;

/// What a definition would do, for the one who is asked whether it may.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Consent {
    /// What stands for a yes.
    pub approval: Approval,
    /// What would be run or spoken to.
    pub act: Act,
    /// The environment variables or headers that it sets.
    pub sets: Vec<Assignment>,
    /// The names of the user's variables that it would not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsets: Vec<String>,
    /// The names of the user's variables whose values it would be given.
    pub reads: BTreeSet<String>,
    /// The shell commands that would be run for their output.
    pub shell: BTreeSet<String>,
    /// The files that would be read for it.
    pub files: BTreeSet<String>,
    /// Whether something here may be a secret, so that it should not be kept elsewhere.
    pub confidential: bool,
}

/// What would be run or spoken to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Act {
    /// A program would be run.
    Run {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its working directory, if it is not the runtime's.
        cwd: Option<String>,
    },
    /// An address would be spoken to.
    Connect {
        /// The address.
        url: String,
    },
}

impl Consent {
    /// What a definition would do where these variables are set; `None` for one that is not valid
    /// and so does nothing.
    #[must_use]
    pub fn of(definition: &Definition, environment: &Environment) -> Option<Self> {
        let (act, sets, unsets) = match definition.transport.as_ref().ok()? {
            Transport::Stdio(stdio) => {
                let (command, args) = (stdio.command.clone(), stdio.args.clone());
                let act = Act::Run { command, args, cwd: stdio.cwd.clone() };
                let sets = stdio.env.iter().map(|(name, value)| Assignment::variable(name, value));
                (act, sets.collect::<Vec<_>>(), stdio.env_unset.clone())
            }
            Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote) => {
                let headers = remote.headers.iter();
                let sets = headers.map(|(name, value)| Assignment::header(name, value));
                let of_variables = remote.headers_env.iter();
                let of_variables =
                    of_variables.map(|(name, variable)| Assignment::header_of(name, variable));
                (
                    Act::Connect { url: remote.url.clone() },
                    sets.chain(of_variables).collect(),
                    vec![],
                )
            }
        };
        let confidential = act.has_secrets() || sets.iter().any(Assignment::may_be_secret);
        let mut consent = Self {
            approval: definition.approval(),
            act,
            sets,
            unsets,
            reads: BTreeSet::new(),
            shell: BTreeSet::new(),
            files: BTreeSet::new(),
            confidential,
        };
        consent.look(definition, environment);
        let mut lines = consent.shell.iter().map(String::as_str);
        consent.confidential |= lines.any(|line| secret::is_in_any(line.split(' ')));
        Some(consent)
    }

    /// Finds what would be read and run before anything is started.
    fn look(&mut self, definition: &Definition, environment: &Environment) {
        for (role, text) in definition.texts() {
            for part in definition.template(text, role).parts {
                match part {
                    Part::Variable { name, .. } => drop(self.reads.insert(name)),
                    Part::Command { line, .. } => drop(self.shell.insert(line)),
                    Part::File { path, .. } => drop(self.files.insert(path)),
                    Part::Named(name) if environment.is_filled(&name) => {
                        self.reads.insert(name);
                    }
                    // Such a value is no name of a variable, and nobody is told values.
                    Part::Named(_) | Part::Text(_) | Part::Input { .. } | Part::Foreign { .. } => {}
                }
            }
        }
        match &definition.transport {
            Ok(Transport::Stdio(stdio)) => {
                self.reads.extend(stdio.env_inherit.iter().cloned());
                self.files.extend(stdio.env_file.clone());
            }
            Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) => {
                self.reads.extend(remote.headers_env.values().cloned());
            }
            Err(_) => {}
        }
    }
}

impl Act {
    fn has_secrets(&self) -> bool {
        match self {
            Self::Run { command, args, cwd } => {
                let words = core::iter::once(command).chain(args).chain(cwd);
                secret::is_in_any(words.map(String::as_str))
            }
            Self::Connect { url } => secret::is_in_any([url.as_str()]),
        }
    }
}

impl Definition {
    /// Every text of it that can hold a placeholder, and what it is for.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Role, &str)> {
        let mut texts = Vec::new();
        match &self.transport {
            Ok(Transport::Stdio(stdio)) => {
                let words = core::iter::once(&stdio.command).chain(&stdio.args).chain(&stdio.cwd);
                texts.extend(words.map(|text| (Role::Word, text.as_str())));
                texts.extend(stdio.env.values().map(|text| (Role::Env, text.as_str())));
            }
            Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) => {
                texts.push((Role::Word, remote.url.as_str()));
                texts.extend(remote.headers.values().map(|text| (Role::Header, text.as_str())));
            }
            Err(_) => {}
        }
        texts.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Setting;
    use crate::config::parse::read;
    use crate::config::source::Source;

    /// G61: a value that is the name of a variable is its value, which must not go unseen.
    #[test]
    fn a_variable_that_is_named_alone_is_among_what_is_read() {
        let text = r#"{"mcpServers":{"run":{"command":"x","env":{"A":"TOKEN","B":"NONE"}},
            "send":{"url":"https://h/","headers":{"A":"TOKEN","B":"literal"}}}}"#;
        let set = [("TOKEN".into(), Setting::Filled), ("NONE".into(), Setting::Empty)];
        let environment: Environment = set.into_iter().collect();
        let reading = read(&Source::inline("f", text), text.as_bytes());
        assert_eq!(reading.definitions.len(), 2);
        for definition in &reading.definitions {
            let consent = Consent::of(definition, &environment).unwrap();
            assert_eq!(consent.reads, ["TOKEN".into()].into());
        }
    }
}
