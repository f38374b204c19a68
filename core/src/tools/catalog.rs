//! What the agent may call, right now.
//!
//! Floor 5. Plain data, derived from the hub after each step and compared, never patched.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::name::{Assigned, assign};
use crate::bytes::Json;
use crate::error::{Category, Problem};
use crate::hub::policy::Names;
use crate::id::ServerName;
use crate::quote::Quoted;
use crate::wire::mcp::ToolDef;

/// The tools of all servers, in configuration order and in each server's own order (G19).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Catalog {
    /// Counts by one with each change (G25).
    pub revision: u64,
    /// The tools.
    pub tools: Vec<Arc<Tool>>,
}

/// One tool.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tool {
    /// The name for the model: unique, and within what model providers accept.
    pub exposed: String,
    /// Whose it is.
    pub server: ServerName,
    /// The tool as its server calls it.
    pub tool: String,
    /// Its description, or `MCP tool from <server>`.
    pub description: Arc<str>,
    /// Its `inputSchema`, byte for byte.
    pub schema: Json,
    /// Whether it can be called.
    pub state: ToolState,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ToolState {
    /// Its server is connected.
    Live,
    /// Its server is still starting; a call waits for it.
    Deferred,
    /// Its server failed after the gate.
    Failed {
        /// Why, in one line.
        reason: String,
    },
    /// Its server offers it in a form that cannot be used.
    Quarantined {
        /// Why, in one line.
        reason: String,
    },
}

/// What one server contributes.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// The server.
    pub server: &'a ServerName,
    /// Its tools in its own order, live or from the cache.
    pub tools: &'a [ToolDef],
    /// Whether they can be called.
    pub state: SliceState<'a>,
}

/// Whether the tools of a server can be called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SliceState<'a> {
    /// It is connected.
    Live,
    /// It is still starting.
    Deferred,
    /// It failed after the gate; why, in one line.
    Failed(&'a str),
}

/// Puts the slices of all servers together, which come in configuration order: the tools with
/// their names, and what is to be said about them. A function of its arguments alone (G24).
#[must_use]
pub fn derive(names: Names, slices: &[Slice<'_>]) -> (Vec<Tool>, Vec<Problem>) {
    let all: Vec<(&Slice<'_>, &ToolDef)> =
        slices.iter().flat_map(|slice| slice.tools.iter().map(move |def| (slice, def))).collect();
    let pairs: Vec<(&str, &str)> =
        all.iter().map(|(slice, def)| (slice.server.as_str(), def.name.as_str())).collect();
    let assigned = assign(names, &pairs);
    let mut taken = BTreeSet::new();
    let mut tools = Vec::with_capacity(all.len());
    let mut problems = Vec::new();
    for ((slice, def), name) in all.iter().zip(assigned) {
        if let Err(reason) = &def.usable {
            problems.push(unusable(slice.server, &def.name, reason));
        }
        let rival = name.collides_with.and_then(|at| pairs.get(at)).copied();
        if let Some(rival) = rival {
            problems.push(collision(names, slice.server, &def.name, &name, rival));
        }
        if names == Names::Documented && rival.is_some() {
            continue;
        }
        if !taken.insert(name.exposed.clone()) {
            problems.push(repeated(slice.server, &def.name));
            continue;
        }
        tools.push(tool(slice, def, name.exposed));
    }
    (tools, problems)
}

/// What [`derive()`] makes of one slice whose tools have these names and share none.
pub(super) fn named(slice: &Slice<'_>, names: Vec<String>) -> (Vec<Tool>, Vec<Problem>) {
    let problem = |def: &ToolDef| {
        def.usable.as_ref().err().map(|reason| unusable(slice.server, &def.name, reason))
    };
    let problems = slice.tools.iter().filter_map(problem).collect();
    let tools = slice.tools.iter().zip(names).map(|(def, name)| tool(slice, def, name)).collect();
    (tools, problems)
}

fn tool(slice: &Slice<'_>, def: &ToolDef, exposed: String) -> Tool {
    let state = match (&def.usable, slice.state) {
        (Err(reason), _) => ToolState::Quarantined { reason: reason.clone() },
        (Ok(()), SliceState::Live) => ToolState::Live,
        (Ok(()), SliceState::Deferred) => ToolState::Deferred,
        (Ok(()), SliceState::Failed(reason)) => ToolState::Failed { reason: reason.into() },
    };
    let described = def.description.clone().filter(|text| !text.is_empty());
    Tool {
        exposed,
        server: slice.server.clone(),
        tool: def.name.clone(),
        description: described
            .unwrap_or_else(|| alloc::format!("MCP tool from {}", slice.server).into()),
        schema: def.input_schema.clone(),
        state,
    }
}

fn unusable(server: &ServerName, tool: &str, reason: &str) -> Problem {
    let tool = Quoted(tool);
    let message = alloc::format!("tool {tool:?} of server \"{server}\" is not offered: {reason}");
    Problem::of_server(server, Category::InvalidTool, message)
}

fn repeated(server: &ServerName, tool: &str) -> Problem {
    let tool = Quoted(tool);
    let message = alloc::format!(
        "server \"{server}\" lists tool {tool:?} more than once; the first is offered"
    );
    Problem::of_server(server, Category::InvalidTool, message)
}

fn collision(
    names: Names,
    server: &ServerName,
    tool: &str,
    name: &Assigned,
    (other_server, other_tool): (&str, &str),
) -> Problem {
    let (tool, other_tool) = (Quoted(tool), Quoted(other_tool));
    let other = alloc::format!("tool {other_tool:?} of server \"{other_server}\"");
    let exposed = Quoted(&name.exposed);
    let message = match names {
        Names::Documented => alloc::format!(
            "tool {tool:?} of server \"{server}\" is hidden by {other}: both are named {exposed}"
        ),
        Names::Distinct => alloc::format!(
            "tool {tool:?} of server \"{server}\" is offered as {exposed}: {other} has a name like it"
        ),
    };
    Problem::of_server(server, Category::ToolNameCollision, message)
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
