//! Claude Code. The user's file has servers for all projects and for each; the ones for this
//! project win.

use alloc::vec::Vec;

use super::super::syntax::{Member, Value, last};
use super::dialect::{AddressAlone, Dialect, Field, Switches};
use super::{Provider, Tool, project, user};

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

/// What the user switches in a project's settings: lists about `.mcp.json` alone. That a name is
/// approved there (`enabledMcpjsonServers`) approves no definition here.
pub(super) const SETTINGS: Tool = Tool {
    display: "Claude Code settings",
    priority: 80,
    dialect: Dialect {
        sections: &[],
        dedicated: false,
        switches: |root, _| Switches::off(root, OFF_IN_PROJECT, JSON).into_iter().collect(),
        ..DIALECT
    },
    files: &[
        project(&["<project>/.claude/settings.local.json"]),
        project(&["<project>/.claude/settings.json"]),
        user(&["$CLAUDE_CONFIG_DIR/settings.json", "~/.claude/settings.json"]),
    ],
};

const OFF_IN_PROJECT: &str = "disabledMcpjsonServers";

const JSON: &[Provider] = &[Provider::Shared];
const ALL: &[Provider] = &[
    Provider::ClaudeCodeUser,
    Provider::ClaudeCodeProject,
    Provider::ClaudePlugin,
    Provider::ClaudePluginManifest,
    Provider::Shared,
];

fn switches(root: &[Member<'_>], project: &str) -> Vec<Switches> {
    let Some(Value::Map(projects)) = last(root, "projects").map(|member| &member.node.value) else {
        return Vec::new();
    };
    let Some(Value::Map(here)) = last(projects, project).map(|member| &member.node.value) else {
        return Vec::new();
    };
    let lists = [("disabledMcpServers", ALL), (OFF_IN_PROJECT, JSON)];
    lists.into_iter().filter_map(|(key, tools)| Switches::off(here, key, tools)).collect()
}
