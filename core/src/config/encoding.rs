//! Bytes → text.
//!
//! Floor 2. May import floors 0 and 1.

/// The text of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Text<'a> {
    /// Without its byte order mark.
    pub(super) text: &'a str,
    /// Whether there was one.
    pub(super) marked: bool,
}

/// Why bytes are no text we read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoText {
    /// They look like UTF-16.
    Utf16,
    /// They are not UTF-8.
    Broken {
        /// The line of the first byte that does not belong, from 1.
        line: u32,
    },
}

/// Reads UTF-8, with or without a byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<Text<'_>, NoText> {
    if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, _, ..]) {
        return Err(NoText::Utf16);
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(text
            .strip_prefix('\u{feff}')
            .map_or(Text { text, marked: false }, |text| Text { text, marked: true })),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Err(NoText::Broken { line: line_after(good) })
        }
    }
}

/// The line that comes at the end of `bytes`, from 1.
fn line_after(bytes: &[u8]) -> u32 {
    let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(decode(b"\xef\xbb\xbf{}"), Ok(Text { text: "{}", marked: true }));
        assert_eq!(decode(b"{}"), Ok(Text { text: "{}", marked: false }));
        assert_eq!(decode(b""), Ok(Text { text: "", marked: false }));
    }

    #[test]
    fn utf16_is_recognised_with_and_without_a_mark() {
        for bytes in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{", b"{\0}\0", b"\0{\0}"] {
            assert_eq!(decode(bytes), Err(NoText::Utf16));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        assert_eq!(decode(b"{\n\"a\": \"\xe9\"}"), Err(NoText::Broken { line: 2 }));
    }
}
