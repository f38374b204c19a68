//! Bytes → lines, as they come.
//!
//! Floor 1. May import floor 0.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The state of one connection's framer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Lines {
    bytes_max: usize,
}

/// One line, or what stood in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame<'a> {
    /// A line without its end; never blank.
    Line(Cow<'a, str>),
    /// A line that is not UTF-8.
    NotUtf8 {
        /// Its length.
        bytes: usize,
    },
    /// A line longer than the bound; said once, when it ends.
    TooLong {
        /// Its first bytes, at most 1 KiB.
        head: Vec<u8>,
        /// Its last bytes, at most 256: where the id stands if the result comes first.
        tail: Vec<u8>,
        /// The bound.
        bytes_max: usize,
    },
}

/// The lines that one chunk completes.
#[must_use]
#[derive(Debug)]
pub struct Frames<'a> {
    _lines: &'a mut Lines,
    _rest: &'a [u8],
}

impl Lines {
    /// A framer at the start of a stream, for lines of at most `message_bytes_max` bytes.
    #[must_use]
    pub fn new(message_bytes_max: usize) -> Self {
        Self { bytes_max: message_bytes_max }
    }

    /// The frames that `chunk` completes, in order.
    pub fn push<'a>(&'a mut self, chunk: &'a [u8]) -> Frames<'a> {
        let _ = self.bytes_max;
        Frames { _lines: self, _rest: chunk }
    }

    /// What is left at the end of the stream: a line without an end, if there is one.
    pub fn finish(&mut self) -> Option<Frame<'static>> {
        todo!()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}
