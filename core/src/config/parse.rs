//! One file's bytes → the definitions in it.
//!
//! Floor 2. May import floors 0 and 1. Nothing is expanded, run or read here.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::definition::Definition;
use super::encoding::{Encoding, decode};
use super::entry;
use super::environment::Environment;
use super::format::dialect::{Dialect, Switches};
use super::format::recognise;
use super::inputs;
use super::manifest;
use super::nearest::nearest;
use super::registry;
use super::report::{About, Report};
use super::section::{self, Sections, Where};
use super::settings::{self, FileSettings};
use super::source::{Level, Provider, Source, Surroundings};
use super::syntax::{self, FaultKind, Language, Member, Node, Syntax, Value, last};
use crate::error::{Category, Problem, Severity};
use crate::id::ServerName;
use crate::input::Found;

/// What one file says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reading {
    /// The file.
    pub path: String,
    /// Its definitions in the order of the file; those that are not valid among them, with the
    /// messages of the validation for a transport.
    pub definitions: Vec<Definition>,
    /// The names in its `disabledServers`, if it is a file the user vouches for: they are
    /// switched off in whatever file they are defined. (A project can only switch off its own,
    /// which `definitions` say already.)
    pub disabled: BTreeSet<ServerName>,
    /// What it switches on and off in other files of its tool.
    pub(super) switches: Vec<Switches>,
    /// What the user sets in it for all files.
    pub settings: FileSettings,
    /// The tool whose notation it is read in, if it is a file that the user named and that is not
    /// our own.
    pub read_as: Option<Provider>,
    /// The files it leads to, in whose place it stands.
    pub further: Vec<Source>,
    /// What a person may want to mend in it, in the order of the file.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// Names its servers as those of a plugin.
    fn belong_to(&mut self, plugin: &str) {
        let named = |name: &ServerName| ServerName::new(&format!("{plugin}:{name}"));
        for definition in &mut self.definitions {
            definition.name = named(&definition.name);
        }
        for server in self.problems.iter_mut().filter_map(|problem| problem.server.as_mut()) {
            *server = named(server);
        }
        self.disabled = self.disabled.iter().map(named).collect();
    }

    /// Whether the file could be read as a whole, whatever is wrong with parts of it. One that
    /// is being written just then could not.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let breaks = |problem: &Problem| {
            problem.severity == Severity::Error
                && (problem.category.is_of_whole_file()
                    || problem.category == Category::WrongSectionType)
        };
        // A file that was emptied to be written anew says nothing of its own accord.
        let empty = |problem: &Problem| problem.category == Category::EmptyFile;
        !self.problems.iter().any(|problem| breaks(problem) || empty(problem))
    }

    /// The same, of a file that really is there.
    #[must_use]
    pub fn at(mut self, origin: Option<&str>) -> Self {
        for definition in &mut self.definitions {
            definition.source.origin = origin.map(Into::into);
        }
        self
    }
}

/// What only a person reads of it stays out.
#[cfg(feature = "_explore")]
impl core::hash::Hash for Reading {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        (&self.definitions, &self.disabled, &self.switches, &self.further).hash(state);
    }
}

/// What a file says, as if no variable were set; see [`found_in`].
#[must_use]
pub fn found(source: &Source, origin: Option<&str>, found: &Found) -> Reading {
    let environment = Environment::default();
    let around = Surroundings { environment: &environment, project: "", home: None };
    found_in(source, origin, found, around)
}

/// What a file says if it is there, or that one the user named is not, or that it cannot be read;
/// `origin` is where it really is, links resolved.
#[must_use]
pub fn found_in(
    source: &Source,
    origin: Option<&str>,
    found: &Found,
    surroundings: Surroundings<'_>,
) -> Reading {
    let unreadable = |message: String| {
        let mut report = Report::of(&source.path);
        report.error(About::default(), Category::UnreadableFile, message);
        Reading { problems: report.conclude(), ..Reading::default() }
    };
    match found {
        Found::Content(bytes) => read_in(source, bytes, surroundings).at(origin),
        Found::Nothing if source.level == Level::Explicit => {
            unreadable(format!("{} does not exist", source.path))
        }
        Found::Nothing => Reading::default(),
        Found::Unreadable(why) => unreadable(format!("{} cannot be read: {why}", source.path)),
    }
}

/// Reads one file as if no variable were set and nothing known around it. Total: any bytes give
/// a reading.
#[must_use]
pub fn read(source: &Source, bytes: &[u8]) -> Reading {
    let environment = Environment::default();
    read_in(source, bytes, Surroundings { environment: &environment, project: "", home: None })
}

/// Reads one file. Total: any bytes give a reading.
#[must_use]
pub fn read_in(source: &Source, bytes: &[u8], surroundings: Surroundings<'_>) -> Reading {
    let mut report = Report::of(&source.path);
    let mut reading = Reading::default();
    if let Some(text) = text(bytes, &mut report)
        && let Some((root, tool)) = tree(&text, source, &mut report)
    {
        if registry::is_registry(source) {
            reading.further = registry::read(&root, source, surroundings.project, &mut report);
        } else if let Some(files) = manifest::further(&root, source, &mut report) {
            reading.further = files;
        } else {
            reading = definitions(&root, source, tool, surroundings, &mut report);
        }
        reading.read_as = (tool != source.provider).then_some(tool);
    }
    reading.path.clone_from(&source.path);
    reading.problems = report.conclude();
    if let Some(plugin) = &source.plugin {
        reading.belong_to(plugin);
    }
    reading
}

/// The language of a file: as its name says, or as its tool has it.
pub(super) fn language(source: &Source) -> Language {
    let named = |end: &str| {
        let length = source.path.len().checked_sub(end.len());
        let found = length.and_then(|at| source.path.get(at..));
        found.is_some_and(|found| found.eq_ignore_ascii_case(end))
    };
    if named(".toml") {
        Language::Toml
    } else if named(".yaml") || named(".yml") {
        Language::Yaml
    } else if named(".json") || named(".jsonc") {
        Language::Json
    } else {
        source.provider.tool().dialect.language
    }
}

/// How a file is to be read.
pub(super) fn dialect(source: &Source, root: Option<&Node<'_>>) -> &'static Dialect {
    &tool(source, root).tool().dialect
}

/// In whose notation a file is: its tool's, or, if the user named it, that of the tool that is
/// known for such a file.
fn tool(source: &Source, root: Option<&Node<'_>>) -> Provider {
    if source.provider != Provider::Explicit {
        return source.provider;
    }
    recognise(&source.path, language(source), root).unwrap_or(source.provider)
}

fn text<'a>(bytes: &'a [u8], report: &mut Report<'_>) -> Option<Cow<'a, str>> {
    match decode(bytes) {
        Ok(decoded) => {
            match decoded.encoding {
                Encoding::Utf8 => {}
                Encoding::Utf8Marked => {
                    let message = "the byte order mark at the start is skipped";
                    report.info(About::default(), Category::EncodingBom, message.into());
                }
                Encoding::Utf16 => {
                    let message = "the file is UTF-16, which other programs may refuse";
                    report.warning(About::default(), Category::EncodingUtf16, message.into());
                }
            }
            Some(decoded.text)
        }
        Err(no_text) => {
            let message = "the file has bytes that are no text; it is not used";
            let about = About { line: Some(no_text.line), ..About::default() };
            report.error(about, Category::EncodingInvalid, message.into());
            None
        }
    }
}

fn tree<'a>(
    text: &'a str,
    source: &Source,
    report: &mut Report<'_>,
) -> Option<(Node<'a>, Provider)> {
    let language = language(source);
    let document = match syntax::parse(text, language) {
        Ok(document) => document,
        Err(fault) => {
            let (category, message) = match &fault.kind {
                FaultKind::TooDeep => (Category::DepthLimit, "it is nested too deeply".into()),
                FaultKind::TooLarge => {
                    (Category::ExpansionLimit, "its aliases stand for too much".into())
                }
                FaultKind::Syntax(words) => (Category::SyntaxError, lower_first(words)),
            };
            let message = format!("{message}; the file is not used");
            report.unreadable(fault.line, fault.column, category, message);
            return None;
        }
    };
    let tool = tool(source, document.root.as_ref());
    let dialect = &tool.tool().dialect;
    if document.root.is_some() && document.syntax > dialect.syntax {
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
    document.root.map(|root| (root, tool))
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

fn definitions(
    root: &Node<'_>,
    source: &Source,
    tool: Provider,
    surroundings: Surroundings<'_>,
    report: &mut Report<'_>,
) -> Reading {
    let dialect = &tool.tool().dialect;
    let mut reading = Reading::default();
    let Value::Map(members) = &root.value else {
        let noun = root.value.noun();
        let message = format!("the file should hold an object and holds {noun}; it is not used");
        let about = About { line: Some(root.line), ..About::default() };
        report.error(about, Category::WrongRootType, message);
        return reading;
    };
    reading.switches = (dialect.switches)(members, surroundings.project);
    reading.settings = settings::read(members, source, report);
    let at = Where { file: &source.path, project: surroundings.project };
    let sections = match section::find(members, dialect, at, report) {
        Sections::Found(sections) => sections,
        found @ (Sections::Wrong | Sections::None) => {
            if dialect.dedicated || source.level == Level::Explicit {
                repeated_keys(members, &mut Vec::new(), &[], report);
                if matches!(found, Sections::None) {
                    without_section(source, dialect, report);
                }
                // Names can be switched off in a file that defines none (G59).
                reading.disabled = disabled_elsewhere(members, source, report);
            }
            return reading;
        }
    };
    let inside: Vec<&[String]> = sections.iter().map(|section| &*section.keys).collect();
    repeated_keys(members, &mut Vec::new(), &inside, report);
    let constants = &Arc::new(entry::constants(source, dialect, surroundings));
    for section in &sections {
        // In the files of others a key that nobody reads is theirs.
        if !section.path.is_empty() && tool.is_own() {
            unknown_members(members, &section.path, dialect, report);
        }
        let level = section.level.unwrap_or(source.level);
        let place = entry::Place {
            source,
            dialect,
            surroundings,
            section: &section.path,
            level,
            constants,
        };
        // Of a repeated name the last entry counts.
        let entries = section.entries.iter().enumerate();
        let latest: BTreeMap<&str, usize> =
            entries.clone().map(|(at, entry)| (&*entry.key, at)).collect();
        for (at, member) in entries {
            if latest.get(&*member.key) == Some(&at) {
                reading.definitions.extend(entry::read(member, place, report));
            }
        }
    }
    let asked =
        if dialect.silent.contains(&inputs::KEY) { inputs::read(members) } else { BTreeMap::new() };
    let disabled = disabled_servers(members, report);
    for definition in &mut reading.definitions {
        inputs::give(definition, &asked);
        definition.enabled &= !disabled.contains(&definition.name);
    }
    if source.level != Level::Project {
        reading.disabled = disabled;
    }
    reading
}

fn without_section(source: &Source, dialect: &Dialect, report: &mut Report<'_>) {
    let wanted = dialect.sections.first().copied().unwrap_or_default();
    let message = format!("there is no \"{wanted}\" in the file");
    empty(source, report, Category::MissingSection, &message);
}

/// The names that are off wherever they are defined.
fn disabled_elsewhere(
    members: &[Member<'_>],
    source: &Source,
    report: &mut Report<'_>,
) -> BTreeSet<ServerName> {
    let disabled = disabled_servers(members, report);
    if source.level == Level::Project { BTreeSet::new() } else { disabled }
}

fn unknown_members(
    members: &[Member<'_>],
    section: &str,
    dialect: &Dialect,
    report: &mut Report<'_>,
) {
    let first = section.split('.').next().unwrap_or_default();
    let is_known = |key: &str| key == first || dialect.silent.contains(&key);
    for member in members.iter().filter(|member| !is_known(&member.key)) {
        let about = About { line: Some(member.line), key: Some(&member.key), server: None };
        let known = [first, "disabledServers"];
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

/// Reports every key that stands twice in one object, at its later place; the keys of the
/// sections tell which ones are in a server's entry.
fn repeated_keys<'t>(
    members: &'t [Member<'_>],
    path: &mut Vec<&'t str>,
    sections: &[&[String]],
    report: &mut Report<'_>,
) {
    let mut seen = BTreeSet::new();
    for member in members {
        path.push(&member.key);
        if !seen.insert(&*member.key) {
            let server = sections.iter().find_map(|keys| {
                let inside = keys.iter().zip(path.iter()).all(|(key, at)| key == at);
                path.get(keys.len()).filter(|_| inside).map(|name| ServerName::new(name))
            });
            let key = path.join(".");
            let about = About { line: Some(member.line), key: Some(&key), server: server.as_ref() };
            let message = format!("{:?} is repeated; the last one counts", &*member.key);
            report.warning(about, Category::DuplicateKey, message);
        }
        repeated_keys_in(&member.node, path, sections, report);
        path.pop();
    }
}

fn repeated_keys_in<'t>(
    node: &'t Node<'_>,
    path: &mut Vec<&'t str>,
    sections: &[&[String]],
    report: &mut Report<'_>,
) {
    match &node.value {
        Value::Map(members) => repeated_keys(members, path, sections, report),
        Value::List(items) => {
            for item in items {
                repeated_keys_in(item, path, sections, report);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
