//! One validating scan of JSON text.
//!
//! Floor 1. May import floor 0.

use alloc::borrow::Cow;
use core::ops::Range;

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

/// One member of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member<'a> {
    /// Its key, unescaped.
    pub key: Cow<'a, str>,
    /// Where its value stands in the text.
    pub value: Range<usize>,
}

/// Checks that `text` is one JSON value and says what it is.
///
/// # Errors
/// Where and why it is not.
pub fn check(_text: &str, _nesting_max: usize) -> Result<Kind, JsonError> {
    todo!()
}

/// The string that a JSON string value stands for; `None` if `value` is anything else.
#[must_use]
pub fn string(_value: &str) -> Option<Cow<'_, str>> {
    todo!()
}

/// The members of the object that `text` is, in order; ends after the first error.
///
/// # Errors
/// If `text` is not an object.
pub fn members(
    _text: &str,
    _nesting_max: usize,
) -> Result<impl Iterator<Item = Result<Member<'_>, JsonError>>, JsonError> {
    Ok(core::iter::empty())
}

/// Where the elements of the array that `text` is stand, in order; ends after the first error.
///
/// # Errors
/// If `text` is not an array.
pub fn elements(
    _text: &str,
    _nesting_max: usize,
) -> Result<impl Iterator<Item = Result<Range<usize>, JsonError>>, JsonError> {
    Ok(core::iter::empty())
}
