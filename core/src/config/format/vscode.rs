//! VS Code: `servers` in a file of their own, `mcp.servers` in older settings.

use super::super::syntax::Syntax;
use super::super::template::Variables;
use super::dialect::{Dialect, Ease};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "VS Code",
    priority: 20,
    dialect: Dialect {
        sections: &["servers", "mcp.servers"],
        syntax: Syntax::Jsonc,
        variables: Variables::BracesEnvOrInput,
        ease: Ease::EnvValues,
        silent: &["inputs", "dev", "gallery", "version", "sandboxEnabled", "sandbox"],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.vscode/mcp.json"]),
        user(&["<config>/Code/User/mcp.json"]),
        user(&["<config>/Code/User/profiles/*/mcp.json"]),
        user(&["<config>/Code - Insiders/User/mcp.json"]),
        user(&["<config>/VSCodium/User/mcp.json"]),
        user(&["<config>/Code/User/settings.json"]),
    ],
};
