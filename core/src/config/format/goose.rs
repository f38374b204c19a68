//! Goose: YAML, and extensions that are no servers among those that are.

use super::super::syntax::{Language, Member, Value, last};
use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, user};

pub(super) const TOOL: Tool = Tool {
    display: "Goose",
    priority: 40,
    dialect: Dialect {
        sections: &["extensions"],
        dedicated: false,
        language: Language::Yaml,
        variables: Variables::DollarInHeaders,
        address: AddressAlone::Http,
        fields: &[
            ("cmd", Field::Command),
            ("envs", Field::Env),
            ("env_keys", Field::EnvInherit),
            ("uri", Field::Url),
            ("timeout", Field::Timeout(Unit::Seconds)),
            ("available_tools", Field::IncludeSome),
        ],
        silent: &["name", "description", "bundled", "display_name"],
        is_foreign,
        ..Dialect::USUAL
    },
    files: &[user(&["<appdata>/Block/goose/config/config.yaml", "<xdg>/goose/config.yaml"])],
};

fn is_foreign(entry: &[Member<'_>]) -> bool {
    let Some(Value::Text(kind)) = last(entry, "type").map(|member| &member.node.value) else {
        return false;
    };
    ["builtin", "platform", "frontend", "inline_python"].contains(&&**kind)
}
