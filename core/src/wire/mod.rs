//! Bytes ↔ messages.
//!
//! Floor 1. May import floor 0. Incremental framing ([`lines`]), one validating scan of JSON text
//! ([`json`]), the events of a stream ([`sse`]), the heads of HTTP ([`http`]), the JSON-RPC envelope ([`rpc`]), what MCP puts into it ([`mcp`]) and the revisions
//! of the protocol as data ([`dialect`]). Strict in what is sent, tolerant in what is received.

pub mod dialect;
pub mod http;
pub mod json;
pub mod lines;
pub mod mcp;
pub mod rpc;
pub mod sse;
