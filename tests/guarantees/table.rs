//! Tables in Markdown, and what sources say of their tests.

use std::fmt::Write as _;

/// A story, as its documentation tells it: `D1: what happens; G19, G25.`
#[derive(Debug)]
pub(crate) struct Story {
    /// The number of the defect.
    pub(crate) defect: usize,
    /// What happens.
    what: String,
    /// The guarantees that answer it.
    guarantees: String,
    /// What else is to be said.
    note: String,
    /// The name of the test, which is the outcome.
    test: String,
}

/// The rows of a table whose first cell begins with this letter and a number.
pub(crate) fn cells(markdown: &str, kind: char) -> Vec<Vec<String>> {
    let row = |line: &str| -> Option<Vec<String>> {
        let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().into()).collect();
        let number = cells.first()?.strip_prefix(kind)?;
        number.starts_with(|c: char| c.is_ascii_digit()).then_some(cells)
    };
    markdown.lines().filter_map(row).collect()
}

/// Whether a source has a test of this name that is not left out of runs.
pub(crate) fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let head = format!("fn {name}(");
    let above = |at: usize| lines[..at].iter().rev().take_while(|line| !line.ends_with('}'));
    lines.iter().enumerate().filter(|(_, line)| line.starts_with(&head)).any(|(at, _)| {
        above(at).any(|line| *line == "#[test]")
            && !above(at).any(|line| line.starts_with("#[ignore"))
    })
}

/// The stories of a source.
pub(crate) fn stories(source: &str) -> Vec<Story> {
    let mut stories = Vec::new();
    let mut documentation = String::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            documentation += words;
        } else if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            if is_test {
                stories.push(story(documentation.trim(), name));
            }
            (documentation, is_test) = (String::new(), false);
        }
    }
    stories
}

fn story(documentation: &str, test: &str) -> Story {
    let told = documentation.strip_prefix('D').and_then(|rest| {
        let (defect, rest) = rest.split_once(": ")?;
        let (what, rest) = rest.split_once("; G")?;
        let (guarantees, note) = rest.split_once('.')?;
        Some(Story {
            defect: defect.parse().ok()?,
            what: what.into(),
            guarantees: format!("G{guarantees}"),
            note: note.trim().into(),
            test: test.into(),
        })
    });
    told.unwrap_or_else(|| panic!("{test}: {documentation:?} is not \"D1: what happens; G19.\""))
}

/// The table of the stories.
pub(crate) fn defects(told: &[(&str, Story)]) -> String {
    let mut told: Vec<&(&str, Story)> = told.iter().collect();
    told.sort_by_key(|(_, story)| story.defect);
    let mut table = String::from(
        "# Defects\n\n\
         The defects D1 to D36, D40 to D48 and D51 to D64 of the runtime that this one learned from: what happened there, \
         the guarantee that answers\nit, and the test that plays the story and says how it ends \
         here. The timelines are in `defects/snapshots/`. This table is\nmade from the stories \
         (`WRITE=1 cargo test -p tidegate-tests --test guarantees`); [GUARANTEES.md](GUARANTEES.md) \
         is the other\nway round. The others come with the parts they are about.\n\n\
         | defect | the story | guarantees | how it ends here |\n|---|---|---|---|\n",
    );
    for (file, Story { defect, what, guarantees, note, test }) in told {
        let file = file.trim_start_matches("tests/");
        let outcome = test.replace('_', " ");
        let note = if note.is_empty() { String::new() } else { format!(" {note}") };
        writeln!(table, "| D{defect} | {what}.{note} | {guarantees} | [{outcome}]({file}) |")
            .expect("a text takes everything");
    }
    table
}
