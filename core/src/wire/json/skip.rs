//! Where a JSON value ends, and that it is one.
//!
//! Floor 1. May import floor 0. No allocation, no recursion. The input is valid UTF-8, so that a
//! byte above 0x7f can only stand inside a string and needs no look.

use super::{JsonError, JsonErrorKind, NESTING_MAX};

/// A string between its quotes.
#[derive(Clone, Copy)]
pub(super) struct Quoted {
    /// The byte after the closing quote.
    pub(super) end: usize,
    /// Whether it spells any character with a backslash.
    pub(super) escaped: bool,
}

/// The containers that are open around a place: one bit each, 1 for an object.
#[derive(Default)]
struct Nesting {
    objects: u128,
    depth: usize,
}

impl Nesting {
    const fn enter(&mut self, object: bool) {
        self.objects = self.objects << 1 | object as u128;
        self.depth += 1;
    }

    const fn leave(&mut self) {
        self.objects >>= 1;
        self.depth = self.depth.saturating_sub(1);
    }

    const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

/// The byte after the value that starts at `at`, where white space may stand first. `room` is
/// how many containers may be open at once.
pub(super) fn value(text: &[u8], mut at: usize, room: usize) -> Result<usize, JsonError> {
    let room = room.min(NESTING_MAX);
    let mut open = Nesting::default();
    loop {
        at = space(text, at);
        let Some(first) = text.get(at) else { return Err(wrong(text, at)) };
        let mut complete = true;
        match first {
            b'"' => at = string(text, at + 1)?.end,
            b'{' | b'[' if open.depth == room => {
                return Err(JsonError { at, kind: JsonErrorKind::TooDeep });
            }
            b'{' => {
                open.enter(true);
                at = space(text, at + 1);
                if text.get(at) != Some(&b'}') {
                    at = key(text, at)?;
                    complete = false;
                }
            }
            b'[' => {
                open.enter(false);
                at = space(text, at + 1);
                complete = text.get(at) == Some(&b']');
            }
            _ => at = scalar(text, at)?,
        }
        if complete {
            match after_value(text, at, &mut open)? {
                Next::Value(next) => at = next,
                Next::Done(end) => return Ok(end),
            }
        }
    }
}

/// What follows a complete value.
enum Next {
    /// Another value, from here.
    Value(usize),
    /// Nothing: the outermost value ends here.
    Done(usize),
}

/// Closes what is closed behind a value, up to the next value or the end of the outermost one.
fn after_value(text: &[u8], mut at: usize, open: &mut Nesting) -> Result<Next, JsonError> {
    while open.depth > 0 {
        at = space(text, at);
        match (text.get(at), open.in_object()) {
            (Some(b','), true) => return key(text, space(text, at + 1)).map(Next::Value),
            (Some(b','), false) => return Ok(Next::Value(at + 1)),
            (Some(b'}'), true) | (Some(b']'), false) => open.leave(),
            _ => return Err(wrong(text, at)),
        }
        at += 1;
    }
    Ok(Next::Done(at))
}

/// The byte after the colon behind the key that starts at `at`.
fn key(text: &[u8], at: usize) -> Result<usize, JsonError> {
    if text.get(at) != Some(&b'"') {
        return Err(wrong(text, at));
    }
    let Quoted { end, .. } = string(text, at + 1)?;
    colon(text, end)
}

/// The byte after the colon that stands at `at` or after white space.
pub(super) fn colon(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = space(text, at);
    if text.get(at) == Some(&b':') { Ok(at + 1) } else { Err(wrong(text, at)) }
}

/// The first byte from `at` on that is not white space.
pub(super) fn space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// The end of the string whose first byte after the opening quote is at `at`.
///
/// An escaped surrogate without its partner is let through: the grammar allows it, JavaScript
/// writes it wherever it cuts a text between two of them, and the text is passed on as it is.
pub(super) fn string(text: &[u8], mut at: usize) -> Result<Quoted, JsonError> {
    let mut escaped = false;
    loop {
        at = next_special(text, at);
        match text.get(at) {
            Some(b'"') => return Ok(Quoted { end: at + 1, escaped }),
            Some(b'\\') => {
                escaped = true;
                at = escape(text, at)?;
            }
            Some(_) => return Err(JsonError { at, kind: JsonErrorKind::Control }),
            None => return Err(JsonError { at: text.len(), kind: JsonErrorKind::Ended }),
        }
    }
}

/// The byte after the escape whose backslash is at `at`.
pub(super) fn escape(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let wrong = JsonError { at, kind: JsonErrorKind::Escape };
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match text.get(at + 2..at + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            Some(_) => Err(wrong),
            None => Err(JsonError { at: text.len(), kind: JsonErrorKind::Ended }),
        },
        Some(_) => Err(wrong),
        None => Err(JsonError { at: text.len(), kind: JsonErrorKind::Ended }),
    }
}

/// The first byte from `at` on that cannot simply be a part of a string: a quote, a backslash
/// or a control character; the end of the text if there is none.
pub(super) fn next_special(text: &[u8], mut at: usize) -> usize {
    for block in text.get(at..).unwrap_or_default().as_chunks::<32>().0 {
        // No early exit within the block: the compiler makes a few vector operations of it.
        if block.iter().fold(false, |found, byte| found | is_special(*byte)) {
            break;
        }
        at += block.len();
    }
    let (words, tail) = text.get(at..).unwrap_or_default().as_chunks::<8>();
    for word in words {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += word.len();
    }
    at + tail.iter().take_while(|byte| !is_special(**byte)).count()
}

/// Without `||`, which becomes a table of bits that cannot be looked up for many bytes at once:
/// measured six times as slow.
const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// The high bit of every special byte of a word; exact up to the first one, counted from the
/// low end, because a borrow only spoils what is above it.
const fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES * 0x80;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let zeros = quote.wrapping_sub(ONES) & !quote | backslash.wrapping_sub(ONES) & !backslash;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (zeros | controls) & HIGHS
}

/// The byte after the number, `true`, `false` or `null` that starts at `at`.
fn scalar(text: &[u8], at: usize) -> Result<usize, JsonError> {
    match text.get(at) {
        Some(b'-' | b'0'..=b'9') => number(text, at),
        Some(b't') => literal(text, at, b"true"),
        Some(b'f') => literal(text, at, b"false"),
        Some(b'n') => literal(text, at, b"null"),
        _ => Err(wrong(text, at)),
    }
}

fn literal(text: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonError> {
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with(word) {
        return Ok(at + word.len());
    }
    let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
    Err(wrong(text, at + same))
}

/// RFC 8259 section 6: no plus sign, no leading zero, digits on both sides of the point.
fn number(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let digits = |from: usize| {
        let count =
            text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
        if count > 0 {
            Ok(from + count)
        } else if from >= text.len() {
            Err(wrong(text, from))
        } else {
            Err(JsonError { at: from, kind: JsonErrorKind::Number })
        }
    };
    let mut at = start + usize::from(text.get(start) == Some(&b'-'));
    let whole = at;
    at = digits(whole)?;
    if text.get(whole) == Some(&b'0') && at > whole + 1 {
        return Err(JsonError { at: whole, kind: JsonErrorKind::Number });
    }
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        at = digits(at + usize::from(matches!(text.get(at), Some(b'+' | b'-'))))?;
    }
    Ok(at)
}

/// The error for a byte that cannot stand at `at`, or for a text that ends there.
pub(super) fn wrong(text: &[u8], at: usize) -> JsonError {
    if at < text.len() {
        JsonError { at, kind: JsonErrorKind::Unexpected }
    } else {
        JsonError { at: text.len(), kind: JsonErrorKind::Ended }
    }
}
