//! What stands in the place of a secret: what was put for one, and what other programs put one for.
//!
//! Floor 2. May import floors 0 and 1. Nobody knows here whose text it is: whatever is a hole in
//! the notation of any tool is taken for one, and is replaced as a whole or not at all.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use crate::config::variables;

/// Whether a text is what a [`Redactor`](crate::config::redact::Redactor) puts for a secret, and which
/// number it has.
pub(in crate::config) fn is_placeholder(text: &str) -> Option<u64> {
    if let Some(number) = text.strip_suffix("e-99") {
        return digits(number);
    }
    let (number, length) = placeholder(text)?;
    (length == text.len()).then_some(number)
}

/// The number and the length of the placeholder that a text starts with: `<secret 1>`, or
/// `<secret 1 ${NAME}>` with the variables in what it stands for.
fn placeholder(text: &str) -> Option<(u64, usize)> {
    let inside = text.strip_prefix("<secret ")?;
    let inside = inside.get(..inside.find('>')?)?;
    let (number, names) = inside.split_once(' ').unwrap_or((inside, ""));
    let named = names.is_empty() != inside.contains(' ') && variables::kept(names) == names;
    Some((digits(number).filter(|_| named)?, "<secret ".len() + inside.len() + 1))
}

fn digits(number: &str) -> Option<u64> {
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if digits { number.parse().ok() } else { None }
}

/// Where placeholders stand in a text.
pub(super) fn placeholders(text: &str) -> Vec<Range<usize>> {
    // Nearly no text has one, and a character is found with less ado than a word.
    let starts = text.match_indices('<');
    let range = |(start, _): (usize, &str)| {
        let (_, length) = placeholder(text.get(start..)?)?;
        Some(start..start + length)
    };
    starts.filter_map(range).collect()
}

/// The text with something that says nothing in the place of each placeholder: what was put there
/// names no secret beside it.
pub(super) fn without_placeholders(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for range in placeholders(&text) {
        let nothing = ".".repeat(range.len());
        text.to_mut().replace_range(range, &nothing);
    }
    text
}

/// A place that a program fills in: `${…}`, `${{ … }}`, `{env:…}` or `{file:…}`.
pub(super) struct Hole {
    all: Range<usize>,
    /// What stands there if nothing is filled in, after `:-`: text like any other.
    pub(super) default: Option<Range<usize>>,
}

/// The holes in a text. Takes linear time: what is opened after the last end is not looked at.
pub(super) fn holes(text: &str) -> Vec<Hole> {
    let Some(last_single) = text.rfind('}') else { return Vec::new() };
    let last_double = text.rfind("}}").unwrap_or(0);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['$', '{'])) {
        at += start;
        let rest = text.get(at..).unwrap_or_default();
        let close = if at < last_double && rest.starts_with("${{") { "}}" } else { "}" };
        let opened = ["${", "{env:", "{file:"].into_iter().find(|open| rest.starts_with(open));
        let Some(length) = opened.filter(|_| at < last_single).and_then(|_| rest.find(close))
        else {
            at += 1;
            continue;
        };
        let (inside, end) = (rest.get(..length).unwrap_or_default(), at + length);
        let default = inside.find(":-").filter(|_| opened == Some("${") && close == "}");
        let default = default.map(|dash| at + dash + 2..end);
        found.push(Hole { all: at..end + close.len(), default });
        at = end + close.len();
    }
    found
}

/// The text with something that says nothing in the place of each placeholder and of each hole:
/// nothing in them separates a name from a value.
pub(super) fn veiled(text: &str) -> Cow<'_, str> {
    let mut veiled = without_placeholders(text);
    for Hole { all, .. } in holes(text) {
        let nothing = ".".repeat(all.len());
        veiled.to_mut().replace_range(all, &nothing);
    }
    veiled
}
