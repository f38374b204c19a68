//! Names of tools for the model.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::string::String;
use alloc::vec::Vec;

use crate::hub::policy::Names;

/// The name by the letter of the documented rule. May be equal for different tools.
#[must_use]
pub fn documented(server: &str, tool: &str) -> String {
    alloc::format!("mcp_{server}_{tool}")
}

/// The name of one tool among all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Assigned {
    /// The name for the model.
    pub exposed: String,
    /// The place in the list of another tool that would have the same name.
    pub collides_with: Option<usize>,
}

/// Names all `tools`, given as (server, tool) pairs, in their order.
#[must_use]
pub fn assign(_policy: Names, tools: &[(&str, &str)]) -> Vec<Assigned> {
    let name = |(server, tool): &(&str, &str)| Assigned {
        exposed: documented(server, tool),
        collides_with: None,
    };
    tools.iter().map(name).collect()
}
