//! What other tools' files say: properties that hold for any of them.

use proptest::prelude::*;
use tidegate_core::config::environment::Setting;
use tidegate_core::config::parse::{Reading, read_in};
use tidegate_core::config::resolve::resolve;
use tidegate_core::config::{
    Environment, Level, Part, Provider, Role, Source, Surroundings, Template, Variables,
};

const DIALECTS: [Variables; 13] = [
    Variables::None,
    Variables::Braces,
    Variables::BracesOrWhole,
    Variables::Documented,
    Variables::BracesEnv,
    Variables::BracesEnvOrFile,
    Variables::BracesEnvOrInput,
    Variables::Dollar,
    Variables::DollarInHeaders,
    Variables::DollarOrShell,
    Variables::Curly,
    Variables::Mustache,
    Variables::Native,
];

/// Texts that placeholders are made of.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("${"),
        Just("}"),
        Just("{env:"),
        Just("env:"),
        Just("${{ secrets."),
        Just("}}"),
        Just("A"),
        Just("B"),
        Just(":-"),
        Just("$"),
        Just("$("),
        Just("!"),
        Just("input:x"),
        Just("file:/x"),
        Just(" "),
        Just("é"),
        Just("{"),
        Just(":"),
        Just("$env:"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Entries, good and bad, under a name from a few, so that files compete.
fn file() -> impl Strategy<Value = (usize, String)> {
    let entry = prop_oneof![
        Just(r#"{"command":"x"}"#),
        Just(r#"{"url":"https://h.example.com/"}"#),
        Just("null"),
        Just(r#"{"command":"x","disabled":true}"#),
        Just(r#"{"type":"pigeon"}"#),
        Just(r#"{"command":"x","env":{"A":"${A}"}}"#),
        Just("5"),
    ];
    let entries = prop::collection::vec(("[abc]", entry), 0..4);
    (0..Provider::ALL.len(), entries).prop_map(|(provider, entries)| {
        let entries: Vec<String> =
            entries.into_iter().map(|(name, entry)| format!("\"{name}\":{entry}")).collect();
        let entries = entries.join(",");
        let text = format!(
            r#"{{"mcpServers":{{{entries}}},"servers":{{{entries}}},"mcp":{{{entries}}}}}"#
        );
        (provider, text)
    })
}

fn read(provider: usize, at: usize, text: &str) -> Reading {
    let level = [Level::User, Level::Project][at % 2];
    let source = Source::file(Provider::ALL[provider], level, format!("/{at}.json"));
    let environment: Environment = [("A".to_owned(), Setting::Filled)].into_iter().collect();
    let around = Surroundings { environment: &environment, project: "/p", home: None };
    read_in(&source, text.as_bytes(), around)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// G61: what is put for a placeholder stands in the result as it is, whatever it looks like,
    /// and everything else as it was written.
    #[test]
    fn a_text_is_filled_in_once(text in text(), value in text(), dialect in 0..DIALECTS.len(), role in 0..3) {
        let role = [Role::Word, Role::Env, Role::Header][role as usize];
        let constants = [("A".to_owned(), value.clone())].into();
        let plain = Template::of(&text, role, DIALECTS[dialect], &Default::default());
        let written: String = plain.parts.iter().map(Part::written).collect();
        prop_assert_eq!(&written, &text);
        let filled = plain.filled(|_| Some(value.clone()));
        let expected: String = plain.parts.iter().map(|part| match part {
            Part::Variable { .. } => value.as_str(),
            Part::Named(name) if value.is_empty() => name,
            Part::Named(_) => &value,
            Part::Text(_)
            | Part::Input { .. }
            | Part::Command { .. }
            | Part::File { .. }
            | Part::Foreign { .. } => part.written(),
        }).collect();
        prop_assert_eq!(filled, expected);
        // A constant is no placeholder any more either.
        let template = Template::of(&text, role, DIALECTS[dialect], &constants);
        let named = |part: &Part| matches!(part, Part::Variable { name, .. } if name == "A");
        let whole = matches!(template.parts[..], [Part::Variable { .. }]) && text.starts_with("$env:");
        let curly = matches!(DIALECTS[dialect], Variables::Curly | Variables::Mustache);
        let env = text.contains("${env:A");
        prop_assert!(whole || curly || env || text.contains("${A:-") || !template.parts.iter().any(named), "{:?}", template);
    }

    /// G54, G56: every definition of every file has one fate, one of a name counts, and that is
    /// the first that is valid; the order in which the files are read does not matter.
    #[test]
    fn of_many_files_the_first_valid_definition_counts(
        files in prop::collection::vec(file(), 0..6),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let forwards: Vec<Reading> =
            files.iter().enumerate().map(|(at, (provider, text))| read(*provider, at, text)).collect();
        let mut shuffled: Vec<Option<Reading>> = vec![None; files.len()];
        for at in order {
            if let Some((provider, text)) = files.get(at) {
                shuffled[at] = Some(read(*provider, at, text));
            }
        }
        let shuffled: Vec<Reading> = shuffled.into_iter().flatten().collect();
        prop_assert_eq!(&forwards, &shuffled);
        let all: Vec<_> = forwards.iter().flat_map(|reading| reading.definitions.clone()).collect();
        let resolved = resolve(forwards, usize::MAX);
        prop_assert_eq!(&resolved, &resolve(shuffled, usize::MAX));
        prop_assert_eq!(resolved.fates.len(), all.len());
        for definition in &resolved.definitions {
            let same: Vec<_> = all.iter().filter(|other| other.name == definition.name).collect();
            let first = same.iter().find(|other| other.transport.is_ok()).unwrap_or(&same[0]);
            prop_assert_eq!(&definition.source, &first.source);
        }
    }
}
