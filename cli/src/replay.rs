//! `replay`: a recorded run again, its outputs compared with the record.

use serde::Serialize;
use tidegate_core::replay::{Divergence, Replayed, replay};
use tidegate_core::trace::TraceLine;

use crate::args::{Global, ReplayArgs};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json, visible};
use crate::trace_file;

/// How many lines before a divergence are shown.
const CONTEXT_LINES: usize = 8;

/// What `replay --json` prints.
#[derive(Debug, Default, Serialize)]
struct Report {
    version: u32,
    identical: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unrecorded: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<String>,
}

/// Repeats a trace.
///
/// # Errors
/// If the file is no trace.
pub(crate) fn run(global: &Global, args: &ReplayArgs) -> Result<Exit, Trouble> {
    let lines = trace_file::read(&args.file)?;
    let (told, report, exit) = match replay(&lines) {
        Ok(done) => (same(&done), Report::same(&done), Exit::Done),
        Err(divergence) => {
            (different(&lines, &divergence), Report::different(&divergence), Exit::Failed)
        }
    };
    output::data(&if global.json { json::line(&report)? } else { told })?;
    Ok(exit)
}

impl Report {
    fn same(done: &Replayed) -> Self {
        Self {
            version: json::VERSION,
            identical: true,
            inputs: Some(done.fed),
            outputs: Some(done.compared),
            unrecorded: Some(done.unrecorded.len()).filter(|count| *count > 0),
            ..Self::default()
        }
    }

    fn different(divergence: &Divergence) -> Self {
        Self {
            version: json::VERSION,
            line: line_of(divergence),
            divergence: Some(divergence.to_string()),
            ..Self::default()
        }
    }
}

fn same(done: &Replayed) -> String {
    let mut told = format!("{} inputs, {} outputs: identical\n", done.fed, done.compared);
    if !done.unrecorded.is_empty() {
        told.push_str("the record was cut off before the last outputs:\n");
    }
    for line in &done.unrecorded {
        told.push_str(&format!("+ {line}\n"));
    }
    told
}

/// The first divergence, with the lines before it.
fn different(lines: &[TraceLine], divergence: &Divergence) -> String {
    let at = line_of(divergence).unwrap_or(1).saturating_sub(1);
    let mut told = String::from("the run did not repeat as it was recorded\n\n");
    for line in lines.iter().take(at).skip(at.saturating_sub(CONTEXT_LINES)) {
        told.push_str(&format!("  {line}\n"));
    }
    told.push_str(&visible::block(&divergence.to_string()));
    told.push('\n');
    told
}

const fn line_of(divergence: &Divergence) -> Option<usize> {
    match divergence {
        Divergence::Head { line }
        | Divergence::Output { line, .. }
        | Divergence::Unrecorded { line, .. } => Some(*line),
        Divergence::Version { .. } => None,
    }
}
