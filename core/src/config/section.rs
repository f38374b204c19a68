//! Where in a file the servers are.
//!
//! Floor 2. May import floors 0 and 1. If the tool's own key is not there, what another tool
//! would read is used, in a file that is for servers alone.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::format::dialect::Dialect;
use super::report::{About, Report};
use super::source::Level;
use super::syntax::{Member, Node, Value, last};
use crate::error::Category;

/// The keys that other tools use.
const FOREIGN: [&str; 6] =
    ["mcpServers", "servers", "mcp_servers", "mcp.servers", "context_servers", "mcp"];

/// The entries of one section.
#[derive(Clone, Debug)]
pub(super) struct Section<'t, 'a> {
    /// The keys that lead to it, joined with dots; empty if it is the whole file.
    pub(super) path: String,
    /// The same, one by one.
    pub(super) keys: Vec<String>,
    pub(super) entries: Cow<'t, [Member<'a>]>,
    /// Who vouches for it, if that is not who vouches for the file.
    pub(super) level: Option<Level>,
}

/// What was found of sections.
#[derive(Clone, Debug)]
pub(super) enum Sections<'t, 'a> {
    /// These, the strongest first.
    Found(Vec<Section<'t, 'a>>),
    /// One of the wrong type, which was reported.
    Wrong,
    /// None.
    None,
}

/// Which file it is, and where it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Where<'a> {
    /// The file.
    pub(super) file: &'a str,
    /// The folder whose entries count where a file has some for each.
    pub(super) project: &'a str,
}

/// Finds the sections of a file.
pub(super) fn find<'t, 'a>(
    members: &'t [Member<'a>],
    dialect: &Dialect,
    place: Where<'_>,
    report: &mut Report<'_>,
) -> Sections<'t, 'a> {
    let mut found = Vec::new();
    let each = dialect.sections.iter().any(|path| path.contains('*'));
    for path in dialect.sections {
        let keys: Vec<&str> =
            path.split('.').map(|key| if key == "*" { place.project } else { key }).collect();
        let Some(member) = at(members, &keys) else { continue };
        let level = path.contains('*').then_some(Level::Local);
        let path = keys.join(".");
        let Some(entries) = entries(member, dialect, &path, report) else {
            wrong(member, &path, report);
            return Sections::Wrong;
        };
        let keys = keys.into_iter().map(String::from).collect();
        found.push(Section { path, keys, entries, level });
        if !each {
            break;
        }
    }
    if !found.is_empty() {
        return Sections::Found(found);
    }
    if dialect.single && has_endpoint(members) {
        return Sections::Found(Vec::from([single(members, place.file)]));
    }
    if !dialect.dedicated {
        return Sections::None;
    }
    foreign(members, dialect, report)
        .map_or(Sections::None, |section| Sections::Found(Vec::from([section])))
}

fn foreign<'t, 'a>(
    members: &'t [Member<'a>],
    dialect: &Dialect,
    report: &mut Report<'_>,
) -> Option<Section<'t, 'a>> {
    let preferred = dialect.sections.first().copied().unwrap_or_default();
    for path in FOREIGN.iter().filter(|path| !dialect.sections.contains(path)) {
        let keys: Vec<&str> = path.split('.').collect();
        let Some(member) = at(members, &keys) else { continue };
        let Value::Map(entries) = &member.node.value else { continue };
        // `mcp` may be anything elsewhere.
        if *path == "mcp" && !entries.iter().any(|entry| is_entry(&entry.node.value)) {
            continue;
        }
        let message = format!("\"{path}\" is read as \"{preferred}\"; rename it");
        let about = About { line: Some(member.line), key: Some(path), server: None };
        report.warning(about, Category::ForeignSection, message);
        let keys = keys.into_iter().map(String::from).collect();
        let entries = Cow::Borrowed(&**entries);
        return Some(Section { path: (*path).into(), keys, entries, level: None });
    }
    if !members.is_empty() && members.iter().all(|member| is_entry(&member.node.value)) {
        if !dialect.bare {
            let message = format!("there is no \"{preferred}\"; the whole file is read as such");
            report.warning(About::default(), Category::ForeignSection, message);
        }
        let entries = Cow::Borrowed(members);
        return Some(Section { path: String::new(), keys: Vec::new(), entries, level: None });
    }
    None
}

/// The member that some keys lead to; what is null is absent.
fn at<'t, 'a>(members: &'t [Member<'a>], keys: &[&str]) -> Option<&'t Member<'a>> {
    let (key, rest) = keys.split_first()?;
    let member = last(members, key)?;
    if rest.is_empty() {
        return Some(member);
    }
    let Value::Map(below) = &member.node.value else { return None };
    at(below, rest)
}

/// The entries of a section: a map, or where the tool has one a list.
fn entries<'t, 'a>(
    member: &'t Member<'a>,
    dialect: &Dialect,
    path: &str,
    report: &mut Report<'_>,
) -> Option<Cow<'t, [Member<'a>]>> {
    match &member.node.value {
        Value::Map(entries) => Some(Cow::Borrowed(entries)),
        Value::List(items) if dialect.silent.contains(&"name") => {
            let mut entries: Vec<Member<'a>> = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let key = format!("{path}.{at}");
                let about = About { line: Some(item.line), key: Some(&key), server: None };
                let Value::Map(members) = &item.value else {
                    let noun = item.value.noun();
                    let message = format!("an entry should be an object and is {noun}");
                    report.error(about, Category::InvalidEntry, message);
                    continue;
                };
                let name = match last(members, "name").map(|member| &member.node.value) {
                    Some(Value::Text(name)) => name.clone(),
                    _ if (dialect.is_foreign)(members) => {
                        let message = "an entry names a server that is defined elsewhere";
                        report.info(about, Category::NotMcpProcess, message.to_string());
                        continue;
                    }
                    _ => {
                        let message = "an entry has no \"name\"; it is left out";
                        report.error(about, Category::InvalidName, message.to_string());
                        continue;
                    }
                };
                if entries.iter().any(|entry| entry.key == name) {
                    let message = format!("{name:?} is repeated; the last one counts");
                    report.warning(about, Category::DuplicateKey, message);
                }
                entries.push(Member { key: name, line: item.line, node: item.clone() });
            }
            Some(Cow::Owned(entries))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => None,
    }
}

fn wrong(member: &Member<'_>, path: &str, report: &mut Report<'_>) {
    let noun = member.node.value.noun();
    let message = format!("\"{path}\" should be an object and is {noun}; the file is not used");
    let about = About { line: Some(member.line), key: Some(path), server: None };
    report.error(about, Category::WrongSectionType, message);
}

/// The whole file as one entry, with the name of the file.
fn single<'t, 'a>(members: &[Member<'a>], file: &str) -> Section<'t, 'a> {
    let name = file.rsplit('/').next().unwrap_or_default();
    let key = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string().into();
    let line = members.first().map_or(1, |member| member.line);
    let node = Node { value: Value::Map(members.to_vec()), span: 0..0, line };
    let entries = Cow::Owned(Vec::from([Member { key, line, node }]));
    Section { path: String::new(), keys: Vec::new(), entries, level: None }
}

fn is_entry(value: &Value<'_>) -> bool {
    matches!(value, Value::Map(members) if has_endpoint(members))
}

fn has_endpoint(members: &[Member<'_>]) -> bool {
    ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| last(members, key).is_some())
}
