//! The problems of one file, as they are found.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::string::String;
use alloc::vec::Vec;

use super::nearest;
use crate::error::{Category, Problem, Severity};
use crate::id::ServerName;

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) file: &'a str,
    pub(super) problems: Vec<Problem>,
}

/// What a problem is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct About<'a> {
    pub(super) line: Option<u32>,
    /// The keys that lead there.
    pub(super) key: Option<&'a str>,
    pub(super) server: Option<&'a ServerName>,
}

impl Report<'_> {
    pub(super) fn error(&mut self, about: About<'_>, category: Category, message: String) {
        self.add(Severity::Error, about, category, message);
    }

    pub(super) fn warning(&mut self, about: About<'_>, category: Category, message: String) {
        self.add(Severity::Warning, about, category, message);
    }

    pub(super) fn info(&mut self, about: About<'_>, category: Category, message: String) {
        self.add(Severity::Info, about, category, message);
    }

    /// The text cannot be read from this place on.
    pub(super) fn unreadable(
        &mut self,
        line: u32,
        column: u32,
        category: Category,
        message: String,
    ) {
        self.error(About { line: Some(line), ..About::default() }, category, message);
        if let Some(problem) = self.problems.last_mut() {
            problem.column = Some(column);
        }
    }

    /// A field that nobody reads; what was probably meant is said.
    pub(super) fn unread(&mut self, about: About<'_>, written: &str, meant: Option<&str>) {
        let severity = if meant.is_some() { Severity::Warning } else { Severity::Info };
        self.add(severity, about, Category::UnknownField, nearest::unread(written, meant));
    }

    pub(super) fn add(
        &mut self,
        severity: Severity,
        about: About<'_>,
        category: Category,
        message: String,
    ) {
        self.problems.push(Problem {
            severity,
            category,
            file: Some(self.file.into()),
            line: about.line,
            column: None,
            key: about.key.map(String::from),
            server: about.server.cloned(),
            message,
        });
    }
}
