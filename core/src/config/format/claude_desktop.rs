//! Claude Desktop.

use super::dialect::{AddressAlone, Dialect};
use super::{Tool, user};

pub(super) const TOOL: Tool = Tool {
    display: "Claude Desktop",
    priority: 48,
    dialect: Dialect { address: AddressAlone::AutoThoughRefused, ..Dialect::USUAL },
    files: &[user(&["<config>/Claude/claude_desktop_config.json"])],
};
