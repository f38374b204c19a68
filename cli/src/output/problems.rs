//! Problems, as lines for people: how grave, where, what.

use tidegate_core::error::{Problem, Severity};

use super::Screen;
use super::columns::{Cell, Columns};
use super::paint::Tone;
use super::places::Places;
use super::visible;

/// The problems as a block of lines; empty if there are none.
pub(crate) fn render(problems: &[Problem], places: &Places, screen: Screen) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let mut columns = Columns::headed(&["PROBLEM", "WHERE", "WHAT"]);
    for problem in problems {
        let (tone, word) = severity(problem.severity);
        columns.row(vec![
            Cell::new(tone, word),
            Cell::new(Tone::Plain, place(problem, places)),
            Cell::new(Tone::Plain, visible::one_line(&problem.message)),
        ]);
    }
    // Problems are to be read in full: they wrap where the terminal ends.
    columns.render(screen.paint, None)
}

/// One problem on one line.
pub(crate) fn one_line(problem: &Problem, places: &Places) -> String {
    let message = visible::one_line(&problem.message);
    match place(problem, places) {
        place if place.is_empty() => message.into_owned(),
        place => format!("{place}: {message}"),
    }
}

fn place(problem: &Problem, places: &Places) -> String {
    match (&problem.file, &problem.server) {
        (Some(file), _) => {
            let column = problem.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{}{column}", places.line(file, problem.line))
        }
        (None, Some(server)) => visible::one_line(server.as_str()).into_owned(),
        (None, None) => String::new(),
    }
}

/// How grave a problem is, in a tone and a word.
pub(crate) const fn severity(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Error => (Tone::Bad, "error"),
        Severity::Warning => (Tone::Waiting, "warning"),
        Severity::Info => (Tone::Faint, "info"),
    }
}
