//! Randomness as a value: 32 bytes that come in with the options.
//!
//! Floor 0. The same bytes give the same numbers in every run, so that a recorded run replays
//! (G79). Used to spread out retries; nothing secret is ever made from it.

use serde::{Deserialize, Serialize};

/// A seeded generator (`SplitMix64`, public domain, Steele et al. 2014).
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Entropy(u64);

impl Entropy {
    /// A generator from 32 bytes of entropy.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut state = 0_u64;
        for chunk in bytes.chunks_exact(8) {
            let mut word = [0_u8; 8];
            word.copy_from_slice(chunk);
            state = Self(state ^ u64::from_le_bytes(word)).next();
        }
        Self(state)
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_give_equal_numbers_and_each_byte_matters() {
        let mut seen = alloc::collections::BTreeSet::new();
        for at in 0..32 {
            let mut bytes = [0_u8; 32];
            bytes[at] = 1;
            let first = Entropy::from_bytes(bytes).next();
            assert_eq!(first, Entropy::from_bytes(bytes).next());
            assert!(seen.insert(first), "byte {at} does not matter");
        }
    }

    #[test]
    fn a_bound_of_nothing_is_nothing() {
        let mut entropy = Entropy::from_bytes([7; 32]);
        assert_eq!(entropy.below(0), 0);
        assert!((0..1_000).all(|_| entropy.below(10) < 10));
    }
}
