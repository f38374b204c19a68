//! The driver with real processes, signals and files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod approving;
mod ending;
mod files;
mod hosts;
mod processes;
mod project;
mod resolving;
mod watching;
