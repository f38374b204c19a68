//! What the simulator drives: the runtime, or the runtime with a bug planted in front of it.

use tidegate_core::command::Command;
use tidegate_core::event::Event;
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::status::Status;
use tidegate_core::id::ServerName;
use tidegate_core::input::Input;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::{Deadline, Timestamp};
use tidegate_core::tools::catalog::Catalog;

/// The public machine as the simulator sees it. Each method is the [`Runtime`]'s of that name.
pub trait Machine: Clone {
    /// Lets one thing happen.
    fn handle(&mut self, now: Timestamp, input: Input);
    /// Lets time pass.
    fn handle_timeout(&mut self, now: Timestamp);
    /// The oldest order to the driver.
    fn poll_command(&mut self) -> Option<Command>;
    /// The oldest news for the host.
    fn poll_event(&mut self) -> Option<Event>;
    /// When it wants to be woken at the latest.
    fn poll_timeout(&self) -> Option<Deadline>;
    /// What the agent may call.
    fn catalog(&self) -> &Catalog;
    /// The resources of connected servers.
    fn resources(&self) -> &Resources;
    /// The prompts of connected servers.
    fn prompts(&self) -> &Prompts;
    /// What it knows about its servers.
    fn status(&self) -> Status;
    /// Whether it said that nothing more comes.
    fn is_stopped(&self) -> bool;
    /// Equal for machines that behave alike from here on.
    fn fingerprint(&self, now: Timestamp) -> u128;
    /// The phase a server is in, for the explorer's table.
    fn phase_of(&self, server: &ServerName) -> &'static str;
}

impl Machine for Runtime {
    fn handle(&mut self, now: Timestamp, input: Input) {
        Self::handle(self, now, input);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        Self::handle_timeout(self, now);
    }

    fn poll_command(&mut self) -> Option<Command> {
        Self::poll_command(self)
    }

    fn poll_event(&mut self) -> Option<Event> {
        Self::poll_event(self)
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Self::poll_timeout(self)
    }

    fn catalog(&self) -> &Catalog {
        Self::catalog(self)
    }

    fn resources(&self) -> &Resources {
        Self::resources(self)
    }

    fn prompts(&self) -> &Prompts {
        Self::prompts(self)
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn is_stopped(&self) -> bool {
        Self::is_stopped(self)
    }

    fn fingerprint(&self, now: Timestamp) -> u128 {
        Self::fingerprint(self, now)
    }

    fn phase_of(&self, server: &ServerName) -> &'static str {
        Self::phase_of(self, server)
    }
}
