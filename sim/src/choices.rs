//! Where a story's decisions come from: one generator, several engines.
//!
//! Everything random in the simulator is a call of [`Choices::choose`], so the same generator is
//! driven by fuzz input, by a seed, and by counting through every combination.

use tidegate_core::entropy::Entropy;

/// A source of small decisions.
pub trait Choices {
    /// A number below `n`, or 0 if `n` is 0. By convention 0 is the simplest answer, so that
    /// input that has run out, or was shrunk, means a simpler story.
    fn choose(&mut self, n: u32) -> u32;

    /// One of `options`, the first one being the simplest.
    ///
    /// # Panics
    /// If there are none.
    fn pick<'a, T>(&mut self, options: &'a [T]) -> &'a T
    where
        Self: Sized,
    {
        let n = u32::try_from(options.len()).unwrap_or(u32::MAX);
        &options[self.choose(n) as usize]
    }

    /// Whether something that happens once in `n` times happens; the simplest is that it does
    /// not.
    fn once_in(&mut self, n: u32) -> bool {
        n > 0 && self.choose(n) == n - 1
    }
}

/// Decisions from bytes, one byte each where 256 answers are enough: fuzz input, a corpus, or
/// what proptest shrinks. Bytes that have run out answer 0.
#[derive(Clone, Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Decisions from these bytes, in order.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether every byte has been used.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self) -> u32 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        u32::from(*first)
    }
}

impl Choices for Bytes<'_> {
    fn choose(&mut self, n: u32) -> u32 {
        let number = if n > 256 { self.next() << 8 | self.next() } else { self.next() };
        number.checked_rem(n).unwrap_or(0)
    }
}

/// Decisions from a seed: the same seed, the same story.
#[derive(Clone, Debug)]
pub struct Seeded(Entropy);

impl Seeded {
    /// Decisions from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Entropy::from_bytes(bytes))
    }
}

impl Choices for Seeded {
    fn choose(&mut self, n: u32) -> u32 {
        u32::try_from(self.0.below(u64::from(n))).unwrap_or(0)
    }
}

/// Decisions that count through every combination, the last one fastest.
///
/// ```
/// use tidegate_sim::choices::{Choices, Odometer};
///
/// let mut odometer = Odometer::default();
/// let mut seen = Vec::new();
/// loop {
///     seen.push((odometer.choose(2), odometer.choose(3)));
///     if !odometer.advance() {
///         break;
///     }
/// }
/// assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Odometer {
    digits: Vec<Digit>,
    at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Digit {
    value: u32,
    below: u32,
}

impl Odometer {
    /// Goes to the next combination; `false` after the last one.
    pub fn advance(&mut self) -> bool {
        self.digits.truncate(self.at);
        self.at = 0;
        while let Some(mut digit) = self.digits.pop() {
            digit.value += 1;
            if digit.value < digit.below {
                self.digits.push(digit);
                return true;
            }
        }
        false
    }
}

impl Choices for Odometer {
    fn choose(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        if self.at == self.digits.len() {
            self.digits.push(Digit { value: 0, below: n });
        }
        let digit = self.digits[self.at];
        self.at += 1;
        // A story whose questions depend on anything but earlier answers would go astray here.
        assert_eq!(digit.below, n, "the same answers must lead to the same question");
        digit.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_have_run_out_answer_the_simplest() {
        let mut bytes = Bytes::new(&[7, 1, 2]);
        assert_eq!(bytes.choose(5), 2);
        assert_eq!(bytes.choose(1_000), 258);
        assert!(bytes.is_empty());
        assert_eq!(bytes.choose(9), 0);
        assert!(!bytes.once_in(4));
    }

    #[test]
    fn a_seed_is_a_story() {
        let story = |seed| {
            let mut seeded = Seeded::new(seed);
            (0..20).map(|_| seeded.choose(100)).collect::<Vec<_>>()
        };
        assert_eq!(story(17), story(17));
        assert_ne!(story(17), story(18));
    }

    /// A question that is asked only after some answers still meets every combination.
    #[test]
    fn the_odometer_meets_every_combination_once() {
        let mut odometer = Odometer::default();
        let mut seen = Vec::new();
        loop {
            let first = odometer.choose(3);
            seen.push((first, if first == 1 { odometer.choose(2) } else { 9 }));
            if !odometer.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 9), (1, 0), (1, 1), (2, 9)]);
    }
}
