//! LM Studio.

use super::dialect::Dialect;
use super::{Tool, user};

pub(super) const TOOL: Tool = Tool {
    display: "LM Studio",
    priority: 30,
    dialect: Dialect::USUAL,
    files: &[user(&["~/.lmstudio/mcp.json"]), user(&["~/.cache/lm-studio/mcp.json"])],
};
