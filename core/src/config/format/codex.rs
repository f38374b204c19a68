//! Codex: TOML, no placeholders, seconds.

use super::super::syntax::Language;
use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "OpenAI Codex",
    priority: 70,
    dialect: Dialect {
        sections: &["mcp_servers"],
        dedicated: false,
        language: Language::Toml,
        variables: Variables::None,
        address: AddressAlone::Http,
        fields: &[
            ("env_vars", Field::EnvInherit),
            ("http_headers", Field::Headers),
            ("env_http_headers", Field::HeadersEnv),
            ("bearer_token_env_var", Field::BearerEnv),
            ("bearer_token", Field::RefusedToken),
            ("startup_timeout_sec", Field::StartupTimeout(Unit::Seconds)),
            ("startup_timeout_ms", Field::StartupTimeout(Unit::Millis)),
            ("tool_timeout_sec", Field::Timeout(Unit::Seconds)),
            ("enabled_tools", Field::Include),
            ("disabled_tools", Field::Exclude),
            ("scopes", Field::Scopes),
        ],
        silent: &["required", "name", "oauth_resource", "default_tools_approval_mode", "tools"],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.codex/config.toml"]),
        user(&["$CODEX_HOME/config.toml", "~/.codex/config.toml"]),
    ],
};
