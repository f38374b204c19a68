//! Whether anything that happens by itself leads back to where it came from.
//!
//! A story that can run in a circle never ends. Breadth first, a way back is not seen when it is
//! found, so the steps that take nothing from the budget are kept, and at the end those are
//! dropped that begin or end where no other ends or begins, until none is left or a circle is.

/// The number of a world, up to what may still happen in it.
pub(super) type Place = u32;

/// The steps that happened by themselves.
#[derive(Debug)]
pub(super) struct Circles {
    /// The first way to each place.
    first: Vec<u32>,
    steps: Vec<(Place, Place)>,
}

impl Circles {
    pub(super) fn new() -> Self {
        Self { first: vec![0], steps: Vec::new() }
    }

    /// The number of a new place, which this world was the first to be at.
    pub(super) fn place(&mut self, world: u32) -> Place {
        self.first.push(world);
        u32::try_from(self.first.len() - 1).unwrap_or(Place::MAX)
    }

    pub(super) fn step(&mut self, from: Place, to: Place) {
        self.steps.push((from, to));
    }

    /// The first world from which a circle can be walked, if there is one.
    pub(super) fn find(&mut self) -> Option<u32> {
        let mut count = usize::MAX;
        while self.steps.len() < count {
            count = self.steps.len();
            let (mut begins, mut ends) =
                (vec![false; self.first.len()], vec![false; self.first.len()]);
            for (from, to) in &self.steps {
                begins[*from as usize] = true;
                ends[*to as usize] = true;
            }
            self.steps.retain(|(from, to)| ends[*from as usize] && begins[*to as usize]);
        }
        let first = self.steps.iter().map(|(from, _)| *from).min()?;
        self.first.get(first as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(steps: &[(Place, Place)]) -> Option<u32> {
        let mut circles = Circles::new();
        for place in 1..10 {
            assert_eq!(circles.place(place * 100), place);
        }
        steps.iter().for_each(|(from, to)| circles.step(*from, *to));
        circles.find()
    }

    #[test]
    fn only_a_way_back_is_a_circle() {
        assert_eq!(walked(&[]), None);
        assert_eq!(walked(&[(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]), None);
        assert_eq!(walked(&[(0, 1), (1, 2), (2, 3), (3, 2), (3, 4)]), Some(200));
        assert_eq!(walked(&[(0, 5), (5, 5)]), Some(500));
    }
}
