//! Warp.

use super::dialect::{Dialect, Field};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Warp",
    priority: 30,
    dialect: Dialect {
        sections: &["mcpServers", "mcp_servers", "servers"],
        bare: true,
        fields: &[("working_directory", Field::Cwd)],
        silent: &["start_on_launch"],
        ..Dialect::USUAL
    },
    files: &[project(&["<project>/.warp/.mcp.json"]), user(&["~/.warp/.mcp.json"])],
};
