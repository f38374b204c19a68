//! One field of an entry → a value of the type it should have.
//!
//! Floor 2. May import floors 0 and 1. What has another type and only one meaning is read as
//! that, with a warning; what has none is ignored, with a warning. No value is ever quoted in a
//! message: it may be a secret.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::format::dialect::{Ease, Unit};
use super::report::{About, Report};
use super::syntax::{Member, Node, Value, last};
use super::words;
use crate::error::{Category, Severity};
use crate::id::ServerName;

/// Reads the fields of one entry.
pub(super) struct Fields<'r, 'f> {
    pub(super) report: &'r mut Report<'f>,
    pub(super) server: &'r ServerName,
    /// The keys that lead to the entry.
    pub(super) prefix: String,
    /// What is the tool's own and not worth a warning.
    pub(super) ease: Ease,
}

impl Fields<'_, '_> {
    pub(super) fn warning(&mut self, line: u32, key: &str, category: Category, message: String) {
        let key = format!("{}.{key}", self.prefix);
        let about = About { line: Some(line), key: Some(&key), server: Some(self.server) };
        self.report.warning(about, category, message);
    }

    pub(super) fn error(&mut self, line: u32, key: &str, category: Category, message: String) {
        let key = format!("{}.{key}", self.prefix);
        let about = About { line: Some(line), key: Some(&key), server: Some(self.server) };
        self.report.error(about, category, message);
    }

    pub(super) fn note(
        &mut self,
        severity: Severity,
        line: u32,
        key: &str,
        category: Category,
        message: String,
    ) {
        let key = format!("{}.{key}", self.prefix);
        let about = About { line: Some(line), key: Some(&key), server: Some(self.server) };
        self.report.add(severity, about, category, message);
    }

    pub(super) fn ignored(&mut self, node: &Node<'_>, key: &str, wanted: &str) {
        let noun = node.value.noun();
        let server = self.server;
        let message = format!(
            "Server \"{server}\": \"{key}\" should be {wanted} and is {noun}; it is ignored"
        );
        self.warning(node.line, key, Category::InvalidField, message);
    }

    pub(super) fn coerced(&mut self, node: &Node<'_>, key: &str, reading: &str) {
        let noun = node.value.noun();
        let server = self.server;
        let message = format!("Server \"{server}\": \"{key}\" is {noun}; it is read as {reading}");
        self.warning(node.line, key, Category::CoercedValue, message);
    }

    /// A text, nothing else.
    pub(super) fn text(&mut self, member: &Member<'_>) -> Option<String> {
        if let Value::Text(text) = &member.node.value {
            return Some(text.to_string());
        }
        self.ignored(&member.node, &member.key, "text");
        None
    }

    /// A list of texts; one text is split into words.
    pub(super) fn texts(&mut self, member: &Member<'_>) -> Vec<String> {
        match &member.node.value {
            Value::List(items) => self.items(items, &member.key),
            Value::Text(line) => {
                self.coerced(&member.node, &member.key, "a command line and split into words");
                words::split(line).into_iter().map(|word| word.text).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
                self.ignored(&member.node, &member.key, "a list of texts");
                Vec::new()
            }
        }
    }

    /// The texts of a list.
    pub(super) fn items(&mut self, items: &[Node<'_>], key: &str) -> Vec<String> {
        let read = |(at, node)| self.scalar(node, Ease::None, || format!("{key}.{at}"));
        items.iter().enumerate().filter_map(read).collect()
    }

    /// A map of texts.
    pub(super) fn map(&mut self, member: &Member<'_>) -> BTreeMap<String, String> {
        let Value::Map(members) = &member.node.value else {
            self.ignored(&member.node, &member.key, "an object");
            return BTreeMap::new();
        };
        let mut map = BTreeMap::new();
        for each in members {
            // Of a repeated key the last one counts, a null too.
            map.remove(&*each.key);
            let name = || format!("{}.{}", member.key, each.key);
            if let Some(text) = self.scalar(&each.node, self.ease, name) {
                map.insert(each.key.to_string(), text);
            }
        }
        map
    }

    /// A text, or the text of a number or a boolean.
    fn scalar(&mut self, node: &Node<'_>, ease: Ease, key: impl Fn() -> String) -> Option<String> {
        let text = match &node.value {
            Value::Null => {
                // To some tools it says that the host's variable is not passed on.
                if ease != Ease::EnvValues {
                    let (server, key) = (self.server, key());
                    let message = format!("Server \"{server}\": \"{key}\" is null; it is left out");
                    let category = Category::InvalidField;
                    self.note(Severity::Info, node.line, &key, category, message);
                }
                return None;
            }
            Value::Text(text) => return Some(text.to_string()),
            Value::Number(text) => text.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::List(_) | Value::Map(_) => {
                self.ignored(node, &key(), "text");
                return None;
            }
        };
        let usual = matches!((&node.value, ease), (Value::Number(_), Ease::EnvValues));
        if !usual {
            self.coerced(node, &key(), "text");
        }
        Some(text)
    }

    /// A boolean.
    pub(super) fn flag(&mut self, member: &Member<'_>) -> Option<bool> {
        let read = match &member.node.value {
            Value::Bool(value) => return Some(*value),
            Value::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
        };
        match read {
            Some(true) => self.coerced(&member.node, &member.key, "true"),
            Some(false) => self.coerced(&member.node, &member.key, "false"),
            None => self.ignored(&member.node, &member.key, "true or false"),
        }
        read
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        member: &Member<'_>,
        words: &[(&str, T)],
    ) -> Option<T> {
        let Value::Text(text) = &member.node.value else {
            self.ignored(&member.node, &member.key, "text");
            return None;
        };
        let found = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let (server, key, all) = (self.server, &member.key, all.join(", "));
            let message = format!(
                "Server \"{server}\": \"{key}\" should be one of {all}; what it says is ignored"
            );
            self.warning(member.node.line, key, Category::InvalidField, message);
        }
        found.map(|(_, value)| *value)
    }

    /// A positive time as milliseconds, rounded up to a whole one.
    pub(super) fn millis(&mut self, member: &Member<'_>, unit: Unit) -> Option<u64> {
        let read = match &member.node.value {
            Value::Number(text) => positive(text, unit),
            Value::Text(text) => positive(text.trim(), unit),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        let counted = match unit {
            Unit::Millis => "milliseconds",
            Unit::Seconds => "seconds",
        };
        match (&member.node.value, read) {
            (_, None) => {
                let wanted = format!("should be a positive number of {counted}; it is ignored");
                let message = format!("Server \"{}\": \"{}\" {wanted}", self.server, member.key);
                self.warning(member.node.line, &member.key, Category::InvalidField, message);
            }
            (Value::Text(_), Some(_)) => {
                self.coerced(&member.node, &member.key, &format!("a number of {counted}"));
            }
            (_, Some(_)) => {}
        }
        read
    }

    /// A list of names; other items are skipped with a warning.
    pub(super) fn names(&mut self, member: &Member<'_>) -> Option<Vec<String>> {
        let Value::List(items) = &member.node.value else {
            self.ignored(&member.node, &member.key, "a list of names");
            return None;
        };
        let mut names = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match &item.value {
                Value::Text(name) => names.push(name.to_string()),
                Value::Null => {}
                // Newer files of Codex say more about a name than the name.
                Value::Map(members) => match last(members, "name").map(|m| &m.node.value) {
                    Some(Value::Text(name)) => names.push(name.to_string()),
                    _ => self.ignored(item, &format!("{}.{at}", member.key), "a name"),
                },
                Value::Bool(_) | Value::Number(_) | Value::List(_) => {
                    self.ignored(item, &format!("{}.{at}", member.key), "a name");
                }
            }
        }
        Some(names)
    }

    /// A port.
    pub(super) fn port(&mut self, member: &Member<'_>) -> Option<u16> {
        let port = match &member.node.value {
            Value::Number(text) => text.parse().ok(),
            Value::Text(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        if port.is_none() {
            self.ignored(&member.node, &member.key, "a port");
        }
        port
    }
}

fn positive(text: &str, unit: Unit) -> Option<u64> {
    if let (Ok(whole), Unit::Millis) = (text.parse::<u64>(), unit) {
        return (whole > 0).then_some(whole);
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let millis = match unit {
        Unit::Millis => number,
        Unit::Seconds => number * 1_000.0,
    };
    // Saturates; a fraction of a millisecond is one.
    (millis > 0.0).then_some((millis as u64).max(1))
}
