//! The commands about files: what they say, and changing them.

pub(crate) mod add;
pub(crate) mod doctor;
pub(crate) mod files;
mod foreign;
mod literal;
pub(crate) mod remove;
pub(crate) mod set;
pub(crate) mod sources;
pub(crate) mod switch;
pub(crate) mod trust;

use serde::Serialize;
use tidegate_core::config::Level;

use crate::output::json;

/// What a command that changed a file prints with `--json`.
#[derive(Debug, Serialize)]
struct Changed<'a> {
    version: u32,
    server: &'a str,
    changed: bool,
    /// The files that were changed.
    files: Vec<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
}

impl<'a> Changed<'a> {
    fn new(server: &'a str, files: Vec<&'a str>, note: &'a str) -> Self {
        Self { version: json::VERSION, server, changed: !files.is_empty(), files, note }
    }
}

/// What a level is called in messages, if it is one of the two that a scope can name.
fn word(level: Level) -> Option<&'static str> {
    let words = [(Level::Project, "project"), (Level::User, "user")];
    words.into_iter().find(|(it, _)| *it == level).map(|it| it.1)
}
