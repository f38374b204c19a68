//! A text as written → the parts of which it says what stands there and what is to be put there.
//!
//! Floor 2. May import floors 0 and 1. One pass from left to right: what is put for a part is
//! never looked at again (G61), and an opening without an end is the text that it is.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::environment::Environment;

/// The placeholders that a tool puts values for.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Variables {
    /// None.
    #[default]
    None,
    /// `${V}` and `${V:-default}`.
    Braces,
    /// As [`Braces`](Self::Braces); a whole text `$env:V` too.
    BracesOrWhole,
    /// As [`Braces`](Self::Braces); then, as documented, a whole value of `env` or `headers`
    /// that starts with `!` is a command, and one that is the name of a variable that is set
    /// stands for its value.
    Documented,
    /// `${env:V}` and the constants.
    BracesEnv,
    /// As [`BracesEnv`](Self::BracesEnv), and `${file:path}`.
    BracesEnvOrFile,
    /// As [`BracesEnv`](Self::BracesEnv), and `${input:id}`.
    BracesEnvOrInput,
    /// `$V`, `${V}` and `${V:-default}`.
    Dollar,
    /// `$V` and `${V}`, in headers only.
    DollarInHeaders,
    /// As [`Dollar`](Self::Dollar); a text with `$(…)` in it is left to the tool's own shell.
    DollarOrShell,
    /// `{env:V}`, empty if it is not set, and `{file:path}`.
    Curly,
    /// `${{ secrets.V }}` and `${{ inputs.V }}`.
    Mustache,
    /// Tidegate's own: `${V}`, `${V:-default}`, `${env:V}`, `${input:id}`, the constants, and the
    /// values of [`Documented`](Self::Documented).
    Native,
}

impl Variables {
    /// Whether variables of the tool itself count among them.
    pub(super) const fn has_constants(self) -> bool {
        match self {
            Self::BracesEnv
            | Self::BracesEnvOrFile
            | Self::BracesEnvOrInput
            | Self::Dollar
            | Self::Native => true,
            Self::None
            | Self::Braces
            | Self::BracesOrWhole
            | Self::Documented
            | Self::DollarInHeaders
            | Self::DollarOrShell
            | Self::Curly
            | Self::Mustache => false,
        }
    }

    /// A text with `$` for each of its placeholders.
    pub(super) fn veiled(self, text: &str) -> String {
        let template = Template::of(text, Role::Word, self, &BTreeMap::new());
        let parts = template.parts.iter();
        parts.map(|part| if let Part::Text(text) = part { text.as_str() } else { "$" }).collect()
    }
}

/// What a text is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The command, an argument, the address, a directory.
    Word,
    /// The value of a variable for the server.
    Env,
    /// The value of a header.
    Header,
}

/// One part of a text.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What it says.
    Text(String),
    /// The value of a variable: if it is set, to nothing or to something, else the default.
    Variable {
        /// The variable.
        name: String,
        /// What stands for it if it is not set; `None` if nothing does.
        default: Option<String>,
        /// The placeholder.
        written: String,
    },
    /// The value of the variable of this name if it is set to something, else the name itself.
    Named(String),
    /// What a person answers.
    Input {
        /// Which of the file's `inputs`.
        id: String,
        /// The placeholder.
        written: String,
    },
    /// What a command prints.
    Command {
        /// The command, for a shell.
        line: String,
        /// The placeholder.
        written: String,
    },
    /// What is in a file.
    File {
        /// The file.
        path: String,
        /// The placeholder.
        written: String,
    },
    /// What only the tool itself can put there.
    Foreign {
        /// All of it.
        written: String,
    },
}

impl Part {
    /// What stands there.
    #[must_use]
    pub fn written(&self) -> &str {
        match self {
            Self::Text(written)
            | Self::Named(written)
            | Self::Variable { written, .. }
            | Self::Input { written, .. }
            | Self::Command { written, .. }
            | Self::File { written, .. }
            | Self::Foreign { written } => written,
        }
    }

    /// Whether there is nothing to put here as far as the names of the variables tell: the
    /// variable of a placeholder without a default is not set, or its value is with somebody
    /// else.
    #[must_use]
    pub fn is_unresolved(&self, environment: &Environment) -> bool {
        match self {
            Self::Variable { name, default: None, .. } => !environment.is_set(name),
            Self::File { .. } | Self::Foreign { .. } => true,
            Self::Text(_)
            | Self::Named(_)
            | Self::Variable { .. }
            | Self::Input { .. }
            | Self::Command { .. } => false,
        }
    }
}

/// A text in parts.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Template {
    /// In the order of the text; no two texts in a row, and none that is empty.
    pub parts: Vec<Part>,
}

impl Template {
    /// Splits a text; constants stand in it as the text they are.
    #[must_use]
    pub fn of(
        text: &str,
        role: Role,
        variables: Variables,
        constants: &BTreeMap<String, String>,
    ) -> Self {
        if let Some(whole) = whole(text, role, variables) {
            return Self { parts: Vec::from([whole]) };
        }
        let mut template = Self::default();
        let close = if variables == Variables::Mustache { "}}" } else { "}" };
        let mut rest = Rest { text, close, end: text.find(close) };
        while !rest.text.is_empty() {
            match placeholder(&rest, role, variables, constants) {
                Some((part, length)) => {
                    template.push(part);
                    rest.skip(length);
                }
                None => {
                    let length = rest.text.chars().next().map_or(1, char::len_utf8);
                    // The next placeholder starts at one of these two at the earliest.
                    let next = rest.text.get(length..).and_then(|after| after.find(['$', '{']));
                    let end = next.map_or(rest.text.len(), |next| length + next);
                    template.push(Part::Text(rest.text.get(..end).unwrap_or_default().into()));
                    rest.skip(end);
                }
            }
        }
        template
    }

    /// The text, if there is nothing to put anywhere.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with what stands for its parts: the default or the placeholder itself where
    /// `value` of a variable that is set gives nothing. A pure filling for drivers and tests that
    /// hold the values; answers and files are not asked for.
    #[must_use]
    pub fn filled(&self, value: impl Fn(&str) -> Option<String>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Variable { name, default, written } => match value(name) {
                    Some(value) => out.push_str(&value),
                    None => out.push_str(default.as_deref().unwrap_or(written)),
                },
                Part::Named(name) => {
                    let value = value(name).filter(|value| !value.is_empty());
                    out.push_str(value.as_deref().unwrap_or(name));
                }
                Part::Text(_)
                | Part::Input { .. }
                | Part::Command { .. }
                | Part::File { .. }
                | Part::Foreign { .. } => out.push_str(part.written()),
            }
        }
        out
    }

    /// The parts nothing can be put for; see [`Part::is_unresolved`].
    pub fn unresolved<'a>(
        &'a self,
        environment: &'a Environment,
    ) -> impl Iterator<Item = &'a Part> + 'a {
        self.parts.iter().filter(|part| part.is_unresolved(environment))
    }

    fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => self.parts.push(part),
        }
    }
}

/// What is left of a text.
struct Rest<'a> {
    text: &'a str,
    /// What a placeholder ends with.
    close: &'static str,
    /// Where the next one of these is. It is kept, so that many openings and one far end do not
    /// take quadratic time.
    end: Option<usize>,
}

impl<'a> Rest<'a> {
    fn skip(&mut self, length: usize) {
        self.text = self.text.get(length..).unwrap_or_default();
        self.end = match self.end {
            Some(end) if end >= length => Some(end - length),
            Some(_) => self.text.find(self.close),
            None => None,
        };
    }

    /// What stands between `open` at the start and the next end, and all of it.
    fn between(&self, open: &str) -> Option<(&'a str, &'a str)> {
        let end = self.end.filter(|end| *end >= open.len() && self.text.starts_with(open))?;
        Some((self.text.get(open.len()..end)?, self.text.get(..end + self.close.len())?))
    }
}

/// What a text is as a whole, if that is what counts.
fn whole(text: &str, role: Role, variables: Variables) -> Option<Part> {
    match variables {
        Variables::Documented | Variables::Native if role != Role::Word => {
            if let Some(line) = text.strip_prefix('!') {
                return Some(Part::Command { line: line.into(), written: text.into() });
            }
            let named = !text.is_empty() && !text.contains(['$', '=', '\0']);
            named.then(|| Part::Named(text.into()))
        }
        Variables::BracesOrWhole => {
            let name = text.strip_prefix("$env:").filter(|name| is_word(name))?;
            Some(Part::Variable { name: name.into(), default: None, written: text.into() })
        }
        Variables::DollarOrShell => {
            text.contains("$(").then(|| Part::Foreign { written: text.into() })
        }
        Variables::None
        | Variables::Braces
        | Variables::Documented
        | Variables::BracesEnv
        | Variables::BracesEnvOrFile
        | Variables::BracesEnvOrInput
        | Variables::Dollar
        | Variables::DollarInHeaders
        | Variables::Curly
        | Variables::Mustache
        | Variables::Native => None,
    }
}

/// The part that a text starts with, and its length.
fn placeholder(
    rest: &Rest<'_>,
    role: Role,
    variables: Variables,
    constants: &BTreeMap<String, String>,
) -> Option<(Part, usize)> {
    let dollar = match variables {
        Variables::None => return None,
        Variables::Curly => return curly(rest),
        Variables::Mustache => return mustache(rest),
        Variables::DollarInHeaders if role != Role::Header => return None,
        Variables::Dollar | Variables::DollarInHeaders | Variables::DollarOrShell => true,
        Variables::Braces
        | Variables::BracesOrWhole
        | Variables::Documented
        | Variables::BracesEnv
        | Variables::BracesEnvOrFile
        | Variables::BracesEnvOrInput
        | Variables::Native => false,
    };
    if let Some((inside, written)) = rest.between("${") {
        let constant = constants.get(inside);
        let part = constant.map(|value| Part::Text(value.clone()));
        let part = part.or_else(|| braced(inside, written, variables))?;
        return Some((part, written.len()));
    }
    let name = rest.text.strip_prefix('$').filter(|_| dollar)?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    let name = name.get(..end).filter(|name| !name.starts_with(|c: char| c.is_ascii_digit()))?;
    let written = rest.text.get(..=end)?;
    let known = constants.get(name).map(|value| Part::Text(value.clone()));
    let part = || Part::Variable { name: name.into(), default: None, written: written.into() };
    (!name.is_empty()).then(|| (known.unwrap_or_else(part), written.len()))
}

/// What stands between `${` and `}`. What may be refused is looked at from its start only.
fn braced(inside: &str, written: &str, variables: Variables) -> Option<Part> {
    let written: String = written.into();
    let prefixed = match variables {
        Variables::BracesEnv
        | Variables::BracesEnvOrFile
        | Variables::BracesEnvOrInput
        | Variables::Native => inside.strip_prefix("env:"),
        Variables::None
        | Variables::Braces
        | Variables::BracesOrWhole
        | Variables::Documented
        | Variables::Dollar
        | Variables::DollarInHeaders
        | Variables::DollarOrShell
        | Variables::Curly
        | Variables::Mustache => None,
    };
    if let Some(name) = prefixed {
        return variable(name, written);
    }
    match variables {
        Variables::BracesEnvOrInput | Variables::Native if inside.starts_with("input:") => {
            let id = inside.strip_prefix("input:").filter(|id| !id.is_empty())?;
            Some(Part::Input { id: id.into(), written })
        }
        Variables::BracesEnvOrFile => {
            let path = inside.strip_prefix("file:").filter(|path| !path.is_empty())?;
            Some(Part::File { path: path.into(), written })
        }
        Variables::Braces
        | Variables::BracesOrWhole
        | Variables::Documented
        | Variables::Dollar
        | Variables::DollarOrShell
        | Variables::Native => variable(inside, written),
        Variables::DollarInHeaders if is_word(inside) => variable(inside, written),
        Variables::None
        | Variables::DollarInHeaders
        | Variables::BracesEnv
        | Variables::BracesEnvOrInput
        | Variables::Curly
        | Variables::Mustache => None,
    }
}

/// `NAME` or `NAME:-default`; a name is anything without a colon.
fn variable(inside: &str, written: String) -> Option<Part> {
    let (name, default) = match inside.split_once(':') {
        None => (inside, None),
        Some((name, default)) => (name, Some(default.strip_prefix('-')?.to_string())),
    };
    (!name.is_empty()).then(|| Part::Variable { name: name.into(), default, written })
}

fn curly(rest: &Rest<'_>) -> Option<(Part, usize)> {
    let (inside, written) = rest.between("{")?;
    let part = match (inside.strip_prefix("env:"), inside.strip_prefix("file:")) {
        // What the tool puts for a variable that is not set is nothing.
        (Some(name), _) if !name.is_empty() => Part::Variable {
            name: name.into(),
            default: Some(String::new()),
            written: written.into(),
        },
        (_, Some(path)) if !path.is_empty() => {
            Part::File { path: path.into(), written: written.into() }
        }
        _ => return None,
    };
    Some((part, written.len()))
}

fn mustache(rest: &Rest<'_>) -> Option<(Part, usize)> {
    let (inside, written) = rest.between("${{")?;
    let inside = inside.trim_start();
    let name = inside.strip_prefix("secrets.").or_else(|| inside.strip_prefix("inputs."))?;
    let name = name.trim_end();
    let part = Part::Variable { name: name.into(), default: None, written: written.into() };
    (!name.is_empty()).then_some((part, written.len()))
}

fn is_word(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
