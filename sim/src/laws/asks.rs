//! Questions: each is asked once at a time, and never again once there is an answer (G66).

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::command::{Command, Question};
use tidegate_core::id::AnswerId;
use tidegate_core::input::{Fact, Input};

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    asked: BTreeMap<AnswerId, Question>,
    known: BTreeSet<Question>,
}

impl Asks {
    pub(super) fn check(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        if let Some(Input::Io(Fact::Answered { ask, result })) = seen.input
            && let Some(what) = self.asked.remove(ask)
            && result.is_ok()
        {
            self.known.insert(what);
        }
        for command in seen.commands {
            match command {
                Command::Ask { ask, what } => {
                    let twice = self.asked.values().any(|asked| asked == what);
                    Law::Asks.demands(!twice, || format!("{what:?} is asked twice at once"))?;
                    let known = self.known.contains(what);
                    Law::Asks.demands(!known, || format!("{what:?} is asked and known"))?;
                    self.asked.insert(*ask, what.clone());
                }
                Command::StopAsking { ask } => drop(self.asked.remove(ask)),
                _ => {}
            }
        }
        Ok(())
    }
}
