//! Claude Code. The user's file has servers for all projects and for each; the ones for this
//! project win.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};

use super::super::syntax::{Member, Value, last};
use super::dialect::{AddressAlone, Dialect, Field, Switches};
use super::{Tool, project, user};

const DIALECT: Dialect = Dialect {
    address: AddressAlone::AutoThoughRefused,
    fields: &[("headersHelper", Field::HeadersCommand)],
    silent: &["alwaysLoad", "request_timeout_ms"],
    ..Dialect::USUAL
};

pub(super) const USER: Tool = Tool {
    display: "Claude Code",
    priority: 80,
    dialect: Dialect {
        sections: &["projects.*.mcpServers", "mcpServers"],
        dedicated: false,
        switches,
        ..DIALECT
    },
    files: &[
        user(&["$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json"]),
        user(&["$CLAUDE_CONFIG_DIR/mcp.json", "~/.claude/mcp.json"]),
    ],
};

pub(super) const PROJECT: Tool = Tool {
    display: "Claude Code",
    priority: 79,
    dialect: DIALECT,
    files: &[project(&["<project>/.claude/.mcp.json"]), project(&["<project>/.claude/mcp.json"])],
};

fn switches(root: &[Member<'_>], project: &str) -> Switches {
    let mut off = BTreeSet::new();
    if let Some(Value::Map(projects)) = last(root, "projects").map(|member| &member.node.value)
        && let Some(Value::Map(here)) = last(projects, project).map(|member| &member.node.value)
        && let Some(Value::List(names)) =
            last(here, "disabledMcpServers").map(|member| &member.node.value)
    {
        off.extend(texts(names));
    }
    Switches { off, ..Switches::NONE }
}

fn texts<'a>(items: &'a [super::super::syntax::Node<'_>]) -> impl Iterator<Item = String> + 'a {
    items.iter().filter_map(|item| match &item.value {
        Value::Text(name) => Some(name.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    })
}
