//! Cursor.

use super::super::syntax::Syntax;
use super::super::template::Variables;
use super::dialect::{Dialect, Field};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Cursor",
    priority: 50,
    dialect: Dialect {
        syntax: Syntax::Jsonc,
        variables: Variables::BracesEnv,
        fields: &[("auth", Field::Auth)],
        ..Dialect::USUAL
    },
    files: &[project(&["<project>/.cursor/mcp.json"]), user(&["~/.cursor/mcp.json"])],
};
