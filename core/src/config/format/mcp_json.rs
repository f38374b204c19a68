//! The file in a project that many tools share.

use super::dialect::{Dialect, Field};
use super::{Tool, project};

pub(super) const TOOL: Tool = Tool {
    display: "MCP Config",
    priority: 5,
    dialect: Dialect {
        fields: &[("auth", Field::Auth), ("headersHelper", Field::HeadersCommand)],
        silent: &["$schema", "disabledServers"],
        ..Dialect::USUAL
    },
    files: &[project(&["<project>/mcp.json"]), project(&["<project>/.mcp.json"])],
};
