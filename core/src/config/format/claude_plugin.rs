//! Plugins of Claude Code: a file in the folder of each, found through a registry.

use super::Tool;
use super::dialect::{AddressAlone, Dialect, Field};

pub(super) const TOOL: Tool = Tool {
    display: "Claude Code Marketplace",
    priority: 70,
    dialect: Dialect {
        bare: true,
        address: AddressAlone::AutoThoughRefused,
        fields: &[("headersHelper", Field::HeadersCommand), ("auth", Field::Auth)],
        ..Dialect::USUAL
    },
    files: &[],
};
