//! Bytes and JSON text as they travel: moved, not copied, and readable in a trace.
//!
//! Floor 0.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, Range};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Raw bytes from a pipe, a file or a socket.
///
/// Serialises as a string where it is UTF-8 and as an array of numbers where it is not, so
/// that a trace of text stays text.
#[derive(Clone, Default, Eq, Hash, PartialEq)]
pub struct Bytes(pub Vec<u8>);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_owned())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match core::str::from_utf8(&self.0) {
            Ok(text) => write!(f, "{text:?}"),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Numbers(Vec<u8>),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => Self(text.into_bytes()),
            Form::Numbers(bytes) => Self(bytes),
        })
    }
}

/// One JSON value as text, byte for byte as it was received.
///
/// May be a window into the line it arrived in, so that a result of many megabytes is moved
/// from the framer to the host without being copied, or into a text that others share. Compares
/// and serialises as its text.
///
/// Enums that carry one, however deep, keep serde's external tag: an internal tag makes serde
/// read the value into a tree first, and the text is gone.
#[derive(Clone)]
pub struct Json {
    line: Line,
    window: Range<usize>,
}

#[derive(Clone)]
enum Line {
    Own(String),
    Shared(Arc<str>),
}

impl Json {
    /// The value with this text. The caller vouches that it is one JSON value.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let window = 0..text.len();
        Self { line: Line::Own(text), window }
    }

    /// The value that stands at `window` of `line`; the whole line if the window does not fit.
    #[must_use]
    pub fn within(line: String, window: Range<usize>) -> Self {
        if line.get(window.clone()).is_none() {
            return Self::new(line);
        }
        Self { line: Line::Own(line), window }
    }

    /// The value that stands at `window` of a shared text; the whole text if the window does
    /// not fit. Cloning it copies nothing.
    #[must_use]
    pub fn shared(text: &Arc<str>, window: Range<usize>) -> Self {
        let fits = text.get(window.clone()).is_some();
        let window = if fits { window } else { 0..text.len() };
        Self { line: Line::Shared(Arc::clone(text)), window }
    }

    /// The same value in a text that is shared: cloning it copies nothing.
    #[must_use]
    pub fn shareable(self) -> Self {
        match self.line {
            Line::Own(_) => Self::shared(&Arc::from(self.as_str()), 0..self.window.len()),
            Line::Shared(_) => self,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let line: &str = match &self.line {
            Line::Own(line) => line,
            Line::Shared(line) => line,
        };
        line.get(self.window.clone()).unwrap_or_default()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl core::hash::Hash for Json {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(self.as_str()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = alloc::boxed::Box::<serde_json::value::RawValue>::deserialize(deserializer)
            .map_err(D::Error::custom)?;
        Ok(Self::new(raw.get()))
    }
}

/// A [`Json`] that nobody has looked at yet: in a trace any text is itself again, also one that is
/// no JSON, has line ends or begins with spaces. What is not plainly one value on one line stands
/// there as a text.
pub(crate) mod unread {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(json: &Json, serializer: S) -> Result<S::Ok, S::Error> {
        let text = json.as_str();
        let raw = serde_json::from_str::<&serde_json::value::RawValue>(text).ok();
        let plain = |raw: &&serde_json::value::RawValue| {
            raw.get() == text && !text.starts_with('"') && !text.contains(['\n', '\r'])
        };
        match raw.filter(plain) {
            Some(raw) => raw.serialize(serializer),
            None => text.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        let json = Json::deserialize(from)?;
        if json.as_str().starts_with('"') {
            return serde_json::from_str::<String>(json.as_str())
                .map(Json::new)
                .map_err(D::Error::custom);
        }
        Ok(json)
    }
}

/// A value that may be absent: a `null` is there, and serde takes one for an absent value.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_a_trace_whether_text_or_not() {
        for bytes in [&b"plain \xc3\xa9\n"[..], b"\xff\x00half \xc3", b""] {
            let text = serde_json::to_string(&Bytes(bytes.to_vec())).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap().0, bytes);
        }
    }

    #[test]
    fn json_keeps_its_spelling() {
        let json = Json::within("{\"r\":{\"a\" : 1.0}}".into(), 5..16);
        assert_eq!(json.as_str(), "{\"a\" : 1.0}");
        assert_eq!(serde_json::to_string(&json).unwrap(), "{\"a\" : 1.0}");
        assert_eq!(serde_json::from_str::<Json>("{\"a\" : 1.0}").unwrap(), json);
    }

    #[test]
    fn a_shared_text_is_the_same_value_and_is_not_copied() {
        let text: Arc<str> = "{\"r\":{\"a\" : 1.0}}".into();
        let json = Json::shared(&text, 5..16);
        assert_eq!(json, Json::new("{\"a\" : 1.0}"));
        assert!(core::ptr::eq(json.clone().as_str(), json.as_str()));
        assert_eq!(Json::shared(&text, 5..99).as_str(), &*text);
    }

    #[test]
    fn a_window_that_does_not_fit_is_the_whole_line() {
        assert_eq!(Json::within("\u{e9}".into(), 1..2).as_str(), "\u{e9}");
    }
}
