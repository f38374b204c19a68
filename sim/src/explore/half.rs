//! Hashing what is a hash already.

use std::hash::{BuildHasher, Hasher};

/// Takes half of a fingerprint for its hash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByHalf;

impl BuildHasher for ByHalf {
    type Hasher = Half;

    fn build_hasher(&self) -> Half {
        Half::default()
    }
}

/// The upper half of a fingerprint; the lower one says in which shard it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Half(u64);

impl Hasher for Half {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = (fingerprint >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
