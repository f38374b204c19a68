//! The problems of one file, as they are found.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::nearest;
use crate::error::{Category, Problem, Severity};
use crate::id::ServerName;

/// How many problems of one file are kept; of the others it is said how many they are.
const PROBLEMS_MAX: usize = 200;

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) file: &'a str,
    problems: Vec<Problem>,
    /// How many more there are, and how grave the gravest of them is.
    more: Option<(usize, Severity)>,
}

/// What a problem is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct About<'a> {
    pub(super) line: Option<u32>,
    /// The keys that lead there.
    pub(super) key: Option<&'a str>,
    pub(super) server: Option<&'a ServerName>,
}

impl<'a> Report<'a> {
    /// Nothing is wrong with a file so far.
    pub(super) const fn of(file: &'a str) -> Self {
        Self { file, problems: Vec::new(), more: None }
    }

    /// The problems in the order of the file.
    pub(super) fn conclude(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line);
        if let Some((more, severity)) = self.more {
            let message = format!("{more} more problems of this file are not listed");
            let problem =
                self.problem(severity, About::default(), Category::TooManyProblems, message);
            self.problems.push(problem);
        }
        self.problems
    }

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
        let told = nearest::unread(written, meant);
        let told = match about.server {
            Some(server) => format!("Server \"{server}\": {told}"),
            None => told,
        };
        self.add(severity, about, Category::UnknownField, told);
    }

    pub(super) fn add(
        &mut self,
        severity: Severity,
        about: About<'_>,
        category: Category,
        message: String,
    ) {
        if self.problems.len() < PROBLEMS_MAX {
            let problem = self.problem(severity, about, category, message);
            self.problems.push(problem);
        } else {
            let (more, gravest) = self.more.unwrap_or((0, severity));
            self.more = Some((more + 1, gravest.max(severity)));
        }
    }

    fn problem(
        &self,
        severity: Severity,
        about: About<'_>,
        category: Category,
        message: String,
    ) -> Problem {
        Problem {
            severity,
            category,
            file: Some(self.file.into()),
            line: about.line,
            column: None,
            key: about.key.map(String::from),
            server: about.server.cloned(),
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse::read;
    use crate::config::{Provider, Source, source::Level};

    /// L10.
    #[test]
    fn a_file_with_very_many_problems_says_how_many_more_there_are() {
        let many = "\"x\":1,".repeat(100_000);
        let text = format!("{{{many}\"mcpServers\":{{}}}}");
        let source = Source::file(Provider::Shared, Level::Project, "f");
        let problems = read(&source, text.as_bytes()).problems;
        assert_eq!(problems.len(), PROBLEMS_MAX + 1);
        let last = problems.last().map(|problem| problem.message.as_str());
        assert!(last.is_some_and(|it| it.ends_with("more problems of this file are not listed")));
    }
}
