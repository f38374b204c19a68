//! What the agent may call, right now.
//!
//! Floor 5. Plain data, derived from the hub after each step and compared, never patched.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Json;
use crate::id::ServerName;

/// The tools of all servers, in configuration order and in each server's own order (G19).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Catalog {
    /// Counts by one with each change (G25).
    pub revision: u64,
    /// The tools.
    pub tools: Vec<Tool>,
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
    pub description: String,
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
