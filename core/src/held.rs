//! A value that copies of a machine share until one of them changes it.
//!
//! Floor 0. The simulator copies machines by the million, and what happens to one server leaves
//! the others alone.

use alloc::sync::Arc;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// A value that is copied when it is changed and somebody else has it too.
#[derive(Default)]
pub struct Held<T>(Arc<Kept<T>>);

#[derive(Clone, Default)]
struct Kept<T> {
    value: T,
    #[cfg(feature = "_explore")]
    hash: explore::Remembered,
}

impl<T> Held<T> {
    /// Nobody else has it yet.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Arc::new(Kept {
            value,
            #[cfg(feature = "_explore")]
            hash: explore::Remembered::default(),
        }))
    }
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        let kept = Arc::make_mut(&mut self.0);
        #[cfg(feature = "_explore")]
        kept.hash.forget();
        &mut kept.value
    }
}

impl<T: PartialEq> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for Held<T> {}

#[cfg(not(feature = "_explore"))]
impl<T: core::hash::Hash> core::hash::Hash for Held<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.0.value.hash(state);
    }
}

#[cfg(feature = "_explore")]
mod explore {
    use core::hash::{Hash, Hasher};
    use core::sync::atomic::{AtomicU64, Ordering};

    use super::Held;
    use crate::wide::Wide;

    /// The hash of a value, once it was asked for. Zero in a half is unknown.
    #[derive(Default)]
    pub(super) struct Remembered(AtomicU64, AtomicU64);

    impl Remembered {
        pub(super) fn forget(&mut self) {
            *self = Self::default();
        }
    }

    impl Clone for Remembered {
        fn clone(&self) -> Self {
            Self::default()
        }
    }

    /// The hash of what is held, which all copies of it reckon once.
    impl<T: Hash> Hash for Held<T> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            let Remembered(high, low) = &self.0.hash;
            let known = (high.load(Ordering::Relaxed), low.load(Ordering::Relaxed));
            let (known_high, known_low) = known;
            if known_high != 0 && known_low != 0 {
                return known.hash(state);
            }
            let mut wide = Wide::default();
            self.0.value.hash(&mut wide);
            // Whoever reckons it at the same time comes to the same.
            let halves = wide.halves();
            high.store(halves.0, Ordering::Relaxed);
            low.store(halves.1, Ordering::Relaxed);
            halves.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_changes_it_has_its_own() {
        let mut one = Held::new([1, 2]);
        let two = one.clone();
        one[0] = 7;
        assert_eq!((*one, *two), ([7, 2], [1, 2]));
    }

    #[cfg(feature = "_explore")]
    #[test]
    fn what_changed_hashes_as_what_it_became() {
        use core::hash::Hash as _;
        let hash = |held: &Held<[i32; 2]>| {
            let mut wide = crate::wide::Wide::default();
            held.hash(&mut wide);
            wide.value()
        };
        let mut one = Held::new([1, 2]);
        let (two, before) = (one.clone(), hash(&one));
        one[0] = 7;
        assert_eq!((hash(&one), hash(&two)), (hash(&Held::new([7, 2])), before));
        assert_ne!(hash(&one), before);
    }
}
