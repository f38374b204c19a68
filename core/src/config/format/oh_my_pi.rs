//! oh-my-pi, the ancestor of xcsh.

use super::xcsh::DIALECT;
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "oh-my-pi",
    priority: 95,
    dialect: DIALECT,
    files: &[
        project(&["<project>/.omp/mcp.json"]),
        project(&["<project>/.omp/.mcp.json"]),
        project(&["<project>/.pi/mcp.json"]),
        project(&["<project>/.pi/.mcp.json"]),
        user(&["~/.omp/agent/mcp.json"]),
        user(&["~/.pi/agent/mcp.json"]),
    ],
};
