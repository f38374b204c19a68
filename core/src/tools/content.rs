//! What a tool answered, as a model and a program can use it.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

use crate::bytes::Json;
use crate::error::CallError;
use crate::event::Outcome;
use crate::wire::json::{self, JsonError, Kind, NESTING_MAX, Scanner};

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

impl Flattened {
    /// What a model gets to read of it: the text, after `Error: ` if the tool reports its own
    /// failure.
    #[must_use]
    pub fn for_model(self) -> String {
        if self.is_error { format!("Error: {}", self.text) } else { self.text }
    }
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
            Fault::Json(error) => format!("the result is not JSON: {error}"),
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
            Ok(flat) => Ok(flat.for_model()),
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
    let mut found = None;
    for member in json::members(text, NESTING_MAX).ok()? {
        let member = member.ok()?;
        if member.key == wanted {
            found = text.get(member.value);
        }
    }
    found.map(Json::new)
}

enum Fault {
    Json(JsonError),
    Wrong(&'static str),
}

impl From<JsonError> for Fault {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

fn read(text: &str) -> Result<Flattened, Fault> {
    let mut scanner = Scanner::new(text, NESTING_MAX);
    let Some(mut result) = scanner.object()? else {
        return Err(Fault::Wrong("the result is not an object"));
    };
    let mut out = String::new();
    let (mut blocks, mut is_error, mut structured) = (None, false, None);
    while let Some(key) = scanner.key(&mut result)? {
        let is_null = scanner.kind()? == Kind::Null;
        match &*key {
            "content" if !is_null => {
                out.clear();
                blocks = Some(content(&mut scanner, &mut out)?);
            }
            "structuredContent" if !is_null => structured = Some(scanner.skip()?),
            "isError" => {
                let value = scanner.skip()?;
                is_error = scanner.slice(value) == "true";
            }
            _ => {}
        }
    }
    let blocks = match (blocks, structured) {
        (None, None) => return Err(Fault::Wrong("the result has no content")),
        (None | Some(0), Some(window)) => {
            out.push_str(scanner.slice(window));
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

fn content(scanner: &mut Scanner<'_>, out: &mut String) -> Result<usize, Fault> {
    let Some(mut list) = scanner.array()? else {
        return Err(Fault::Wrong("content is not a list"));
    };
    let mut blocks = 0;
    while scanner.element(&mut list)? {
        if blocks > 0 {
            out.push_str("\n\n");
        }
        block(scanner, out)?;
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
fn block(scanner: &mut Scanner<'_>, out: &mut String) -> Result<(), JsonError> {
    let start = out.len();
    let mut block = Block::default();
    if let Some(mut object) = scanner.object()? {
        while let Some(key) = scanner.key(&mut object)? {
            match &*key {
                "type" => block.kind = scanner.string()?.unwrap_or_default(),
                "mimeType" => block.mime = scanner.string()?.unwrap_or_default(),
                "uri" => block.uri = scanner.string()?.unwrap_or_default(),
                "text" => block.text = appended(scanner, out)?,
                "resource" => resource(scanner, &mut block, out)?,
                _ => {}
            }
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
            let gap = if out.len() > start { "\n" } else { "" };
            out.insert_str(start, &format!("{}{gap}", named("Resource", &block.uri)));
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
    scanner: &mut Scanner<'a>,
    block: &mut Block<'a>,
    out: &mut String,
) -> Result<(), JsonError> {
    let Some(mut object) = scanner.object()? else { return Ok(()) };
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "uri" => block.uri = scanner.string()?.unwrap_or_default(),
            "text" => block.embedded = appended(scanner, out)?,
            _ => {}
        }
    }
    Ok(())
}

/// Reads the next value to the end of `out` if it is a string, and says where it stands there.
fn appended(
    scanner: &mut Scanner<'_>,
    out: &mut String,
) -> Result<Option<Range<usize>>, JsonError> {
    let start = out.len();
    Ok(scanner.string_into(out)?.then_some(start..out.len()))
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
