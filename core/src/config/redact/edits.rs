//! Other texts for the scalars of a document, in its language and at its lines.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

use super::super::mask;
use super::super::syntax::{Document, Language, Member, Node, Value, jsonc};

/// Replacements in a text, by where they start.
pub(super) struct Edits<'a> {
    text: &'a str,
    language: Language,
    all: BTreeMap<usize, (Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(super) const fn new(text: &'a str, language: Language) -> Self {
        Self { text, language, all: BTreeMap::new() }
    }

    /// Gives a scalar another text.
    pub(super) fn put(&mut self, node: &Node<'_>, new: &str) {
        if word(node) == new {
            return;
        }
        let literal = match self.language {
            Language::Json => self.json(node, new),
            #[cfg(feature = "formats")]
            Language::Toml if matches!(node.value, Value::Text(_)) => {
                let old = self.text.get(node.span.clone()).unwrap_or_default();
                super::super::syntax::toml::literal(new, old.matches('\n').count())
            }
            Language::Toml | Language::Yaml => new.into(),
        };
        self.all.insert(node.span.start, (node.span.clone(), literal));
    }

    /// In the same quotes and over as many lines.
    fn json(&self, node: &Node<'_>, new: &str) -> String {
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
        literal
    }

    /// The document with its replacements and without the text of its comments.
    pub(super) fn apply(mut self, document: &Document<'_>) -> String {
        match self.language {
            Language::Json => {
                for comment in jsonc::comments(self.text, document.syntax) {
                    let blank = mask::comment(self.text.get(comment.clone()).unwrap_or_default());
                    self.all.insert(comment.start, (comment, blank));
                }
            }
            #[cfg(feature = "formats")]
            Language::Toml => {
                for comment in super::super::syntax::toml::comments(self.text) {
                    self.all.insert(comment.start, (comment, "#".into()));
                }
            }
            #[cfg(not(feature = "formats"))]
            Language::Toml => {}
            Language::Yaml => {
                let mut page = Page { edits: &self.all, out: String::new(), line: 1 };
                if let Some(root) = &document.root {
                    page.node(root);
                }
                return page.out;
            }
        }
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (span, new) in self.all.into_values() {
            out.push_str(self.text.get(at..span.start).unwrap_or_default());
            out.push_str(&new);
            at = span.end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }
}

/// The text of a scalar.
pub(super) fn word(node: &Node<'_>) -> String {
    match &node.value {
        Value::Text(text) => text.to_string(),
        Value::Number(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::List(_) | Value::Map(_) => String::new(),
    }
}

/// The longest key that may stand without a mark before it, in bytes.
const KEY_MAX: usize = 500;

/// Writes YAML anew: everything in brackets, and each value at its line.
struct Page<'e> {
    edits: &'e BTreeMap<usize, (Range<usize>, String)>,
    out: String,
    line: u32,
}

impl Page<'_> {
    fn reach(&mut self, line: u32) {
        while self.line < line {
            self.out.push('\n');
            self.line += 1;
        }
    }

    fn node(&mut self, node: &Node<'_>) {
        self.reach(node.line);
        let edit = self.edits.get(&node.span.start).map(|(_, new)| new.as_str());
        match &node.value {
            Value::Null => self.out.push('~'),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) => self.out.push_str(edit.unwrap_or(text)),
            Value::Text(text) => self.text(edit.unwrap_or(text)),
            Value::List(items) => {
                self.out.push('[');
                for item in items {
                    self.node(item);
                    self.out.push_str(", ");
                }
                self.out.push(']');
            }
            Value::Map(members) => {
                self.out.push('{');
                for member in members {
                    self.member(member);
                }
                self.out.push('}');
            }
        }
    }

    fn member(&mut self, member: &Member<'_>) {
        self.reach(member.line);
        if member.key.len() > KEY_MAX {
            self.out.push_str("? ");
        }
        self.text(&member.key);
        self.out.push_str(": ");
        self.node(&member.node);
        self.out.push_str(", ");
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                c if c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() => self.out.push(c),
                c => self.out.push_str(&format!("\\U{:08X}", u32::from(c))),
            }
        }
        self.out.push('"');
    }
}
