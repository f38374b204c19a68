//! Edited configuration files: the change is there, and nothing else changed.

use tidegate_core::bytes::Json;
use tidegate_core::config::edit::{Edit, EditError, edit as apply};
use tidegate_core::config::{Definition, Source, parse};
use tidegate_core::id::ServerName;

use crate::choices::{Bytes, Choices};

/// How many members an object of a made-up file has at most.
const MEMBERS_MAX: u32 = 4;

/// The names that are edited and defined.
const NAMES: [&str; 3] = ["a", "b", "c.1"];

/// Entries that are added and defined.
const ENTRIES: [&str; 4] = [
    "{\"command\":\"x\"}",
    "{\"command\":\"x\",\"args\":[\"-y\",\"ü\\n\"],\"env\":{\"K\":\"v\"}}",
    "{\"url\":\"https://h/\",\"enabled\":true}",
    "{\"command\":\"y\",\"disabled\":\"1\",\"timeout\":7}",
];

/// What may stand between two tokens.
const GAPS: [&str; 7] = ["", " ", "\n", "\n  ", "\r\n\t", " // why\n ", "/* \"why\" */"];

/// Takes a change and a file from the input, or makes a file up, and edits it: the result reads
/// as the file did but for the change, keeps every comment, takes or adds only what the change is
/// about, and editing twice is editing once.
///
/// # Panics
/// If not.
pub fn edit(data: &[u8]) {
    let mut choices = Bytes::new(data);
    let change = change(&mut choices);
    if choices.once_in(2) {
        let file = file(&mut choices);
        assert!(check(file.as_bytes(), &change), "made up and unreadable: {file}");
    }
    check(data.get(2..).unwrap_or_default(), &change);
}

fn change(choices: &mut Bytes<'_>) -> Edit {
    let name = (*choices.pick(&NAMES)).to_owned();
    match choices.choose(9) {
        0 => Edit::Add { name, entry: Json::new(*choices.pick(&ENTRIES)) },
        1 => Edit::Remove { name },
        2 => Edit::Enable { name },
        3 => Edit::Disable { name },
        4 => Edit::Deny { name },
        5 => Edit::Allow { name },
        6 => Edit::SetTimeout { name, ms: 5 },
        7 => Edit::ApproveTools { name, tools: vec!["t".into(), "u".into(), "t".into()] },
        _ => Edit::AskForTools { name, tools: vec!["t".into(), "v".into()] },
    }
}

/// Whether the file could be read.
fn check(file: &[u8], change: &Edit) -> bool {
    let source = Source::inline("fuzz", "");
    let edited = match apply(&source, file, change) {
        Ok(edited) => edited,
        Err(error) => {
            return !matches!(error, EditError::Unreadable { .. } | EditError::NotText { .. });
        }
    };
    let show = || {
        let text = String::from_utf8_lossy;
        format!("{change:?}\n{}\n---\n{}", text(file), text(&edited))
    };
    let (before, after) = (parse::read(&source, file), parse::read(&source, &edited));
    let subject = subject(change);
    assert_eq!(
        others(&before.definitions, subject),
        others(&after.definitions, subject),
        "{}",
        show()
    );
    let denied = |of: &parse::Reading| {
        let mut names = of.disabled.clone();
        names.remove(&ServerName::new(subject));
        names
    };
    assert_eq!(denied(&before), denied(&after), "{}", show());
    let found = after.definitions.iter().find(|it| it.name.as_str() == subject);
    let is_denied = after.disabled.contains(&ServerName::new(subject));
    match change {
        Edit::Add { entry, .. } => {
            let alone = format!("{{\"mcpServers\":{{\"{subject}\":{}}}}}", entry.as_str());
            let wanted = parse::read(&source, alone.as_bytes()).definitions.remove(0);
            let found = found.unwrap_or_else(|| panic!("not added: {}", show()));
            assert_eq!(found.transport, wanted.transport, "{}", show());
            assert_eq!(found.timeout_ms, wanted.timeout_ms, "{}", show());
            assert!(is_within(&solid(file), &solid(&edited)), "{}", show());
        }
        Edit::Remove { .. } => {
            assert!(found.is_none() && !is_denied, "{}", show());
            assert!(is_within(&edited, file), "{}", show());
        }
        Edit::Enable { .. } => assert!(found.is_some_and(|it| it.enabled), "{}", show()),
        Edit::Disable { .. } => assert!(found.is_some_and(|it| !it.enabled), "{}", show()),
        Edit::Deny { .. } => {
            assert!(is_denied, "{}", show());
            assert!(is_within(&solid(file), &solid(&edited)), "{}", show());
        }
        Edit::Allow { .. } => {
            assert!(!is_denied, "{}", show());
            assert!(is_within(&edited, file), "{}", show());
        }
        Edit::SetTimeout { ms, .. } => {
            assert!(found.is_some_and(|it| it.timeout_ms == Some(*ms)), "{}", show());
        }
        Edit::ApproveTools { tools, .. } => {
            let found = found.unwrap_or_else(|| panic!("gone: {}", show()));
            assert!(tools.iter().all(|tool| found.auto_approve.contains(tool)), "{}", show());
        }
        Edit::AskForTools { tools, .. } => {
            let found = found.unwrap_or_else(|| panic!("gone: {}", show()));
            assert!(!tools.iter().any(|tool| found.auto_approve.contains(tool)), "{}", show());
            assert!(is_within(&edited, file), "{}", show());
        }
    }
    match apply(&source, &edited, change) {
        Ok(again) => assert_eq!(again, edited, "twice is not once: {}", show()),
        Err(EditError::Exists { .. }) => assert!(matches!(change, Edit::Add { .. })),
        Err(EditError::Missing { .. }) => assert!(matches!(change, Edit::Remove { .. })),
        Err(error) => panic!("{error} after {}", show()),
    }
    true
}

fn subject(change: &Edit) -> &str {
    match change {
        Edit::Add { name, .. }
        | Edit::Remove { name }
        | Edit::Enable { name }
        | Edit::Disable { name }
        | Edit::Deny { name }
        | Edit::Allow { name }
        | Edit::SetTimeout { name, .. }
        | Edit::ApproveTools { name, .. }
        | Edit::AskForTools { name, .. } => name,
    }
}

/// The other definitions, wherever they stand.
fn others(definitions: &[Definition], subject: &str) -> Vec<Definition> {
    let others = definitions.iter().filter(|definition| definition.name.as_str() != subject);
    let placeless = |definition: &Definition| {
        let mut definition = definition.clone();
        definition.source.line = 0;
        definition
    };
    others.map(placeless).collect()
}

/// Whether `inner` is left when something is taken out of `outer`.
fn is_within(inner: &[u8], outer: &[u8]) -> bool {
    let mut rest = outer.iter();
    inner.iter().all(|byte| rest.any(|other| other == byte))
}

/// Without the white space, of which the inside of an empty object may change, and without the
/// null in whose place an object may come.
fn solid(file: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(file).replace("null", "");
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// A file that can be read, in any shape people give it.
fn file(choices: &mut Bytes<'_>) -> String {
    let mut members = Vec::new();
    for _ in 0..choices.choose(MEMBERS_MAX + 1) {
        let member = match choices.choose(5) {
            0 | 1 => {
                let entries = (0..choices.choose(MEMBERS_MAX + 1))
                    .map(|_| {
                        let name = *choices.pick(&NAMES);
                        let entry = entry(choices);
                        format!("\"{name}\"{}:{}{entry}", gap(choices), gap(choices))
                    })
                    .collect();
                format!("\"mcpServers\":{}{}", gap(choices), held(choices, ['{', '}'], entries))
            }
            2 => {
                let count = choices.choose(MEMBERS_MAX + 1);
                let names = (0..count).map(|_| format!("\"{}\"", choices.pick(&NAMES))).collect();
                format!("\"disabledServers\":{}", held(choices, ['[', ']'], names))
            }
            3 => format!("\"mcpServers\"{}:null", gap(choices)),
            _ => format!("\"x\":{}[1, {{\"a\": null}}]", gap(choices)),
        };
        members.push(member);
    }
    let mark = if choices.once_in(4) { "\u{feff}" } else { "" };
    let root = held(choices, ['{', '}'], members);
    format!("{mark}{}{root}{}", gap(choices), gap(choices))
}

fn entry(choices: &mut Bytes<'_>) -> String {
    if !choices.once_in(2) {
        return (*choices.pick(&ENTRIES)).to_owned();
    }
    let fields = [
        "\"command\":\"z\"",
        "\"enabled\":true",
        "\"enabled\":false",
        "\"disabled\":true",
        "\"enabled\":null",
        "\"timeout\":1",
        "\"autoApprove\":[\"t\",]",
        "\"autoApprove\":7",
        "\"other\":{\"command\":\"q\"}",
    ];
    let count = choices.choose(MEMBERS_MAX + 1);
    let chosen = (0..count).map(|_| (*choices.pick(&fields)).to_owned()).collect();
    held(choices, ['{', '}'], chosen)
}

/// An object or a list of items, with gaps, and perhaps a comma after the last.
fn held(choices: &mut Bytes<'_>, [open, close]: [char; 2], items: Vec<String>) -> String {
    let mut text = String::from(open);
    let count = items.len();
    for (at, item) in items.into_iter().enumerate() {
        text.push_str(gap(choices));
        text.push_str(&item);
        text.push_str(gap(choices));
        if at + 1 < count || choices.once_in(3) {
            text.push(',');
        }
    }
    text.push_str(gap(choices));
    text.push(close);
    text
}

fn gap(choices: &mut Bytes<'_>) -> &'static str {
    GAPS[choices.choose(GAPS.len() as u32) as usize]
}
