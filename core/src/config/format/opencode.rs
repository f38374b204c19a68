//! opencode.

use super::super::syntax::Syntax;
use super::super::template::Variables;
use super::dialect::{Dialect, Ease};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "OpenCode",
    priority: 55,
    dialect: Dialect {
        sections: &["mcp"],
        dedicated: false,
        syntax: Syntax::Jsonc,
        variables: Variables::Curly,
        ease: Ease::CommandList,
        overlays: true,
        ..Dialect::USUAL
    },
    files: &[
        user(&["$OPENCODE_CONFIG_DIR/opencode.jsonc"]),
        user(&["$OPENCODE_CONFIG_DIR/opencode.json"]),
        project(&["<up>/.opencode/opencode.jsonc"]),
        project(&["<up>/.opencode/opencode.json"]),
        project(&["<up>/opencode.jsonc"]),
        project(&["<up>/opencode.json"]),
        user(&["$OPENCODE_CONFIG"]),
        user(&["<xdg>/opencode/opencode.jsonc"]),
        user(&["<xdg>/opencode/opencode.json"]),
    ],
};
