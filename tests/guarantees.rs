//! Is every guarantee, and the answer to every defect, held by a test that is there?
//!
//! `GUARANTEES.md` and `DEFECTS.md` are written for people; here they are held to the sources.
//! `held` has the stories of guarantees that no other file tells.

#[path = "guarantees/held.rs"]
mod held;
#[path = "guarantees/resume.rs"]
mod resume;
#[path = "guarantees/table.rs"]
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::table::{Story, cells, has_test, stories};

/// How many guarantees there are.
const GUARANTEES: usize = 80;
/// The defects that have stories. D37 to D39, D49 and D50 are about lines, handshakes and real
/// processes, and their guarantees have tests of their own.
const DEFECTS: [RangeInclusive<usize>; 3] = [1..=36, 40..=48, 51..=64];
/// The files that tell the defects.
const STORIES: [&str; 7] = [
    "tests/defects/view.rs",
    "tests/defects/connection.rs",
    "tests/defects/loss.rs",
    "tests/defects/http.rs",
    "tests/defects/files.rs",
    "tests/defects/editing.rs",
    "tests/defects/values.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// How often each number of a kind heads a row.
fn numbers(kind: char, rows: &[Vec<String>]) -> BTreeMap<usize, usize> {
    let mut counted = BTreeMap::new();
    for row in rows {
        let number = row[0].strip_prefix(kind).and_then(|number| number.parse().ok());
        let number = number.unwrap_or_else(|| panic!("{:?} is no {kind}-number", row[0]));
        *counted.entry(number).or_insert(0) += 1;
    }
    counted
}

fn each_once(wanted: usize) -> BTreeMap<usize, usize> {
    (1..=wanted).map(|number| (number, 1)).collect()
}

#[test]
fn every_guarantee_stands_in_the_table_once() {
    let rows = cells(&read("tests/GUARANTEES.md"), 'G');
    assert_eq!(numbers('G', &rows), each_once(GUARANTEES));
}

#[test]
fn every_guarantee_is_held_by_tests_or_comes_with_a_named_part() {
    let mut complaints = Vec::new();
    for row in cells(&read("tests/GUARANTEES.md"), 'G') {
        let [number, words, tests, part] = row.as_slice() else {
            complaints.push(format!("{row:?} has not four columns"));
            continue;
        };
        if words.is_empty() {
            complaints.push(format!("{number} says nothing"));
        }
        if tests.is_empty() && part.is_empty() {
            complaints.push(format!("{number} has neither a test nor a part it comes with"));
        }
        for test in tests.split(", ").filter(|test| !test.is_empty()) {
            match test.trim_matches('`').split_once("::") {
                Some((file, name)) if has_test(&read(file), name) => {}
                _ => complaints.push(format!("{number}: there is no test {test}")),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The table is what the stories say of themselves; `WRITE=1` writes it.
#[test]
fn every_defect_is_told_and_its_table_says_what_the_stories_say() {
    let told: Vec<(&str, Story)> = STORIES
        .iter()
        .flat_map(|file| stories(&read(file)).into_iter().map(|story| (*file, story)))
        .collect();
    let mut missing: Vec<usize> = DEFECTS.into_iter().flatten().collect();
    missing.retain(|number| told.iter().all(|(_, story)| story.defect != *number));
    assert!(missing.is_empty(), "these defects have no story: {missing:?}");
    let table = table::defects(&told);
    if std::env::var_os("WRITE").is_some() {
        fs::write(root().join("tests/DEFECTS.md"), &table).expect("a file");
    }
    assert!(read("tests/DEFECTS.md") == table, "WRITE=1 writes tests/DEFECTS.md as\n{table}");
}

/// A table that names a test that is not there, or one that is none, is found out.
#[test]
fn what_is_no_test_is_not_taken_for_one() {
    let source =
        "#[test]\nfn one() {\n}\n\n/// Story.\n#[test]\nfn two()\n-> R {\n}\n\nfn help() {}\n";
    assert!(has_test(source, "one") && has_test(source, "two"));
    assert!(!has_test(source, "help") && !has_test(source, "on") && !has_test(source, "three"));
    let rows = cells("| G | a |\n|---|---|\n| G1 | x |\n| other | y |\n", 'G');
    assert_eq!(rows, [["G1", "x"]]);
}
