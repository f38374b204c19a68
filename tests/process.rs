//! Does the driver keep its duties with real processes?
//!
//! One file for each part of a process's life. The servers are scripted (`bin/scripted`), so
//! nothing but cargo is needed. Every test ends with a check that no process is left.

#[path = "process/calls.rs"]
mod calls;
#[path = "process/framing.rs"]
mod framing;
#[path = "process/hosts.rs"]
mod hosts;
#[path = "process/inquiries.rs"]
mod inquiries;
#[path = "process/lifecycle.rs"]
mod lifecycle;
#[path = "process/races.rs"]
mod races;
#[path = "process/reload.rs"]
mod reload;
#[path = "process/sessions.rs"]
mod sessions;
#[path = "process/spawning.rs"]
mod spawning;
#[path = "process/startup.rs"]
mod startup;
#[path = "process/subagents.rs"]
mod subagents;
#[path = "process/teardown.rs"]
mod teardown;
