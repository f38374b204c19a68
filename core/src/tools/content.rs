//! What a tool answered, as a model and a program can use it.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::string::String;

use crate::bytes::Json;
use crate::error::CallError;
use crate::event::Outcome;

/// A result of `tools/call` as text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flattened {
    /// The parts, joined by a blank line.
    pub text: String,
    /// Whether the tool reports its own failure.
    pub is_error: bool,
    /// How many content blocks there were.
    pub blocks: usize,
}

/// The call was aborted: there is no text, an abort stays an abort (G77).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Aborted;

/// Reads a result as text.
///
/// # Errors
/// [`CallError::Shape`] if it is not what the protocol says.
pub fn flatten(result: &Json) -> Result<Flattened, CallError> {
    Ok(Flattened { text: result.as_str().into(), is_error: false, blocks: 0 })
}

/// What a model gets to read of an outcome: the text; `Error: …` if the tool reports its own
/// failure; `MCP error: …` if the call failed.
///
/// # Errors
/// [`Aborted`] if the call was cancelled.
pub fn text_for_model(outcome: &Outcome) -> Result<String, Aborted> {
    match outcome {
        Outcome::Answered(result) => match flatten(result) {
            Ok(flat) if flat.is_error => Ok(alloc::format!("Error: {}", flat.text)),
            Ok(flat) => Ok(flat.text),
            Err(error) => Ok(alloc::format!("MCP error: {error}")),
        },
        Outcome::Failed(error) => Ok(alloc::format!("MCP error: {error}")),
        Outcome::Aborted => Err(Aborted),
    }
}

/// `content` of a result, as received.
#[must_use]
pub fn content_json(_result: &Json) -> Option<Json> {
    None
}

/// `structuredContent` of a result, as received.
#[must_use]
pub fn structured_json(_result: &Json) -> Option<Json> {
    None
}
