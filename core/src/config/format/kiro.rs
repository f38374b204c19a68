//! Kiro, of the family of Amazon Q.

use super::amazon_q::DIALECT;
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Kiro",
    priority: 40,
    dialect: DIALECT,
    files: &[project(&["<project>/.kiro/settings/mcp.json"]), user(&["~/.kiro/settings/mcp.json"])],
};
