//! A text in one of three languages → one kind of tree, with places.
//!
//! Floor 2. May import floors 0 and 1. TOML and YAML stand behind the feature `formats`.

pub(super) mod jsonc;
#[cfg(feature = "formats")]
pub(super) mod toml;
#[cfg(feature = "formats")]
pub(super) mod yaml;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// A language that configuration is written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Language {
    Json,
    Toml,
    Yaml,
}

impl Language {
    /// What it is called, unless it is JSON.
    pub(super) const fn other_than_json(self) -> Option<&'static str> {
        match self {
            Self::Json => None,
            Self::Toml => Some("TOML"),
            Self::Yaml => Some("YAML"),
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) value: Value<'a>,
    /// The bytes of its text, quotes and brackets included; in YAML nothing, at the number of
    /// the value.
    pub(super) span: Range<usize>,
    /// The line it starts at, from 1.
    pub(super) line: u32,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    /// As written in JSON; in the others without what JSON does not have.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// In the order of the file; in JSON with repeated keys.
    Map(Vec<Member<'a>>),
}

/// A member of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member<'a> {
    pub(super) key: Cow<'a, str>,
    /// The line its key stands at, from 1.
    pub(super) line: u32,
    pub(super) node: Node<'a>,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document<'a> {
    /// `None` if there is nothing but white space and comments.
    pub(super) root: Option<Node<'a>>,
    /// The strictest syntax that reads it.
    pub(super) syntax: Syntax,
}

/// How strict a syntax is, the strictest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Syntax {
    /// JSON; TOML and YAML have no other.
    Json,
    /// With comments and trailing commas.
    Jsonc,
    /// With single quotes and bare keys too.
    Loose,
}

/// Why a text was not read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Fault {
    /// From 1.
    pub(super) line: u32,
    /// In characters, from 1.
    pub(super) column: u32,
    pub(super) kind: FaultKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum FaultKind {
    /// Nested deeper than the parser goes (at least 64 levels, at most 512).
    TooDeep,
    /// Aliases stand for more than [`yaml::EXPANSION_MAX`].
    #[cfg_attr(not(feature = "formats"), expect(dead_code, reason = "only YAML has aliases"))]
    TooLarge,
    /// The parser's words.
    Syntax(String),
}

/// Reads a text. One that [`unread`] has made is refused with the fault it was made of.
pub(super) fn parse(text: &str, language: Language) -> Result<Document<'_>, Fault> {
    let root = match language {
        Language::Json => return jsonc::parse(text),
        Language::Toml | Language::Yaml => parse_other(text, language)?,
    };
    Ok(Document { root, syntax: Syntax::Json })
}

#[cfg(feature = "formats")]
fn parse_other(text: &str, language: Language) -> Result<Option<Node<'_>>, Fault> {
    match (refusal(text), language) {
        (Some(fault), _) => Err(fault),
        (None, Language::Yaml) => yaml::parse(text),
        (None, Language::Toml | Language::Json) => toml::parse(text),
    }
}

#[cfg(not(feature = "formats"))]
fn parse_other(_: &str, _: Language) -> Result<Option<Node<'_>>, Fault> {
    let words = "this build reads no TOML and no YAML (feature `formats`)";
    Err(Fault { line: 1, column: 1, kind: FaultKind::Syntax(words.into()) })
}

/// How a text starts that says why another one was not read.
const UNREAD: &str = "# not readable: ";

/// What stands in a trace for a text that cannot be read: its fault and nothing else.
pub(super) fn unread(fault: &Fault) -> String {
    let (kind, words) = match &fault.kind {
        FaultKind::TooDeep => ("depth", ""),
        FaultKind::TooLarge => ("expansion", ""),
        FaultKind::Syntax(words) => ("syntax", words.as_str()),
    };
    let words = words.replace(['\n', '\r'], " ");
    let breaks = "\n".repeat(fault.line.saturating_sub(1) as usize);
    format!("{UNREAD}{} {} {kind} {words}{breaks}", fault.line, fault.column)
}

/// The fault that [`unread`] has written down.
#[cfg(feature = "formats")]
fn refusal(text: &str) -> Option<Fault> {
    let note = text.strip_prefix(UNREAD)?;
    let words = note.trim_end_matches('\n');
    let breaks = note.len() - words.len();
    let mut words = words.splitn(4, ' ').filter(|word| !word.contains(['\n', '\r']));
    let (line, column) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    if number(breaks).saturating_add(1) != line {
        return None;
    }
    let kind = match words.next()? {
        "depth" => FaultKind::TooDeep,
        "expansion" => FaultKind::TooLarge,
        "syntax" => FaultKind::Syntax(words.next()?.into()),
        _ => return None,
    };
    Some(Fault { line, column, kind })
}

impl Value<'_> {
    /// What it is, for a message.
    pub(super) const fn noun(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

/// The member that counts: the last one with this key, unless it is null, which is as good as
/// absent.
pub(super) fn last<'t, 'a>(members: &'t [Member<'a>], key: &str) -> Option<&'t Member<'a>> {
    let found = members.iter().rev().find(|member| member.key == key);
    found.filter(|member| member.node.value != Value::Null)
}

/// Finds the line and the column of a place in a text.
#[cfg(feature = "formats")]
struct Lines<'a> {
    text: &'a str,
    /// Where each line but the first starts.
    starts: Vec<usize>,
}

#[cfg(feature = "formats")]
impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect();
        Self { text, starts }
    }

    /// From 1.
    fn line(&self, offset: usize) -> u32 {
        number(self.starts.partition_point(|start| *start <= offset)).saturating_add(1)
    }

    /// In characters, from 1.
    fn column(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= offset);
        let start = before.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(0);
        let passed = self.text.get(start..offset).unwrap_or_default();
        number(passed.chars().count()).saturating_add(1)
    }
}

#[cfg(feature = "formats")]
fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
