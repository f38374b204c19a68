//! Configuration and launches without the secrets in them, for traces (G67).
//!
//! Floor 2. May import floors 0 and 1.
//!
//! A run is recorded with the configuration files it read and the programs it started. Both are
//! redacted on the way into the trace so that a run over the redacted files starts exactly the
//! redacted programs and finds the same problems at the same lines:
//!
//! - Equal secrets have equal placeholders, different ones different ones: `<secret N>`, or
//!   `Ne-99` for what could be a number, because a number has to stay one. The names of
//!   variables in them stay readable: `<secret N ${NAME}>`.
//! - In a file everything goes but what is read and is no secret: names, keys, types, commands,
//!   directories, and arguments and addresses as far as they do not look like secrets. The text
//!   of comments goes too: a commented-out entry has a token as often as any.
//! - What cannot be read is masked, letter by letter, up to the same error at the same place.
//! - Redacting twice changes nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::encoding::{NoText, decode};
use super::entry::KNOWN;
use super::jsonc::{self, Document, Member, Node, Value, last};
use super::mask;
use super::parse::{read, section};
use super::report::Report;
use super::secret;
use super::source::Source;
use super::variables;
use super::words;
use crate::approval::Approval;
use crate::command::Launch;

/// Replaces secrets by placeholders, equal secrets by equal ones.
#[derive(Clone, Default)]
pub struct Redactor {
    numbers: BTreeMap<String, u64>,
    /// The approvals of definitions as they are, and as they are redacted.
    approvals: BTreeMap<Approval, Approval>,
    last: u64,
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

    /// A configuration file without its secrets: the same lines with the same meaning.
    #[must_use]
    pub fn config(&mut self, bytes: &[u8]) -> Vec<u8> {
        let decoded = match decode(bytes) {
            Ok(decoded) => decoded,
            // Just enough to be refused for the same reason.
            Err(NoText::Utf16) => return Vec::from([0xff, 0xfe]),
            Err(NoText::Broken { line }) => {
                let mut same = mask::lines_before(line).into_bytes();
                same.push(0xff);
                return same;
            }
        };
        let mark = if decoded.marked { "\u{feff}" } else { "" };
        let text = match jsonc::parse(decoded.text) {
            Ok(document) => self.document(decoded.text, &document),
            Err(fault) => mask::unreadable(decoded.text, &fault),
        };
        format!("{mark}{text}").into_bytes()
    }

    /// A file that a project brought along, without its secrets; see [`config`](Self::config).
    /// What is approved of it counts for the redacted file too, by
    /// [`approvals`](Self::approvals).
    #[must_use]
    pub fn project(&mut self, source: &Source, origin: Option<&str>, bytes: &[u8]) -> Vec<u8> {
        let redacted = self.config(bytes);
        let [real, shown] = [bytes, &redacted].map(|bytes| read(source, bytes).at(origin));
        for (real, shown) in real.definitions.iter().zip(&shown.definitions) {
            self.approvals.insert(real.approval(), shown.approval());
        }
        redacted
    }

    /// The approvals of redacted definitions in the place of those of the real ones. What is
    /// approved elsewhere is nobody's business and left out.
    #[must_use]
    pub fn approvals(&self, approved: &BTreeSet<Approval>) -> BTreeSet<Approval> {
        approved.iter().filter_map(|approval| self.approvals.get(approval)).copied().collect()
    }

    /// A launch without its secrets: equal to the launch that the redacted file leads to.
    #[must_use]
    pub fn launch(&mut self, launch: &Launch) -> Launch {
        let args = launch.args.iter().map(String::as_str);
        Launch {
            command: secret::in_line(&launch.command, |secret| self.placeholder(secret)),
            args: secret::in_arguments(args, |secret| self.placeholder(secret)),
            env: launch
                .env
                .iter()
                .map(|(name, value)| (name.clone(), self.placeholder(value)))
                .collect(),
            cwd: launch.cwd.clone(),
        }
    }

    /// What stands for a value. Nothing, truth values and names of variables are no secrets.
    fn placeholder(&mut self, value: &str) -> String {
        if matches!(value, "" | "true" | "false") || variables::is_one(value) {
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

    fn document(&mut self, text: &str, document: &Document<'_>) -> String {
        let mut edits = Edits { text, all: Vec::new() };
        if let Some(root) = &document.root {
            self.root(root, &mut edits);
        }
        for comment in jsonc::comments(text, document.syntax) {
            let blank = mask::comment(text.get(comment.clone()).unwrap_or_default());
            edits.all.push((comment, blank));
        }
        edits.apply()
    }

    fn root(&mut self, root: &Node<'_>, edits: &mut Edits<'_>) {
        let Value::Map(members) = &root.value else { return self.everything(root, edits) };
        let source = Source::inline("", "");
        let mut unheard = Report { file: "", problems: Vec::new() };
        let Some((name, entries)) = section(members, &source, &mut unheard) else {
            return self.everything(root, edits);
        };
        for (member, counts) in members.iter().zip(counting(members)) {
            match &*member.key {
                _ if name.is_empty() => self.entry(member, counts, edits),
                key if key == name && counts => {
                    for (entry, counts) in entries.iter().zip(counting(entries)) {
                        self.entry(entry, counts, edits);
                    }
                }
                "disabledServers" if counts => names(&member.node, self, edits),
                _ => self.everything(&member.node, edits),
            }
        }
    }

    /// Redacts an entry; `counts` unless a later one has the same name.
    fn entry(&mut self, entry: &Member<'_>, counts: bool, edits: &mut Edits<'_>) {
        let (Value::Map(members), true) = (&entry.node.value, counts) else {
            return self.everything(&entry.node, edits);
        };
        for (member, counts) in members.iter().zip(counting(members)) {
            match (&*member.key, &member.node.value) {
                ("command" | "args", _) if counts => {}
                ("url" | "serverUrl" | "httpUrl", Value::Text(url)) if counts => {
                    let new = secret::in_address(url, |secret| self.placeholder(secret));
                    edits.put(&member.node, &new);
                }
                ("env" | "headers", _) => self.everything(&member.node, edits),
                (key, Value::Text(_) | Value::Number(_)) if counts && KNOWN.contains(&key) => {}
                _ => self.everything(&member.node, edits),
            }
        }
        self.command(members, edits);
    }

    /// Redacts `command` and `args` together, as one command line, like the launch they become.
    fn command(&mut self, members: &[Member<'_>], edits: &mut Edits<'_>) {
        let mut arguments = Vec::new();
        if let Some(Member { node, .. }) = last(members, "command") {
            if let Value::List(items) = &node.value {
                arguments = self.scalars(items, edits);
                if !arguments.is_empty() {
                    self.program(arguments.remove(0), edits);
                }
            } else {
                self.program(node, edits);
            }
        }
        let mut line = None;
        if let Some(Member { node, .. }) = last(members, "args") {
            match &node.value {
                Value::List(items) => arguments.extend(self.scalars(items, edits)),
                Value::Text(text) => line = Some((node, text, words::split(text))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
                    self.everything(node, edits);
                }
            }
        }
        let mut texts: Vec<String> = arguments.iter().map(|node| word(node)).collect();
        let split = line.iter().flat_map(|(.., words)| words);
        texts.extend(split.map(|word| word.text.clone()));
        let texts = texts.iter().map(String::as_str);
        let mut changed = secret::in_arguments(texts, |secret| self.placeholder(secret));
        let of_line = changed.split_off(arguments.len());
        for (node, new) in arguments.into_iter().zip(changed) {
            edits.put(node, &new);
        }
        if let Some((node, text, words)) = line {
            edits.put(node, &secret::with_words(text, &words, &of_line));
        }
    }

    fn program(&mut self, node: &Node<'_>, edits: &mut Edits<'_>) {
        if is_scalar(node) {
            let new = secret::in_line(&word(node), |secret| self.placeholder(secret));
            edits.put(node, &new);
        } else {
            self.everything(node, edits);
        }
    }

    /// The items of a list that are read as words; redacts the others.
    fn scalars<'t, 'a>(
        &mut self,
        items: &'t [Node<'a>],
        edits: &mut Edits<'_>,
    ) -> Vec<&'t Node<'a>> {
        let (words, others): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_scalar(item));
        others.into_iter().for_each(|other| self.everything(other, edits));
        words
    }

    /// Redacts every value below a node, whatever it is.
    fn everything(&mut self, node: &Node<'_>, edits: &mut Edits<'_>) {
        match &node.value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(text) => edits.put(node, &self.placeholder(text)),
            Value::Text(text) => edits.put(node, &self.placeholder(text)),
            Value::List(items) => items.iter().for_each(|item| self.everything(item, edits)),
            Value::Map(members) => {
                members.iter().for_each(|member| self.everything(&member.node, edits));
            }
        }
    }
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

/// Redacts what is no name in a list of names.
fn names(node: &Node<'_>, redactor: &mut Redactor, edits: &mut Edits<'_>) {
    let Value::List(items) = &node.value else { return redactor.everything(node, edits) };
    let others = items.iter().filter(|item| !matches!(item.value, Value::Text(_)));
    others.for_each(|item| redactor.everything(item, edits));
}

const fn is_scalar(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Text(_) | Value::Number(_) | Value::Bool(_))
}

/// The text of a scalar.
fn word(node: &Node<'_>) -> String {
    match &node.value {
        Value::Text(text) => text.to_string(),
        Value::Number(text) => (*text).to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::List(_) | Value::Map(_) => String::new(),
    }
}

/// Whether a text could stand in JSON as a number.
fn is_number(text: &str) -> bool {
    let like_one = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(like_one) && text.parse::<f64>().is_ok()
}

/// Replacements in a text.
struct Edits<'a> {
    text: &'a str,
    all: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    /// Gives a scalar another text, in the same quotes and over as many lines.
    fn put(&mut self, node: &Node<'_>, new: &str) {
        if word(node) == new {
            return;
        }
        let old = self.text.get(node.span.clone()).unwrap_or_default();
        let mut literal = String::new();
        match old.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                literal.push(quote);
                for c in new.chars() {
                    match c {
                        '\n' => literal.push_str("\\n"),
                        '\r' => literal.push_str("\\r"),
                        c if c == quote || c == '\\' => literal.extend(['\\', c]),
                        c => literal.push(c),
                    }
                }
                literal.push(quote);
            }
            _ => literal.push_str(new),
        }
        literal.extend(old.chars().filter(|c| *c == '\n'));
        self.all.push((node.span.clone(), literal));
    }

    fn apply(mut self) -> String {
        self.all.sort_by_key(|(span, _)| span.start);
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (span, new) in self.all {
            out.push_str(self.text.get(at..span.start).unwrap_or_default());
            out.push_str(&new);
            at = span.end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
