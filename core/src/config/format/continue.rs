//! Continue: YAML, servers in a list; blocks in a folder, some of them JSON.

use super::super::syntax::{Language, Member, last};
use super::super::template::Variables;
use super::dialect::{Dialect, Field, Unit};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Continue",
    priority: 40,
    dialect: Dialect {
        dedicated: false,
        language: Language::Yaml,
        variables: Variables::Mustache,
        fields: &[
            ("connectionTimeout", Field::StartupTimeout(Unit::Millis)),
            ("apiKey", Field::Bearer),
        ],
        flattened: &["requestOptions"],
        silent: &["name", "uses", "serverName", "faviconUrl"],
        is_foreign: |entry: &[Member<'_>]| last(entry, "uses").is_some(),
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.continue/mcpServers/*.{yaml,yml}"]),
        user(&["~/.continue/config.yaml"]),
        user(&["~/.continue/mcpServers/*.{yaml,yml}"]),
    ],
};

/// Among its blocks it takes the files of other tools as they are.
pub(super) const JSON: Tool = Tool {
    display: "Continue",
    priority: 40,
    dialect: Dialect { bare: true, single: true, ..Dialect::USUAL },
    files: &[
        project(&["<project>/.continue/mcpServers/*.json"]),
        user(&["~/.continue/mcpServers/*.json"]),
    ],
};
