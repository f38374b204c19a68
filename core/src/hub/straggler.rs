//! The one that was last seen to hold up many.
//!
//! Floor 4. Whoever waits until none of thousands of servers is on its way asks after each that
//! settles. The one that held it up the last time is looked at first, so that all questions
//! together cost no more than a walk past every server.

/// The place in a list of the one that was last seen to hold it up.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Straggler(usize);

impl Straggler {
    /// Whether one of so many places holds the whole up.
    pub(super) fn find(&mut self, places: usize, holds_up: impl Fn(usize) -> bool) -> bool {
        let found = (self.0..places).chain(0..self.0).find(|at| holds_up(*at));
        self.0 = found.unwrap_or(0);
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn in_whatever_order_they_settle_each_is_looked_at_a_few_times() {
        let places = 1_000;
        let (mut settled, looks) = ([false; 1_000], Cell::new(0));
        let mut straggler = Straggler::default();
        for step in 0..places {
            assert!(straggler.find(places, |at| {
                looks.set(looks.get() + 1);
                !settled[at]
            }));
            settled[step * 7 % places] = true;
        }
        assert!(!straggler.find(places, |at| !settled[at]));
        assert!(looks.get() < 4 * places, "{}", looks.get());
    }

    #[test]
    fn whoever_holds_up_again_is_found() {
        let mut straggler = Straggler::default();
        assert!(straggler.find(3, |at| at == 2));
        assert!(straggler.find(3, |at| at == 0));
        assert!(!straggler.find(3, |_| false));
        assert!(!straggler.find(0, |_| true));
    }
}
