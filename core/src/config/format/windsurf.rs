//! Windsurf.

use super::super::template::Variables;
use super::dialect::Dialect;
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Windsurf",
    priority: 50,
    dialect: Dialect { variables: Variables::BracesEnvOrFile, ..Dialect::USUAL },
    files: &[
        project(&["<project>/.windsurf/mcp_config.json"]),
        user(&["~/.codeium/windsurf/mcp_config.json"]),
        user(&["~/.codeium/windsurf-next/mcp_config.json"]),
        user(&["~/.codeium/mcp_config.json"]),
    ],
};
