//! The lifecycle of MCP servers as a pure, deterministic, sans-I/O state machine.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bytes;
pub mod canon;
pub mod command;
pub mod config;
pub mod entropy;
pub mod error;
pub mod event;
pub mod hub;
pub mod id;
pub mod input;
pub mod limits;
pub mod options;
pub mod outbox;
pub mod replay;
pub mod runtime;
pub mod server;
pub mod time;
pub mod timeline;
pub mod tools;
pub mod trace;
pub mod wire;
