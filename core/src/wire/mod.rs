//! Bytes ↔ messages.
//!
//! Floor 1. May import floor 0. Incremental framing ([`lines`]), one validating scan of JSON text
//! ([`json`]), the JSON-RPC envelope ([`rpc`]), what MCP puts into it ([`mcp`]) and the revisions
//! of the protocol as data ([`dialect`]). Strict in what is sent, tolerant in what is received.

pub mod dialect;
pub mod json;
pub mod lines;
pub mod mcp;
pub mod rpc;
