//! Configuration without the secrets in it, for traces (G67).
//!
//! Floor 2. May import floors 0 and 1.
//!
//! A run is recorded with the configuration files it read. They are redacted on the way into the
//! trace so that a run over the redacted files fills in the same places and finds the same
//! problems at the same lines; see [`disguise`](super::disguise):
//!
//! - Equal secrets have equal placeholders, different ones different ones: `<secret N>`, or
//!   `Ne-99` for what could be a number, because a number has to stay one. The placeholders for
//!   variables in them stay, and so do names in `${…}` that nobody fills in: `<secret N ${NAME}>`.
//! - In a file everything goes but what is read and is no secret: names, keys, types, commands,
//!   directories, and arguments and addresses as far as they do not look like secrets. The text
//!   of comments goes too: a commented-out entry has a token as often as any.
//! - What cannot be read is masked, letter by letter, up to the same error at the same place, or
//!   stands as a note that says the error.
//! - Redacting twice changes nothing.

mod edits;
mod file;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::encoding::{decode, encode};
use super::environment::Environment;
use super::mask;
use super::parse::{dialect, language};
use super::secret;
use super::source::{Source, Surroundings};
use super::syntax::{self, Language};
use super::template::{Part, Role, Template, Variables};
use super::variables;

use edits::Edits;
use file::File;

/// Replaces secrets by placeholders, equal secrets by equal ones.
#[derive(Clone, Default)]
pub struct Redactor {
    numbers: BTreeMap<String, u64>,
    last: u64,
    environment: Environment,
    project: String,
    home: Option<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.numbers.len())
    }
}

impl Redactor {
    /// A redactor that knows no secret.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A redactor that knows no secret, for files that are read in these surroundings.
    #[must_use]
    pub fn around(surroundings: Surroundings<'_>) -> Self {
        Self {
            environment: surroundings.environment.clone(),
            project: surroundings.project.into(),
            home: surroundings.home.map(String::from),
            ..Self::default()
        }
    }

    /// A configuration the host gave, without its secrets: the same lines with the same meaning.
    #[must_use]
    pub fn config(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.file(&Source::inline("", ""), bytes)
    }

    /// A file without its secrets: the same lines with the same meaning.
    #[must_use]
    pub fn file(&mut self, source: &Source, bytes: &[u8]) -> Vec<u8> {
        let decoded = match decode(bytes) {
            Ok(decoded) => decoded,
            Err(no_text) => {
                // Just enough to be refused for the same reason.
                let mut same = mask::lines_before(no_text.line).into_bytes();
                same.push(0xff);
                return same;
            }
        };
        let language = language(source);
        let text = match syntax::parse(&decoded.text, language) {
            Ok(document) => {
                let mut edits = Edits::new(&decoded.text, language);
                if let Some(root) = &document.root {
                    let dialect = dialect(source, document.root.as_ref());
                    let environment = self.environment.clone();
                    let (project, home) = (self.project.clone(), self.home.clone());
                    let around = Surroundings {
                        environment: &environment,
                        project: &project,
                        home: home.as_deref(),
                    };
                    File::new(self, source, dialect, around, &mut edits).root(root);
                }
                edits.apply(&document)
            }
            Err(fault) if language == Language::Json => mask::unreadable(&decoded.text, &fault),
            Err(fault) => syntax::unread(&fault),
        };
        encode(&text, decoded.encoding)
    }

    /// A value without what is secret in it: what stands in it for something else stays.
    fn value(
        &mut self,
        text: &str,
        role: Role,
        variables: Variables,
        constants: &BTreeMap<String, String>,
    ) -> String {
        if let Some(number) = secret::is_placeholder(text) {
            self.last = self.last.max(number);
            return text.into();
        }
        let template = Template::of(text, role, variables, constants);
        let mut out = String::new();
        for part in template.parts {
            match part {
                Part::Text(text) => out.push_str(&self.placeholder(&text)),
                Part::Named(name) if self.environment.is_filled(&name) => out.push_str(&name),
                Part::Named(name) => out.push_str(&self.placeholder(&name)),
                Part::Variable { default, written, .. } => {
                    let default = default.unwrap_or_default();
                    let start = written.len().saturating_sub(default.len() + 1);
                    match written.get(..start) {
                        Some(start) if !default.is_empty() => {
                            let hidden = self.placeholder(&default);
                            out.push_str(&format!("{start}{hidden}}}"));
                        }
                        _ => out.push_str(&written),
                    }
                }
                Part::Command { line, .. } => {
                    out.push('!');
                    out.push_str(&secret::in_line(&line, |secret| self.placeholder(secret)));
                }
                Part::Input { written, .. } | Part::File { written, .. } => out.push_str(&written),
                // That there is a command in it has to be found again.
                Part::Foreign { written } if written == "$(" => out.push_str("$("),
                Part::Foreign { written } => {
                    let rest = written.strip_prefix("$(").unwrap_or(&written);
                    out.push_str(&format!("$({}", self.placeholder(rest)));
                }
            }
        }
        out
    }

    /// What stands for a secret. Nothing and truth values are no secrets.
    fn placeholder(&mut self, value: &str) -> String {
        if matches!(value, "" | "true" | "false") {
            return value.into();
        }
        if let Some(number) = secret::is_placeholder(value) {
            self.last = self.last.max(number);
            return value.into();
        }
        let number = *self.numbers.entry(value.into()).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        match variables::kept(value) {
            _ if is_number(value) => format!("{number}e-99"),
            names if names.is_empty() => format!("<secret {number}>"),
            // The names are no secrets, and that they are not expanded is a problem that a
            // replay has to find too.
            names => format!("<secret {number} {names}>"),
        }
    }
}

/// Whether a text could stand in JSON as a number.
fn is_number(text: &str) -> bool {
    let like_one = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(like_one) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod redact_tests;
