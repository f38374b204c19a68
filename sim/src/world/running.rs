//! Letting things happen until something holds: every loop over steps, each with its bound.

use crate::laws::Law;
use crate::machine::Machine;
use crate::violation::Violation;

use super::World;

/// How many steps a run may take to become quiet, or to come to what it waits for.
const STEPS_MAX: usize = 50_000;

impl<M: Machine> World<M> {
    /// Lets everything happen that is due within the next milliseconds.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn run_for(&mut self, ms: u64) -> Result<(), Violation> {
        let until = self.now.plus(ms);
        for _ in 0..STEPS_MAX {
            if self.next_due().is_none_or(|due| due > until) {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.step()?;
        }
        self.never_ends(&format!("{ms}ms have not passed"))
    }

    /// Lets everything happen until nothing is due any more, and checks that nobody waits.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn run_until_quiet(&mut self) -> Result<(), Violation> {
        self.run_until_quiet_with(|_| Ok(()))
    }

    /// The same, with a look at the world after each step.
    ///
    /// # Errors
    /// The law that was broken, or what `look` finds.
    pub fn run_until_quiet_with(
        &mut self,
        look: impl Fn(&Self) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        for _ in 0..STEPS_MAX {
            if !self.step()? {
                return self.quiet();
            }
            look(self)?;
        }
        self.never_ends("not quiet")
    }

    /// A loop that reached its bound.
    fn never_ends(&self, what: &str) -> Result<(), Violation> {
        self.broken(Law::Bounded.broken(format!("{what} after {STEPS_MAX} steps")))
    }

    /// Lets everything happen until a condition holds.
    ///
    /// # Errors
    /// The law that was broken; that the condition never held counts as one.
    pub fn run_until(&mut self, holds: impl Fn(&Self) -> bool) -> Result<(), Violation> {
        for _ in 0..STEPS_MAX {
            if holds(self) {
                return Ok(());
            }
            if !self.step()? {
                return self.broken(Law::Model.broken("what the story waits for never came"));
            }
        }
        self.never_ends("what the story waits for did not come")
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::limits::Limits;

    use super::*;
    use crate::scene::Scene;
    use crate::script::{Fault, Script};
    use crate::world::Effort;

    /// A server whose list never ends says its next page in no time, and so time never passes.
    #[test]
    fn a_loop_that_takes_no_time_ends_at_its_bound_and_is_shown() {
        let mut limits = Limits::default();
        limits.pages = usize::MAX;
        limits.tools_per_server = usize::MAX;
        let endless = Script::default().with(Fault::EndlessPages);
        let scene = Scene::default().server("endless", endless).limits(limits);
        let mut world = scene.world().with_effort(Effort::Light);
        world.start().unwrap();
        let violation = world.run_for(10).unwrap_err();
        assert_eq!(violation.law(), Law::Bounded);
        assert_eq!(violation.how(), format!("10ms have not passed after {STEPS_MAX} steps"));
    }
}
