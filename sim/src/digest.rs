//! What tells one world from another: numbers count from the newest of their kind.

use std::hash::{Hash, Hasher};

use tidegate_core::id::CallId;
use tidegate_core::time::Timestamp;
pub(crate) use tidegate_core::wide::Wide;

/// What times and numbers are taken relative to, so that the same situation a second and a call
/// later is the same situation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present {
    pub(crate) now: Timestamp,
    /// How many calls were made.
    pub(crate) calls: u64,
}

impl Present {
    /// How many calls were made since this one.
    pub(crate) fn age(self, call: CallId) -> u64 {
        self.calls.saturating_sub(call.number())
    }

    /// Feeds a line of the protocol to a hasher, its request counted from the `newest` of its
    /// connection and the call it is about from the newest of all.
    pub(crate) fn digest_line(self, line: &[u8], newest: u64, state: &mut impl Hasher) {
        let mut rest = line;
        for (key, newest) in [(&b"\"id\":"[..], newest), (&b"{\"n\":"[..], self.calls)] {
            let at = rest.windows(key.len()).position(|at| at.first() == key.first() && at == key);
            let Some(at) = at.map(|at| at + key.len()) else { continue };
            let (before, after) = rest.split_at(at);
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
            let (number, length) = digits.fold((0_u64, 0), |(number, length), digit| {
                let digit = u64::from(digit - b'0');
                (number.wrapping_mul(10).wrapping_add(digit), length + 1)
            });
            before.hash(state);
            if length > 0 {
                newest.wrapping_sub(number).hash(state);
            }
            rest = &after[length..];
        }
        rest.hash(state);
    }
}

/// Feeds things of which no two are alike to a hasher, in whatever order they come.
pub(crate) fn hash_in_any_order<T>(
    things: impl Iterator<Item = T>,
    state: &mut impl Hasher,
    digest: impl Fn(T, &mut Wide),
) {
    let (mut count, mut sum) = (0_usize, 0_u128);
    for thing in things {
        let mut wide = Wide::default();
        digest(thing, &mut wide);
        (count, sum) = (count + 1, sum.wrapping_add(wide.value()));
    }
    (count, sum).hash(state);
}
