//! `timeline`: a recorded run as text, or as a picture.

/// Adds to a text that cannot refuse.
macro_rules! put {
    ($out:expr, $($what:tt)*) => {{
        use std::fmt::Write as _;
        // Writing into a `String` cannot fail.
        let _ = write!($out, $($what)*);
    }};
}

mod calls;
mod frame;
mod lanes;
mod scale;
mod svg;

use std::fs;

use serde::Serialize;

use crate::args::{Global, TimelineArgs};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json};
use crate::trace_file;
use lanes::Picture;

/// What `timeline --json` prints.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    timeline: Vec<String>,
}

/// What `timeline --svg --json` prints.
#[derive(Debug, Serialize)]
struct Drawn<'a> {
    version: u32,
    svg: &'a str,
}

/// Shows a trace.
///
/// # Errors
/// If the file is no trace, or the picture cannot be written.
pub(crate) fn run(global: &Global, args: &TimelineArgs) -> Result<Exit, Trouble> {
    let lines = trace_file::read(&args.file)?;
    if let Some(file) = &args.svg {
        fs::write(file, svg::render(&Picture::of(&lines)))
            .map_err(|error| Trouble::Usage(format!("--svg {}: {error}", file.display())))?;
        if global.json {
            let svg = file.to_string_lossy();
            output::data(&json::line(&Drawn { version: json::VERSION, svg: &svg })?)?;
        }
        return Ok(Exit::Done);
    }
    let told: Vec<String> = lines.iter().map(ToString::to_string).collect();
    output::data(&if global.json {
        json::line(&Report { version: json::VERSION, timeline: told })?
    } else {
        told.join("\n") + "\n"
    })?;
    Ok(Exit::Done)
}
