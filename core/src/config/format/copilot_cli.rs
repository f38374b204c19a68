//! GitHub Copilot CLI.

use super::dialect::{AddressAlone, Dialect, Field};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "GitHub Copilot CLI",
    priority: 40,
    dialect: Dialect {
        address: AddressAlone::Http,
        fields: &[
            ("tools", Field::IncludeOrStar),
            ("oauthClientId", Field::ClientId),
            ("auth", Field::Auth),
        ],
        silent: &["deferTools"],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.github/mcp.json"]),
        // The one in the project itself is everybody's.
        project(&["<above>/.mcp.json"]),
        user(&["$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json"]),
    ],
};
