//! Crush: what its own shell would expand is left to it.

use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Crush",
    priority: 40,
    dialect: Dialect {
        sections: &["mcp"],
        dedicated: false,
        variables: Variables::DollarOrShell,
        address: AddressAlone::AutoThoughRefused,
        fields: &[
            ("timeout", Field::StartupTimeout(Unit::Seconds)),
            ("enabled_tools", Field::Include),
            ("disabled_tools", Field::Exclude),
            ("oauth_client_id", Field::ClientId),
            ("oauth_client_secret", Field::ClientSecret),
            ("oauth_callback_port", Field::CallbackPort),
        ],
        silent: &["oauth_token"],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<up>/.crush.json"]),
        project(&["<up>/crush.json"]),
        user(&["$CRUSH_GLOBAL_CONFIG/crush.json", "<xdg>/crush/crush.json"]),
    ],
};
