//! Ways to spoil what comes out of a step.

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Command;
use tidegate_core::event::{Event, Outcome};

use crate::mutant::Step;

impl Step<'_> {
    pub(crate) fn each_send(&mut self, spoil: impl Fn(&[u8]) -> Vec<u8>) {
        for command in self.commands.iter_mut() {
            if let Command::Send { bytes, .. } = command {
                *bytes = Bytes::from(spoil(bytes));
            }
        }
    }

    pub(crate) fn double_command(&mut self, doubles: impl Fn(&Command) -> bool) {
        for command in std::mem::take(self.commands) {
            let again = doubles(&command).then(|| command.clone());
            self.commands.push(command);
            self.commands.extend(again);
        }
    }

    pub(crate) fn double_event(&mut self, doubles: impl Fn(&Event) -> bool) {
        for event in std::mem::take(self.events) {
            let again = doubles(&event).then(|| event.clone());
            self.events.push(event);
            self.events.extend(again);
        }
    }

    /// Calls with these outcomes end and nobody is told.
    pub(crate) fn lose_calls(&mut self, loses: impl Fn(&Outcome) -> bool) {
        let before = self.events.len();
        self.events.retain(
            |event| !matches!(event, Event::CallFinished { outcome, .. } if loses(outcome)),
        );
        self.memory.lost_calls += before - self.events.len();
    }
}

pub(crate) fn sends(order: &Command, what: &str) -> bool {
    match order {
        Command::Send { bytes, .. } => String::from_utf8_lossy(bytes).contains(what),
        _ => false,
    }
}
