//! YAML → a tree with lines.
//!
//! Floor 2. May import floors 0 and 1. Wraps the events of `saphyr-parser`. Scalars are of the
//! core schema of YAML 1.2, and merge keys count. An alias stands where it is written.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::{Fault, FaultKind, Member, Node, Value, number};

/// How deep a text may be nested.
const DEPTH_MAX: usize = 128;
/// What aliases may stand for in all: a byte of text counts one, and a value too.
pub(super) const EXPANSION_MAX: usize = 1024 * 1024;

/// Reads a text; `None` if there is nothing but white space and comments.
pub(super) fn parse(text: &str) -> Result<Option<Node<'_>>, Fault> {
    tree(text).map_err(|mut fault| {
        // The end of a text counts as a line of its own in the parser.
        let breaks = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).count();
        fault.line = fault.line.min(number(breaks).saturating_add(1));
        fault
    })
}

fn tree(text: &str) -> Result<Option<Node<'_>>, Fault> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| scan_fault(&error))?;
        builder.take(event, span)?;
    }
    let mut root = builder.root.filter(|root| root.value != Value::Null);
    if let Some(root) = &mut root {
        count(root, &mut 0);
    }
    Ok(root)
}

/// Gives each value a span that no other one has.
fn count(node: &mut Node<'_>, next: &mut usize) {
    node.span = *next..*next;
    *next += 1;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| count(item, next)),
        Value::Map(members) => members.iter_mut().for_each(|each| count(&mut each.node, next)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

fn scan_fault(error: &ScanError) -> Fault {
    let kind = if error.info().contains("recursion limit") {
        FaultKind::TooDeep
    } else {
        FaultKind::Syntax(error.info().into())
    };
    fault(*error.marker(), kind)
}

fn fault(at: Marker, kind: FaultKind) -> Fault {
    Fault { line: number(at.line()), column: number(at.col()).saturating_add(1), kind }
}

fn syntax(at: Marker, words: &str) -> Fault {
    fault(at, FaultKind::Syntax(words.into()))
}

/// A value, and what it costs to repeat it.
#[derive(Clone, Debug)]
struct Anchored<'a> {
    node: Node<'a>,
    weight: usize,
    depth: usize,
}

/// A collection that is not at its end.
#[derive(Debug)]
struct Open<'a> {
    anchor: usize,
    at: Marker,
    items: Items<'a>,
    weight: usize,
    /// Of what is in it.
    depth: usize,
}

#[derive(Debug)]
enum Items<'a> {
    List(Vec<Node<'a>>),
    Map {
        members: Vec<Member<'a>>,
        /// Every key but those of merges.
        keys: BTreeSet<String>,
        /// The key that waits for its value.
        key: Option<Key<'a>>,
        /// Where the members are that only count if nothing else has their key.
        merged: BTreeSet<String>,
    },
}

#[derive(Debug)]
enum Key<'a> {
    Of(Cow<'a, str>, u32),
    Merge,
}

#[derive(Default)]
struct Builder<'a> {
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    anchors: BTreeMap<usize, Anchored<'a>>,
    expanded: usize,
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), Fault> {
        let at = span.start;
        let line = number(at.line());
        let done = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {
                return Ok(());
            }
            Event::DocumentStart(_) => {
                let second = self.root.is_some();
                self.anchors.clear();
                let words = "there is more than one document";
                return if second { Err(syntax(at, words)) } else { Ok(()) };
            }
            Event::Alias(anchor) => self.alias(anchor, at)?,
            Event::Scalar(text, style, anchor, tag) => {
                if self.takes_key(&text, style, at)? {
                    self.await_value(text, line);
                    return Ok(());
                }
                let weight = text.len() + 1;
                let value = scalar(text, style, tag.as_deref());
                let done = Anchored { node: Node { value, span: 0..0, line }, weight, depth: 1 };
                self.remember(anchor, &done);
                done
            }
            Event::SequenceStart(anchor, _) => {
                return self.open(anchor, at, Items::List(Vec::new()));
            }
            Event::MappingStart(anchor, _) => {
                let (members, keys) = (Vec::new(), BTreeSet::new());
                let items = Items::Map { members, keys, key: None, merged: BTreeSet::new() };
                return self.open(anchor, at, items);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                let value = match open.items {
                    Items::List(items) => Value::List(items),
                    Items::Map { members, .. } => Value::Map(members),
                };
                let node = Node { value, span: 0..0, line: number(open.at.line()) };
                let done = Anchored { node, weight: open.weight, depth: open.depth + 1 };
                self.remember(open.anchor, &done);
                done
            }
        };
        self.put(done, at)
    }

    fn open(&mut self, anchor: usize, at: Marker, items: Items<'a>) -> Result<(), Fault> {
        if self.awaits_key() {
            return Err(syntax(at, "a key has to be a text"));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(fault(at, FaultKind::TooDeep));
        }
        self.open.push(Open { anchor, at, items, weight: 1, depth: 0 });
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        let innermost = self.open.last().map(|open| &open.items);
        matches!(innermost, Some(Items::Map { key: None, .. }))
    }

    /// Takes a scalar as a key if one is due.
    fn takes_key(&mut self, text: &str, style: ScalarStyle, at: Marker) -> Result<bool, Fault> {
        let Some(Open {
            items: Items::Map { members, keys, key: key @ None, merged }, weight, ..
        }) = self.open.last_mut()
        else {
            return Ok(false);
        };
        if text == "<<" && style == ScalarStyle::Plain {
            *key = Some(Key::Merge);
            return Ok(true);
        }
        if merged.remove(text) {
            members.retain(|member| member.key != text);
        } else if keys.contains(text) {
            return Err(syntax(at, "a key is repeated"));
        }
        keys.insert(text.to_string());
        *weight += text.len() + 1;
        Ok(true)
    }

    /// Keeps a key until its value comes.
    fn await_value(&mut self, text: Cow<'a, str>, line: u32) {
        if let Some(Open { items: Items::Map { key: key @ None, .. }, .. }) = self.open.last_mut() {
            *key = Some(Key::Of(text, line));
        }
    }

    fn remember(&mut self, anchor: usize, done: &Anchored<'a>) {
        // Without an anchor the number is 0.
        if anchor > 0 {
            self.anchors.insert(anchor, done.clone());
        }
    }

    fn alias(&mut self, anchor: usize, at: Marker) -> Result<Anchored<'a>, Fault> {
        if self.awaits_key() {
            return Err(syntax(at, "a key has to be a text"));
        }
        let Some(known) = self.anchors.get(&anchor) else {
            return Err(syntax(at, "an alias stands inside of what it stands for"));
        };
        self.expanded = self.expanded.saturating_add(known.weight);
        if self.expanded > EXPANSION_MAX {
            return Err(fault(at, FaultKind::TooLarge));
        }
        if self.open.len() + known.depth > DEPTH_MAX {
            return Err(fault(at, FaultKind::TooDeep));
        }
        let mut known = known.clone();
        stand_at(&mut known.node, number(at.line()));
        Ok(known)
    }

    /// Puts a value where it belongs.
    fn put(&mut self, done: Anchored<'a>, at: Marker) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(done.node);
            return Ok(());
        };
        open.weight = open.weight.saturating_add(done.weight);
        open.depth = open.depth.max(done.depth);
        match &mut open.items {
            Items::List(items) => items.push(done.node),
            Items::Map { members, keys, key, merged } => match key.take() {
                Some(Key::Of(key, line)) => members.push(Member { key, line, node: done.node }),
                Some(Key::Merge) => {
                    let line = number(at.line());
                    for each in merges(done.node, at)? {
                        if !keys.contains(&*each.key) && merged.insert(each.key.to_string()) {
                            members.push(Member { line, ..each });
                        }
                    }
                }
                None => return Err(syntax(at, "a key has to be a text")),
            },
        }
        Ok(())
    }
}

/// The members that a merge key brings, of the first map first.
fn merges(node: Node<'_>, at: Marker) -> Result<Vec<Member<'_>>, Fault> {
    match node.value {
        Value::Map(members) => Ok(members),
        Value::List(items) => {
            let mut all = Vec::new();
            for item in items {
                let Value::Map(members) = item.value else {
                    return Err(syntax(at, "only maps can be merged"));
                };
                all.extend(members);
            }
            Ok(all)
        }
        Value::Null => Ok(Vec::new()),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            Err(syntax(at, "only maps can be merged"))
        }
    }
}

/// Has a value and all that is in it stand at one line.
fn stand_at(node: &mut Node<'_>, line: u32) {
    node.line = line;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| stand_at(item, line)),
        Value::Map(members) => {
            for member in members {
                member.line = line;
                stand_at(&mut member.node, line);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value<'a> {
    if style != ScalarStyle::Plain || tag.is_some() {
        return Value::Text(text);
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        other => match number_in(other) {
            Some(number) => Value::Number(Cow::Owned(number)),
            None => Value::Text(text),
        },
    }
}

/// The number that a plain scalar is, if it is one.
fn number_in(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let decimal = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let valid = digits.chars().all(|c| c.is_digit(radix));
            let value = u128::from_str_radix(digits, radix).ok().filter(|_| valid)?;
            return Some(value.to_string());
        }
    }
    if decimal(unsigned) {
        let value = text.parse::<i128>().ok();
        return Some(value.map_or_else(|| text.into(), |value| value.to_string()));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok =
        digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let valid = mantissa_ok && exponent.is_none_or(decimal) && !mantissa.is_empty();
    valid.then(|| text.trim_start_matches('+').into())
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
