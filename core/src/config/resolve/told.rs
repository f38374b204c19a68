//! What is said of a definition that does not count.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::String;

use super::super::definition::{Definition, SourceRef};
use super::super::filter::Filter;
use crate::error::{Category, Problem, Severity};

pub(super) fn filtered(definition: &Definition, by: Filter, used: Option<&Definition>) -> Problem {
    let message = format!("\"{}\" is left out: {}", definition.name, by.words());
    let message = used.map_or_else(
        || message.clone(),
        |used| format!("{message}, so its definition in {} is used", at(used)),
    );
    problem(Severity::Info, Category::Filtered, definition, message)
}

pub(super) fn forbidden(refusal: &Problem, definition: &Definition, used: &Definition) -> Problem {
    let message = format!("{}, so its definition in {} is used", refusal.message, at(used));
    problem(Severity::Warning, Category::Forbidden, definition, message)
}

pub(super) fn shadowed(loser: &Definition, winner: &Definition) -> Problem {
    let (name, at) = (&loser.name, at(winner));
    let (severity, message) = if loser.transport.is_err() && winner.transport.is_ok() {
        let message = format!("\"{name}\" is not valid here, so its definition in {at} is used");
        (Severity::Warning, message)
    } else {
        (Severity::Info, format!("\"{name}\" is defined in {at} too, and that definition is used"))
    };
    problem(severity, Category::Shadowed, loser, message)
}

/// An entry only switches a server, and no file defines it.
pub(super) fn nothing_under(definition: &Definition, message: &str) -> Problem {
    let tool = definition.source.provider.display();
    let message = format!("{message}, and no weaker file of {tool} defines it");
    problem(Severity::Error, Category::MissingEndpoint, definition, message)
}

pub(super) fn too_many(dropped: usize, servers_max: usize, last: Option<&SourceRef>) -> Problem {
    Problem {
        severity: Severity::Error,
        category: Category::TooManyServers,
        file: last.map(|source| source.path.clone()),
        line: last.map(|source| source.line),
        column: None,
        key: None,
        server: None,
        message: format!(
            "more than {servers_max} servers are defined; the {dropped} after this line are left \
             out"
        ),
    }
}

fn at(used: &Definition) -> String {
    format!("{} (line {})", used.source.path, used.source.line)
}

fn problem(severity: Severity, category: Category, about: &Definition, message: String) -> Problem {
    Problem {
        severity,
        category,
        file: Some(about.source.path.clone()),
        line: Some(about.source.line),
        column: None,
        key: None,
        server: Some(about.name.clone()),
        message,
    }
}
