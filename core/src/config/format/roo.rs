//! Roo Code.

use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, project, user};

pub(super) const TOOL: Tool = Tool {
    display: "Roo Code",
    priority: 45,
    dialect: Dialect {
        variables: Variables::BracesEnv,
        address: AddressAlone::AutoThoughRefused,
        fields: &[("timeout", Field::Timeout(Unit::Seconds))],
        silent: &["watchPaths"],
        ..Dialect::USUAL
    },
    files: &[
        project(&["<project>/.roo/mcp.json"]),
        user(&[
            "<config>/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ]),
    ],
};
