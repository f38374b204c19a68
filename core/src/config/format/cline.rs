//! Cline: an address without a type is the older transport, and the transport may be an object.

use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, user};

pub(super) const TOOL: Tool = Tool {
    display: "Cline",
    priority: 45,
    dialect: Dialect {
        variables: Variables::BracesEnv,
        address: AddressAlone::Sse,
        fields: &[("timeout", Field::Timeout(Unit::Seconds))],
        flattened: &["transport"],
        silent: &["metadata", "remoteConfigured", "oauthClient"],
        ..Dialect::USUAL
    },
    files: &[
        user(&[
            "$CLINE_MCP_SETTINGS_PATH",
            "$CLINE_DATA_DIR/settings/cline_mcp_settings.json",
            "$CLINE_DIR/data/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
        ]),
        user(&[
            "<config>/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ]),
    ],
};
