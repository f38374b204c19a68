//! Zed: servers in its settings, and extensions among them.

use super::super::syntax::{Member, Syntax, last};
use super::super::template::Variables;
use super::dialect::{Dialect, Field, Unit};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Zed",
    priority: 45,
    dialect: Dialect {
        sections: &["context_servers"],
        dedicated: false,
        syntax: Syntax::Jsonc,
        variables: Variables::None,
        fields: &[("timeout", Field::Timeout(Unit::Seconds)), ("path", Field::Command)],
        flattened: &["command"],
        silent: &["settings", "source", "remote"],
        is_foreign: |entry| last(entry, "settings").is_some() && !has_endpoint(entry),
        ..Dialect::USUAL
    },
    files: &[project(&["<project>/.zed/settings.json"]), user(&["<xdg>/zed/settings.json"])],
};

fn has_endpoint(entry: &[Member<'_>]) -> bool {
    ["command", "url"].iter().any(|key| last(entry, key).is_some())
}
