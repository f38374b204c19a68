//! Untrusted text, made safe for a terminal: what would control it is shown instead.
//!
//! Servers choose their names, descriptions, log lines and answers. An escape sequence in one of
//! them could move the cursor, recolour the screen or hide what stands there, and a
//! direction mark could make a command read differently from what it is.

use std::borrow::Cow;
use std::fmt::Write as _;

use tidegate_core::timeline::steers;

/// The text on one line: line ends and tabs become spaces, other controls are shown.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    show(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// The text on as many lines as it has: line ends and tabs stay, other controls are shown.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        let unix = text.replace("\r\n", "\n");
        return Cow::Owned(show(&unix, keep_lines).into_owned());
    }
    show(text, keep_lines)
}

/// The first line with something on it, made safe.
pub(crate) fn first_line(text: &str) -> Cow<'_, str> {
    one_line(text.trim_start().lines().next().unwrap_or_default())
}

fn keep_lines(c: char) -> Option<char> {
    matches!(c, '\n' | '\t').then_some(c)
}

fn show(text: &str, stand_in: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match stand_in(c) {
            Some(other) => shown.push(other),
            None if steers(c) && c.is_ascii() => {
                // Writing into a `String` cannot fail.
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            None if steers(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            None => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(one_line("Größe 漢字 🌊"), Cow::Borrowed("Größe 漢字 🌊")));
    }

    #[test]
    fn an_escape_sequence_is_shown_and_does_nothing() {
        assert_eq!(one_line("\x1b[31mred\x07\u{9b}2J"), "\\x1b[31mred\\x07\\u{9b}2J");
        assert_eq!(block("a\x1b]0;title\x07b"), "a\\x1b]0;title\\x07b");
    }

    #[test]
    fn a_direction_mark_is_shown() {
        assert_eq!(one_line("rm \u{202e}fdp.exe"), "rm \\u{202e}fdp.exe");
    }

    #[test]
    fn lines_stay_in_a_block_and_fold_on_one_line() {
        assert_eq!(block("a\r\nb\tc\rd"), "a\nb\tc\\x0dd");
        assert_eq!(one_line("a\nb\tc"), "a b c");
        assert_eq!(first_line("\n\n  Adds.\nMore."), "Adds.");
    }
}
