//! Amazon Q CLI, and its agents.

use super::super::template::Variables;
use super::dialect::{AddressAlone, Dialect};
use super::{Tool, project, user};

pub(super) const DIALECT: Dialect = Dialect {
    variables: Variables::BracesEnv,
    address: AddressAlone::AutoThoughRefused,
    silent: &["oauthScopes"],
    ..Dialect::USUAL
};

pub(super) const TOOL: Tool = Tool {
    display: "Amazon Q",
    priority: 40,
    dialect: DIALECT,
    files: &[project(&["<project>/.amazonq/mcp.json"]), user(&["~/.aws/amazonq/mcp.json"])],
};

pub(super) const AGENT: Tool = Tool {
    display: "Amazon Q agent",
    priority: 40,
    dialect: Dialect { dedicated: false, ..DIALECT },
    files: &[
        project(&["<project>/.amazonq/cli-agents/*.json"]),
        user(&["~/.aws/amazonq/cli-agents/*.json"]),
    ],
};
