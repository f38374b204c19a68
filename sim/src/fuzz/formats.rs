//! The files of every tool, in every language.

use tidegate_core::config::environment::Setting;
use tidegate_core::config::parse::{Reading, read_in};
use tidegate_core::config::redact::Redactor;
use tidegate_core::config::{Definition, Environment, Level, Provider, Source, Surroundings};
use tidegate_core::error::Severity;

/// TOML, as Codex writes it.
///
/// # Panics
/// If a reading or a redaction is not sound.
pub fn toml(data: &[u8]) {
    sound(Provider::Codex, "config.toml", data);
}

/// YAML, as Goose and Continue write it.
///
/// # Panics
/// If a reading or a redaction is not sound.
pub fn yaml(data: &[u8]) {
    sound(Provider::Goose, "config.yaml", data);
    sound(Provider::Continue, "config.yaml", data);
}

/// The file of a tool that the first byte chooses, in a language that it chooses too.
///
/// # Panics
/// If a reading or a redaction is not sound.
pub fn tools(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let first = usize::from(*first);
    let provider = Provider::ALL[first % Provider::ALL.len()];
    let path = ["f.json", "f", "f.toml", "f.yaml"][first / Provider::ALL.len() % 4];
    sound(provider, path, rest);
}

/// Any bytes give a reading whose problems point into the file and say of each definition that
/// is not valid why, and what is redacted for a trace reads the same.
fn sound(provider: Provider, path: &str, data: &[u8]) {
    let source = Source::file(provider, Level::User, path);
    let names = [("HOME", Setting::Filled), ("EMPTY", Setting::Empty), ("TOKEN", Setting::Filled)];
    let environment: Environment =
        names.into_iter().map(|(name, setting)| (name.to_owned(), setting)).collect();
    let around = Surroundings { environment: &environment, project: "/p", home: Some("/h") };
    let before = read_in(&source, data, around);
    pointed(&before, data);
    let mut redactor = Redactor::around(around);
    let redacted = redactor.file(&source, data);
    assert_eq!(redactor.file(&source, &redacted), redacted, "redacting twice changes something");
    let after = read_in(&source, &redacted, around);
    assert_eq!(before.problems, after.problems);
    assert_eq!(before.disabled, after.disabled);
    let known = |reading: &Reading| -> Vec<_> {
        let known = |d: &Definition| {
            (d.name.clone(), d.enabled, d.timeout_ms, d.source.clone(), d.fingerprint())
        };
        reading.definitions.iter().map(known).collect()
    };
    assert_eq!(known(&before), known(&after));
}

fn pointed(reading: &Reading, data: &[u8]) {
    let line_count = 1 + data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    for problem in &reading.problems {
        if let Some(line) = problem.line {
            assert!((1..=line_count).contains(&(line as usize)), "line {line} of {line_count}");
        }
    }
    let graver = reading.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let named: Vec<_> = graver.filter_map(|problem| problem.server.as_ref()).collect();
    for definition in reading.definitions.iter().filter(|d| d.transport.is_err()) {
        assert!(named.contains(&&definition.name), "{:?} is silently unusable", definition.name);
    }
}
