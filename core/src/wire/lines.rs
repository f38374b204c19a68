//! Bytes → lines, as they come.
//!
//! Floor 1. May import floor 0. Where the stream is cut into chunks makes no difference to the
//! frames (G44). A byte is searched for a line end once, checked for UTF-8 once, and copied only
//! if its line began in an earlier chunk. Of a line that is long its outline is drawn as it comes.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use super::json::Outline;

/// How much of the beginning of a line is kept that cannot be read.
pub(super) const HEAD_BYTES: usize = 1024;

/// How much of the end of a line is kept that cannot be read.
pub(super) const TAIL_BYTES: usize = 256;

/// From which length on an unfinished line is outlined: a message that is only cut in two by the
/// end of a read is not.
pub(super) const LONG_BYTES: usize = 32 * 1024;

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
    Kept(Kept),
    /// It is too long, or not UTF-8: only its length and its ends are kept.
    Dropped {
        bytes: usize,
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

/// All of a line so far; at most `bytes_max`.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Kept {
    line: String,
    /// The first bytes of a character whose last ones are not there; at most three.
    cut: Vec<u8>,
    /// If the line is long.
    outline: Option<Outline>,
}

/// One line, or what stood in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame<'a> {
    /// A line without its end; never blank. Borrowed from the chunk if it lies within one,
    /// otherwise owned.
    Line(Cow<'a, str>),
    /// A long line without its end, and its outline.
    Long(String, Outline),
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

impl Frame<'_> {
    /// A whole message that came in no line; a byte order mark before it is none of it.
    #[must_use]
    pub fn whole(mut bytes: Vec<u8>) -> Frame<'static> {
        let mark = mark(&bytes, true);
        bytes.drain(..mark);
        match String::from_utf8(bytes) {
            Ok(text) => Frame::Line(Cow::Owned(text)),
            Err(error) => {
                let mut head = error.into_bytes();
                let bytes = head.len();
                let tail =
                    head.get(bytes.saturating_sub(TAIL_BYTES)..).unwrap_or_default().to_vec();
                head.truncate(HEAD_BYTES);
                Frame::NotUtf8 { bytes, head, tail }
            }
        }
    }

    /// A message that came in no line and is too long; `bytes` is what came of it up to the bound.
    #[must_use]
    pub fn oversized(bytes: &[u8], bytes_max: usize) -> Frame<'static> {
        let bytes = bytes.get(..bytes_max).unwrap_or(bytes);
        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes).to_vec();
        let tail = bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default().to_vec();
        Frame::TooLong { head, tail, bytes_max }
    }
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
        Self { bytes_max: message_bytes_max, first: true, open: Open::Kept(Kept::new()) }
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
        let began = !matches!(&self.open, Open::Kept(kept) if kept.len() == 0);
        if !began
            && piece.len() <= self.bytes_max
            && let Ok(line) = str::from_utf8(piece)
        {
            let first = mem::replace(&mut self.first, false);
            return line.get(inside(piece, first)?).map(|line| Frame::Line(Cow::Borrowed(line)));
        }
        self.extend(piece);
        self.end_open()
    }

    /// Ends the line of which all was seen.
    fn end_open(&mut self) -> Option<Frame<'static>> {
        if matches!(&self.open, Open::Kept(kept) if !kept.cut.is_empty()) {
            self.drop_line(&[]);
        }
        let first = mem::replace(&mut self.first, false);
        match mem::replace(&mut self.open, Open::Kept(Kept::new())) {
            Open::Kept(Kept { mut line, outline, .. }) => {
                let Range { start, end } = inside(line.as_bytes(), first)?;
                line.truncate(end);
                line.drain(..start);
                Some(match outline {
                    // With a byte order mark before it the outline stands elsewhere.
                    Some(mut outline) if start == 0 => {
                        outline.extend(line.as_bytes());
                        Frame::Long(line, outline)
                    }
                    Some(_) | None => Frame::Line(Cow::Owned(line)),
                })
            }
            Open::Dropped { bytes, mut head, mut tail } => {
                let too_long = bytes > self.bytes_max;
                if too_long {
                    head.truncate(HEAD_BYTES.min(self.bytes_max));
                }
                let mark = mark(&head, first);
                head.drain(..mark);
                if too_long {
                    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
                    return Some(Frame::TooLong { head, tail, bytes_max: self.bytes_max });
                }
                let bytes = bytes - mark - usize::from(tail.pop_if(|it| *it == b'\r').is_some());
                head.truncate(bytes.min(HEAD_BYTES));
                tail.drain(..tail.len().saturating_sub(bytes.min(TAIL_BYTES)));
                Some(Frame::NotUtf8 { bytes, head, tail })
            }
        }
    }

    /// Adds a piece to the line that has begun.
    fn extend(&mut self, piece: &[u8]) {
        match &mut self.open {
            Open::Kept(kept) if kept.len().saturating_add(piece.len()) <= self.bytes_max => {
                if let Err(NotUtf8) = kept.extend(piece) {
                    self.drop_line(piece);
                }
            }
            Open::Kept(_) => self.drop_line(piece),
            Open::Dropped { bytes, head, tail } => {
                *bytes = bytes.saturating_add(piece.len());
                let more = (HEAD_BYTES + BYTE_ORDER_MARK.len()).saturating_sub(head.len());
                head.extend_from_slice(piece.get(..more).unwrap_or(piece));
                keep_end(tail, piece);
            }
        }
    }

    /// Goes over to keeping only the ends of the line, which goes on with `piece`.
    fn drop_line(&mut self, piece: &[u8]) {
        let open = Open::Dropped { bytes: 0, head: Vec::new(), tail: Vec::new() };
        let Open::Kept(Kept { line, cut, .. }) = mem::replace(&mut self.open, open) else { return };
        for piece in [line.as_bytes(), &cut, piece] {
            self.extend(piece);
        }
    }
}

/// A piece that cannot be a part of a text.
struct NotUtf8;

impl Kept {
    const fn new() -> Self {
        Self { line: String::new(), cut: Vec::new(), outline: None }
    }

    const fn len(&self) -> usize {
        self.line.len() + self.cut.len()
    }

    /// Adds a piece; after an error nothing of it.
    fn extend(&mut self, piece: &[u8]) -> Result<(), NotUtf8> {
        let (before, cut) = (self.line.len(), self.cut.clone());
        let result = self.push(piece);
        if result.is_err() {
            self.line.truncate(before);
            self.cut = cut;
        } else if self.line.len() >= LONG_BYTES {
            self.outline.get_or_insert_default().extend(self.line.as_bytes());
        }
        result
    }

    fn push(&mut self, mut piece: &[u8]) -> Result<(), NotUtf8> {
        while !self.cut.is_empty()
            && let Some((byte, rest)) = piece.split_first()
        {
            self.cut.push(*byte);
            piece = rest;
            self.settle()?;
        }
        match str::from_utf8(piece) {
            Ok(text) => self.line.push_str(text),
            Err(error) => {
                let (text, cut) = piece.split_at(error.valid_up_to());
                self.line.push_str(str::from_utf8(text).unwrap_or_default());
                self.cut = cut.to_vec();
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Adds the cut character once it is complete.
    fn settle(&mut self) -> Result<(), NotUtf8> {
        match str::from_utf8(&self.cut) {
            Ok(character) => {
                self.line.push_str(character);
                self.cut.clear();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => return Err(NotUtf8),
        }
        Ok(())
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

/// Appends `piece` to `tail` and drops from its front what is more than [`TAIL_BYTES`] and a
/// carriage return.
fn keep_end(tail: &mut Vec<u8>, piece: &[u8]) {
    const KEPT_BYTES: usize = TAIL_BYTES + 1;
    tail.extend_from_slice(piece.get(piece.len().saturating_sub(KEPT_BYTES)..).unwrap_or(piece));
    tail.drain(..tail.len().saturating_sub(KEPT_BYTES));
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use std::format;

    use super::*;

    fn owned(frame: Frame<'_>) -> Frame<'static> {
        match frame {
            Frame::Line(line) => Frame::Line(Cow::Owned(line.into_owned())),
            Frame::Long(line, _) => Frame::Line(Cow::Owned(line)),
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
                    let head = text[..text.len().min(1024)].to_vec();
                    let tail = text[text.len().saturating_sub(256)..].to_vec();
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
    fn a_long_line_that_is_not_utf_8_keeps_both_its_ends_wherever_it_is_cut() {
        for mark in [&b""[..], BYTE_ORDER_MARK] {
            for length in [1, 255, 256, 257, 1_020, 1_023, 1_024, 1_025, 1_027, 3_000] {
                let text: Vec<_> = (0..length).map(|n| b'a' + (n % 26) as u8).collect();
                let stream = [mark, &text, b"\xff\r\n"].concat();
                for bytes_max in [100, 1_024, 1_026, 10_000] {
                    let wanted = naive(bytes_max, &stream);
                    for chunk in [1, 2, 3, 100, 1_024, stream.len()] {
                        let cut = frames(bytes_max, stream.chunks(chunk));
                        assert_eq!(cut, wanted, "{length} by {chunk} up to {bytes_max}");
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
                Open::Kept(kept) => assert!(kept.len() <= 10_000),
                Open::Dropped { head, tail, .. } => assert!(head.len() + tail.len() <= 1_284),
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
