//! A line that was too long to keep: whom does it concern?
//!
//! Floor 1. May import floor 0. A call whose answer is lost must fail at once and not wait for
//! its limit, and no other call may fail in its place.

use alloc::format;

use super::{Id, Peek};
use crate::wire::json::{self, JsonError, NESTING_MAX, Scanner};

/// What a line that was not kept is about, from its first and its last bytes. Serves as well for
/// a whole line that [`read`](super::read()) refused, with an empty tail.
#[must_use]
pub fn peek(head: &[u8], tail: &[u8]) -> Peek {
    let mut seen = Seen::default();
    // Where the head is cut there is an error; what stands before it counts.
    let _ = look(valid_start(head), &mut seen);
    if seen.method {
        return Peek::HasMethod;
    }
    let id = if seen.reply { seen.id.or_else(|| id_at_end(tail)) } else { None };
    id.map_or(Peek::Unknown, Peek::Answer)
}

/// The members that matter.
#[derive(Default)]
struct Seen {
    id: Option<Id>,
    /// `method`, or `params`, which no answer has.
    method: bool,
    /// `result` or `error`.
    reply: bool,
}

fn look(text: &str, seen: &mut Seen) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(text, NESTING_MAX);
    let mut object = scanner.expect_object()?;
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "id" => {
                let range = scanner.skip()?;
                // A number that goes up to the cut may be longer than it looks.
                if range.end < text.len() {
                    seen.id = Id::read(scanner.slice(range));
                }
            }
            "method" | "params" => seen.method = true,
            "result" | "error" => seen.reply = true,
            _ => {}
        }
    }
    Ok(())
}

/// The id of an object of which only the end is known, if its last members hold one: what
/// JavaScript servers write, whose answers begin with the result.
///
/// The rest of the line from `"id"` on closes exactly one object, so the id belongs to the
/// outermost one and not to something inside the result.
fn id_at_end(tail: &[u8]) -> Option<Id> {
    const KEY: &[u8] = b"\"id\"";
    let at = tail.windows(KEY.len()).rposition(|window| window == KEY)?;
    let (before, rest) = tail.split_at(at);
    // Behind anything else, a backslash most of all, it is not a key.
    if !matches!(before.trim_ascii_end().last(), Some(b',' | b'{')) {
        return None;
    }
    let object = format!("{{{}", str::from_utf8(rest).ok()?);
    let mut id = None;
    for member in json::members(&object, NESTING_MAX).ok()? {
        let member = member.ok()?;
        match &*member.key {
            "id" => id = Id::read(object.get(member.value)?),
            "method" | "params" => return None,
            _ => {}
        }
    }
    id
}

/// What is UTF-8 of a text that may be cut within a character.
fn valid_start(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
