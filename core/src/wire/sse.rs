//! Bytes → server-sent events, as they come.
//!
//! Floor 1. May import floor 0. Where the stream is cut into chunks makes no difference to the
//! events (G44). Lines end in LF, CR or CRLF in any mix (F-078), fields are read as the standard
//! says (C-SSE-01), and an event that the stream ends in is none (C-SSE-04). What is kept of an
//! event is bounded (C-SSE-05).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::json::Outline;
use super::lines::{Frame, HEAD_BYTES, LONG_BYTES, TAIL_BYTES};

/// The longest name of a field that means something, a byte order mark included.
const NAME_BYTES: usize = 16;

/// The longest value of a field other than `data` that is looked at: a longer one means nothing.
pub const VALUE_BYTES: usize = 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The state of one stream of events.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Events {
    bytes_max: usize,
    /// Whether the present line is the first one, where a byte order mark may stand.
    first: bool,
    /// Whether a line feed would belong to the line end before.
    after_return: bool,
    line: Line,
    data: Data,
    /// The value of the present line, if it is not `data`.
    value: Vec<u8>,
    name: Name,
    id: Option<String>,
    last_id: Option<String>,
    retry_ms: Option<u64>,
}

/// The line that has begun and not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Line {
    /// The name of its field so far.
    Name(Vec<u8>),
    /// Its value; whether none of it was seen.
    Value(Field, bool),
    /// It means nothing.
    Skipped,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// The data of the event that has begun and not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Data {
    /// There is none.
    Absent,
    Kept(Kept),
    /// It is too long: only its ends are kept.
    Dropped {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

/// All of the data so far.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Kept {
    data: Vec<u8>,
    /// If it is long: drawn as it comes, so that little is left to do when the last byte is there.
    outline: Option<Outline>,
}

/// What an event calls itself.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Name {
    /// `message`, or nothing: it carries a message (C-SSE-02).
    Message,
    /// `endpoint`: where to send messages, of the transport of 2024-11-05.
    Endpoint,
    /// Anything else.
    Other,
}

/// An event with data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// What it calls itself.
    pub name: Name,
    /// Its data, never blank.
    pub data: Frame<'static>,
}

/// The events that one chunk completes. What is not taken is lost, unless it is pushed again;
/// see [`Pushed::left`].
#[must_use]
#[derive(Debug)]
pub struct Pushed<'a> {
    events: &'a mut Events,
    rest: &'a [u8],
}

impl Events {
    /// A stream of which nothing came yet, for events with at most `bytes_max` bytes of data.
    #[must_use]
    pub const fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            first: true,
            after_return: false,
            line: Line::Name(Vec::new()),
            data: Data::Absent,
            value: Vec::new(),
            name: Name::Message,
            id: None,
            last_id: None,
            retry_ms: None,
        }
    }

    /// The events that `chunk` completes, in order.
    pub const fn push<'a>(&'a mut self, chunk: &'a [u8]) -> Pushed<'a> {
        Pushed { events: self, rest: chunk }
    }

    /// The id of the last event that was complete, one without data included (C-SSE-03).
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server wants to be left alone after the stream ended, in milliseconds.
    #[must_use]
    pub const fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn take(&mut self, mut piece: &[u8]) {
        if let Line::Name(name) = &mut self.line {
            let colon = memchr::memchr(b':', piece);
            let more = piece.get(..colon.unwrap_or(piece.len())).unwrap_or_default();
            if name.len() + more.len() > NAME_BYTES {
                self.line = Line::Skipped;
                return;
            }
            name.extend_from_slice(more);
            let Some(colon) = colon else { return };
            self.line = match field(unmarked(name, self.first)) {
                Some(field) => self.begin(field),
                None => Line::Skipped,
            };
            piece = piece.get(colon + 1..).unwrap_or_default();
        }
        let Line::Value(field, fresh) = &mut self.line else { return };
        if piece.is_empty() {
            return;
        }
        if mem::take(fresh) {
            piece = piece.strip_prefix(b" ").unwrap_or(piece);
        }
        if *field == Field::Data {
            self.data.extend(piece, self.bytes_max);
        } else {
            let room = (VALUE_BYTES + 1).saturating_sub(self.value.len());
            self.value.extend(piece.iter().take(room));
        }
    }

    fn begin(&mut self, field: Field) -> Line {
        if field == Field::Data {
            match &self.data {
                Data::Absent => self.data = Data::Kept(Kept::default()),
                Data::Kept(_) | Data::Dropped { .. } => self.data.extend(b"\n", self.bytes_max),
            }
        }
        self.value.clear();
        Line::Value(field, true)
    }

    /// Ends the present line; the event that it ends, if it has data.
    fn end_line(&mut self) -> Option<Event> {
        let first = mem::replace(&mut self.first, false);
        match mem::replace(&mut self.line, Line::Name(Vec::new())) {
            Line::Name(name) => match unmarked(&name, first) {
                [] => return self.dispatch(),
                name => {
                    if let Some(field) = field(name)
                        && let Line::Value(field, _) = self.begin(field)
                    {
                        self.understand(field);
                    }
                }
            },
            Line::Value(field, _) => self.understand(field),
            Line::Skipped => {}
        }
        None
    }

    fn understand(&mut self, field: Field) {
        let value = mem::take(&mut self.value);
        let text = core::str::from_utf8(&value).ok().filter(|text| text.len() <= VALUE_BYTES);
        match (field, text) {
            (Field::Event, Some("" | "message")) => self.name = Name::Message,
            (Field::Event, Some("endpoint")) => self.name = Name::Endpoint,
            (Field::Event, _) => self.name = Name::Other,
            // An id goes back in a header, where a control character cannot stand.
            (Field::Id, Some(text)) if !text.chars().any(char::is_control) => {
                self.id = Some(text.into());
            }
            (Field::Retry, Some(text)) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry_ms = text.parse().ok().or(self.retry_ms);
            }
            (Field::Id | Field::Retry | Field::Data, _) => {}
        }
    }

    fn dispatch(&mut self) -> Option<Event> {
        if let Some(id) = self.id.take() {
            // An empty one takes the last one back.
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let name = mem::replace(&mut self.name, Name::Message);
        let data = mem::replace(&mut self.data, Data::Absent).frame(self.bytes_max)?;
        Some(Event { name, data })
    }
}

impl Data {
    fn extend(&mut self, piece: &[u8], bytes_max: usize) {
        match self {
            Self::Absent => {}
            Self::Kept(Kept { data, outline }) if data.len() + piece.len() <= bytes_max => {
                data.extend_from_slice(piece);
                if data.len() >= LONG_BYTES {
                    outline.get_or_insert_default().extend(data);
                }
            }
            Self::Kept(Kept { data, .. }) => {
                let mut head = mem::take(data);
                let mut tail = end(&head).to_vec();
                let room = HEAD_BYTES.min(bytes_max);
                let more = room.saturating_sub(head.len());
                head.extend(piece.iter().take(more));
                head.truncate(room);
                tail.extend_from_slice(end(piece));
                tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
                *self = Self::Dropped { head, tail };
            }
            Self::Dropped { tail, .. } => {
                tail.extend_from_slice(end(piece));
                tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            }
        }
    }

    fn frame(self, bytes_max: usize) -> Option<Frame<'static>> {
        match self {
            Self::Absent => None,
            Self::Kept(Kept { data, outline }) => match String::from_utf8(data) {
                Ok(text) if text.bytes().all(|byte| b" \t\n".contains(&byte)) => None,
                Ok(text) => Some(match outline {
                    Some(outline) => Frame::Long(text, outline),
                    None => Frame::Line(Cow::Owned(text)),
                }),
                Err(error) => Some(Frame::whole(error.into_bytes())),
            },
            Self::Dropped { head, tail } => Some(Frame::TooLong { head, tail, bytes_max }),
        }
    }
}

impl Iterator for Pushed<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while !self.rest.is_empty() {
            if mem::take(&mut self.events.after_return)
                && let Some(rest) = self.rest.strip_prefix(b"\n")
            {
                self.rest = rest;
                continue;
            }
            let Some(at) = memchr::memchr2(b'\n', b'\r', self.rest) else {
                self.events.take(self.rest);
                self.rest = &[];
                return None;
            };
            let (line, rest) = self.rest.split_at(at);
            self.events.take(line);
            self.events.after_return = rest.first() == Some(&b'\r');
            self.rest = rest.get(1..).unwrap_or_default();
            if let Some(event) = self.events.end_line() {
                return Some(event);
            }
        }
        None
    }
}

impl Pushed<'_> {
    /// How many bytes of the chunk were not looked at yet.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.rest.len()
    }
}

fn unmarked(name: &[u8], first: bool) -> &[u8] {
    if first { name.strip_prefix(BYTE_ORDER_MARK).unwrap_or(name) } else { name }
}

fn field(name: &[u8]) -> Option<Field> {
    match name {
        b"data" => Some(Field::Data),
        b"event" => Some(Field::Event),
        b"id" => Some(Field::Id),
        b"retry" => Some(Field::Retry),
        _ => None,
    }
}

fn end(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default()
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
