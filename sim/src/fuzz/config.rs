//! Configuration files: any bytes, and good entries among bad ones.

use std::collections::BTreeSet;

use tidegate_core::config::redact::Redactor;
use tidegate_core::config::{Source, Transport, parse};
use tidegate_core::error::Severity;

use crate::choices::{Bytes, Choices};

/// How many entries a made-up file has at most.
const ENTRIES_MAX: u32 = 8;

/// Entries that something is wrong with.
const BAD: [&str; 10] = [
    "7",
    "null",
    "\"oops\"",
    "[]",
    "{}",
    "{\"command\":7}",
    "{\"command\":\"\"}",
    "{\"command\":\"x\",\"url\":\"http://127.0.0.1/\"}",
    "{\"type\":\"carrier-pigeon\",\"command\":\"x\"}",
    "{\"type\":\"http\"}",
];

/// Any bytes give a reading whose problems point into the file, a bad entry never removes a good
/// one (G55), and what is redacted for a trace reads the same and holds no value of `env`.
///
/// # Panics
/// If not.
pub fn config(data: &[u8]) {
    let source = Source::inline("fuzz", "");
    let reading = parse::read(&source, data);
    let line_count = 1 + data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    for problem in &reading.problems {
        assert_eq!(problem.file.as_deref(), Some("fuzz"), "a problem without its file");
        if let Some(line) = problem.line {
            assert!((1..=line_count).contains(&(line as usize)), "line {line} of {line_count}");
        }
        assert!(!problem.message.is_empty());
    }
    if reading.problems.iter().all(|problem| problem.severity != Severity::Error) {
        assert!(reading.definitions.iter().all(|definition| definition.transport.is_ok()));
    }
    redaction(&source, data);
    among_bad_ones(&source, data);
}

fn redaction(source: &Source, data: &[u8]) {
    let mut redactor = Redactor::new();
    let redacted = redactor.config(data);
    assert_eq!(redactor.config(&redacted), redacted, "redacting twice changes something");
    let (before, after) = (parse::read(source, data), parse::read(source, &redacted));
    assert_eq!(before.definitions.len(), after.definitions.len());
    for (before, after) in before.definitions.iter().zip(&after.definitions) {
        assert_eq!(before.name, after.name);
        assert_eq!(before.fingerprint(), after.fingerprint(), "the cache key differs on replay");
        // A replay asks for as much and starts as much.
        assert_eq!(before.questions().len(), after.questions().len());
        if let (Ok(Transport::Stdio(before)), Ok(Transport::Stdio(after))) =
            (&before.transport, &after.transport)
        {
            assert_eq!(before.args.len(), after.args.len());
            assert!(before.env.keys().eq(after.env.keys()), "{before:?}: {after:?}");
        }
    }
}

/// A file made of entries of which the input says which are good.
fn among_bad_ones(source: &Source, data: &[u8]) {
    let mut choices = Bytes::new(data);
    let count = choices.choose(ENTRIES_MAX + 1);
    let (mut entries, mut good) = (Vec::new(), BTreeSet::new());
    for at in 0..count {
        let name = format!("s{at}");
        if choices.once_in(2) {
            entries.push(format!("\"{name}\":{}", choices.pick(&BAD)));
        } else {
            entries.push(format!("\"{name}\":{{\"command\":\"c{at}\"}}"));
            good.insert(name);
        }
    }
    let separator = *choices.pick(&[",", ",\n", ", // note\n", ", /* note */ "]);
    let text = format!("{{\"mcpServers\":{{{}}}}}", entries.join(separator));
    let reading = parse::read(source, text.as_bytes());
    let usable: BTreeSet<String> = reading
        .definitions
        .iter()
        .filter(|definition| definition.transport.is_ok())
        .map(|definition| definition.name.as_str().to_owned())
        .collect();
    assert_eq!(usable, good, "in {text}");
    let bad = count as usize - good.len();
    let named: BTreeSet<_> = reading
        .problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .filter_map(|problem| problem.server.as_ref())
        .collect();
    assert_eq!(named.len(), bad, "each bad entry is named: {:?} in {text}", reading.problems);
}
