//! The name that was probably meant.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::string::String;
use alloc::vec::Vec;

/// How far a name may be from the one that was meant.
const DISTANCE_MAX: usize = 2;

/// The known name that is nearest to `written`, if somebody could mean it: at most
/// [`DISTANCE_MAX`] letters are missing, added, wrong or swapped, and most of them are right.
/// Upper and lower case are the same.
pub(super) fn nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = lower(written);
    let near = |name: &'a str| {
        let name_lower = lower(name);
        let far = written.len().abs_diff(name_lower.len());
        let far = if far > DISTANCE_MAX { far } else { distance(&written, &name_lower) };
        (far <= DISTANCE_MAX && far * 2 < written.len()).then_some((far, name))
    };
    known.into_iter().filter_map(near).min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

fn lower(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).collect()
}

/// How many letters have to be added, left out, replaced or swapped with their neighbour.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(at + 1);
        for (to, wanted) in other.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut least = (cell(&row, to) + usize::from(letter != wanted))
                .min(cell(&row, to + 1) + 1)
                .min(cell(&next, to) + 1);
            let previous =
                |of: &[char], at: usize| at.checked_sub(1).and_then(|at| of.get(at).copied());
            if previous(one, at) == Some(*wanted) && previous(other, to) == Some(*letter) {
                least = least.min(cell(&before, to.saturating_sub(1)) + 1);
            }
            next.push(least);
        }
        before = core::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

/// What to say of a name that nobody reads.
pub(super) fn unread(written: &str, meant: Option<&str>) -> String {
    let told = alloc::format!("{written:?} is not a field that is read; it is ignored");
    match meant {
        Some(meant) => alloc::format!("{told}; did you mean \"{meant}\"?"),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::format::dialect::Dialect;

    fn nearest_field(written: &str) -> Option<&'static str> {
        nearest(written, Dialect::USUAL.names().map(|(name, _)| name))
    }

    #[test]
    fn a_slip_in_the_name_of_a_field_is_understood() {
        for (written, meant) in [
            ("comand", "command"),
            ("commnad", "command"),
            ("Command", "command"),
            ("arg", "args"),
            ("urls", "url"),
            ("evn", "env"),
            ("header", "headers"),
            ("timeOut", "timeout"),
            ("serverURL", "serverUrl"),
            ("disable", "disabled"),
        ] {
            assert_eq!(nearest_field(written), Some(meant), "{written}");
        }
    }

    #[test]
    fn another_word_is_not_taken_for_a_slip() {
        for written in ["", "x", "id", "name", "description", "metadata", "tools"] {
            assert_eq!(nearest_field(written), None, "{written}");
        }
    }
}
