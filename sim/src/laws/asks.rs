//! Questions: each is asked once at a time, and never again while there is an answer (G66); nothing
//! is filled in with an answer that is not there.

use std::cell::Cell;
use std::collections::BTreeMap;

use tidegate_core::command::{Command, Fill, Question};
use tidegate_core::id::{AnswerId, ConnId};
use tidegate_core::input::{Fact, Input};

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    asked: BTreeMap<AnswerId, Question>,
    known: BTreeMap<AnswerId, Question>,
}

impl Asks {
    pub(super) fn check(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        if let Some(Input::Io(Fact::Answered { ask, result })) = seen.input
            && let Some(what) = self.asked.remove(ask)
            && result.is_ok()
        {
            self.known.insert(*ask, what);
        }
        for command in seen.commands {
            match command {
                Command::Ask { ask, what } => {
                    let twice = self.asked.values().any(|asked| asked == what);
                    Law::Asks.demands(!twice, || format!("{what:?} is asked twice at once"))?;
                    let known = self.known.values().any(|known| known == what);
                    Law::Asks.demands(!known, || format!("{what:?} is asked and known"))?;
                    self.asked.insert(*ask, what.clone());
                }
                Command::StopAsking { ask } => {
                    self.asked.remove(ask);
                    self.known.remove(ask);
                }
                Command::Open { conn, launch, .. } => {
                    self.is_filled(*conn, |find| drop(launch.filled(find)))?;
                }
                Command::Connect { conn, remote, .. } => {
                    self.is_filled(*conn, |find| drop(remote.filled(find)))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether every answer is known that something is filled in with.
    fn is_filled(
        &self,
        conn: ConnId,
        fill: impl FnOnce(&dyn Fn(&Fill) -> Option<String>),
    ) -> Result<(), Breach> {
        let missing = Cell::new(None);
        fill(&|gap| {
            if let Fill::Answer(ask) = gap
                && !self.known.contains_key(ask)
            {
                missing.set(Some(*ask));
            }
            None
        });
        Law::Asks.demands(missing.get().is_none(), || {
            format!("{conn} is to be filled in with {:?}, which is not known", missing.get())
        })
    }
}
