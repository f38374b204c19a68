//! The two queues out of the machine; the only place that pushes to them.
//!
//! Floor 0. Commands and events are independent (L3): a host that is slow to read its events
//! never holds back a `Kill`.

use alloc::collections::VecDeque;

use crate::command::Command;
use crate::event::Event;

/// How many places an empty queue keeps: the start of many servers is not what is usual.
const KEPT: usize = 16;

/// What the machine has to say and nobody has fetched yet.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    commands: VecDeque<Command>,
    events: VecDeque<Event>,
}

impl Outbox {
    /// Queues an order to the driver.
    pub fn command(&mut self, command: Command) {
        self.commands.push_back(command);
    }

    /// Queues news for the host.
    pub fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// The oldest order, if any.
    pub fn next_command(&mut self) -> Option<Command> {
        next(&mut self.commands)
    }

    /// The oldest piece of news, if any.
    pub fn next_event(&mut self) -> Option<Event> {
        next(&mut self.events)
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.events.is_empty()
    }
}

fn next<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let next = queue.pop_front();
    if next.is_none() {
        queue.shrink_to(KEPT);
    }
    next
}
