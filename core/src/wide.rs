//! A hasher with 128 bits for the explorer: so many that states that collide are no worry.
//!
//! Floor 0, private feature `_explore`. Millions of states are hashed, so it takes eight bytes
//! at a time. Its values mean something in one run only and are never stored.

use core::hash::Hasher;

/// Two lanes of folded multiplications.
#[derive(Clone, Debug)]
pub struct Wide(u64, u64);

impl Wide {
    /// Everything that was hashed, as one number.
    #[must_use]
    pub fn value(&self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }

    /// The same as two.
    #[must_use]
    pub const fn halves(&self) -> (u64, u64) {
        (self.0, self.1)
    }
}

impl Default for Wide {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }
}

/// Both halves of a product, one upon the other.
#[expect(clippy::cast_possible_truncation, reason = "each half of the product is meant")]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for Wide {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        // What is left of a word, and how much that is.
        let left = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.write_u64(left << 8 | rest.len() as u64);
        if !words.is_empty() {
            self.write_u64(words.len() as u64);
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = fold(self.0 ^ number, 0xa409_3822_299f_31d1);
        self.1 = fold(self.1.rotate_left(29) ^ number, 0x082e_fa98_ec4e_6c89);
    }

    #[expect(clippy::cast_possible_truncation, reason = "one half after the other")]
    fn write_u128(&mut self, number: u128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.1
    }
}

#[cfg(test)]
mod tests {
    use core::hash::Hash as _;

    use super::*;

    #[test]
    fn each_bit_of_what_is_hashed_changes_both_halves() {
        let of = |number: u64| {
            let mut wide = Wide::default();
            (number, "tail").hash(&mut wide);
            wide.value()
        };
        for bit in 0..64 {
            let change = of(0) ^ of(1 << bit);
            assert!((change >> 64).count_ones() > 10, "bit {bit} of the first lane");
            assert!((change & u128::from(u64::MAX)).count_ones() > 10, "bit {bit} of the second");
        }
    }

    #[test]
    fn where_one_part_ends_matters() {
        let of = |parts: [&str; 2]| {
            let mut wide = Wide::default();
            parts.hash(&mut wide);
            wide.value()
        };
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(of(["a", ""]), of(["", "a"]));
    }
}
