//! What a tool answered, as a model and a program can use it.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

use super::cursor::{Cursor, Malformed};
use crate::bytes::Json;
use crate::error::CallError;
use crate::event::Outcome;

/// A result of `tools/call` as text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flattened {
    /// The content blocks, joined by a blank line. What is no text is named in brackets, so that
    /// nothing a tool sent is dropped silently (G76). Without any block it is the text of
    /// `structuredContent`, if there is one.
    pub text: String,
    /// Whether the tool reports its own failure.
    pub is_error: bool,
    /// How many content blocks there were.
    pub blocks: usize,
}

/// The call was aborted: there is no text, an abort stays an abort (G77).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Aborted;

/// Reads a result as text, in one pass.
///
/// # Errors
/// [`CallError::Shape`] if the result is no object, or has neither a list of `content` nor
/// `structuredContent`. What a block holds is never an error.
pub fn flatten(result: &Json) -> Result<Flattened, CallError> {
    read(result.as_str()).map_err(|fault| CallError::Shape {
        message: match fault {
            Fault::Malformed(Malformed { at }) => format!("the result is not JSON at byte {at}"),
            Fault::Wrong(what) => what.into(),
        },
    })
}

/// What a model gets to read of an outcome: the text; `Error: …` if the tool reports its own
/// failure; `MCP error: …` if the call failed.
///
/// # Errors
/// [`Aborted`] if the call was cancelled.
pub fn text_for_model(outcome: &Outcome) -> Result<String, Aborted> {
    match outcome {
        Outcome::Answered(result) => match flatten(result) {
            Ok(flat) if flat.is_error => Ok(format!("Error: {}", flat.text)),
            Ok(flat) => Ok(flat.text),
            Err(error) => Ok(format!("MCP error: {error}")),
        },
        Outcome::Failed(error) => Ok(format!("MCP error: {error}")),
        Outcome::Aborted => Err(Aborted),
    }
}

/// `content` of a result, as received; `None` if it is absent.
#[must_use]
pub fn content_json(result: &Json) -> Option<Json> {
    member(result.as_str(), "content")
}

/// `structuredContent` of a result, as received; `None` if it is absent.
#[must_use]
pub fn structured_json(result: &Json) -> Option<Json> {
    member(result.as_str(), "structuredContent")
}

fn member(text: &str, wanted: &str) -> Option<Json> {
    let mut cursor = Cursor::new(text);
    let mut inside = cursor.enter(b'{')?;
    let mut found = None;
    while let Some(key) = cursor.key(&mut inside).ok()? {
        let window = cursor.window().ok()?;
        if key == wanted {
            found = text.get(window);
        }
    }
    found.map(Json::new)
}

enum Fault {
    Malformed(Malformed),
    Wrong(&'static str),
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

fn read(text: &str) -> Result<Flattened, Fault> {
    let mut cursor = Cursor::new(text);
    let mut inside = cursor.enter(b'{').ok_or(Fault::Wrong("the result is not an object"))?;
    let mut out = String::new();
    let (mut blocks, mut is_error, mut structured) = (None, false, None);
    while let Some(key) = cursor.key(&mut inside)? {
        let is_null = cursor.peek() == Some(b'n');
        match &*key {
            "content" if !is_null => {
                out.clear();
                blocks = Some(content(&mut cursor, &mut out)?);
            }
            "isError" => {
                is_error = cursor.peek() == Some(b't');
                cursor.skip()?;
            }
            "structuredContent" if !is_null => structured = Some(cursor.window()?),
            _ => cursor.skip()?,
        }
    }
    let blocks = match (blocks, structured) {
        (None, None) => return Err(Fault::Wrong("the result has no content")),
        (None | Some(0), Some(window)) => {
            out.push_str(text.get(window).unwrap_or_default());
            0
        }
        (Some(blocks), _) => blocks,
    };
    // The text was given as much room as the whole result.
    if out.capacity() > 2 * out.len() {
        out.shrink_to_fit();
    }
    Ok(Flattened { text: out, is_error, blocks })
}

fn content(cursor: &mut Cursor<'_>, out: &mut String) -> Result<usize, Fault> {
    let mut inside = cursor.enter(b'[').ok_or(Fault::Wrong("content is not a list"))?;
    let mut blocks = 0;
    while cursor.next(&mut inside)? {
        if blocks > 0 {
            out.push_str("\n\n");
        }
        block(cursor, out)?;
        blocks += 1;
    }
    Ok(blocks)
}

/// A content block as far as its text needs it. Texts are read to the end of the output at
/// once, before it is known whether they belong there; `text` and `embedded` say where.
#[derive(Default)]
struct Block<'a> {
    kind: Cow<'a, str>,
    mime: Cow<'a, str>,
    uri: Cow<'a, str>,
    text: Option<Range<usize>>,
    embedded: Option<Range<usize>>,
}

/// Appends one content block to `out`.
fn block(cursor: &mut Cursor<'_>, out: &mut String) -> Result<(), Malformed> {
    let start = out.len();
    let Some(mut inside) = cursor.enter(b'{') else {
        cursor.skip()?;
        out.push_str("[Unsupported content]");
        return Ok(());
    };
    let mut block = Block::default();
    while let Some(key) = cursor.key(&mut inside)? {
        match (&*key, cursor.peek()) {
            ("type", Some(b'"')) => block.kind = cursor.string()?,
            ("mimeType", Some(b'"')) => block.mime = cursor.string()?,
            ("uri", Some(b'"')) => block.uri = cursor.string()?,
            ("text", Some(b'"')) => block.text = Some(appended(cursor, out)?),
            ("resource", Some(b'{')) => resource(cursor, &mut block, out)?,
            _ => cursor.skip()?,
        }
    }
    let named = |noun: &str, name: &str| {
        if name.is_empty() { format!("[{noun}]") } else { format!("[{noun}: {name}]") }
    };
    let label = match &*block.kind {
        "text" if block.text.is_some() => {
            keep(out, start, block.text);
            return Ok(());
        }
        "resource" => {
            keep(out, start, block.embedded);
            let label = named("Resource", &block.uri);
            let gap = if out.len() > start { "\n" } else { "" };
            out.insert_str(start, &format!("{label}{gap}"));
            return Ok(());
        }
        "image" => named("Image", &block.mime),
        "audio" => named("Audio", &block.mime),
        "resource_link" => named("Resource link", &block.uri),
        kind => named("Unsupported content", kind),
    };
    keep(out, start, None);
    out.push_str(&label);
    Ok(())
}

fn resource<'a>(
    cursor: &mut Cursor<'a>,
    block: &mut Block<'a>,
    out: &mut String,
) -> Result<(), Malformed> {
    let Some(mut inside) = cursor.enter(b'{') else { return Ok(()) };
    while let Some(key) = cursor.key(&mut inside)? {
        match (&*key, cursor.peek()) {
            ("uri", Some(b'"')) => block.uri = cursor.string()?,
            ("text", Some(b'"')) => block.embedded = Some(appended(cursor, out)?),
            _ => cursor.skip()?,
        }
    }
    Ok(())
}

/// Reads a string to the end of `out` and says where it stands there.
fn appended(cursor: &mut Cursor<'_>, out: &mut String) -> Result<Range<usize>, Malformed> {
    let start = out.len();
    cursor.string_into(out)?;
    Ok(start..out.len())
}

/// Of what was appended since `start`, keeps `kept` alone.
fn keep(out: &mut String, start: usize, kept: Option<Range<usize>>) {
    let kept = kept.unwrap_or(start..start);
    out.truncate(kept.end);
    out.replace_range(start..kept.start, "");
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
