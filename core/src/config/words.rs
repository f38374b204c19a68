//! A command line in one text → its words, as a POSIX shell would split it.
//!
//! Floor 2. May import floors 0 and 1. Only quotes and backslashes: nothing is expanded.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// A word and where it stands in the text, quotes included.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// Splits a text. Total: a quote that is never closed ends with the text.
pub(super) fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && c.is_ascii_whitespace() {
            words.extend(word.take().map(|word| Word { span: word.span.start..at, ..word }));
            continue;
        }
        let word = word.get_or_insert_with(|| Word { text: String::new(), span: at..text.len() });
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                let next = chars.next().map(|(_, c)| c);
                // Between double quotes a backslash is itself before most characters.
                if quote.is_some() && !matches!(next, Some('"' | '\\' | '$' | '`')) {
                    word.text.push('\\');
                }
                word.text.extend(next);
            }
            _ => word.text.push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_like_a_shell_does() {
        for (text, wanted) in [
            ("", &[][..]),
            ("  \t ", &[]),
            ("-y 'pkg with space' --port 3000", &["-y", "pkg with space", "--port", "3000"]),
            (r#"a" b"'c 'd e"#, &["a bc d", "e"]),
            (r"a\ b c\\ \'", &["a b", r"c\", "'"]),
            (r#""a\"b" "a\nb" '\n'"#, &["a\"b", r"a\nb", r"\n"]),
            ("'' x", &["", "x"]),
            ("'never closed", &["never closed"]),
            ("ends with \\", &["ends", "with", ""]),
        ] {
            let words: Vec<String> = split(text).into_iter().map(|word| word.text).collect();
            assert_eq!(words, wanted, "{text:?}");
        }
    }

    #[test]
    fn a_word_knows_where_it_stands() {
        let text = "x 'y z'  w";
        let spans: Vec<&str> =
            split(text).into_iter().filter_map(|word| text.get(word.span)).collect();
        assert_eq!(spans, ["x", "'y z'", "w"]);
    }
}
