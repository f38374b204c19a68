//! JSON strings ↔ texts.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

/// What the inside of a JSON string stands for. `inside` was checked: its escapes are complete.
/// A surrogate without its partner becomes U+FFFD, since no Rust text can hold it.
pub(super) fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let (character, left) = escaped(after);
        out.extend(character);
        rest = left;
    }
    out.push_str(rest);
    out
}

/// The character of the escape that goes on at `rest`, behind its backslash, and what follows.
pub(super) fn escaped(rest: &str) -> (Option<char>, &str) {
    let mut chars = rest.chars();
    match chars.next() {
        Some('u') => {
            let (character, left) = unicode(chars.as_str());
            (Some(character), left)
        }
        letter => (letter.map(|letter| short(letter).unwrap_or(letter)), chars.as_str()),
    }
}

/// The character that a backslash and this letter stand for; `None` for any other letter.
#[inline]
pub(super) const fn short(letter: char) -> Option<char> {
    Some(match letter {
        '"' | '\\' | '/' => letter,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => return None,
    })
}

/// The character whose escape goes on at `rest`, behind `\u`, and what follows it.
fn unicode(rest: &str) -> (char, &str) {
    let Some((unit, after)) = hex4(rest) else { return (char::REPLACEMENT_CHARACTER, rest) };
    if let Some(character) = char::from_u32(unit) {
        return (character, after);
    }
    if let Some((low, after)) = after.strip_prefix("\\u").and_then(hex4)
        && unit < 0xdc00
        && (0xdc00..0xe000).contains(&low)
    {
        let point = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), after);
    }
    (char::REPLACEMENT_CHARACTER, after)
}

fn hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, after) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}

/// How many bytes [`push_quoted`] adds for `text`.
#[must_use]
pub fn quoted_len(text: &str) -> usize {
    2 + text.bytes().map(|byte| escape_of(byte).len()).sum::<usize>()
}

/// Appends `text` as a JSON string.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| escape_of(byte).len() > 1) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let byte = special.bytes().next().unwrap_or_default();
        match escape_of(byte) {
            Escape::Short(letter) => {
                out.push('\\');
                out.push(letter);
            }
            Escape::Long => {
                out.push_str("\\u00");
                out.push(if byte < 0x10 { '0' } else { '1' });
                out.push(char::from_digit(u32::from(byte & 0xf), 16).unwrap_or('0'));
            }
            Escape::Plain => {}
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// How a byte of a text is written inside a JSON string.
enum Escape {
    /// As it is.
    Plain,
    /// A backslash and this.
    Short(char),
    /// `\u00` and two digits.
    Long,
}

impl Escape {
    const fn len(&self) -> usize {
        match self {
            Self::Plain => 1,
            Self::Short(_) => 2,
            Self::Long => 6,
        }
    }
}

const fn escape_of(byte: u8) -> Escape {
    match byte {
        b'"' => Escape::Short('"'),
        b'\\' => Escape::Short('\\'),
        b'\n' => Escape::Short('n'),
        b'\r' => Escape::Short('r'),
        b'\t' => Escape::Short('t'),
        0..0x20 => Escape::Long,
        _ => Escape::Plain,
    }
}

/// Appends a JSON value on one line: its line ends, which can only be white space between
/// tokens, become spaces, so that its length stays the same.
pub fn push_value(out: &mut String, json: &str) {
    let mut rest = json;
    while let Some((line, more)) = line_end(rest).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(line);
        out.push(' ');
        rest = more.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Where the first line ends.
#[must_use]
pub fn line_end(json: &str) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', json.as_bytes())
}
