//! A text → the value of a header that mirrors it.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value that stands for `text` in a header: itself, if it can, else its bytes in base64
/// (C-XHDR-08, T-03).
#[must_use]
pub fn mirrored(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(OPEN) && text.ends_with(CLOSE);
    if plain && !padded && !looks_encoded {
        return text.into();
    }
    let mut value = String::with_capacity(OPEN.len() + text.len().div_ceil(3) * 4 + CLOSE.len());
    value.push_str(OPEN);
    push_base64(&mut value, text.as_bytes());
    value.push_str(CLOSE);
    value
}

/// The standard alphabet, padded (RFC 4648, section 4).
fn push_base64(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = bits >> (18 - 6 * digit) & 0x3f;
            let digit =
                if digit as usize <= chunk.len() { DIGITS.get(index as usize) } else { None };
            out.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-XHDR-08.
    #[test]
    fn what_a_header_cannot_hold_is_encoded() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("us west 1", "us west 1"),
            ("", ""),
            ("~!\"=?", "~!\"=?"),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(mirrored(text), value, "{text:?}");
        }
    }
}
