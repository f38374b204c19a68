//! What turned up that a person may want to mend, bounded and without repetition.
//!
//! Floor 4.

use alloc::vec::Vec;

use crate::error::{Category, Problem, Severity};
use crate::event::Event;
use crate::outbox::Outbox;

/// The problems of a run: those of the present configuration, and those met on the way.
#[derive(Clone, Debug)]
pub(super) struct Problems {
    configured: Vec<Problem>,
    met: Vec<Problem>,
    most: usize,
}

impl Problems {
    pub(super) const fn new(most: usize) -> Self {
        Self { configured: Vec::new(), met: Vec::new(), most }
    }

    /// The configuration was read anew: its problems take the place of the earlier ones, and
    /// those that are new are said.
    pub(super) fn set_configured(&mut self, mut problems: Vec<Problem>, out: &mut Outbox) {
        if problems.len() > self.most {
            problems.truncate(self.most);
            problems.push(too_many(self.most));
        }
        let earlier = core::mem::replace(&mut self.configured, problems);
        for problem in self.configured.iter().filter(|problem| !earlier.contains(problem)) {
            out.event(Event::ProblemFound(problem.clone()));
        }
    }

    /// Something turned up on the way.
    pub(super) fn add(&mut self, problem: Problem, out: &mut Outbox) {
        if self.met.len() > self.most || self.met.contains(&problem) {
            return;
        }
        let problem = if self.met.len() == self.most { too_many(self.most) } else { problem };
        self.met.push(problem.clone());
        out.event(Event::ProblemFound(problem));
    }

    pub(super) fn all(&self) -> Vec<Problem> {
        [self.configured.as_slice(), self.met.as_slice()].concat()
    }
}

fn too_many(most: usize) -> Problem {
    Problem {
        severity: Severity::Warning,
        category: Category::TooManyProblems,
        file: None,
        line: None,
        column: None,
        key: None,
        server: None,
        message: alloc::format!("more than {most} problems; later ones are not listed"),
    }
}
