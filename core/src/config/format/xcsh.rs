//! xcsh: what the documented runtime reads as its own.

use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field};
use super::{Tool, project, user};

pub(super) const DIALECT: Dialect = Dialect {
    variables: Variables::Documented,
    address: AddressAlone::AutoThoughRefused,
    fields: &[("auth", Field::Auth)],
    silent: &["$schema", "disabledServers"],
    ..Dialect::USUAL
};

pub(super) const TOOL: Tool = Tool {
    display: "xcsh",
    priority: 100,
    dialect: DIALECT,
    files: &[
        project(&["<project>/.xcsh/mcp.json"]),
        project(&["<project>/.xcsh/.mcp.json"]),
        user(&[
            "$PI_CODING_AGENT_DIR/mcp.json",
            "~/$PI_CONFIG_DIR/agent/mcp.json",
            "~/.xcsh/agent/mcp.json",
        ]),
        user(&[
            "$PI_CODING_AGENT_DIR/.mcp.json",
            "~/$PI_CONFIG_DIR/agent/.mcp.json",
            "~/.xcsh/agent/.mcp.json",
        ]),
        user(&["~/$PI_CONFIG_DIR/mcp.json", "~/.xcsh/mcp.json"]),
    ],
};
