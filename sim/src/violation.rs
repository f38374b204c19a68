//! A broken law, with everything needed to see it and to see it again.

use std::fmt;

use tidegate_core::trace::TraceLine;

use crate::laws::{Breach, Law};

/// A law that was broken, and the run in which it was.
///
/// Its `Debug` is its `Display`, so that a test that returns it as an error prints the timeline.
#[derive(Clone)]
pub struct Violation(Box<Inner>);

#[derive(Clone)]
struct Inner {
    breach: Breach,
    trace: Vec<TraceLine>,
    story: String,
}

impl Violation {
    /// This breach, at the end of this run.
    #[must_use]
    pub fn new(breach: Breach, trace: &[TraceLine]) -> Self {
        Self(Box::new(Inner { breach, trace: trace.to_vec(), story: String::new() }))
    }

    /// The same, saying how to tell the story again: a seed, or a list of steps.
    #[must_use]
    pub fn in_story(mut self, story: impl Into<String>) -> Self {
        self.0.story = story.into();
        self
    }

    /// Which law was broken.
    #[must_use]
    pub fn law(&self) -> Law {
        self.0.breach.law
    }

    /// How it was broken.
    #[must_use]
    pub fn how(&self) -> &str {
        &self.0.breach.how
    }

    /// The run up to the step that broke it.
    #[must_use]
    pub fn trace(&self) -> &[TraceLine] {
        &self.0.trace
    }

    /// The run as lines of JSON: for a machine's own law a regression to replay, for a law of a
    /// host evidence, because the host's decisions are not in it.
    ///
    /// # Panics
    /// If a line cannot be written, which would be a bug of its type.
    #[must_use]
    pub fn jsonl(&self) -> String {
        jsonl(&self.0.trace)
    }
}

/// A run as lines of JSON.
///
/// # Panics
/// If a line cannot be written, which would be a bug of its type.
#[must_use]
pub fn jsonl(trace: &[TraceLine]) -> String {
    let mut text = String::new();
    for line in trace {
        text += &serde_json::to_string(line).expect("a trace line is plain data");
        text.push('\n');
    }
    text
}

/// A run as a timeline.
#[must_use]
pub fn timeline(trace: &[TraceLine]) -> String {
    trace.iter().map(|line| format!("{line}\n")).collect()
}

/// How many lines of a run are shown: the last ones.
const LINES_SHOWN: usize = 400;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { breach: Breach { law, how }, trace, story } = &*self.0;
        writeln!(f, "{law}: {how}")?;
        if !story.is_empty() {
            writeln!(f, "in the story {story}")?;
        }
        let earlier = trace.len().saturating_sub(LINES_SHOWN);
        if earlier > 0 {
            writeln!(f, "… {earlier} lines before")?;
        }
        f.write_str(&timeline(trace.get(earlier..).unwrap_or_default()))
    }
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Violation {}

#[cfg(test)]
mod tests {
    use tidegate_core::time::Timestamp;

    use super::*;

    #[test]
    fn of_a_long_run_the_last_lines_are_shown() {
        let trace = vec![TraceLine::Tick { at: Timestamp::ZERO }; LINES_SHOWN + 7];
        let shown = Violation::new(Breach { law: Law::Bounded, how: "x".into() }, &trace);
        let shown = shown.to_string();
        assert!(shown.contains("… 7 lines before\n"), "{shown:.200}");
        assert_eq!(shown.lines().count(), LINES_SHOWN + 2);
    }
}
