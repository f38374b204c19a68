//! Where a JSON value ends, and that it is one.
//!
//! Floor 1. May import floor 0. No allocation, no recursion. The input is valid UTF-8, so that a
//! byte above 0x7f can only stand inside a string and needs no look.

use core::{mem, slice};

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
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Nesting {
    objects: u128,
    depth: usize,
    deepest: usize,
}

impl Nesting {
    fn enter(&mut self, object: bool) {
        self.objects = self.objects << 1 | u128::from(object);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
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
pub(super) fn value(text: &[u8], at: usize, room: usize) -> Result<usize, JsonError> {
    let at = space(text, at);
    match text.get(at) {
        Some(b'"') => Ok(string(text, at + 1)?.end),
        Some(b'{' | b'[') => Skip::new(at, room).go_on(text),
        _ => scalar(text, at),
    }
}

/// A value that is being skipped. Where the text ends too early it can go on once there is more
/// of it: what was looked at of a string is not looked at again, and of anything else the last
/// token at most.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Skip {
    at: usize,
    place: Place,
    open: Nesting,
    room: usize,
}

/// Where a [`Skip`] is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Place {
    /// Before a value.
    Before,
    /// Within a string that is a value.
    Within,
    /// After a value.
    After,
}

impl Skip {
    /// Before the value that starts at `at`, in a text that may go on.
    pub(super) fn new(at: usize, room: usize) -> Self {
        let (place, open) = (Place::Before, Nesting::default());
        Self { at, place, open, room: room.min(NESTING_MAX) }
    }

    /// The first byte that is looked at next.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// How many containers were open at once.
    pub(super) const fn deepest(&self) -> usize {
        self.open.deepest
    }

    /// The byte after the value. `text` is the same text as before or a longer one.
    pub(super) fn go_on(&mut self, text: &[u8]) -> Result<usize, JsonError> {
        if self.place == Place::Within {
            run(text, &mut self.at)?;
            self.place = Place::After;
        }
        loop {
            if self.place == Place::Before {
                self.enter(text)?;
            }
            if self.leave(text)? {
                return Ok(self.at);
            }
        }
    }

    /// Goes into the next value as deep as its first part without parts.
    fn enter(&mut self, text: &[u8]) -> Result<(), JsonError> {
        loop {
            let at = space(text, self.at);
            let Some(first) = text.get(at) else { return Err(wrong(text, at)) };
            match first {
                b'"' => {
                    self.at = near_end(text, at + 1);
                    if text.get(self.at) == Some(&b'"') {
                        self.at += 1;
                    } else {
                        self.place = Place::Within;
                        run(text, &mut self.at)?;
                    }
                    break;
                }
                b'{' | b'[' if self.open.depth == self.room => {
                    return Err(JsonError { at, kind: JsonErrorKind::TooDeep });
                }
                b'{' => {
                    let inside = space(text, at + 1);
                    let empty = text.get(inside) == Some(&b'}');
                    self.at = if empty { inside } else { key(text, inside)? };
                    self.open.enter(true);
                    if empty {
                        break;
                    }
                }
                b'[' => {
                    let inside = space(text, at + 1);
                    let Some(first) = text.get(inside) else { return Err(wrong(text, inside)) };
                    self.at = inside;
                    self.open.enter(false);
                    if *first == b']' {
                        break;
                    }
                }
                _ => {
                    let end = scalar(text, at)?;
                    if end == text.len() {
                        // There may be more digits.
                        return Err(wrong(text, end));
                    }
                    self.at = end;
                    break;
                }
            }
        }
        self.place = Place::After;
        Ok(())
    }

    /// Closes what is closed behind a value; whether the outermost one ends here.
    fn leave(&mut self, text: &[u8]) -> Result<bool, JsonError> {
        while self.open.depth > 0 {
            let at = space(text, self.at);
            match (text.get(at), self.open.in_object()) {
                (Some(b','), object) => {
                    self.at = if object { key(text, space(text, at + 1))? } else { at + 1 };
                    self.place = Place::Before;
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.open.leave(),
                _ => return Err(wrong(text, at)),
            }
            self.at = at + 1;
        }
        Ok(true)
    }
}

/// The byte after the colon behind the key that starts at `at`.
fn key(text: &[u8], at: usize) -> Result<usize, JsonError> {
    expect(text, at, b'"')?;
    let Quoted { end, .. } = string(text, at + 1)?;
    colon(text, end)
}

/// The byte after the colon that stands at `at` or after white space.
pub(super) fn colon(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = space(text, at);
    expect(text, at, b':')?;
    Ok(at + 1)
}

/// An error unless this byte stands at `at`.
pub(super) fn expect(text: &[u8], at: usize, byte: u8) -> Result<(), JsonError> {
    if text.get(at) == Some(&byte) { Ok(()) } else { Err(wrong(text, at)) }
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
pub(super) fn string(text: &[u8], at: usize) -> Result<Quoted, JsonError> {
    let mut end = near_end(text, at);
    if text.get(end) == Some(&b'"') {
        return Ok(Quoted { end: end + 1, escaped: false });
    }
    let escaped = run(text, &mut end)?;
    Ok(Quoted { end, escaped })
}

/// The first special byte of the string that goes on at `at`, or where to look for it.
#[inline]
fn near_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let near = rest.get(..NEAR_BYTES).unwrap_or(rest);
    at + first_special(near).unwrap_or(near.len())
}

/// Moves `at` from within a string to the byte after its closing quote, or as far as there is
/// nothing wrong; whether an escape was passed.
#[inline(never)]
fn run(text: &[u8], at: &mut usize) -> Result<bool, JsonError> {
    let (mut go_on, mut escaped) = (*at, false);
    for special in Specials::new(text, go_on) {
        if special < go_on {
            // The second byte of an escape.
            continue;
        }
        *at = special;
        match text.get(special) {
            Some(b'"') => {
                *at += 1;
                return Ok(escaped);
            }
            Some(b'\\') => {
                escaped = true;
                go_on = escape(text, special)?;
            }
            _ => return Err(JsonError { at: special, kind: JsonErrorKind::Control }),
        }
    }
    *at = text.len();
    Err(JsonError { at: text.len(), kind: JsonErrorKind::Ended })
}

/// The byte after the escape whose backslash is at `at`.
#[inline]
pub(super) fn escape(text: &[u8], at: usize) -> Result<usize, JsonError> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        _ => long_escape(text, at),
    }
}

#[cold]
fn long_escape(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let wrong = JsonError { at, kind: JsonErrorKind::Escape };
    let ended = JsonError { at: text.len(), kind: JsonErrorKind::Ended };
    match (text.get(at + 1), text.get(at + 2..at + 6)) {
        (Some(b'u'), Some(digits)) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
        (None, _) | (Some(b'u'), None) => Err(ended),
        (Some(_), _) => Err(wrong),
    }
}

/// How far from its beginning a string is looked at word by word: most end there.
const NEAR_BYTES: usize = 128;

/// How many bytes are looked at together in a long string.
const BLOCK_BYTES: usize = 64;

/// Where the bytes stand that cannot simply be a part of a string: quotes, backslashes and
/// control characters. Those of a block are found together: a search that starts anew behind each
/// escape costs several times as much where there are many.
pub(super) struct Specials<'a> {
    blocks: slice::Iter<'a, [u8; BLOCK_BYTES]>,
    tail: &'a [u8],
    /// Where the block ends that is looked at.
    end: usize,
    /// One bit for each of its special bytes that is not told yet, the first in the lowest.
    marks: u64,
}

impl<'a> Specials<'a> {
    /// Those of `text` from `at` on.
    #[inline]
    pub(super) fn new(text: &'a [u8], at: usize) -> Self {
        let (blocks, tail) = text.get(at..).unwrap_or_default().as_chunks();
        Self { blocks: blocks.iter(), tail, end: at, marks: 0 }
    }

    /// The next block; what is left at the end is filled up to one.
    fn block(&mut self) -> Option<u64> {
        if let Some(block) = self.blocks.next() {
            return Some(marks(block));
        }
        let mut block = [b' '; BLOCK_BYTES];
        block.get_mut(..self.tail.len())?.copy_from_slice(mem::take(&mut self.tail));
        Some(marks(&block)).filter(|marks| *marks != 0)
    }
}

impl Iterator for Specials<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.marks == 0 {
            self.marks = self.block()?;
            self.end += BLOCK_BYTES;
        }
        let at = self.end - BLOCK_BYTES + self.marks.trailing_zeros() as usize;
        self.marks &= self.marks - 1;
        Some(at)
    }
}

/// Where the first special byte stands.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(8 * n + found.trailing_zeros() as usize / 8);
        }
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    tail.iter().position(is_special).map(|found| 8 * words.len() + found)
}

/// One bit for each special byte of a block.
#[inline]
fn marks(block: &[u8; BLOCK_BYTES]) -> u64 {
    let mut marks = 0;
    for (n, word) in block.as_chunks::<8>().0.iter().enumerate() {
        // The eight high bits come together in the highest byte, in their order.
        let bits = (specials(u64::from_le_bytes(*word)) >> 7).wrapping_mul(0x0102_0408_1020_4080);
        marks |= bits >> 56 << (8 * n);
    }
    marks
}

/// The high bit of every special byte of a word. No sum of two bytes here reaches the next byte.
const fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES * 0x80;
    let low = word & !HIGHS;
    let no_quote = (low ^ (ONES * b'"' as u64)) + ONES * 0x7f;
    let no_backslash = (low ^ (ONES * b'\\' as u64)) + ONES * 0x7f;
    let no_control = low + ONES * (0x80 - 0x20);
    !(no_quote & no_backslash & no_control | word) & HIGHS
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
