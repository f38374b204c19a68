//! Reading forward through one JSON text.
//!
//! Floor 1. May import floor 0.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use super::skip::Specials;
use super::{JsonError, JsonErrorKind, Kind, NESTING_MAX, skip, text};

/// Reads forward through one text.
///
/// A method that reads a value of one type answers `None` to any other value, having checked and
/// skipped it. A value that is not read at all is checked and skipped by the next call of
/// [`key`](Self::key) or [`element`](Self::element). A container that is entered must be read to
/// its end before the one around it is read on.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// How many more containers may be entered.
    room: usize,
}

/// A place inside an object that a [`Scanner`] has entered.
#[derive(Debug)]
pub struct Object(Inside);

/// A place inside an array that a [`Scanner`] has entered.
#[derive(Debug)]
pub struct Array(Inside);

#[derive(Debug)]
enum Inside {
    /// Behind the opening bracket.
    Opened,
    /// At a value that was offered; if the scanner is still there, nobody read it.
    Offered(usize),
    /// Behind the closing bracket.
    Closed,
}

impl<'a> Scanner<'a> {
    /// At the start of `text`. More than [`NESTING_MAX`] means that.
    #[must_use]
    pub const fn new(text: &'a str, nesting_max: usize) -> Self {
        let room = if nesting_max < NESTING_MAX { nesting_max } else { NESTING_MAX };
        Self { text, at: 0, room }
    }

    /// What the next value seems to be; it is not checked yet.
    ///
    /// # Errors
    /// If no value starts here.
    pub fn kind(&mut self) -> Result<Kind, JsonError> {
        self.at = skip::space(self.bytes(), self.at);
        match self.peek() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.wrong()),
        }
    }

    /// Checks the next value and says where it stands.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn skip(&mut self) -> Result<Range<usize>, JsonError> {
        let start = skip::space(self.bytes(), self.at);
        self.at = skip::value(self.bytes(), start, self.room)?;
        Ok(start..self.at)
    }

    /// Reads the next value if it is a string.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn string(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        if self.kind()? == Kind::String {
            self.quoted().map(Some)
        } else {
            self.skip().map(|_| None)
        }
    }

    /// Appends the next value to `out` if it is a string, looking at each byte once: for texts
    /// of many megabytes. Says whether it is one. After an error `out` holds a part of it.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn string_into(&mut self, out: &mut String) -> Result<bool, JsonError> {
        if self.kind()? != Kind::String {
            return self.skip().map(|_| false);
        }
        self.at += 1;
        // Whatever comes fits: a string is never longer than its text.
        out.reserve_exact(self.text.len() - self.at);
        for special in Specials::new(self.bytes(), self.at) {
            if special < self.at {
                // The second byte of an escape.
                continue;
            }
            push(out, self.text, self.at..special);
            if self.bytes().get(special) != Some(&b'\\') {
                // The closing quote, or what is wrong instead.
                self.at = skip::string(self.bytes(), special)?.end;
                return Ok(true);
            }
            let letter = self.bytes().get(special + 1).copied().unwrap_or_default();
            if let Some(character) = text::short(char::from(letter)) {
                out.push(character);
                self.at = special + 2;
                continue;
            }
            skip::escape(self.bytes(), special)?;
            let (character, left) = text::escaped(self.slice(special + 1..self.text.len()));
            out.extend(character);
            self.at = self.text.len() - left.len();
        }
        Err(skip::wrong(self.bytes(), self.text.len()))
    }

    /// Enters the next value if it is an object.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn object(&mut self) -> Result<Option<Object>, JsonError> {
        if self.kind()? == Kind::Object {
            self.expect_object().map(Some)
        } else {
            self.skip().map(|_| None)
        }
    }

    /// Enters the next value if it is an array.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn array(&mut self) -> Result<Option<Array>, JsonError> {
        if self.kind()? == Kind::Array {
            self.expect_array().map(Some)
        } else {
            self.skip().map(|_| None)
        }
    }

    /// The key of the next member, whose value comes next; `None` at the end of the object.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn key(&mut self, object: &mut Object) -> Result<Option<Cow<'a, str>>, JsonError> {
        if !self.next(&mut object.0, b'}')? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.wrong());
        }
        let key = self.quoted()?;
        self.at = skip::space(self.bytes(), skip::colon(self.bytes(), self.at)?);
        object.0 = Inside::Offered(self.at);
        Ok(Some(key))
    }

    /// Whether another element comes next.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn element(&mut self, array: &mut Array) -> Result<bool, JsonError> {
        let more = self.next(&mut array.0, b']')?;
        if more {
            array.0 = Inside::Offered(self.at);
        }
        Ok(more)
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    /// If something does.
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.at = skip::space(self.bytes(), self.at);
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(JsonError { at: self.at, kind: JsonErrorKind::Trailing })
        }
    }

    /// The byte that is read next.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The part of the text that stands at `range`; empty if there is none.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    /// Enters the next value, which must be an object.
    pub(crate) fn expect_object(&mut self) -> Result<Object, JsonError> {
        self.open(b'{').map(Object)
    }

    /// Enters the next value, which must be an array.
    pub(crate) fn expect_array(&mut self) -> Result<Array, JsonError> {
        self.open(b'[').map(Array)
    }

    fn open(&mut self, bracket: u8) -> Result<Inside, JsonError> {
        self.at = skip::space(self.bytes(), self.at);
        if self.peek() != Some(bracket) {
            return Err(self.wrong());
        }
        let Some(room) = self.room.checked_sub(1) else {
            return Err(JsonError { at: self.at, kind: JsonErrorKind::TooDeep });
        };
        self.room = room;
        self.at += 1;
        Ok(Inside::Opened)
    }

    /// Goes to the next thing inside a container; `false` if that is its end.
    fn next(&mut self, inside: &mut Inside, bracket: u8) -> Result<bool, JsonError> {
        let first = match *inside {
            Inside::Closed => return Ok(false),
            Inside::Opened => true,
            Inside::Offered(at) => {
                if self.at == at {
                    self.skip()?;
                }
                false
            }
        };
        self.at = skip::space(self.bytes(), self.at);
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                self.room += 1;
                *inside = Inside::Closed;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at = skip::space(self.bytes(), self.at + 1);
                Ok(true)
            }
            _ => Err(self.wrong()),
        }
    }

    /// Reads the string whose opening quote comes next.
    fn quoted(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at + 1;
        let skip::Quoted { end, escaped } = skip::string(self.bytes(), start)?;
        self.at = end;
        let inside = self.slice(start..end.saturating_sub(1));
        Ok(if escaped { Cow::Owned(text::unescape(inside)) } else { Cow::Borrowed(inside) })
    }

    /// All of the text.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    const fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn wrong(&self) -> JsonError {
        skip::wrong(self.bytes(), self.at)
    }
}

/// Appends the part of `text` that stands at `range`.
#[inline]
fn push(out: &mut String, text: &str, range: Range<usize>) {
    const SHORT_BYTES: usize = 64;
    // What stands between two escapes is mostly short, and a copy of a length that is known
    // beforehand costs a fraction of another: too much is copied and taken back.
    if range.len() <= SHORT_BYTES
        && let Some(more) = text.get(range.start..range.start + SHORT_BYTES)
    {
        let end = out.len() + range.len();
        out.push_str(more);
        out.truncate(end);
    } else {
        out.push_str(text.get(range).unwrap_or_default());
    }
}
