//! One validating scan of JSON text.
//!
//! Floor 1. May import floor 0. Values are found, checked and left where they are: a result of
//! many megabytes is looked at once and never copied. [`Scanner`] reads forward through one text;
//! [`members`] and [`elements`] are the same for one level of it.

use alloc::borrow::Cow;
use core::fmt;
use core::ops::Range;

mod outline;
mod scan;
mod skip;
mod text;

pub use outline::Outline;
pub use scan::{Array, Object, Scanner};
pub use text::{line_end, push_quoted, push_value, quoted_len};

/// How deep any text may nest, whatever bound is asked for: as deep as `serde_json` reads, which
/// is what most hosts will read the parts with.
pub const NESTING_MAX: usize = 128;

/// Where a text stops being JSON, and why.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct JsonError {
    /// The byte at which it stops.
    pub at: usize,
    /// Why.
    pub kind: JsonErrorKind,
}

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// It ends in the middle of a value.
    Ended,
    /// A byte that cannot stand there.
    Unexpected,
    /// A number that is not spelled like one.
    Number,
    /// A backslash and something that is not an escape.
    Escape,
    /// A control character inside a string.
    Control,
    /// It nests deeper than the bound.
    TooDeep,
    /// Something follows the value.
    Trailing,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            JsonErrorKind::Ended => "it ends too early",
            JsonErrorKind::Unexpected => "unexpected character",
            JsonErrorKind::Number => "malformed number",
            JsonErrorKind::Escape => "malformed escape",
            JsonErrorKind::Control => "control character in a string",
            JsonErrorKind::TooDeep => "nested too deeply",
            JsonErrorKind::Trailing => "something follows the value",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

impl core::error::Error for JsonError {}

/// What a JSON value is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// Checks that `text` is one JSON value and says what it is.
///
/// # Errors
/// Where and why it is not.
pub fn check(text: &str, nesting_max: usize) -> Result<Kind, JsonError> {
    let mut scanner = Scanner::new(text, nesting_max);
    let kind = scanner.kind()?;
    scanner.skip()?;
    scanner.end()?;
    Ok(kind)
}

/// The string that a JSON string value stands for; `None` if `value` is anything else.
#[must_use]
pub fn string(value: &str) -> Option<Cow<'_, str>> {
    let mut scanner = Scanner::new(value, 0);
    let string = scanner.string().ok()??;
    scanner.end().ok()?;
    Some(string)
}

/// The members of the object that `text` is, in order, with duplicates. What stands behind a
/// member is checked only when the iterator gets there: only one that ends without an error has
/// seen a valid text.
///
/// # Errors
/// If `text` does not start like an object.
pub fn members(text: &str, nesting_max: usize) -> Result<Members<'_>, JsonError> {
    let mut scanner = Scanner::new(text, nesting_max);
    let object = scanner.expect_object()?;
    Ok(Members { scanner, object: Some(object) })
}

/// Where the elements of the array that `text` is stand, in order. Like [`members`].
///
/// # Errors
/// If `text` does not start like an array.
pub fn elements(text: &str, nesting_max: usize) -> Result<Elements<'_>, JsonError> {
    let mut scanner = Scanner::new(text, nesting_max);
    let array = scanner.expect_array()?;
    Ok(Elements { scanner, array: Some(array) })
}

/// One member of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member<'a> {
    /// Its key, unescaped.
    pub key: Cow<'a, str>,
    /// Where its value stands in the text.
    pub value: Range<usize>,
}

/// See [`members`].
#[derive(Debug)]
pub struct Members<'a> {
    scanner: Scanner<'a>,
    /// `None` once the end or an error was seen.
    object: Option<Object>,
}

impl<'a> Members<'a> {
    fn step(&mut self) -> Result<Option<Member<'a>>, JsonError> {
        let Some(object) = &mut self.object else { return Ok(None) };
        match self.scanner.key(object)? {
            Some(key) => Ok(Some(Member { key, value: self.scanner.skip()? })),
            None => self.scanner.end().map(|()| None),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, JsonError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step().transpose();
        if !matches!(step, Some(Ok(_))) {
            self.object = None;
        }
        step
    }
}

/// See [`elements`].
#[derive(Debug)]
pub struct Elements<'a> {
    scanner: Scanner<'a>,
    /// `None` once the end or an error was seen.
    array: Option<Array>,
}

impl Elements<'_> {
    fn step(&mut self) -> Result<Option<Range<usize>>, JsonError> {
        let Some(array) = &mut self.array else { return Ok(None) };
        if self.scanner.element(array)? {
            self.scanner.skip().map(Some)
        } else {
            self.scanner.end().map(|()| None)
        }
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Range<usize>, JsonError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step().transpose();
        if !matches!(step, Some(Ok(_))) {
            self.array = None;
        }
        step
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
