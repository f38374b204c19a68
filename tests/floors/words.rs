//! Words that must not stand anywhere, and names that say nothing.

use crate::source::Source;

/// Names of files that collect what nobody named.
const NAMES: [&str; 8] =
    ["utils", "util", "helpers", "helper", "common", "misc", "shared", "stuff"];

/// What is left for later, or was left behind.
const CODE: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];
const NOTES: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// This list is the one place that has to name them.
const OWN: &str = "tests/floors/words.rs";

/// A file or a module whose name says nothing about its duty.
pub(crate) fn name_complaints(source: &Source) -> Vec<String> {
    let parts = source.path.trim_end_matches(".rs").split('/');
    let mut complaints: Vec<String> = parts
        .filter(|part| NAMES.contains(part))
        .map(|part| format!("{}:1: name it for its duty, not {part}", source.path))
        .collect();
    for (number, line) in (1..).zip(&source.code) {
        let module = line.trim().trim_start_matches("pub ").strip_prefix("mod ");
        let name = module.map(|rest| rest.trim_end_matches([' ', ';', '{']));
        if name.is_some_and(|name| NAMES.contains(&name)) {
            complaints.push(format!("{}:{number}: name the module for its duty", source.path));
        }
    }
    complaints
}

/// Code that is not finished, notes about it, and lints silenced without a reason.
pub(crate) fn code_complaints(source: &Source) -> Vec<String> {
    if source.path == OWN {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (number, (text, code)) in (1..).zip(source.text.iter().zip(&source.code)) {
        let left = CODE.iter().find(|word| code.contains(*word));
        let noted = NOTES.iter().find(|word| has_word(text, word));
        if let Some(word) = left.or(noted) {
            complaints.push(format!("{}:{number}: do it or leave it out: {word}", source.path));
        }
        if code.contains("#[allow(") || code.contains("#![allow(") {
            complaints.push(format!(
                "{}:{number}: use #[expect(lint, reason = \"…\")] instead of allow",
                source.path
            ));
        }
    }
    complaints
}

/// Paths of the machine the project was built on.
pub(crate) fn place_complaints(source: &Source) -> Vec<String> {
    if source.path == OWN {
        return Vec::new();
    }
    let named = |line: &str| {
        // An absolute path, not `/home/me/work/`.
        let path = line.match_indices("/work/").any(|(at, _)| {
            let before = line[..at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() && !"._-~".contains(c))
        });
        path || line.contains(".library/") || line.contains("Co-Authored-By")
    };
    (1..)
        .zip(&source.text)
        .filter(|(_, line)| named(line))
        .map(|(number, _)| {
            format!("{}:{number}: leave out where and by whom it was built", source.path)
        })
        .collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !part(before) && !part(after)
    })
}
