//! Files of the repository, and Rust sources with comments and literals blanked out.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that git ignores, or that hold bytes rather than text.
const SKIPPED: [&str; 9] = [
    ".git",
    "target",
    "node_modules",
    ".servers",
    ".interop",
    ".tools",
    "artifacts",
    "corpus",
    "__pycache__",
];

/// One file as text.
pub(crate) struct Source {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    /// The lines as they are.
    pub(crate) text: Vec<String>,
    /// The lines with comments, strings and characters blanked out.
    pub(crate) code: Vec<String>,
}

/// One function of a file.
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The line it starts at, from 1.
    pub(crate) at: usize,
    /// The lines of its body that hold code.
    pub(crate) lines: usize,
}

impl Source {
    fn new(path: String, text: &str) -> Self {
        let code = if path.ends_with(".rs") { blanked(text) } else { text.to_owned() };
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        Self { path, text: lines(text), code: lines(&code) }
    }

    /// The numbered lines of code in front of the unit tests; none in a file that is all tests.
    pub(crate) fn production(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.code.windows(3).position(|lines| {
            lines[0].trim() == "#[cfg(test)]"
                && lines[1..].iter().any(|line| line.trim().starts_with("mod tests"))
        });
        let whole = if self.path.ends_with("_tests.rs") { 0 } else { self.code.len() };
        let end = tests.unwrap_or(whole);
        self.code[..end].iter().enumerate().map(|(index, line)| (index + 1, line.as_str()))
    }

    /// Every function with a body.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let starts = self.code.iter().enumerate().filter_map(|(index, line)| {
            let rest = &line[word_at(line, "fn")? + 2..];
            let name: String = rest.trim_start().chars().take_while(|c| is_word(*c)).collect();
            (!name.is_empty()).then_some((index, name))
        });
        starts
            .filter_map(|(index, name)| {
                Some(Function { name, at: index + 1, lines: self.body_lines(index)? })
            })
            .collect()
    }

    /// Lines with code between the braces of the function that starts at a line.
    fn body_lines(&self, start: usize) -> Option<usize> {
        let (mut depth, mut lines, mut parens) = (0_usize, 0, 0_i32);
        for line in &self.code[start..] {
            let inside = depth > 0;
            for c in line.chars() {
                match c {
                    '(' | '[' => parens += 1,
                    ')' | ']' => parens -= 1,
                    ';' if depth == 0 && parens == 0 => return None,
                    '{' => depth += 1,
                    '}' if depth == 1 => return Some(lines),
                    '}' => depth -= 1,
                    _ => {}
                }
            }
            lines += usize::from(inside && !line.trim().is_empty());
        }
        None
    }
}

/// The Rust sources below a folder of the repository.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found.retain(|source| source.path.ends_with(".rs"));
    // Programs with a peer's SDK in them: a workspace and a style of their own.
    for own in ["tests/bench/", "tests/interop/rust/"] {
        found.retain(|source| !source.path.starts_with(own));
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// Every text file of the repository with this extension.
pub(crate) fn tracked(extension: &str) -> Vec<Source> {
    let mut found = all_tracked();
    found.retain(|source| source.path.rsplit('.').next() == Some(extension));
    found
}

/// Every text file of the repository.
pub(crate) fn all_tracked() -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent").to_owned()
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if SKIPPED.contains(&name) {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let relative = path.strip_prefix(root()).expect("inside").display().to_string();
            found.push(Source::new(relative, &text));
        }
    }
}

/// Whether a line names a path that starts with this word: `word::`.
pub(crate) fn has_path(line: &str, word: &str) -> bool {
    paths(line, word).next().is_some()
}

/// What follows each `word::` of a line.
pub(crate) fn paths<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(word).filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = line[at + word.len()..].strip_prefix("::")?;
        let starts = before.is_none_or(|c| !is_word(c) && c != ':');
        starts.then_some(rest)
    })
}

fn word_at(line: &str, word: &str) -> Option<usize> {
    line.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        before.is_none_or(|c| !is_word(c)) && after.is_some_and(|c| c == ' ')
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with comments and literals replaced by spaces, line by line the same.
fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Where the comment or literal that starts here ends; here, if none starts.
fn literal_end(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied();
    let find = |from: usize, wanted: &[char]| {
        let rest = chars.get(from..).unwrap_or_default();
        rest.windows(wanted.len()).position(|window| window == wanted).map(|found| from + found)
    };
    match chars[at] {
        '/' if next(1) == Some('/') => find(at, &['\n']).unwrap_or(chars.len()),
        '/' if next(1) == Some('*') => find(at + 2, &['*', '/']).map_or(chars.len(), |end| end + 2),
        'r' if at == 0 || !is_word(chars[at - 1]) || chars[at - 1] == 'b' => raw_end(chars, at),
        '"' => quoted_end(chars, at, '"'),
        // A character, not a lifetime.
        '\'' if next(1) == Some('\\') || next(2) == Some('\'') => quoted_end(chars, at, '\''),
        _ => at,
    }
}

fn raw_end(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + 1 + hashes) != Some(&'"') {
        return at;
    }
    let mut close = vec!['"'];
    close.extend(std::iter::repeat_n('#', hashes));
    let from = at + 2 + hashes;
    chars[from..]
        .windows(close.len())
        .position(|window| window == close)
        .map_or(chars.len(), |found| from + found + close.len())
}

fn quoted_end(chars: &[char], at: usize, quote: char) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != quote {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

#[test]
fn blanking_keeps_lines_and_code_and_nothing_else() {
    let text =
        "let a = \"crate::hub \\\" {\"; // crate::x\nlet c = '{'; /* { */ fn f<'a>() {}\nr#\"}\"#";
    let wanted =
        "let a =                  ;            \nlet c =    ;         fn f<'a>() {}\n      ";
    assert_eq!(blanked(text), wanted);
}
