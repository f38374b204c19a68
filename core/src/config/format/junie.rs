//! JetBrains Junie.

use super::dialect::Dialect;
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "JetBrains Junie",
    priority: 35,
    dialect: Dialect::USUAL,
    files: &[project(&["<project>/.junie/mcp/mcp.json"]), user(&["~/.junie/mcp/mcp.json"])],
};
