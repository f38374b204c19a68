//! A host of one's own, played against scripted servers.
//!
//! A host that is a value can be tested as the machine is: a [`Play`] lets it hear what happens,
//! passes on what it asks for, and checks its laws beside the machine's after every step. The
//! example `own_host` of this crate is a whole test of one.

use std::collections::VecDeque;

use tidegate_core::event::Event;
use tidegate_core::input::Request;
use tidegate_core::runtime::Runtime;

use crate::laws::{Breach, Law};
use crate::scene::Scene;
use crate::violation::Violation;
use crate::world::World;

/// How many requests a host may make at one moment before it counts as one that never stops.
const ASKED_MAX: usize = 10_000;

/// A host as a value: what it knows, and what it does with news.
pub trait Host {
    /// Something happened; what the host asks for because of it. As with a real driver, the
    /// machine may have gone on since then.
    fn hear(&mut self, event: &Event, machine: &Runtime) -> Vec<Request>;

    /// What must hold whenever the host has heard everything.
    ///
    /// # Errors
    /// The law that does not: [`Law::Own`], with [`Law::demands`].
    fn check(&self, machine: &Runtime) -> Result<(), Breach>;

    /// What must hold once nothing is due any more.
    ///
    /// # Errors
    /// The law that does not.
    fn check_quiet(&self, machine: &Runtime) -> Result<(), Breach> {
        self.check(machine)
    }
}

/// One simulated run of a host and the machine below it.
#[derive(Clone, Debug)]
pub struct Play<H> {
    host: H,
    world: World,
    /// How many of the run's events the host has heard.
    heard: usize,
    asked: VecDeque<Request>,
}

impl<H: Host> Play<H> {
    /// A run that begins with this scene and this host.
    #[must_use]
    pub fn new(scene: Scene, host: H) -> Self {
        Self { host, world: scene.world(), heard: 0, asked: VecDeque::new() }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &H {
        &self.host
    }

    /// The machine and its simulated driver.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The same, for what happens without the host: files change, processes end.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Somebody uses the host; what it asks for because of it.
    ///
    /// # Errors
    /// The law that was broken, the host's or the machine's; so for every method here that lets
    /// something happen.
    pub fn act(
        &mut self,
        act: impl FnOnce(&mut H, &Runtime) -> Vec<Request>,
    ) -> Result<(), Violation> {
        self.asked.extend(act(&mut self.host, self.world.machine()));
        self.settle()
    }

    /// Sleeps exactly until the next thing is due and lets it happen; `false` if nothing is.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn step(&mut self) -> Result<bool, Violation> {
        let happened = self.world.step()?;
        self.settle()?;
        Ok(happened)
    }

    /// Lets everything happen that is due within the next milliseconds.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn run_for(&mut self, ms: u64) -> Result<(), Violation> {
        let until = self.world.now().plus(ms);
        while self.world.next_due().is_some_and(|due| due <= until) {
            self.step()?;
        }
        let left = until.since(self.world.now());
        self.world.run_for(left)
    }

    /// Lets everything happen until nothing is due any more, and checks that nobody waits.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn run_until_quiet(&mut self) -> Result<(), Violation> {
        while self.step()? {}
        self.world.quiet()?;
        let checked = self.host.check_quiet(self.world.machine());
        self.world.broken(checked)
    }

    /// Comes to rest, asks for the end, and checks that it comes, that nothing is left, and that
    /// the run comes out the same when it is told again. What is left is a run to look at.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn finish(mut self) -> Result<Self, Violation> {
        self.run_until_quiet()?;
        self.world.finish()?;
        self.settle()?;
        self.world.tell_again()?;
        Ok(self)
    }

    fn settle(&mut self) -> Result<(), Violation> {
        for _ in 0..ASKED_MAX {
            while let Some(event) = self.world.events().get(self.heard) {
                self.heard += 1;
                self.asked.extend(self.host.hear(event, self.world.machine()));
            }
            let checked = self.host.check(self.world.machine());
            self.world.broken(checked)?;
            let Some(request) = self.asked.pop_front() else { return Ok(()) };
            self.world.request(request)?;
        }
        let asked = Law::Own("bounded").broken("the host never stops asking");
        self.world.broken(asked)
    }
}
