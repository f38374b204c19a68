//! Canonical JSON and its fingerprint.
//!
//! Floor 0. Two texts that mean the same have the same canonical text: keys sorted by UTF-16
//! code unit (as the documented runtime does), no white space, shortest escapes. The
//! fingerprint is our own 128-bit FNV-1a, because it must be the same in every release and on
//! every machine; it is an identity for caches and approvals, not a defence against forgery.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The canonical text of a value.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            separated(out, '{', '}', entries, |out, (key, value)| {
                string(key, out);
                out.push(':');
                write(value, out);
            });
        }
        Value::Array(items) => separated(out, '[', ']', items, |out, item| write(item, out)),
        Value::String(text) => string(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => formatted(value, out),
    }
}

fn separated<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(close);
}

fn formatted(value: &Value, out: &mut String) {
    // Writing into a `String` cannot fail.
    let _ = write!(out, "{value}");
}

fn string(text: &str, out: &mut String) {
    if text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
        return formatted(&Value::from(text), out);
    }
    // Nearly all are plain.
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// 128 bits that stand for a text.
#[derive(Clone, Copy, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of `bytes`: FNV-1a with 128 bits.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
        Self(bytes.iter().fold(OFFSET, step))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        alloc::format!("{fingerprint}")
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = core::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first vector of the documented runtime's cache (its section 5).
    #[test]
    fn key_order_and_white_space_do_not_matter() {
        let a = r#"{"type":"stdio","command":"npx","args":["-y","pkg"],"env":{"B":"2","A":"1"}}"#;
        let b =
            r#"{ "env": {"A":"1","B":"2"}, "args":["-y","pkg"],"command":"npx","type":"stdio"}"#;
        let wanted =
            r#"{"args":["-y","pkg"],"command":"npx","env":{"A":"1","B":"2"},"type":"stdio"}"#;
        for text in [a, b] {
            assert_eq!(canonical(&serde_json::from_str(text).unwrap()), wanted);
        }
    }

    #[test]
    fn the_order_of_a_list_matters() {
        let of = |text: &str| canonical(&serde_json::from_str::<Value>(text).unwrap());
        assert_ne!(of(r#"["-y","pkg"]"#), of(r#"["pkg","-y"]"#));
    }

    /// U+10000 is two surrogates (D800 DC00) and so sorts before U+FFFD in UTF-16, after it in UTF-8.
    #[test]
    fn keys_sort_by_utf16_code_unit() {
        let value = serde_json::json!({"\u{fffd}": 1, "\u{10000}": 2});
        assert_eq!(canonical(&value), "{\"\u{10000}\":2,\"\u{fffd}\":1}");
    }

    /// Published test vectors of FNV-1a with 128 bits.
    #[test]
    fn the_fingerprint_is_fnv1a() {
        assert_eq!(alloc::format!("{}", Fingerprint::of(b"")), "6c62272e07bb014262b821756295c58d");
        assert_eq!(alloc::format!("{}", Fingerprint::of(b"a")), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn a_fingerprint_survives_writing() {
        let fingerprint = Fingerprint::of(b"x");
        let text = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&text).unwrap(), fingerprint);
    }
}
