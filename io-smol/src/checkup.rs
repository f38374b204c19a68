//! What would keep a server from starting, as far as can be seen without starting anything.

use std::env;

use tidegate_core::command::{Fill, Text};
use tidegate_core::config::Definition;
use tidegate_core::config::launch::{Empty, Filling, Unresolved};
use tidegate_core::error::OpenError;
use tidegate_core::id::AnswerId;

use crate::launch::{Program, Surroundings};
use crate::mark::Mark;
use crate::places::environment;

/// What is wrong with the program or the directory of a server, found in the way that a start in
/// the project `cwd` does it. Runs nothing and asks nobody: what depends on an answer, or lacks a
/// variable, is not judged, and neither is a server that is no process.
#[must_use]
pub fn fault(cwd: &str, definition: &Definition) -> Option<OpenError> {
    let filling = Filling {
        environment: &environment(),
        unresolved: Unresolved::LeaveOut,
        empty: Empty::Keep,
        answer: &|_| Ok(AnswerId::new(0)),
    };
    let (written, _) = definition.launch(&filling)?.ok()?;
    let asks = |text: &Text| text.fills().iter().any(|fill| matches!(fill, Fill::Answer(_)));
    let path = written.env.get("PATH");
    if [Some(&written.command), written.cwd.as_ref(), path].into_iter().flatten().any(asks) {
        return None;
    }
    let filled = written.filled(|fill| match fill {
        Fill::Plain(text) => Some(text.clone()),
        Fill::Variable(name) => env::var(name).ok(),
        Fill::Answer(_) => None,
    });
    Surroundings::of_process(cwd, Mark::new()).fault(&Program { written, filled })
}
