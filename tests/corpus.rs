//! The corpus of `fuzz/`, replayed on the stable toolchain without a fuzzer.

use std::fs;
use std::path::Path;

/// Gives every file of a target's corpus to the target; how many there were.
fn replay(target: &str, run: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is in the tree")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .collect();
    files.sort();
    for file in &files {
        let data = fs::read(file).expect("the corpus can be read");
        // What is shown before a panic says which file it was.
        eprintln!("{}", file.display());
        run(&data);
    }
    files.len()
}

/// G44.
#[test]
fn every_stream_of_the_corpus_is_framed_alike_however_it_is_cut() {
    assert!(replay("lines", tidegate_sim::fuzz::lines) > 0);
}

/// G44.
#[test]
fn every_stream_of_events_of_the_corpus_says_the_same_however_it_is_cut() {
    assert!(replay("sse", tidegate_sim::fuzz::sse) > 0);
    assert!(replay("session", tidegate_sim::fuzz::session) > 0);
}

#[test]
fn every_head_of_the_corpus_means_what_it_says() {
    assert!(replay("http_head", tidegate_sim::fuzz::http_head) > 0);
}

#[test]
fn every_message_of_the_corpus_is_read_as_a_general_parser_reads_it() {
    assert!(replay("rpc", tidegate_sim::fuzz::rpc) > 0);
}

/// G55, G67.
#[test]
fn every_configuration_of_the_corpus_is_read_and_redacted_soundly() {
    assert!(replay("config", tidegate_sim::fuzz::config) > 0);
}

/// G55, G67: every tool, every language.
#[test]
fn every_file_of_other_tools_in_the_corpus_is_read_and_redacted_soundly() {
    for (target, run) in [
        ("toml", tidegate_sim::fuzz::toml as fn(&[u8])),
        ("yaml", tidegate_sim::fuzz::yaml),
        ("tools", tidegate_sim::fuzz::tools),
    ] {
        assert!(replay(target, run) > 0, "{target}");
    }
    // What was found for one language is something to refuse in the others.
    replay("config", tidegate_sim::fuzz::tools);
}

/// G57.
#[test]
fn every_file_of_the_corpus_is_edited_soundly() {
    assert!(replay("edit", tidegate_sim::fuzz::edit) > 0);
    // What was found for reading is something to edit too.
    assert!(replay("config", tidegate_sim::fuzz::edit) > 0);
}

/// L1 to L10.
#[test]
fn every_story_of_the_corpus_keeps_the_laws_and_settles() {
    assert!(replay("story", tidegate_sim::fuzz::story) > 0);
}
