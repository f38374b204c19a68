//! Bytes → lines, as they come.
//!
//! Floor 1. May import floor 0. Where the stream is cut into chunks makes no difference to the
//! frames (G44). A byte is searched for a line end once, checked for UTF-8 once, and copied only
//! if its line began in an earlier chunk.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

/// How much of the beginning of a line is kept that cannot be read.
const HEAD_BYTES: usize = 1024;

/// How much of the end of a line is kept that cannot be read.
const TAIL_BYTES: usize = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The state of one connection's framer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Lines {
    bytes_max: usize,
    /// Whether the next byte belongs to the first line, where a byte order mark may stand.
    first: bool,
    open: Open,
}

/// The line that has begun and not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Open {
    /// All of it so far; at most `bytes_max`.
    Kept(Vec<u8>),
    /// It is too long: only its ends are kept.
    Dropped { head: Vec<u8>, tail: Vec<u8> },
}

/// One line, or what stood in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame<'a> {
    /// A line without its end; never blank. Borrowed from the chunk if it lies within one,
    /// otherwise owned.
    Line(Cow<'a, str>),
    /// A line that is not UTF-8.
    NotUtf8 {
        /// Its length without its end.
        bytes: usize,
        /// Its first bytes, at most 1 KiB.
        head: Vec<u8>,
        /// Its last bytes, at most 256.
        tail: Vec<u8>,
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

/// The frames that one chunk completes. What is not taken is lost, unless it is pushed again;
/// see [`Frames::left`].
#[must_use]
#[derive(Debug)]
pub struct Frames<'a> {
    lines: &'a mut Lines,
    rest: &'a [u8],
}

impl Lines {
    /// A framer at the start of a stream, for lines of at most `message_bytes_max` bytes, a
    /// carriage return and a byte order mark included.
    #[must_use]
    pub const fn new(message_bytes_max: usize) -> Self {
        Self { bytes_max: message_bytes_max, first: true, open: Open::Kept(Vec::new()) }
    }

    /// The frames that `chunk` completes, in order.
    pub const fn push<'a>(&'a mut self, chunk: &'a [u8]) -> Frames<'a> {
        Frames { lines: self, rest: chunk }
    }

    /// What is left at the end of the stream: a line without an end, if there is one.
    pub fn finish(&mut self) -> Option<Frame<'static>> {
        let frame = self.end_open();
        self.first = true;
        frame
    }

    /// The frame of a line that ends, `piece` being what was not seen of it yet.
    fn end<'a>(&mut self, piece: &'a [u8]) -> Option<Frame<'a>> {
        let began = !matches!(&self.open, Open::Kept(line) if line.is_empty());
        if began || piece.len() > self.bytes_max {
            self.extend(piece);
            return self.end_open();
        }
        let first = mem::replace(&mut self.first, false);
        let inside = piece.get(inside(piece, first)?)?;
        Some(match str::from_utf8(inside) {
            Ok(line) => Frame::Line(Cow::Borrowed(line)),
            Err(_) => Frame::not_utf8(inside),
        })
    }

    /// Ends the line of which all was seen.
    fn end_open(&mut self) -> Option<Frame<'static>> {
        let first = mem::replace(&mut self.first, false);
        match mem::replace(&mut self.open, Open::Kept(Vec::new())) {
            Open::Kept(mut line) => {
                let Range { start, end } = inside(&line, first)?;
                line.truncate(end);
                line.drain(..start);
                Some(match String::from_utf8(line) {
                    Ok(line) => Frame::Line(Cow::Owned(line)),
                    Err(error) => Frame::not_utf8(error.as_bytes()),
                })
            }
            Open::Dropped { mut head, tail } => {
                head.drain(..mark(&head, first));
                Some(Frame::TooLong { head, tail, bytes_max: self.bytes_max })
            }
        }
    }

    /// Adds a piece to the line that has begun.
    fn extend(&mut self, piece: &[u8]) {
        match &mut self.open {
            Open::Kept(line) if line.len().saturating_add(piece.len()) <= self.bytes_max => {
                line.extend_from_slice(piece);
            }
            Open::Kept(line) => {
                // Cut at the bound too: a head that held whatever the last chunk brought would
                // depend on where the chunks were cut.
                let head_bytes = HEAD_BYTES.min(self.bytes_max);
                let head = line.iter().chain(piece).take(head_bytes).copied().collect();
                let mut tail = Vec::new();
                keep_end(&mut tail, line);
                keep_end(&mut tail, piece);
                self.open = Open::Dropped { head, tail };
            }
            Open::Dropped { tail, .. } => keep_end(tail, piece),
        }
    }
}

impl Frame<'_> {
    fn not_utf8(line: &[u8]) -> Self {
        let head = line.get(..HEAD_BYTES).unwrap_or(line).to_vec();
        let mut tail = Vec::new();
        keep_end(&mut tail, line);
        Self::NotUtf8 { bytes: line.len(), head, tail }
    }
}

impl Frames<'_> {
    /// How many bytes of the chunk were not taken yet.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(at) = memchr::memchr(b'\n', self.rest) {
            let (piece, rest) = self.rest.split_at(at);
            self.rest = rest.get(1..).unwrap_or_default();
            if let Some(frame) = self.lines.end(piece) {
                return Some(frame);
            }
        }
        self.lines.extend(mem::take(&mut self.rest));
        None
    }
}

/// Where the text of a line stands, without byte order mark and carriage return; `None` if the
/// line is blank.
fn inside(line: &[u8], first: bool) -> Option<Range<usize>> {
    let start = mark(line, first);
    let end = line.len() - usize::from(line.ends_with(b"\r"));
    let text = line.get(start..end)?;
    text.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).then_some(start..end)
}

/// The length of the byte order mark before a line.
fn mark(line: &[u8], first: bool) -> usize {
    if first && line.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Appends `piece` to `tail` and drops from its front what is more than [`TAIL_BYTES`].
fn keep_end(tail: &mut Vec<u8>, piece: &[u8]) {
    tail.extend_from_slice(piece.get(piece.len().saturating_sub(TAIL_BYTES)..).unwrap_or(piece));
    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use std::format;

    use super::*;

    fn owned(frame: Frame<'_>) -> Frame<'static> {
        match frame {
            Frame::Line(line) => Frame::Line(Cow::Owned(line.into_owned())),
            Frame::NotUtf8 { bytes, head, tail } => Frame::NotUtf8 { bytes, head, tail },
            Frame::TooLong { head, tail, bytes_max } => Frame::TooLong { head, tail, bytes_max },
        }
    }

    fn frames<'a>(bytes_max: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame<'a>> {
        let mut lines = Lines::new(bytes_max);
        let mut all = Vec::new();
        for chunk in chunks {
            all.extend(lines.push(chunk).map(owned));
        }
        all.extend(lines.finish());
        assert_eq!(lines, Lines::new(bytes_max), "nothing is left behind");
        all
    }

    fn line(text: &str) -> Frame<'static> {
        Frame::Line(Cow::Owned(text.to_owned()))
    }

    /// What the frames are by their definition, from the whole stream at once.
    fn naive(bytes_max: usize, stream: &[u8]) -> Vec<Frame<'static>> {
        let mut all = Vec::new();
        for (n, raw) in stream.split(|byte| *byte == b'\n').enumerate() {
            let marked = n == 0 && raw.starts_with(b"\xef\xbb\xbf");
            let text = if marked { &raw[3..] } else { raw };
            if raw.len() > bytes_max {
                let head = &raw[..bytes_max.min(1024)];
                let head =
                    if n == 0 { head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head) } else { head };
                let tail = &raw[raw.len().saturating_sub(256)..];
                all.push(Frame::TooLong { head: head.to_vec(), tail: tail.to_vec(), bytes_max });
                continue;
            }
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if text.trim_ascii().is_empty() {
                continue;
            }
            all.push(match str::from_utf8(text) {
                Ok(text) => line(text),
                Err(_) => {
                    let (head, tail) = (text.to_vec(), text.to_vec());
                    Frame::NotUtf8 { bytes: text.len(), head, tail }
                }
            });
        }
        all
    }

    const STREAMS: &[&[u8]] = &[
        b"",
        b"\n",
        b"one",
        b"one\n",
        b"one\ntwo\n",
        b"one\r\ntwo\r\n\r\n \t\r\n\nthree",
        b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n",
        b"\xef\xbb\xbf\r\n\xef\xbb\xbfone",
        b"\xef\xbb\n\xef\xbb",
        "\u{e9}\u{20ac}\u{1f600}\n\u{1f600}\r\n".as_bytes(),
        b"\xff\nok\n\xc3\n\xe2\x82\r\nok\n\xf0\x9f",
        b"a\rb\r\r\n",
        b"0123456789abcdef\nok\n0123456789abcdef",
        b"0123456789abcde\r\n0123456789abcdef\r\n",
        b"npm warn deprecated\n\n{\"jsonrpc\":\"2.0\"}\nDebugger attached.\n{}\n",
    ];

    /// G44.
    #[test]
    fn where_the_stream_is_cut_makes_no_difference() {
        for stream in STREAMS {
            for bytes_max in [0, 1, 5, 15, 16, 1000] {
                let wanted = naive(bytes_max, stream);
                assert_eq!(frames(bytes_max, [*stream]), wanted, "{stream:?} up to {bytes_max}");
                assert_eq!(frames(bytes_max, stream.chunks(1)), wanted, "{stream:?} in bytes");
                for a in 0..=stream.len() {
                    let (one, rest) = stream.split_at(a);
                    for b in 0..=rest.len() {
                        let (two, three) = rest.split_at(b);
                        let cut = frames(bytes_max, [one, two, three]);
                        assert_eq!(cut, wanted, "{one:?} {two:?} {three:?} up to {bytes_max}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_within_one_chunk_is_borrowed_and_one_over_several_is_owned() {
        let mut lines = Lines::new(100);
        let found: Vec<_> = lines.push(b"one\r\ntwo\nthr").collect();
        assert!(matches!(
            found.as_slice(),
            [Frame::Line(Cow::Borrowed("one")), Frame::Line(Cow::Borrowed("two"))]
        ));
        let found: Vec<_> = lines.push(b"ee\nfour\n").collect();
        assert_eq!(found, [line("three"), line("four")]);
        assert!(matches!(
            found.as_slice(),
            [Frame::Line(Cow::Owned(_)), Frame::Line(Cow::Borrowed(_))]
        ));
    }

    #[test]
    fn an_oversized_line_is_said_once_with_both_its_ends_and_bounded_memory() {
        let mut lines = Lines::new(10_000);
        let chunk = [b'x'; 4096];
        assert_eq!(lines.push(b"{\"result\":\"").next(), None);
        for _ in 0..1_000 {
            assert_eq!(lines.push(&chunk).next(), None);
            match &lines.open {
                Open::Kept(line) => assert!(line.len() <= 10_000),
                Open::Dropped { head, tail } => assert!(head.len() + tail.len() <= 1_280),
            }
        }
        let found: Vec<_> = lines.push(b"\",\"id\":7}\nnext\n").map(owned).collect();
        let [Frame::TooLong { head, tail, bytes_max: 10_000 }, next] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((head.len(), tail.len()), (1024, 256));
        assert!(head.starts_with(b"{\"result\":\"xxx"));
        assert!(tail.ends_with(b"xxx\",\"id\":7}"));
        assert_eq!(*next, line("next"), "what follows an oversized line is read");
    }

    #[test]
    fn exactly_the_bound_is_accepted() {
        for text in ["x".repeat(100), format!("\u{feff}{}", "x".repeat(97))] {
            for end in ["", "\n"] {
                let stream = format!("{text}{end}");
                let text = text.trim_start_matches('\u{feff}');
                assert_eq!(frames(100, [stream.as_bytes()]), [line(text)]);
                assert_ne!(frames(99, [stream.as_bytes()]), [line(text)]);
            }
        }
    }
}
