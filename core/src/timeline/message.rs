//! Messages as a timeline names them.
//!
//! Roof.

use alloc::string::String;
use core::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::Cut;

/// The longest message that is read to be named, in bytes.
const NAMED_BYTES: usize = 64 * 1024;

/// Bytes on a pipe: each message named, everything else quoted and cut.
pub(super) struct Messages<'a>(pub(super) &'a [u8]);

impl Display for Messages<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0 bytes");
        }
        let lines = self.0.split_inclusive(|byte| *byte == b'\n');
        for (at, line) in lines.enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            named(f, line, line.ends_with(b"\n"))?;
        }
        Ok(())
    }
}

/// The body of a request or a part of that of an answer: messages are named, also those in
/// events, everything else is quoted and cut.
pub(super) struct Body<'a>(pub(super) &'a [u8]);

impl Display for Body<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let lines = self.0.split(is_break).filter(|line| !line.is_empty());
        for (at, line) in lines.enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            let data = line.strip_prefix(b"data:").map_or(line, <[u8]>::trim_ascii_start);
            named(f, data, true)?;
        }
        Ok(())
    }
}

fn named(f: &mut Formatter<'_>, text: &[u8], whole: bool) -> fmt::Result {
    let whole = whole && text.len() <= NAMED_BYTES;
    match whole.then(|| serde_json::from_slice(text)) {
        Some(Ok(Value::Object(message))) => Message(&message).fmt(f),
        Some(Ok(Value::Array(batch))) => write!(f, "batch of {}", batch.len()),
        Some(Ok(_) | Err(_)) | None => write!(f, "{}", Cut(&String::from_utf8_lossy(text))),
    }
}

/// A JSON-RPC message: `initialize#0`, `result#0`, `error#2 -32601`, `tools/call#2 echo`.
struct Message<'a>(&'a serde_json::Map<String, Value>);

impl Display for Message<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let member = |name: &str| self.0.get(name);
        match (member("method"), member("error"), member("result")) {
            (Some(method), _, _) => write!(f, "{}", Cut(method.as_str().unwrap_or("?")))?,
            (None, Some(_), _) => f.write_str("error")?,
            (None, None, Some(_)) => f.write_str("result")?,
            (None, None, None) => f.write_str("object")?,
        }
        if let Some(id) = member("id") {
            write!(f, "#{}", Cut(&alloc::format!("{id}")))?;
        }
        let inner = |outer: &str, name: &str| member(outer).and_then(|value| value.get(name));
        if let Some(code) = inner("error", "code") {
            write!(f, " {}", Cut(&alloc::format!("{code}")))?;
        }
        if let Some(of) = inner("params", "requestId") {
            write!(f, " of #{}", Cut(&alloc::format!("{of}")))?;
        }
        if let Some(name) = inner("params", "name").and_then(Value::as_str) {
            write!(f, " {}", Cut(name))?;
        }
        if let Some(uri) = inner("params", "uri").and_then(Value::as_str) {
            write!(f, " {}", Cut(uri))?;
        }
        for (list, what) in [
            ("tools", "tools"),
            ("resources", "resources"),
            ("resourceTemplates", "templates"),
            ("prompts", "prompts"),
        ] {
            if let Some(entries) = inner("result", list).and_then(Value::as_array) {
                write!(f, " ({} {what})", entries.len())?;
            }
        }
        Ok(())
    }
}
