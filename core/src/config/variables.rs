//! `${NAME}` in a text: what other programs put the value of a variable for.
//!
//! Floor 2. May import floors 0 and 1. Nothing is put for it here. That a value is passed on
//! with one in it is said, and a trace keeps the names, so that a replay says the same.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Transport;
use super::jsonc::{Member, Node, Value, last};
use super::report::{About, Report};
use crate::error::Category;
use crate::id::ServerName;

/// The names of the variables in a text, in order: of `${NAME}`, `${NAME:-default}` and forms
/// like `${env:NAME}`. Those in a default count too.
pub(super) fn names(text: &str) -> Vec<&str> {
    let starts = text.match_indices("${").filter_map(|(at, start)| text.get(at + start.len()..));
    starts.filter_map(name).collect()
}

/// The name at the start of what follows `${`.
fn name(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let word = text.split(|c| !is_part(c)).next()?;
    let rest = text.get(word.len()..)?;
    let (word, closed) = match word.strip_suffix(':') {
        Some(word) => (word, rest.starts_with('-') && rest.contains('}')),
        None => (word, rest.starts_with('}')),
    };
    let named = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (closed && named && !word.ends_with(':')).then_some(word)
}

/// Whether a text is nothing but one `${NAME}`: it has no secret in it.
pub(super) fn is_one(text: &str) -> bool {
    let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inside.is_some_and(|inside| name(text.get(2..).unwrap_or_default()) == Some(inside))
}

/// Reports every value of an entry that is passed on with a variable in it.
pub(super) fn report(
    members: &[Member<'_>],
    transport: &Transport,
    prefix: &str,
    server: &ServerName,
    report: &mut Report<'_>,
) {
    let keys: &[&str] = match transport {
        Transport::Stdio(_) => &["command", "args", "env", "cwd"],
        Transport::Http(_) | Transport::Sse(_) | Transport::Auto(_) => {
            &["httpUrl", "serverUrl", "url", "headers"]
        }
    };
    for member in keys.iter().filter_map(|key| last(members, key)) {
        for (line, field, name) in found(&member.node, &member.key) {
            let key = format!("{prefix}.{field}");
            let about = About { line: Some(line), key: Some(&key), server: Some(server) };
            let message = format!(
                "Server \"{server}\": \"{field}\" has ${{{name}}} in it, which is not expanded \
                 but passed on as it stands"
            );
            report.warning(about, Category::UnexpandedVariable, message);
        }
    }
}

/// The variables below a node: the line, the field and the name, each once a value.
fn found<'a>(node: &'a Node<'_>, field: &str) -> Vec<(u32, String, &'a str)> {
    match &node.value {
        Value::Text(text) => {
            let names: BTreeSet<&str> = names(text).into_iter().collect();
            names.into_iter().map(|name| (node.line, field.into(), name)).collect()
        }
        Value::List(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(at, item)| found(item, &format!("{field}.{at}"))).collect()
        }
        Value::Map(members) => {
            let one = |m: &'a Member<'_>| found(&m.node, &format!("{field}.{}", m.key));
            members.iter().flat_map(one).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The variables of a text, written one after the other: `${A}${B}`.
pub(super) fn kept(text: &str) -> String {
    names(text).iter().map(|name| format!("${{{name}}}")).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;

    #[test]
    fn variables_are_found_wherever_they_stand() {
        for (text, wanted) in [
            ("${TOKEN}", &["TOKEN"][..]),
            ("Bearer ${TOKEN:-none} and ${env:B}", &["TOKEN", "env:B"]),
            ("${A:-${B}}", &["A", "B"]),
            ("$TOKEN", &[]),
            ("${}", &[]),
            ("${1}", &[]),
            ("${A", &[]),
            ("${A:-x", &[]),
            ("${A:}", &[]),
            ("${a b}", &[]),
        ] {
            assert_eq!(names(text), wanted, "{text}");
        }
        assert!(is_one("${A}") && !is_one("${A}x") && !is_one("${A:-x}") && !is_one("${A}${A}"));
    }

    #[test]
    fn a_value_that_is_passed_on_with_a_variable_in_it_is_reported_at_its_line() {
        let text = r#"{"mcpServers": {
            "a": {
                "command": "${HOME}/run", "args": ["x", "--key=${KEY:-none}"],
                "env": {
                    "TOKEN": "${TOKEN}${TOKEN}"
                }
            },
            "b": {"url": "https://${HOST}/", "headers": {"X": "${X}"}, "env": {"Y": "${Y}"}},
            "c": {"type": "carrier-pigeon", "command": "${C}"},
            "d": {"command": "run", "args": ["$HOME"], "env": {"A": "1"}}
        }}"#;
        let reading = read(&Source::inline("f", text), text.as_bytes());
        let about: Vec<_> = reading
            .problems
            .iter()
            .filter(|problem| problem.category == Category::UnexpandedVariable)
            .map(|problem| {
                let variable = problem.message.split(['{', '}']).nth(1).unwrap_or_default();
                let server =
                    problem.server.as_ref().map(|name| name.to_string()).unwrap_or_default();
                (problem.line.unwrap_or_default(), server, variable.to_string())
            })
            .collect();
        let wanted =
            [(3, "a", "HOME"), (3, "a", "KEY"), (5, "a", "TOKEN"), (8, "b", "HOST"), (8, "b", "X")];
        assert_eq!(about, wanted.map(|(line, server, name)| (line, server.into(), name.into())));
        assert!(reading.problems.iter().any(|problem| problem.message
            == "Server \"a\": \"env.TOKEN\" has ${TOKEN} in it, which is not expanded but passed on \
                as it stands"));
    }
}
