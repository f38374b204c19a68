//! Tidegate's own file, and what is given by hand.

use super::super::syntax::Syntax;
use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect, Field, Unit};
use super::{Tool, project, user};

const OWN: Dialect = Dialect {
    syntax: Syntax::Jsonc,
    variables: Variables::Native,
    address: AddressAlone::Http,
    fields: &[
        ("auth", Field::Auth),
        ("startupTimeout", Field::StartupTimeout(Unit::Millis)),
        ("protocol", Field::Protocol),
        ("includeTools", Field::Include),
        ("excludeTools", Field::Exclude),
    ],
    silent: &["$schema", "disabledServers", "inputs", "disabledProviders", "enableProjectConfig"],
    ..Dialect::USUAL
};

pub(super) const TOOL: Tool = Tool {
    display: "Tidegate",
    priority: 110,
    dialect: OWN,
    files: &[project(&["<project>/.tidegate/mcp.json"]), user(&["<own>/mcp.json"])],
};

pub(super) const EXPLICIT: Tool =
    Tool { display: "command line", priority: 120, dialect: OWN, files: &[] };

pub(super) const INLINE: Tool = Tool { display: "host", priority: 120, dialect: OWN, files: &[] };
