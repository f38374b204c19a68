//! Gemini CLI.

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::super::syntax::{Member, Syntax, Value, last};
use super::super::template::Variables;
use super::dialect::{Case, Dialect, Field, Switches};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Gemini CLI",
    priority: 60,
    dialect: Dialect {
        dedicated: false,
        syntax: Syntax::Jsonc,
        folder: Some("extensionPath"),
        variables: Variables::Dollar,
        fields: &[("includeTools", Field::Include), ("excludeTools", Field::Exclude)],
        silent: &[
            "trust",
            "description",
            "authProviderType",
            "targetAudience",
            "targetServiceAccount",
            "tcp",
        ],
        switches,
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.gemini/settings.json"]),
        user(&["~/.gemini/settings.json"]),
        // What an extension brings loses to what the user says.
        project(&["<project>/.gemini/extensions/*/gemini-extension.json"]),
        user(&["~/.gemini/extensions/*/gemini-extension.json"]),
    ],
};

fn switches(root: &[Member<'_>], _: &str) -> Switches {
    let Some(Value::Map(mcp)) = last(root, "mcp").map(|member| &member.node.value) else {
        return Switches::NONE;
    };
    Switches {
        only: names(mcp, "allowed"),
        off: names(mcp, "excluded").unwrap_or_default(),
        case: Case::Ignored,
    }
}

fn names(mcp: &[Member<'_>], key: &str) -> Option<BTreeSet<String>> {
    let Value::List(items) = &last(mcp, key)?.node.value else { return None };
    let name = |value: &Value<'_>| match value {
        Value::Text(name) => Some(name.to_lowercase()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    Some(items.iter().filter_map(|item| name(&item.value)).collect())
}
