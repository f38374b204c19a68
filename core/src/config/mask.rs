//! A text without its words and with its shape, so that it fails to be read in the same way.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

use super::syntax::{Fault, jsonc};

/// What the parser knows, and what therefore says nothing.
const KEPT: [&str; 5] = ["true", "false", "null", "Infinity", "NaN"];

/// As many line ends as bring a reader from line 1 to `line`.
pub(super) fn lines_before(line: u32) -> String {
    "\n".repeat(line.saturating_sub(1) as usize)
}

/// A comment with blanks for its text.
pub(super) fn comment(comment: &str) -> String {
    let mut out = String::with_capacity(comment.len());
    let is_block = comment.starts_with("/*");
    let (opened, rest) = comment.split_at_checked(2).unwrap_or((comment, ""));
    let inside = if is_block { rest.strip_suffix("*/").unwrap_or(rest) } else { rest };
    out.push_str(opened);
    out.extend(inside.chars().map(blank));
    out.push_str(rest.get(inside.len()..).unwrap_or_default());
    out
}

const fn blank(c: char) -> char {
    if matches!(c, '\n' | '\r') { c } else { ' ' }
}

/// A text that [`jsonc::parse`] refuses like `text`, with the same fault: masked, or if that
/// should not be refused alike, nothing but something wrong at the same place.
pub(super) fn unreadable(text: &str, fault: &Fault) -> String {
    let masked = masked(text);
    if jsonc::parse(&masked).as_ref() == Err(fault) {
        return masked;
    }
    let mut shape = lines_before(fault.line);
    shape.push_str(&" ".repeat(fault.column.saturating_sub(1) as usize));
    shape.push('?');
    shape
}

fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '"' | '\'' => string(c, &mut chars, &mut out),
            '/' if chars.peek() == Some(&'/') => {
                while let Some(c) = chars.next_if(|c| !matches!(c, '\n' | '\r')) {
                    out.push(if c == '/' { c } else { ' ' });
                }
            }
            '/' if chars.peek() == Some(&'*') => block_comment(&mut chars, &mut out),
            // After a masked letter it would look like UTF-16.
            '\0' => {
                out.pop();
                out.push('\u{1}');
            }
            c if is_word(c) => {
                out.pop();
                word(c, &mut chars, &mut out);
            }
            _ => {}
        }
    }
    out
}

fn string(quote: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => {
                out.push(c);
                return;
            }
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            // Could be the digits of an escape, which say too little to be a secret.
            c if c.is_ascii_hexdigit() && is_in_escape(out) => out.push(c),
            '\n' | '\r' => out.push(c),
            _ => out.push('z'),
        }
    }
}

/// Whether the next character belongs to the four digits of a `\u` escape.
fn is_in_escape(out: &str) -> bool {
    let digits = out.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    digits < 4 && out.get(..out.len() - digits).is_some_and(|before| before.ends_with("\\u"))
}

fn block_comment(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.extend(chars.next());
    while let Some(c) = chars.next() {
        if c == '*' && chars.peek() == Some(&'/') {
            out.push(c);
            out.extend(chars.next());
            return;
        }
        out.push(blank(c));
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '+' | '.')
}

/// Masks a word or a number that starts with `first`.
fn word(first: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    let mut word = String::from(first);
    while let Some(c) = chars.next_if(|c| is_word(*c)) {
        word.push(c);
    }
    let mut rest = word.as_str();
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if let Some(known) = KEPT.iter().find(|known| rest.starts_with(**known)) {
            out.push_str(known);
            before = ' ';
            rest = rest.get(known.len()..).unwrap_or_default();
            continue;
        }
        // A letter that goes on with a number stays: `1e5`, `0x1f`.
        let counts = before.is_ascii_digit() && matches!(c, 'e' | 'E' | 'x' | 'X');
        out.push(match c {
            '1'..='9' => '1',
            c if c.is_alphabetic() && !counts => 'z',
            c if c.is_numeric() && !c.is_ascii() => 'z',
            c => c,
        });
        before = c;
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_text_fails_alike_and_says_nothing() {
        for text in [
            "{\n \"TOKEN\": \"se\\u0065cret\\n\" \"x\"}",
            "{'TOKEN': SECRET}",
            "{\"a\": \"SECRET",
            "{\"a\": 1.5e3 \"SECRET\": 2}",
            "/* SECRET */ {\"a\": [1, 2 // SECRET\n",
            "{\"a\": 0x1F}",
            "{\"a\": 12SECRET}",
            "{\"a\": \"\\q SECRET\"}",
            "{\"a\": \"\\ud800 SECRET\"}",
            "/* SECRET",
            "{\"a\": tru, SECRET}",
            "{\"a\": [true-, SECRET]}",
            "{\"a\": [1true, SECRET]}",
            "{\"a\": [-Infinity, SECRET]}",
            "{ключ \"SECRET\"}",
            "{\"a\" 7 SECRET",
            "\u{fed0}\0\0\0 SECRET",
        ] {
            let fault = jsonc::parse(text).expect_err(text);
            let masked = unreadable(text, &fault);
            assert!(!masked.contains("SECRET"), "{masked}");
            assert_eq!(jsonc::parse(&masked).expect_err(text), fault, "{text}: {masked}");
            assert_eq!(unreadable(&masked, &fault), masked);
            let read = super::super::encoding::decode(masked.as_bytes());
            assert_eq!(read.map(|read| read.text), Ok((&*masked).into()), "read as the text it is");
        }
    }

    #[test]
    fn a_comment_keeps_its_ends_and_lines() {
        assert_eq!(comment("// é x\r"), "//    \r");
        assert_eq!(comment("/* a\n b*/"), "/*  \n  */");
        assert_eq!(comment("/**/"), "/**/");
    }
}
