//! A way through JSON text that looks at every byte once.
//!
//! Floor 5. May import floors 0 to 4. For text that was checked when it came in: it trusts the
//! text where nothing depends on it and never panics where the trust was wrong. Exists because
//! results of many megabytes are one string, which should be scanned and copied once.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed {
    /// The byte at which that showed.
    pub(super) at: usize,
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// How far an array or object was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Inside {
    close: u8,
    first: bool,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The first byte of what comes next, white space passed over.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    const fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(self.malformed());
        }
        self.at += 1;
        Ok(())
    }

    /// Enters the object or array that comes next; `None` if something else does.
    pub(super) fn enter(&mut self, open: u8) -> Option<Inside> {
        if self.peek() != Some(open) {
            return None;
        }
        self.at += 1;
        Some(Inside { close: if open == b'{' { b'}' } else { b']' }, first: true })
    }

    /// Goes to the next element; `false` behind the last one.
    pub(super) fn next(&mut self, inside: &mut Inside) -> Result<bool, Malformed> {
        if self.peek() == Some(inside.close) {
            self.at += 1;
            return Ok(false);
        }
        if !inside.first {
            self.expect(b',')?;
        }
        inside.first = false;
        Ok(true)
    }

    /// Goes to the value of the next member and says its key; `None` behind the last one.
    pub(super) fn key(&mut self, inside: &mut Inside) -> Result<Option<Cow<'a, str>>, Malformed> {
        if !self.next(inside)? {
            return Ok(None);
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.expect(b'"')?;
        let end = plain_end(self.text.as_bytes(), self.at);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            let plain = self.text.get(self.at..end).unwrap_or_default();
            self.at = end + 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut out = String::new();
        self.rest_of_string(&mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Reads a string to the end of `out`.
    pub(super) fn string_into(&mut self, out: &mut String) -> Result<(), Malformed> {
        self.expect(b'"')?;
        // Whatever comes fits: a string is never longer than its text.
        out.reserve_exact(self.text.len().saturating_sub(self.at));
        self.rest_of_string(out)
    }

    fn rest_of_string(&mut self, out: &mut String) -> Result<(), Malformed> {
        loop {
            let end = plain_end(self.text.as_bytes(), self.at);
            out.push_str(self.text.get(self.at..end).unwrap_or_default());
            self.at = end;
            match self.text.as_bytes().get(end) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.escape(out)?,
                None => return Err(self.malformed()),
            }
        }
    }

    /// Reads an escape, its backslash included. Half a surrogate pair becomes U+FFFD.
    fn escape(&mut self, out: &mut String) -> Result<(), Malformed> {
        let c = match self.text.as_bytes().get(self.at + 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode_escape(out),
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(_) | None => return Err(self.malformed()),
        };
        self.at += 2;
        out.push(c);
        Ok(())
    }

    fn unicode_escape(&mut self, out: &mut String) -> Result<(), Malformed> {
        let high = self.code_unit(self.at).ok_or_else(|| self.malformed())?;
        self.at += 6;
        let low = self.code_unit(self.at).filter(|low| (0xdc00..0xe000).contains(low));
        let c = match (high, low) {
            (0xd800..0xdc00, Some(low)) => {
                self.at += 6;
                char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            _ => char::from_u32(high),
        };
        out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    /// The four digits of the `\u` escape at `at`.
    fn code_unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if all_hex { u32::from_str_radix(digits, 16).ok() } else { None }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Result<(), Malformed> {
        self.window().map(|_| ())
    }

    /// Passes over a value and says where it stands.
    pub(super) fn window(&mut self) -> Result<Range<usize>, Malformed> {
        self.peek();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => self.skip_string()?,
                Some(b'{' | b'[') => {
                    self.at += 1;
                    depth += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    self.at += 1;
                    depth -= 1;
                }
                Some(b',' | b':') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.skip_word(),
                Some(_) | None => return Err(self.malformed()),
            }
            if depth == 0 {
                return Ok(start..self.at);
            }
        }
    }

    fn skip_string(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        let bytes = self.text.as_bytes();
        loop {
            self.at = plain_end(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.at = (self.at + 2).min(bytes.len()),
                None => return Err(self.malformed()),
            }
        }
    }

    fn skip_word(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') = bytes.get(self.at) {
            self.at += 1;
        }
    }
}

/// Where the first quote or backslash stands at or after `at`; the end if there is none.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const STRIDE: usize = 32;
    let special = |byte: &u8| *byte == b'"' || *byte == b'\\';
    // Without an early exit inside a stride the compiler compares all of it at once.
    while let Some(stride) = bytes.get(at..at + STRIDE) {
        if stride.iter().fold(false, |found, byte| found | special(byte)) {
            break;
        }
        at += STRIDE;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(special).map_or(bytes.len(), |more| at + more)
}
