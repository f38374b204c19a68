//! mcporter.

use super::super::template::Variables;
use super::dialect::{Dialect, Ease, Field};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "mcporter",
    priority: 10,
    dialect: Dialect {
        variables: Variables::BracesOrWhole,
        ease: Ease::CommandLine,
        fields: &[
            ("baseUrl", Field::Url),
            ("base_url", Field::Url),
            ("server_url", Field::Url),
            ("executable", Field::Command),
            ("auth", Field::Auth),
            ("bearerTokenEnv", Field::BearerEnv),
            ("bearer_token_env", Field::BearerEnv),
            ("bearerToken", Field::Bearer),
            ("bearer_token", Field::Bearer),
        ],
        silent: &[
            "imports",
            "description",
            "tokenCacheDir",
            "clientName",
            "oauthRedirectUrl",
            "oauthCommand",
            "lifecycle",
            "logging",
        ],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/config/mcporter.json"]),
        user(&["$MCPORTER_CONFIG", "~/.mcporter/mcporter.json"]),
        user(&["~/.mcporter/mcporter.jsonc"]),
    ],
};
