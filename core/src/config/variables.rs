//! `${NAME}` in a text: what other programs put the value of a variable for.
//!
//! Floor 2. May import floors 0 and 1. Nothing is put for it here. That a value is passed on
//! with one in it is said, and a trace keeps the names, so that a replay says the same.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The names of the variables in a text, in order: of `${NAME}`, `${NAME:-default}` and forms
/// like `${env:NAME}`. Those in a default count too.
pub(super) fn names(text: &str) -> Vec<&str> {
    let starts = text.match_indices("${").filter_map(|(at, start)| text.get(at + start.len()..));
    starts.filter_map(name).collect()
}

/// The name at the start of what follows `${`.
fn name(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let word = text.split(|c| !is_part(c)).next()?;
    let rest = text.get(word.len()..)?;
    let (word, closed) = match word.strip_suffix(':') {
        Some(word) => (word, rest.starts_with('-') && rest.contains('}')),
        None => (word, rest.starts_with('}')),
    };
    let named = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (closed && named && !word.ends_with(':')).then_some(word)
}

/// The variables of a text, written one after the other: `${A}${B}`.
pub(super) fn kept(text: &str) -> String {
    names(text).iter().map(|name| format!("${{{name}}}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_wherever_they_stand() {
        for (text, wanted) in [
            ("${TOKEN}", &["TOKEN"][..]),
            ("Bearer ${TOKEN:-none} and ${env:B}", &["TOKEN", "env:B"]),
            ("${A:-${B}}", &["A", "B"]),
            ("$TOKEN", &[]),
            ("${}", &[]),
            ("${1}", &[]),
            ("${A", &[]),
            ("${A:-x", &[]),
            ("${A:}", &[]),
            ("${a b}", &[]),
        ] {
            assert_eq!(names(text), wanted, "{text}");
        }
    }
}
