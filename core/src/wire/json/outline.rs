//! The members of an object, found while its text still arrives.
//!
//! Floor 1. May import floor 0. A message of many megabytes is scanned between one read and the
//! next, so that there is little left to do when its last byte comes.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use super::skip::{self, Skip};
use super::{JsonError, JsonErrorKind, Member, NESTING_MAX};

/// How many members are noted: a message has four.
const MEMBERS_MAX: usize = 16;

/// How much may be left that has to be looked at again: more than any number, and than any key
/// that is meant to be read.
const AGAIN_BYTES_MAX: usize = 1024;

/// What is known of the members of a text so far. If the text turns out to be anything but one object with few
/// members, nothing is: it is for a [`Scanner`](super::Scanner) to say what it is instead.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Outline {
    members: Vec<Span>,
    /// How deep the members nest.
    deepest: usize,
    state: State,
}

/// Where a member stands.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Span {
    /// With its quotes.
    key: Range<usize>,
    value: Range<usize>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum State {
    /// Before the opening bracket.
    Start { at: usize },
    /// Before a key, or the closing bracket of an object without members.
    Key { at: usize },
    /// Within the value that starts at `start` and has this key.
    Value { key: Range<usize>, start: usize, skip: Skip },
    /// After a value.
    After { at: usize },
    /// After the closing bracket.
    End { at: usize },
    /// Nothing is known.
    Lost,
}

impl Default for Outline {
    fn default() -> Self {
        Self::new()
    }
}

impl Outline {
    /// The outline of a text of which nothing is there.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new(), deepest: 0, state: State::Start { at: 0 } }
    }

    /// Goes on in `text`, which is the same as before or longer.
    pub fn extend(&mut self, text: &[u8]) {
        loop {
            match self.step(text) {
                Ok(true) => {}
                Ok(false) => return,
                Err(JsonError { kind: JsonErrorKind::Ended, .. }) => break,
                Err(_) => return self.state = State::Lost,
            }
        }
        if text.len().saturating_sub(self.position()) > AGAIN_BYTES_MAX {
            self.state = State::Lost;
        }
    }

    /// The members of `text`, in order, with duplicates. `None` if it is not exactly one object
    /// with few members that nests no deeper than `nesting_max`.
    pub fn members<'a>(
        &'a self,
        text: &'a str,
        nesting_max: usize,
    ) -> Option<impl Iterator<Item = Member<'a>>> {
        let State::End { at } = self.state else { return None };
        if self.deepest >= nesting_max || skip::space(text.as_bytes(), at) != text.len() {
            return None;
        }
        Some(self.members.iter().map(|Span { key, value }| {
            let key = text.get(key.clone()).and_then(super::string);
            Member { key: key.unwrap_or(Cow::Borrowed("")), value: value.clone() }
        }))
    }

    /// Goes as far as the next state; `false` if there is none.
    fn step(&mut self, text: &[u8]) -> Result<bool, JsonError> {
        self.state = match &mut self.state {
            State::Start { at } => {
                let at = skip::space(text, *at);
                skip::expect(text, at, b'{')?;
                State::Key { at: at + 1 }
            }
            State::Key { at } => {
                let start = skip::space(text, *at);
                if self.members.is_empty() && text.get(start) == Some(&b'}') {
                    State::End { at: start + 1 }
                } else {
                    skip::expect(text, start, b'"')?;
                    let end = skip::string(text, start + 1)?.end;
                    let value = skip::space(text, skip::colon(text, end)?);
                    if value == text.len() {
                        return Err(skip::wrong(text, value));
                    }
                    let skip = Skip::new(value, NESTING_MAX - 1);
                    State::Value { key: start..end, start: value, skip }
                }
            }
            State::Value { key, start, skip } => {
                let end = skip.go_on(text)?;
                self.deepest = self.deepest.max(skip.deepest());
                if self.members.len() == MEMBERS_MAX {
                    State::Lost
                } else {
                    self.members.push(Span { key: key.clone(), value: *start..end });
                    State::After { at: end }
                }
            }
            State::After { at } => {
                let at = skip::space(text, *at);
                match text.get(at) {
                    Some(b'}') => State::End { at: at + 1 },
                    _ => {
                        skip::expect(text, at, b',')?;
                        State::Key { at: at + 1 }
                    }
                }
            }
            State::End { .. } | State::Lost => return Ok(false),
        };
        Ok(true)
    }

    /// The first byte that is looked at next.
    const fn position(&self) -> usize {
        match &self.state {
            State::Start { at } | State::Key { at } | State::After { at } => *at,
            State::Value { skip, .. } => skip.position(),
            State::End { .. } | State::Lost => usize::MAX,
        }
    }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
