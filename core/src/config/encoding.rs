//! Bytes → text.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The text of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Text<'a> {
    /// Without its byte order mark.
    pub(super) text: Cow<'a, str>,
    pub(super) encoding: Encoding,
}

/// How a text was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Encoding {
    Utf8,
    /// With a byte order mark.
    Utf8Marked,
    /// Of either byte order, with a mark or without.
    Utf16,
}

/// Bytes that are no text; the line of the first one that does not belong, from 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct NoText {
    pub(super) line: u32,
}

/// Reads UTF-8, with or without a byte order mark, and UTF-16, which has a mark or a zero beside
/// its first letter.
pub(super) fn decode(bytes: &[u8]) -> Result<Text<'_>, NoText> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        [_, 0, ..] => return utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => return utf16(bytes, u16::from_be_bytes),
        _ => {}
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            None => Text { text: text.into(), encoding: Encoding::Utf8 },
            Some(text) => Text { text: text.into(), encoding: Encoding::Utf8Marked },
        }),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Err(NoText { line: line_after(good.iter().filter(|byte| **byte == b'\n').count()) })
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Text<'static>, NoText> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    for c in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match c {
            Ok(c) => text.push(c),
            Err(_) => return Err(NoText { line: line_after(text.matches('\n').count()) }),
        }
    }
    if !rest.is_empty() {
        return Err(NoText { line: line_after(text.matches('\n').count()) });
    }
    Ok(Text { text: text.into(), encoding: Encoding::Utf16 })
}

/// The bytes of a text.
pub(super) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.into(),
        Encoding::Utf8Marked => ["\u{feff}", text].concat().into_bytes(),
        Encoding::Utf16 => {
            let units = core::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        }
    }
}

/// The line that comes after so many line ends, from 1.
fn line_after(breaks: usize) -> u32 {
    u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Encoding) {
        let decoded = decode(bytes).expect("text");
        (decoded.text.into_owned(), decoded.encoding)
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(text(b"\xef\xbb\xbf{}"), ("{}".into(), Encoding::Utf8Marked));
        assert_eq!(text(b"{}"), ("{}".into(), Encoding::Utf8));
        assert_eq!(text(b""), ("".into(), Encoding::Utf8));
    }

    #[test]
    fn utf16_is_recognised_with_and_without_a_mark() {
        for bytes in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{", b"{\0", b"\0{"] {
            assert_eq!(text(bytes), ("{".into(), Encoding::Utf16));
        }
        assert_eq!(text(b"\xff\xfe\x3d\xd8\x80\xde"), ("\u{1f680}".into(), Encoding::Utf16));
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        assert_eq!(decode(b"{\n\"a\": \"\xe9\"}"), Err(NoText { line: 2 }));
        assert_eq!(decode(b"\xff\xfe{\0\n\0\x3d\xd8"), Err(NoText { line: 2 }));
        assert_eq!(decode(b"{\0\n\0}"), Err(NoText { line: 2 }));
    }

    #[test]
    fn a_text_is_written_as_it_is_read() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Marked, Encoding::Utf16] {
            let bytes = encode("{\"é\u{1f680}\"}", encoding);
            assert_eq!(text(&bytes), ("{\"é\u{1f680}\"}".into(), encoding));
        }
    }
}
