//! Plugins of Claude Code: a file in the folder of each, found through a registry.

use super::dialect::{AddressAlone, Dialect, Field};
use super::{Tool, project, user};

const DIALECT: Dialect = Dialect {
    address: AddressAlone::AutoThoughRefused,
    fields: &[("headersHelper", Field::HeadersCommand), ("auth", Field::Auth)],
    ..Dialect::USUAL
};

pub(super) const TOOL: Tool = Tool {
    display: "Claude Code Marketplace",
    priority: 70,
    dialect: Dialect { bare: true, ..DIALECT },
    files: &[
        project(&["<up>/.xcsh/plugins/installed_plugins.json"]),
        user(&[
            "~/$PI_CONFIG_DIR/plugins/installed_plugins.json",
            "~/.xcsh/plugins/installed_plugins.json",
        ]),
        user(&[
            "$CLAUDE_CONFIG_DIR/plugins/installed_plugins.json",
            "~/.claude/plugins/installed_plugins.json",
        ]),
    ],
};

/// Found through the same registry; most manifests have no servers.
pub(super) const MANIFEST: Tool = Tool {
    display: "Claude Code Marketplace",
    priority: 70,
    dialect: Dialect { dedicated: false, ..DIALECT },
    files: &[],
};
