//! A trace as a file: the lines of a run that `--trace` recorded.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use tidegate_core::trace::TraceLine;

use crate::exit::Trouble;
use crate::output::{self, visible};

/// Reads a trace. A last line that was cut off, because the recording process was killed, is
/// left out.
///
/// # Errors
/// If the file cannot be read or is no trace.
pub(crate) fn read(path: &Path) -> Result<Vec<TraceLine>, Trouble> {
    let name = visible::one_line(&path.to_string_lossy()).into_owned();
    let unreadable = |error: io::Error| Trouble::Usage(format!("{name}: {error}"));
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut lines = Vec::new();
    let mut text = String::new();
    while file.read_line(&mut text).map_err(unreadable)? > 0 {
        match serde_json::from_str(&text) {
            Ok(line) => lines.push(line),
            Err(_) if !text.ends_with('\n') && !lines.is_empty() => {
                output::message(&format!("{name}: the last line is cut off and left out"));
            }
            Err(_) if lines.is_empty() => return Err(no_trace(&name)),
            Err(error) => {
                let number = lines.len() + 1;
                let told = format!("{name}:{number}: this is no line of a trace: {error}");
                return Err(Trouble::Usage(told));
            }
        }
        text.clear();
    }
    match lines.first() {
        Some(TraceLine::Head { .. }) => Ok(lines),
        Some(_) | None => Err(no_trace(&name)),
    }
}

fn no_trace(name: &str) -> Trouble {
    let told = "this is no trace: its first line is no head; `--trace FILE` records one";
    Trouble::Usage(format!("{name}: {told}"))
}
