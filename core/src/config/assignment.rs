//! What a definition sets in an environment or in headers, shown for judging it.
//!
//! Floor 2. May import floors 0 and 1. Too little hidden is better than too much: what is hidden
//! cannot be judged, and whoever is asked owns the file.

use alloc::borrow::ToOwned as _;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::secret;

/// A variable or a header, and what it is set to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assignment {
    /// The name. Untrusted text.
    pub name: String,
    /// What it is set to.
    pub value: Value,
}

/// What something is set to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Value {
    /// What the file says, as written. Untrusted text.
    Written(String),
    /// What looks like a secret, and like nothing that decides what is run.
    Hidden,
    /// The value of this variable of the user's. Untrusted text.
    Variable(String),
}

/// How the names of variables start that decide which code is loaded.
const LOADERS: [&str; 12] = [
    "LD_",
    "DYLD_",
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHON",
    "PERL",
    "RUBY",
    "JAVA",
    "BASH",
    "GIT_CONFIG",
    "SSH_",
];

impl Assignment {
    /// A variable of an environment. A path, an option or a placeholder is no secret there,
    /// whatever the name says.
    pub(super) fn variable(name: &str, value: &str) -> Self {
        let upper = name.to_ascii_uppercase();
        let hidden = !LOADERS.iter().any(|start| upper.starts_with(start))
            && !names_variable(value)
            && (secret::is_telling(name) && is_opaque(value) || secret::is_token(value));
        Self::of(name, value, hidden)
    }

    /// A header.
    pub(super) fn header(name: &str, value: &str) -> Self {
        let word = ["Bearer ", "Basic ", "Token "].iter().find_map(|kind| {
            let (start, rest) = value.split_at_checked(kind.len())?;
            start.eq_ignore_ascii_case(kind).then_some(rest)
        });
        let word = word.unwrap_or(value);
        let hidden = !names_variable(word)
            && (secret::is_telling(name) && is_opaque(word) || secret::is_token(word));
        Self::of(name, value, hidden)
    }

    /// A header with the value of a variable of the host.
    pub(super) fn header_of(name: &str, variable: &str) -> Self {
        Self { name: name.to_owned(), value: Value::Variable(variable.to_owned()) }
    }

    fn of(name: &str, value: &str, hidden: bool) -> Self {
        let value = if hidden { Value::Hidden } else { Value::Written(value.to_owned()) };
        Self { name: name.to_owned(), value }
    }

    /// Whether it may hold a secret, shown or not.
    pub(super) fn may_be_secret(&self) -> bool {
        match &self.value {
            Value::Written(text) => {
                secret::is_in_any([text.as_str()])
                    || secret::is_telling(&self.name) && !is_placeholder(text)
            }
            Value::Hidden => true,
            Value::Variable(_) => false,
        }
    }
}

/// Whether a text is one placeholder and nothing else.
fn is_placeholder(text: &str) -> bool {
    let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inside.is_some_and(|inside| !inside.contains(['{', '}', '-']))
}

/// Whether a text is one word that is no path, no option and no placeholder.
fn is_opaque(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_+=".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_part)
}

/// Whether a text may be the name of a variable, for which some tools put its value.
fn names_variable(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.chars().all(is_part)
        && (text.contains('_') || !text.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_what_runs_is_shown_and_a_secret_is_not() {
        for (name, value, shown) in [
            ("NODE_OPTIONS", "--require ./evil.js", true),
            ("LD_PRELOAD", "sk-0123456789abcdef0123", true),
            ("PATH", "bin", true),
            ("GIT_CONFIG_KEY_0", "x", true),
            ("API_KEY", "./evil.js", true),
            ("API_KEY", "--require=x", true),
            ("API_KEY", "evil; rm -rf", true),
            ("API_KEY", "${HOME}", true),
            ("API_KEY", "AWS_SECRET_ACCESS_KEY", true),
            ("API_KEY", "hunter2", false),
            ("ANY", "ghp_0123456789abcdef", false),
            ("MODE", "fast", true),
        ] {
            let is_shown = Assignment::variable(name, value).value != Value::Hidden;
            assert_eq!(is_shown, shown, "{name}={value}");
        }
        for (name, value, shown) in [
            ("Authorization", "Bearer hunter2", false),
            ("Authorization", "Bearer ${TOKEN}", true),
            ("X-Mode", "fast", true),
            ("X-Auth", "AWS_SECRET_ACCESS_KEY", true),
        ] {
            let is_shown = Assignment::header(name, value).value != Value::Hidden;
            assert_eq!(is_shown, shown, "{name}: {value}");
        }
    }
}
