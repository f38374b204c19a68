//! What an organisation allows and forbids, from a system file that its users cannot change.
//!
//! Floor 2. May import floors 0 and 1. The file is JSON with comments:
//!
//! ```json
//! {
//!   "allow": [
//!     { "program": "npx", "name": "github" },
//!     { "command": ["uvx", "mcp-server-git"] },
//!     { "url": "https://*.example.com/mcp/*" }
//!   ],
//!   "deny": [ { "name": "scratch*" } ]
//! }
//! ```
//!
//! A rule is about a server that has everything it says:
//!
//! - `name`: the name of the server. `*` stands for anything.
//! - `command`: the command and every argument, exactly as they are written.
//! - `program`: the command alone, as it is written. One without a slash forbids every program
//!   of that file name, wherever it is, and allows only what is looked up in the host's `PATH`.
//!   An entry with a `PATH` of its own is allowed by neither `command` nor `program` then.
//! - `url`: the address. `*` in the host stands for anything within a host, in the path for
//!   anything at all. Without a path it is about every path of the host. The case of scheme and
//!   host, a default port and a name in front of `@` do not count.
//!
//! What `deny` is about is forbidden, whatever `allow` says. If there is `allow`, everything it
//! is not about is forbidden too: an empty list forbids every server. A file that cannot be read
//! or has anything unknown in it forbids everything, because nobody knows what it meant to.
//!
//! Values of variables are not known here. A command or an address with one in it is forbidden
//! by any rule that it could fall under, and allowed only by rules that fit what is written.

mod address;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::definition::{Definition, Stdio, Transport};
use super::encoding::decode;
use super::syntax::{FaultKind, Member, Node, Value, jsonc};
use super::template::Role;
use crate::error::{Category, Problem, Severity};
use crate::input::Found;

use address::Address;

/// The rules of an organisation.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Organisation {
    file: String,
    rules: Rules,
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
enum Rules {
    /// There is no file.
    #[default]
    None,
    /// The file says this.
    Some { allow: Option<Vec<Rule>>, deny: Vec<Rule> },
    /// Nobody knows what the file says.
    Unknown { line: Option<u32>, column: Option<u32>, why: String },
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Rule {
    line: u32,
    name: Option<String>,
    command: Option<Vec<String>>,
    program: Option<String>,
    url: Option<String>,
}

/// Whether a rule is looked at for what it allows or for what it forbids: what is not certain
/// is not allowed, and is forbidden.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Allow,
    Deny,
}

struct Unfit {
    line: u32,
    why: String,
}

impl Organisation {
    /// What the file says, if it is there.
    #[must_use]
    pub fn read(file: &str, found: &Found) -> Self {
        let rules = match found {
            Found::Nothing => Rules::None,
            Found::Unreadable(why) => unknown(None, None, why.clone()),
            Found::Content(bytes) => rules(bytes),
        };
        Self { file: file.into(), rules }
    }

    /// That the file is not understood, and where.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let Rules::Unknown { line, column, why } = &self.rules else { return None };
        let message = format!("{why}: every server is forbidden until {} is mended", self.file);
        Some(Problem { column: *column, ..self.told(*line, message) })
    }

    /// Why a server is forbidden, if it is.
    #[must_use]
    pub fn refusal(&self, definition: &Definition) -> Option<Problem> {
        let server = &definition.name;
        let (line, why) = match &self.rules {
            Rules::None => return None,
            Rules::Unknown { line, .. } => (*line, "it is not understood".to_string()),
            Rules::Some { allow, deny } => {
                let denies = deny.iter().find(|rule| rule.is_about(definition, Side::Deny));
                let allowed = allow.as_ref().is_none_or(|allow| {
                    allow.iter().any(|rule| rule.is_about(definition, Side::Allow))
                });
                match denies {
                    Some(rule) => (Some(rule.line), format!("it denies {}", rule.words())),
                    None if allowed => return None,
                    None => (None, "it allows others only".to_string()),
                }
            }
        };
        let message = format!("Server \"{server}\" is forbidden by {}: {why}", self.file);
        Some(Problem { server: Some(server.clone()), ..self.told(line, message) })
    }

    fn told(&self, line: Option<u32>, message: String) -> Problem {
        Problem {
            severity: Severity::Error,
            category: Category::Forbidden,
            file: Some(self.file.clone()),
            line,
            column: None,
            key: None,
            server: None,
            message,
        }
    }
}

impl Rule {
    fn is_about(&self, definition: &Definition, side: Side) -> bool {
        let fits = |pattern: &Option<String>, fits: &dyn Fn(&str) -> bool| {
            pattern.as_deref().is_none_or(fits)
        };
        let name = definition.name.as_str();
        fits(&self.name, &|pattern| is_like(pattern, name))
            && fits(&self.program, &|program| is_program(program, definition, side))
            && self.command.as_ref().is_none_or(|command| is_command(command, definition, side))
            && fits(&self.url, &|pattern| is_at(pattern, definition, side))
    }

    /// What it is about, in words.
    fn words(&self) -> String {
        let texts = [("name", &self.name), ("program", &self.program), ("url", &self.url)];
        let texts =
            texts.iter().filter_map(|(key, text)| Some(format!("{key} {:?}", text.as_ref()?)));
        let command = self.command.iter().map(|command| format!("command {command:?}"));
        texts.chain(command).collect::<Vec<_>>().join(" and ")
    }
}

/// What a text says once variables are filled in, or `None` if that is not known.
fn plain<'a>(definition: &Definition, text: &'a str) -> Option<Cow<'a, str>> {
    let template = definition.template(text, Role::Word);
    match template.plain() {
        Some(same) if same == text => Some(Cow::Borrowed(text)),
        Some(other) => Some(Cow::Owned(other.to_string())),
        None => None,
    }
}

fn is_program(program: &str, definition: &Definition, side: Side) -> bool {
    let Ok(Transport::Stdio(stdio)) = &definition.transport else { return false };
    if side == Side::Allow {
        return stdio.command == program && is_looked_up_by_host(stdio);
    }
    let Some(command) = plain(definition, &stdio.command) else { return true };
    let file = command.rsplit(['/', '\\']).next().unwrap_or_default();
    *command == *program || (!program.contains('/') && file == program)
}

fn is_command(wanted: &[String], definition: &Definition, side: Side) -> bool {
    let Ok(Transport::Stdio(stdio)) = &definition.transport else { return false };
    let written = || core::iter::once(&stdio.command).chain(&stdio.args);
    let fits = |(wanted, written): (&String, &String)| {
        wanted == written
            || side == Side::Deny && plain(definition, written).is_none_or(|text| text == *wanted)
    };
    (side == Side::Deny || is_looked_up_by_host(stdio))
        && wanted.len() == written().count()
        && wanted.iter().zip(written()).all(fits)
}

/// Whether the entry itself does not say which program is meant by a name: it could mean any.
fn is_looked_up_by_host(stdio: &Stdio) -> bool {
    let is_path = |name: &String| name.eq_ignore_ascii_case("PATH");
    stdio.command.contains(['/', '\\']) || !stdio.env.keys().chain(&stdio.env_unset).any(is_path)
}

fn is_at(pattern: &str, definition: &Definition, side: Side) -> bool {
    let Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) =
        &definition.transport
    else {
        return false;
    };
    let address = plain(definition, &remote.url);
    match (address.as_deref().and_then(Address::of), Address::of(pattern)) {
        (Some(address), Some(pattern)) => address.is_like(&pattern, side == Side::Deny),
        // What cannot be taken apart is not known to be harmless.
        (_, _) => side == Side::Deny,
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

fn unknown(line: Option<u32>, column: Option<u32>, why: String) -> Rules {
    Rules::Unknown { line, column, why }
}

fn rules(bytes: &[u8]) -> Rules {
    let text = match decode(bytes) {
        Ok(text) => text.text,
        Err(no_text) => return unknown(Some(no_text.line), None, "it is no text".into()),
    };
    let document = match jsonc::parse(&text) {
        Ok(document) => document,
        Err(fault) => {
            let why = match fault.kind {
                FaultKind::TooDeep | FaultKind::TooLarge => "it is nested too deeply".into(),
                FaultKind::Syntax(words) => words,
            };
            return unknown(Some(fault.line), Some(fault.column), why);
        }
    };
    let read = match &document.root {
        Some(Node { value: Value::Map(members), .. }) => sides(members),
        Some(node) => Err(Unfit { line: node.line, why: "it holds no object".into() }),
        None => Err(Unfit { line: 1, why: "it is empty".into() }),
    };
    read.unwrap_or_else(|Unfit { line, why }| unknown(Some(line), None, why))
}

fn sides(members: &[Member<'_>]) -> Result<Rules, Unfit> {
    let (mut allow, mut deny) = (None, None);
    for member in members {
        let side = match &*member.key {
            "allow" => &mut allow,
            "deny" => &mut deny,
            key => return Err(unfit(member, format!("it has {key:?}, which nobody knows"))),
        };
        let Value::List(items) = &member.node.value else {
            return Err(unfit(member, format!("{:?} is no list", member.key)));
        };
        let rules = items.iter().map(rule).collect::<Result<_, _>>()?;
        if side.replace(rules).is_some() {
            return Err(unfit(member, format!("it has {:?} twice", member.key)));
        }
    }
    Ok(Rules::Some { allow, deny: deny.unwrap_or_default() })
}

fn rule(node: &Node<'_>) -> Result<Rule, Unfit> {
    let Value::Map(members) = &node.value else {
        return Err(Unfit { line: node.line, why: "a rule is no object".into() });
    };
    if members.is_empty() {
        return Err(Unfit { line: node.line, why: "a rule is about nothing".into() });
    }
    let mut rule = Rule { line: node.line, ..Rule::default() };
    for member in members {
        let seen = match (&*member.key, &member.node.value) {
            ("name", Value::Text(text)) => rule.name.replace(text.to_string()).is_some(),
            ("program", Value::Text(text)) => rule.program.replace(text.to_string()).is_some(),
            ("url", Value::Text(text)) => {
                if Address::of(text).is_none() {
                    return Err(unfit(member, format!("{text:?} is no address")));
                }
                rule.url.replace(text.to_string()).is_some()
            }
            ("command", Value::List(items)) => {
                let word = |item: &Node<'_>| {
                    if let Value::Text(text) = &item.value {
                        return Ok(text.to_string());
                    }
                    Err(unfit(member, "\"command\" is no list of texts".into()))
                };
                let words = items.iter().map(word).collect::<Result<_, _>>()?;
                rule.command.replace(words).is_some()
            }
            (key, _) => {
                return Err(unfit(member, format!("a rule has {key:?}, which is not understood")));
            }
        };
        if seen {
            return Err(unfit(member, format!("a rule has {:?} twice", member.key)));
        }
    }
    Ok(rule)
}

fn unfit(member: &Member<'_>, why: String) -> Unfit {
    Unfit { line: member.line, why }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
