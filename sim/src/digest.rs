//! A hasher with 128 bits: so many that states that collide are no worry.

use std::hash::Hasher;

/// FNV-1a with 128 bits.
#[derive(Clone, Debug)]
pub(crate) struct Wide(u128);

impl Wide {
    pub(crate) const fn value(&self) -> u128 {
        self.0
    }
}

impl Default for Wide {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hasher for Wide {
    fn write(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is as good as the high")]
    fn finish(&self) -> u64 {
        self.0 as u64
    }
}
