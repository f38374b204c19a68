//! A recorded run again: the same inputs at the same moments, and the outputs compared.
//!
//! Roof. Pure: nothing sleeps and nothing is read.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use crate::runtime::Runtime;
use crate::time::Timestamp;
use crate::trace::{TRACE_VERSION, TraceLine};

/// A run that came out as it was recorded.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The runtime as it stood at the end.
    pub runtime: Runtime,
    /// Inputs and ticks that were fed.
    pub fed: usize,
    /// Commands and events that were compared.
    pub compared: usize,
    /// What the runtime had to say at the end and the trace does not hold, because it was cut
    /// off.
    pub unrecorded: Vec<TraceLine>,
}

/// Why a trace is not the record of a run of this version.
#[derive(Clone, Debug, PartialEq)]
pub enum Divergence {
    /// The first line is not a head, or another one is.
    Head {
        /// Which line, from 1.
        line: usize,
    },
    /// The form is of a version this one does not read.
    Version {
        /// The version.
        version: u32,
    },
    /// The runtime said something else than was recorded.
    Output {
        /// Which line, from 1.
        line: usize,
        /// What was recorded.
        recorded: Box<TraceLine>,
        /// What the runtime said; `None` if nothing.
        said: Option<Box<TraceLine>>,
    },
    /// The runtime said something that was not recorded, and the run went on.
    Unrecorded {
        /// Before which line, from 1.
        line: usize,
        /// What it said.
        said: Box<TraceLine>,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { line } => write!(f, "line {line}: a trace has one head, its first line"),
            Self::Version { version } => {
                write!(f, "line 1: version {version}; only version {TRACE_VERSION} can be read")
            }
            Self::Output { line, recorded, said: Some(said) } => {
                write!(f, "line {line}: recorded and said differ:\n- {recorded}\n+ {said}")
            }
            Self::Output { line, recorded, said: None } => {
                write!(f, "line {line}: recorded and not said:\n- {recorded}")
            }
            Self::Unrecorded { line, said } => {
                write!(f, "before line {line}: said and not recorded:\n+ {said}")
            }
        }
    }
}

impl core::error::Error for Divergence {}

/// Feeds a recorded run to a fresh runtime and compares what it says, in order (L2). Commands
/// and events are compared each in their own order, because they may be drained in any (L3), and
/// without their moments, which are the driver's. Moments that go backwards are fed as they
/// stand, because a driver may stamp so and the runtime clamps (L5).
///
/// # Errors
/// The first difference, or why the lines are not a trace.
pub fn replay(lines: &[TraceLine]) -> Result<Replayed, Divergence> {
    let Some((TraceLine::Head { version, options }, rest)) = lines.split_first() else {
        return Err(Divergence::Head { line: 1 });
    };
    if *version != TRACE_VERSION {
        return Err(Divergence::Version { version: *version });
    }
    let mut replayer = Replayer::new(Runtime::new((**options).clone()));
    for (at, line) in rest.iter().enumerate() {
        replayer.line = at + 2;
        replayer.follow(line)?;
    }
    Ok(replayer.end())
}

/// Whether two lines say the same, whenever.
fn same(a: &TraceLine, b: &TraceLine) -> bool {
    match (a, b) {
        (TraceLine::Command { command: a, .. }, TraceLine::Command { command: b, .. }) => a == b,
        (TraceLine::Event { event: a, .. }, TraceLine::Event { event: b, .. }) => a == b,
        (_, _) => false,
    }
}

struct Replayer {
    runtime: Runtime,
    now: Timestamp,
    line: usize,
    commands: VecDeque<TraceLine>,
    events: VecDeque<TraceLine>,
    fed: usize,
    compared: usize,
}

impl Replayer {
    fn new(runtime: Runtime) -> Self {
        Self {
            runtime,
            now: Timestamp::ZERO,
            line: 1,
            commands: VecDeque::new(),
            events: VecDeque::new(),
            fed: 0,
            compared: 0,
        }
    }

    fn follow(&mut self, line: &TraceLine) -> Result<(), Divergence> {
        match line {
            TraceLine::Head { .. } => Err(Divergence::Head { line: self.line }),
            TraceLine::Input { at, input } => {
                self.advance(*at)?;
                self.runtime.handle(*at, input.clone());
                self.drain();
                Ok(())
            }
            TraceLine::Tick { at } => {
                self.advance(*at)?;
                self.runtime.handle_timeout(*at);
                self.drain();
                Ok(())
            }
            TraceLine::Command { .. } => {
                let said = self.commands.pop_front();
                self.compare(line, said)
            }
            TraceLine::Event { .. } => {
                let said = self.events.pop_front();
                self.compare(line, said)
            }
        }
    }

    /// Goes on to the next input: what was said so far must have been recorded.
    fn advance(&mut self, at: Timestamp) -> Result<(), Divergence> {
        if let Some(said) = self.commands.pop_front().or_else(|| self.events.pop_front()) {
            return Err(Divergence::Unrecorded { line: self.line, said: Box::new(said) });
        }
        self.now = at;
        self.fed += 1;
        Ok(())
    }

    fn drain(&mut self) {
        let at = self.now;
        while let Some(command) = self.runtime.poll_command() {
            self.commands.push_back(TraceLine::Command { at, command });
        }
        while let Some(event) = self.runtime.poll_event() {
            self.events.push_back(TraceLine::Event { at, event });
        }
    }

    fn compare(&mut self, recorded: &TraceLine, said: Option<TraceLine>) -> Result<(), Divergence> {
        self.compared += 1;
        if said.as_ref().is_some_and(|said| same(said, recorded)) {
            return Ok(());
        }
        Err(Divergence::Output {
            line: self.line,
            recorded: Box::new(recorded.clone()),
            said: said.map(Box::new),
        })
    }

    fn end(self) -> Replayed {
        Replayed {
            runtime: self.runtime,
            fed: self.fed,
            compared: self.compared,
            unrecorded: self.commands.into_iter().chain(self.events).collect(),
        }
    }
}
