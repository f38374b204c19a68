//! Continue: YAML, servers in a list.

use super::super::syntax::{Language, Member, last};
use super::super::template::Variables;
use super::dialect::{Dialect, Field, Unit};
use super::{Tool, user};

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
    files: &[user(&["~/.continue/config.yaml"])],
};
