//! Whose file it is that a user names: by where it lies, else by what is in it.
//!
//! Floor 2. May import floors 0 and 1.

use super::super::folder::Entries;
use super::super::syntax::{Language, Member, Node, Value, last};
use super::Provider;

/// Names that many tools give their files: they tell nothing without a folder.
const COMMON: [&str; 4] = ["mcp.json", ".mcp.json", "settings.json", "config.yaml"];

/// The tool that is known for such a file, if there is one and it has servers in it.
pub(in crate::config) fn recognise(
    path: &str,
    language: Language,
    root: Option<&Node<'_>>,
) -> Option<Provider> {
    by_path(path).or_else(|| {
        let members = root.and_then(|root| match &root.value {
            Value::Map(members) => Some(members.as_slice()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                None
            }
        });
        by_keys(members.unwrap_or_default(), language)
    })
}

/// The tool whose file would lie like this below a home or a project, by the longest match.
fn by_path(path: &str) -> Option<Provider> {
    let places = Provider::ALL.iter().flat_map(|provider| {
        let files = provider.tool().files.iter().flat_map(|file| file.places);
        files.map(move |place| (*provider, *place))
    });
    let fitting = places
        .filter(|(provider, _)| !provider.is_own() && !provider.tool().dialect.sections.is_empty());
    let fitting = fitting.filter_map(|(provider, place)| Some((length(path, place)?, provider)));
    // Of two that fit as well the first one counts.
    fitting.rev().max_by_key(|(length, _)| *length).map(|(_, provider)| provider)
}

/// How much of a place a path ends with, if it is all but where the place starts.
fn length(path: &str, place: &str) -> Option<usize> {
    let (place, entries) = Entries::split(place);
    let (_, tail) = place.split_once('/')?;
    let below = match &entries {
        None if COMMON.contains(&tail) => return None,
        None => path,
        Some(entries) => path.get(..entries.folder_of(path)?)?,
    };
    below.strip_suffix(tail)?.ends_with('/').then_some(tail.len())
}

fn by_keys(root: &[Member<'_>], language: Language) -> Option<Provider> {
    let map = |members: &[Member<'_>], key: &str| {
        matches!(last(members, key).map(|member| &member.node.value), Some(Value::Map(_)))
    };
    match language {
        Language::Toml => Some(Provider::Codex),
        Language::Yaml if map(root, "extensions") => Some(Provider::Goose),
        Language::Yaml => Some(Provider::Continue),
        Language::Json if map(root, "mcpServers") => None,
        Language::Json if map(root, "context_servers") => Some(Provider::Zed),
        Language::Json if map(root, "servers") => Some(Provider::Vscode),
        Language::Json => match last(root, "mcp").map(|member| &member.node.value) {
            Some(Value::Map(mcp)) if map(mcp, "servers") => Some(Provider::Vscode),
            Some(Value::Map(mcp)) => mcp.iter().find_map(|entry| by_entry(&entry.node.value)),
            _ => None,
        },
    }
}

/// opencode and Crush have the same key and other entries.
fn by_entry(entry: &Value<'_>) -> Option<Provider> {
    let Value::Map(fields) = entry else { return None };
    let value = |key| last(fields, key).map(|member| &member.node.value);
    match (value("type"), value("command"), value("url")) {
        (Some(Value::Text(kind)), ..) if ["local", "remote"].contains(&&**kind) => {
            Some(Provider::Opencode)
        }
        (_, Some(Value::List(_)), _) => Some(Provider::Opencode),
        (_, None, None) => None,
        (_, Some(_), _) | (_, None, Some(_)) => Some(Provider::Crush),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;
    use crate::config::source::Level;

    /// What a named file is read as, and the servers in it.
    fn read_as(path: &str, text: &str) -> (Option<Provider>, usize) {
        let source = Source::file(Provider::Explicit, Level::Explicit, path);
        let reading = read(&source, text.as_bytes());
        (reading.read_as, reading.definitions.len())
    }

    #[test]
    fn a_named_file_is_known_by_where_it_lies() {
        let usual = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
        for (path, provider) in [
            ("/h/.cursor/mcp.json", Provider::Cursor),
            ("/p/.xcsh/mcp.json", Provider::Xcsh),
            ("/h/.claude.json", Provider::ClaudeCodeUser),
            ("/h/.gemini/settings.json", Provider::Gemini),
            ("/h/.gemini/extensions/x/gemini-extension.json", Provider::Gemini),
            ("/p/.continue/mcpServers/x.json", Provider::ContinueJson),
            (
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
                Provider::ClaudeDesktop,
            ),
        ] {
            assert_eq!(read_as(path, usual), (Some(provider), 1), "{path}");
        }
        for path in ["/h/mcp.json", "/p/.mcp.json", "/x/servers.json", "mcp.json"] {
            assert_eq!(read_as(path, usual), (None, 1), "{path}");
        }
    }

    #[test]
    fn a_named_file_is_known_by_what_is_in_it() {
        let toml = "[mcp_servers.a]\ncommand = \"a\"\n";
        let zed = r#"{"theme":"x","context_servers":{"a":{"command":"a"}}}"#;
        for (path, text, provider) in [
            ("/x/c.toml", toml, Provider::Codex),
            ("/x/c.json", zed, Provider::Zed),
            ("/x/c.json", r#"{"servers":{"a":{"command":"a"}}}"#, Provider::Vscode),
            ("/x/c.json", r#"{"mcp":{"servers":{"a":{"command":"a"}}}}"#, Provider::Vscode),
            ("/x/c.json", r#"{"mcp":{"a":{"type":"local","command":["a"]}}}"#, Provider::Opencode),
            ("/x/c.json", r#"{"mcp":{"a":{"type":"stdio","command":"a"}}}"#, Provider::Crush),
            ("/x/c.yaml", "extensions:\n  a: {cmd: a, type: stdio}\n", Provider::Goose),
            ("/x/c.yaml", "mcpServers:\n  - {name: a, command: a}\n", Provider::Continue),
        ] {
            assert_eq!(read_as(path, text), (Some(provider), 1), "{text}");
        }
    }

    #[test]
    fn a_named_file_of_a_tool_without_servers_is_worth_a_word() {
        let source = Source::file(Provider::Explicit, Level::Explicit, "/h/.zed/settings.json");
        let reading = read(&source, br#"{"theme":"x"}"#);
        assert_eq!(reading.problems.len(), 1, "{:?}", reading.problems);
        assert!(reading.problems[0].message.contains("context_servers"));
    }
}
