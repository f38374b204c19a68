//! Gemini CLI.

use alloc::vec::Vec;

use super::super::syntax::{Member, Syntax, Value, last};
use super::super::template::Variables;
use super::dialect::{Case, Dialect, Field, Switches, names};
use super::{Provider, Tool, project, user};

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

/// What the lists of any of its files leave out is off in all of them.
fn switches(root: &[Member<'_>], _: &str) -> Vec<Switches> {
    let Some(Value::Map(mcp)) = last(root, "mcp").map(|member| &member.node.value) else {
        return Vec::new();
    };
    let lower = |key| {
        let names = names(mcp, key)?;
        Some(names.into_iter().map(|name| name.to_lowercase()).collect())
    };
    Vec::from([Switches {
        tools: &[Provider::Gemini],
        only: lower("allowed"),
        off: lower("excluded").unwrap_or_default(),
        case: Case::Ignored,
    }])
}
