//! The public machine.
//!
//! Roof.

use crate::command::Command;
use crate::event::Event;
use crate::hub::status::Status;
use crate::input::Input;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};
use crate::tools::catalog::Catalog;

/// The lifecycle of many MCP servers.
#[derive(Clone, Debug)]
pub struct Runtime {
    options: Options,
    out: Outbox,
    catalog: Catalog,
}

impl Runtime {
    /// A runtime that has done nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, out: Outbox::default(), catalog: Catalog::default() }
    }

    /// Lets one thing happen. Total (L1): any input in any state.
    pub fn handle(&mut self, _now: Timestamp, _input: Input) {
        let _ = &self.options;
    }

    /// Lets time pass. Spurious calls do nothing (L5).
    pub fn handle_timeout(&mut self, _now: Timestamp) {}

    /// The oldest order to the driver, if any.
    #[must_use]
    pub fn poll_command(&mut self) -> Option<Command> {
        self.out.next_command()
    }

    /// The oldest piece of news for the host, if any.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.out.next_event()
    }

    /// When the machine wants to be woken at the latest (L4).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    /// What the agent may call, right now.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What the runtime knows about its servers.
    #[must_use]
    pub fn status(&self) -> Status {
        todo!()
    }

    /// Whether `Stopped` was said: nothing more comes.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        false
    }

    /// A number that is equal for runtimes that will behave alike from here on, with times
    /// taken relative to `now`. For the explorer.
    #[cfg(feature = "_explore")]
    #[must_use]
    pub fn fingerprint(&self, _now: Timestamp) -> u128 {
        0
    }
}
