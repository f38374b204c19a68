//! Which values of a file go, and what stands for them.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::entry::{self, flattened};
use super::super::format::dialect::{Dialect, Field};
use super::super::inputs;
use super::super::manifest;
use super::super::registry;
use super::super::report::Report;
use super::super::secret;
use super::super::section::{self, Section, Sections, Where};
use super::super::source::{Source, Surroundings};
use super::super::syntax::{Member, Node, Value, last};
use super::super::template::Role;
use super::super::words;
use super::Redactor;
use super::edits::{Edits, word};
use super::is_number;

/// Lists of names of servers and tools, which are no secrets, outside of the servers.
const LISTS: [&str; 6] = [
    "disabledServers",
    "disabledProviders",
    "disabledMcpServers",
    "disabledMcpjsonServers",
    "allowed",
    "excluded",
];

/// One file that is being redacted.
pub(super) struct File<'r, 'e> {
    redactor: &'r mut Redactor,
    dialect: &'static Dialect,
    place: Where<'r>,
    constants: BTreeMap<String, String>,
    edits: &'r mut Edits<'e>,
    is_registry: bool,
    is_manifest: bool,
}

impl<'r, 'e> File<'r, 'e> {
    pub(super) fn new(
        redactor: &'r mut Redactor,
        source: &'r Source,
        dialect: &'static Dialect,
        surroundings: Surroundings<'r>,
        edits: &'r mut Edits<'e>,
    ) -> Self {
        let constants = entry::constants(source, dialect, surroundings);
        let is_registry = registry::is_registry(source);
        let place = Where { file: &source.path, project: surroundings.project };
        let is_manifest = manifest::is_manifest(source);
        Self { redactor, dialect, place, constants, edits, is_registry, is_manifest }
    }

    /// Redacts all of a registry but what leads to other files.
    fn registry(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::Map(members) => {
                for member in members.iter().filter(|m| !registry::KEPT.contains(&&*m.key)) {
                    self.registry(&member.node);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.registry(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                self.everything(node, Role::Word);
            }
        }
    }

    pub(super) fn root(&mut self, root: &Node<'_>) {
        let Value::Map(members) = &root.value else { return self.everything(root, Role::Word) };
        if self.is_registry {
            return self.registry(root);
        }
        let mut unheard = Report::of("");
        let Sections::Found(sections) =
            section::find(members, self.dialect, self.place, &mut unheard)
        else {
            return self.outside(members, &[]);
        };
        match &sections[..] {
            [Section { keys, entries, .. }] if keys.is_empty() => self.entries(entries),
            sections => {
                let all: Vec<(&[String], &Section<'_, '_>)> =
                    sections.iter().map(|section| (&*section.keys, section)).collect();
                self.outside(members, &all);
            }
        }
    }

    /// Redacts what is around the sections; `below` are those in here, with the keys that are
    /// left to them.
    fn outside(&mut self, members: &[Member<'_>], below: &[(&[String], &Section<'_, '_>)]) {
        for (member, counts) in members.iter().zip(counting(members)) {
            let mut deeper = Vec::new();
            let mut here = None;
            for (keys, section) in below {
                match keys.split_first() {
                    Some((key, [])) if member.key == *key && counts => here = Some(*section),
                    Some((key, rest)) if member.key == *key && counts => {
                        deeper.push((rest, *section));
                    }
                    _ => {}
                }
            }
            match (&member.node.value, here) {
                (Value::List(items), Some(_)) => self.listed(items),
                (_, Some(section)) => self.entries(&section.entries),
                (Value::List(_), None) if LISTS.contains(&&*member.key) => {
                    self.names(&member.node);
                }
                (Value::Text(_), None) if self.is_manifest && member.key == manifest::KEY => {}
                (Value::List(_), None) if self.is_manifest && member.key == manifest::KEY => {
                    self.names(&member.node);
                }
                (Value::List(items), None)
                    if member.key == inputs::KEY && self.dialect.silent.contains(&inputs::KEY) =>
                {
                    self.inputs(items);
                }
                (Value::Map(members), None) => self.outside(members, &deeper),
                _ => self.everything(&member.node, Role::Word),
            }
        }
    }

    fn entries(&mut self, entries: &[Member<'_>]) {
        for (entry, counts) in entries.iter().zip(counting(entries)) {
            if let (Value::Map(members), true) = (&entry.node.value, counts) {
                self.entry(members);
            } else {
                self.everything(&entry.node, Role::Word);
            }
        }
    }

    /// Redacts the entries of a list, each with its name in it.
    fn listed(&mut self, items: &[Node<'_>]) {
        for item in items {
            if let Value::Map(members) = &item.value {
                self.entry(members);
            } else {
                self.everything(item, Role::Word);
            }
        }
    }

    fn entry(&mut self, members: &[Member<'_>]) {
        let members = &*flattened(members, self.dialect);
        for (member, counts) in members.iter().zip(counting(members)) {
            let scalar = is_scalar(&member.node);
            match self.dialect.field(&member.key).filter(|_| counts) {
                Some(Field::Command | Field::Args) if is_first(members, member, self.dialect) => {}
                Some(Field::Url) => self.address(&member.node),
                Some(
                    Field::Kind
                    | Field::Cwd
                    | Field::EnvFile
                    | Field::Enabled
                    | Field::Disabled
                    | Field::Timeout(_)
                    | Field::StartupTimeout(_)
                    | Field::Protocol
                    | Field::CallbackPort
                    | Field::BearerEnv,
                ) if scalar => {}
                Some(
                    Field::EnvInherit
                    | Field::Include
                    | Field::IncludeSome
                    | Field::IncludeOrStar
                    | Field::Exclude
                    | Field::Approved
                    | Field::Scopes,
                ) => self.names(&member.node),
                Some(Field::HeadersEnv) => self.plain(&member.node),
                Some(Field::Auth | Field::Oauth) => self.sign_in(&member.node),
                Some(Field::Env) => self.everything(&member.node, Role::Env),
                Some(Field::Headers) => self.everything(&member.node, Role::Header),
                _ if member.key == "name" && self.dialect.silent.contains(&"name") => {}
                _ => self.everything(&member.node, Role::Word),
            }
        }
        self.command(members);
    }

    fn address(&mut self, node: &Node<'_>) {
        let Value::Text(url) = &node.value else { return self.everything(node, Role::Word) };
        let new = secret::in_address(url, |secret| {
            self.redactor.value(secret, Role::Word, self.dialect.variables, &self.constants)
        });
        self.edits.put(node, &new);
    }

    fn arguments<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
        secret::in_arguments(texts, |secret| {
            self.redactor.value(secret, Role::Word, self.dialect.variables, &self.constants)
        })
    }

    /// Redacts `command` and `args` together, as one command line, like the launch they become.
    fn command(&mut self, members: &[Member<'_>]) {
        let first = |wanted| first(members, wanted, self.dialect);
        let (command, args) = (first(Field::Command), first(Field::Args));
        let mut arguments = Vec::new();
        if let Some(Member { node, .. }) = command {
            if let Value::List(items) = &node.value {
                arguments = self.scalars(items);
                if !arguments.is_empty() {
                    self.program(arguments.remove(0));
                }
            } else {
                self.program(node);
            }
        }
        let mut line = None;
        if let Some(Member { node, .. }) = args {
            match &node.value {
                Value::List(items) => arguments.extend(self.scalars(items)),
                Value::Text(text) => line = Some((node, text, words::split(text))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
                    self.everything(node, Role::Word);
                }
            }
        }
        let mut texts: Vec<String> = arguments.iter().map(|node| word(node)).collect();
        let split = line.iter().flat_map(|(.., words)| words);
        texts.extend(split.map(|word| word.text.clone()));
        let mut changed = self.arguments(texts.iter().map(String::as_str));
        let of_line = changed.split_off(arguments.len());
        for (node, new) in arguments.into_iter().zip(changed) {
            self.edits.put(node, &new);
        }
        if let Some((node, text, words)) = line {
            self.edits.put(node, &secret::with_words(text, &words, &of_line));
        }
    }

    fn program(&mut self, node: &Node<'_>) {
        if is_scalar(node) {
            let new = secret::in_line(&word(node), |secret| {
                self.redactor.value(secret, Role::Word, self.dialect.variables, &self.constants)
            });
            self.edits.put(node, &new);
        } else {
            self.everything(node, Role::Word);
        }
    }

    /// The items of a list that are read as words; redacts the others.
    fn scalars<'t, 'a>(&mut self, items: &'t [Node<'a>]) -> Vec<&'t Node<'a>> {
        let (words, others): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_scalar(item));
        others.into_iter().for_each(|other| self.everything(other, Role::Word));
        words
    }

    /// Redacts what says how to sign in: numbers are ports, and `type` is a word.
    fn sign_in(&mut self, node: &Node<'_>) {
        if matches!(&node.value, Value::Text(kind) if kind.eq_ignore_ascii_case("oauth")) {
            return;
        }
        let Value::Map(members) = &node.value else { return self.everything(node, Role::Word) };
        for member in members {
            let is_kept = member.key == "type"
                || matches!(member.node.value, Value::Number(_) | Value::Bool(_));
            if !is_kept {
                self.everything(&member.node, Role::Word);
            }
        }
    }

    /// Redacts what inputs may be answered with.
    fn inputs(&mut self, items: &[Node<'_>]) {
        for item in items {
            let Value::Map(members) = &item.value else {
                self.everything(item, Role::Word);
                continue;
            };
            let is_kept = |member: &&Member<'_>| {
                inputs::KEPT.contains(&&*member.key) && is_scalar(&member.node)
            };
            for member in members.iter().filter(|member| !is_kept(member)) {
                self.everything(&member.node, Role::Word);
            }
        }
    }

    /// Redacts what is no name in a list of names.
    fn names(&mut self, node: &Node<'_>) {
        let Value::List(items) = &node.value else { return self.everything(node, Role::Word) };
        for item in items.iter().filter(|item| !matches!(item.value, Value::Text(_))) {
            let Value::Map(members) = &item.value else {
                self.everything(item, Role::Word);
                continue;
            };
            // The name in it is one of them.
            for member in members.iter().filter(|member| member.key != "name") {
                self.everything(&member.node, Role::Word);
            }
        }
    }

    /// Redacts what is no text in a map of names.
    fn plain(&mut self, node: &Node<'_>) {
        let Value::Map(members) = &node.value else { return self.everything(node, Role::Word) };
        for member in members.iter().filter(|m| !matches!(m.node.value, Value::Text(_))) {
            self.everything(&member.node, Role::Word);
        }
    }

    /// Redacts every value below a node, whatever it is.
    fn everything(&mut self, node: &Node<'_>, role: Role) {
        match &node.value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(text) if !is_number(text) => {}
            Value::Number(text) => {
                let new = self.redactor.placeholder(text);
                self.edits.put(node, &new);
            }
            Value::Text(text) => {
                let variables = self.dialect.variables;
                let new = self.redactor.value(text, role, variables, &self.constants);
                self.edits.put(node, &new);
            }
            Value::List(items) => items.iter().for_each(|item| self.everything(item, role)),
            Value::Map(members) => {
                members.iter().for_each(|member| self.everything(&member.node, role));
            }
        }
    }
}

/// The member that counts for a field.
fn first<'t, 'a>(
    members: &'t [Member<'a>],
    wanted: Field,
    dialect: &'static Dialect,
) -> Option<&'t Member<'a>> {
    dialect.names_of(wanted).find_map(|name| last(members, name))
}

/// Whether a member is the one that counts for its field.
fn is_first(members: &[Member<'_>], member: &Member<'_>, dialect: &'static Dialect) -> bool {
    let field = dialect.field(&member.key);
    let counts = field.and_then(|field| first(members, field, dialect));
    counts.is_some_and(|counts| core::ptr::eq(counts, member))
}

/// For each member whether it counts: whether it is the last of its key and not null.
fn counting(members: &[Member<'_>]) -> Vec<bool> {
    let latest: BTreeMap<&str, usize> =
        members.iter().enumerate().map(|(at, member)| (&*member.key, at)).collect();
    let counts = |(at, member): (usize, &Member<'_>)| {
        member.node.value != Value::Null && latest.get(&*member.key) == Some(&at)
    };
    members.iter().enumerate().map(counts).collect()
}

const fn is_scalar(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Text(_) | Value::Number(_) | Value::Bool(_))
}
