//! Reads the sources and says where they break the rules of the house.
//!
//! Which floor may import which, which crate may see which, how long a file and a function may
//! be, which words must not stand anywhere. A failure names the file, the line and what to do.

#[path = "floors/imports.rs"]
mod imports;
#[path = "floors/manifest.rs"]
mod manifest;
#[path = "floors/source.rs"]
mod source;
#[path = "floors/words.rs"]
mod words;

use crate::source::{Source, sources, tracked};

/// The longest a file may be without its unit tests, and a function in lines of code.
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
/// What half of the files should stay below; reported, not enforced.
const FILE_LINES_MEDIAN: usize = 250;

/// The folders whose Rust sources the rules hold for.
const CRATES: [&str; 5] = ["core", "io-smol", "sim", "cli", "tests"];

/// Fails with every complaint on a line of its own.
fn check(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

fn rust() -> Vec<Source> {
    CRATES.iter().flat_map(|folder| sources(folder)).collect()
}

#[test]
fn inside_core_a_lower_floor_never_imports_an_upper_one() {
    check(sources("core/src").iter().flat_map(imports::complaints).collect());
}

#[test]
fn crates_see_only_the_crates_below_them() {
    check(CRATES.iter().flat_map(|folder| manifest::crate_complaints(folder)).collect());
}

#[test]
fn every_dependency_says_why_it_is_there() {
    check(tracked("toml").iter().flat_map(manifest::reason_complaints).collect());
}

#[test]
fn core_has_no_std_and_nothing_has_unsafe_code() {
    let mut complaints = Vec::new();
    for (root, attribute) in [
        ("core/src/lib.rs", "#![no_std]"),
        ("core/src/lib.rs", "#![forbid(unsafe_code)]"),
        ("sim/src/lib.rs", "#![forbid(unsafe_code)]"),
        ("io-smol/src/lib.rs", "#![forbid(unsafe_code)]"),
        ("cli/src/main.rs", "#![forbid(unsafe_code)]"),
    ] {
        let sources = sources(root.rsplit_once('/').expect("a folder").0);
        let source = sources.iter().find(|source| source.path == root).expect("a root");
        if !source.code.iter().any(|line| line.trim() == attribute) {
            complaints.push(format!("{root}:1: add {attribute}"));
        }
    }
    for source in sources("core/src") {
        for (number, line) in source.production() {
            if source::has_path(line, "std") {
                complaints.push(format!("{}:{number}: use core or alloc, not std", source.path));
            }
        }
    }
    check(complaints);
}

#[test]
fn no_file_is_too_long() {
    let sources = rust();
    let mut lengths: Vec<usize> = sources.iter().map(|s| s.production().count()).collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    println!("{} files, median {median} lines (aim: {FILE_LINES_MEDIAN})", lengths.len());
    check(
        sources
            .iter()
            .filter(|source| source.production().count() > FILE_LINES_MAX)
            .map(|source| {
                let lines = source.production().count();
                format!("{}:{lines}: split it: at most {FILE_LINES_MAX} lines", source.path)
            })
            .collect(),
    );
}

#[test]
fn no_function_is_too_long() {
    let mut complaints = Vec::new();
    for source in rust() {
        for function in source.functions() {
            if function.lines > FUNCTION_LINES_MAX {
                complaints.push(format!(
                    "{}:{}: {} has {} lines of code: split it, at most {FUNCTION_LINES_MAX}",
                    source.path, function.at, function.name, function.lines
                ));
            }
        }
    }
    check(complaints);
}

#[test]
fn no_file_is_a_dumping_ground() {
    check(rust().iter().flat_map(words::name_complaints).collect());
}

#[test]
fn nothing_is_left_for_later() {
    check(rust().iter().flat_map(words::code_complaints).collect());
}

#[test]
fn nothing_names_the_place_it_was_built_at() {
    check(source::all_tracked().iter().flat_map(words::place_complaints).collect());
}
