//! The command, run as its users run it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod behaviour;
mod calls;
mod files;
mod hostile;
mod records;
mod sandbox;
mod sources;
mod terminal;
