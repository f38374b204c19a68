//! One file's bytes → the definitions in it.
//!
//! Floor 2. May import floors 0 and 1. Nothing is expanded, run or read here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Definition;
use super::encoding::{NoText, decode};
use super::entry;
use super::jsonc::{self, Fault, FaultKind, Member, Node, Syntax, Value, last};
use super::nearest::nearest;
use super::report::{About, Report};
use super::source::{Level, Provider, Source};
use crate::error::{Category, Problem, Severity};
use crate::id::ServerName;
use crate::input::Found;

/// What one file says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reading {
    /// Its definitions in the order of the file; those that are not valid among them, with the
    /// messages of the validation for a transport.
    pub definitions: Vec<Definition>,
    /// The names in its `disabledServers`, if it is a file the user vouches for: they are
    /// switched off in whatever file they are defined. (A project can only switch off its own,
    /// which `definitions` say already.)
    pub disabled: BTreeSet<ServerName>,
    /// What a person may want to mend in it, in the order of the file.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// The same, of a file that really is there.
    #[must_use]
    pub fn at(mut self, origin: Option<&str>) -> Self {
        for definition in &mut self.definitions {
            definition.source.origin = origin.map(Into::into);
        }
        self
    }
}

/// What a file says if it is there, or that one the user named is not, or that it cannot be read;
/// `origin` is where it really is, links resolved.
#[must_use]
pub fn found(source: &Source, origin: Option<&str>, found: &Found) -> Reading {
    let unreadable = |message: String| {
        let mut report = Report { file: &source.path, problems: Vec::new() };
        report.error(About::default(), Category::UnreadableFile, message);
        Reading { problems: report.problems, ..Reading::default() }
    };
    match found {
        Found::Content(bytes) => read(source, bytes).at(origin),
        Found::Nothing if source.level == Level::Explicit => {
            unreadable(format!("{} does not exist", source.path))
        }
        Found::Nothing => Reading::default(),
        Found::Unreadable(why) => unreadable(format!("{} cannot be read: {why}", source.path)),
    }
}

/// Reads one file. Total: any bytes give a reading.
#[must_use]
pub fn read(source: &Source, bytes: &[u8]) -> Reading {
    let mut report = Report { file: &source.path, problems: Vec::new() };
    let mut reading = Reading::default();
    if let Some(text) = text(bytes, &mut report)
        && let Some(root) = tree(text, source, &mut report)
    {
        reading = definitions(&root, source, &mut report);
    }
    reading.problems = report.problems;
    reading.problems.sort_by_key(|problem| problem.line);
    reading
}

fn text<'a>(bytes: &'a [u8], report: &mut Report<'_>) -> Option<&'a str> {
    let (line, message) = match decode(bytes) {
        Ok(decoded) => {
            if decoded.marked {
                let message = "the byte order mark at the start is skipped";
                report.info(About::default(), Category::EncodingBom, message.into());
            }
            return Some(decoded.text);
        }
        Err(NoText::Utf16) => {
            (None, "the file is not UTF-8 but UTF-16: save it as UTF-8; it is not used")
        }
        Err(NoText::Broken { line }) => {
            (Some(line), "the file is not UTF-8: save it as UTF-8; it is not used")
        }
    };
    let about = About { line, ..About::default() };
    report.error(about, Category::EncodingInvalid, message.into());
    None
}

fn tree<'a>(text: &'a str, source: &Source, report: &mut Report<'_>) -> Option<Node<'a>> {
    let document = match jsonc::parse(text) {
        Ok(document) => document,
        Err(Fault { line, column, kind }) => {
            let (category, what) = match kind {
                FaultKind::TooDeep => (Category::DepthLimit, "it is nested too deeply".into()),
                FaultKind::Syntax(words) => (Category::SyntaxError, lower_first(&words)),
            };
            let message = format!("{what}; the file is not used");
            report.unreadable(line, column, category, message);
            return None;
        }
    };
    // A file that other programs read too should stay what they can read.
    let own = if source.provider == Provider::Shared { Syntax::Json } else { Syntax::Jsonc };
    if document.root.is_some() && document.syntax > own {
        let beyond = match document.syntax {
            Syntax::Json | Syntax::Jsonc => "comments or trailing commas",
            Syntax::Loose => "single quotes or keys without quotes",
        };
        let message = format!("the file has {beyond}, which other programs may refuse");
        report.warning(About::default(), Category::LenientSyntax, message);
    }
    if document.root.is_none() {
        empty(source, report, Category::EmptyFile, "the file is empty");
    }
    document.root
}

/// A file without servers is worth a warning if the user named it.
fn empty(source: &Source, report: &mut Report<'_>, category: Category, message: &str) {
    let named = source.level == Level::Explicit;
    let severity = if named { Severity::Warning } else { Severity::Info };
    report.add(severity, About::default(), category, message.into());
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

fn definitions(root: &Node<'_>, source: &Source, report: &mut Report<'_>) -> Reading {
    let mut reading = Reading::default();
    let Value::Map(members) = &root.value else {
        let noun = root.value.noun();
        let message = format!("the file should hold an object and holds {noun}; it is not used");
        let about = About { line: Some(root.line), ..About::default() };
        report.error(about, Category::WrongRootType, message);
        return reading;
    };
    let section = section(members, source, report);
    repeated_keys(members, &mut Vec::new(), section.map_or("", |(name, _)| name), report);
    let Some((section, entries)) = section else {
        // Names can be switched off in a file that defines none (G59).
        let disabled = disabled_servers(members, report);
        if source.level != Level::Project {
            reading.disabled = disabled;
        }
        return reading;
    };
    if !section.is_empty() {
        unknown_members(members, section, report);
    }
    // Of a repeated name the last entry counts.
    let latest: BTreeMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (&*entry.key, at)).collect();
    for (at, member) in entries.iter().enumerate() {
        if latest.get(&*member.key) == Some(&at) {
            reading.definitions.extend(entry::read(member, section, source, report));
        }
    }
    let disabled = disabled_servers(members, report);
    for definition in &mut reading.definitions {
        definition.enabled &= !disabled.contains(&definition.name);
    }
    if source.level != Level::Project {
        reading.disabled = disabled;
    }
    reading
}

/// The entries of a file and the key they stand under; it is empty if they are the whole file.
pub(super) fn section<'t, 'a>(
    members: &'t [Member<'a>],
    source: &Source,
    report: &mut Report<'_>,
) -> Option<(&'static str, &'t [Member<'a>])> {
    if let Some(member) = last(members, "mcpServers") {
        if let Value::Map(entries) = &member.node.value {
            return Some(("mcpServers", entries));
        }
        let noun = member.node.value.noun();
        let message =
            format!("\"mcpServers\" should be an object and is {noun}; the file is not used");
        let about = About { line: Some(member.line), key: Some("mcpServers"), server: None };
        report.error(about, Category::WrongSectionType, message);
        return None;
    }
    if let Some(member) = last(members, "servers")
        && let Value::Map(entries) = &member.node.value
    {
        let message = "\"servers\" is read as \"mcpServers\"; rename it";
        let about = About { line: Some(member.line), key: Some("servers"), server: None };
        report.warning(about, Category::ForeignSection, message.into());
        return Some(("servers", entries));
    }
    if !members.is_empty() && members.iter().all(|member| is_entry(&member.node.value)) {
        let message = "there is no \"mcpServers\"; the whole file is read as such";
        report.warning(About::default(), Category::ForeignSection, message.into());
        return Some(("", members));
    }
    empty(source, report, Category::MissingSection, "there is no \"mcpServers\" in the file");
    None
}

fn is_entry(value: &Value<'_>) -> bool {
    let Value::Map(members) = value else { return false };
    ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| last(members, key).is_some())
}

fn unknown_members(members: &[Member<'_>], section: &str, report: &mut Report<'_>) {
    let known = [section, "disabledServers", "$schema"];
    for member in members.iter().filter(|member| !known.contains(&&*member.key)) {
        let about = About { line: Some(member.line), key: Some(&member.key), server: None };
        report.unread(about, &member.key, nearest(&member.key, known));
    }
}

fn disabled_servers(members: &[Member<'_>], report: &mut Report<'_>) -> BTreeSet<ServerName> {
    let mut names = BTreeSet::new();
    let Some(member) = last(members, "disabledServers") else { return names };
    let mut ignored = |node: &Node<'_>, wanted: &str| {
        let about = About { line: Some(node.line), key: Some("disabledServers"), server: None };
        let noun = node.value.noun();
        let message = format!("\"disabledServers\" should hold {wanted}; {noun} is ignored");
        report.warning(about, Category::InvalidField, message);
    };
    let Value::List(items) = &member.node.value else {
        ignored(&member.node, "a list of names");
        return names;
    };
    for item in items {
        match &item.value {
            Value::Text(name) => {
                names.insert(ServerName::new(name));
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                ignored(item, "names");
            }
        }
    }
    names
}

/// Reports every key that stands twice in one object, at its later place.
fn repeated_keys<'t>(
    members: &'t [Member<'_>],
    path: &mut Vec<&'t str>,
    section: &str,
    report: &mut Report<'_>,
) {
    let mut seen = BTreeSet::new();
    for member in members {
        path.push(&member.key);
        if !seen.insert(&*member.key) {
            let depth = usize::from(!section.is_empty());
            let inside = section.is_empty() || path.first() == Some(&section);
            let server = path.get(depth).filter(|_| inside).map(|name| ServerName::new(name));
            let key = path.join(".");
            let about = About { line: Some(member.line), key: Some(&key), server: server.as_ref() };
            let message = format!("{:?} is repeated; the last one counts", &*member.key);
            report.warning(about, Category::DuplicateKey, message);
        }
        repeated_keys_in(&member.node, path, section, report);
        path.pop();
    }
}

fn repeated_keys_in<'t>(
    node: &'t Node<'_>,
    path: &mut Vec<&'t str>,
    section: &str,
    report: &mut Report<'_>,
) {
    match &node.value {
        Value::Map(members) => repeated_keys(members, path, section, report),
        Value::List(items) => {
            for item in items {
                repeated_keys_in(item, path, section, report);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
