//! Values that copies of a world share and that are hashed when they change, not when asked.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use tidegate_core::wide::Wide;

/// A value behind a shared pointer, with its hash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Hashed<T> {
    value: Arc<T>,
    hash: u128,
}

impl<T: Clone + Hash> Hashed<T> {
    pub(crate) fn new(value: T) -> Self {
        let mut hasher = Wide::default();
        value.hash(&mut hasher);
        Self { value: Arc::new(value), hash: hasher.value() }
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut T)) {
        let mut value = (*self.value).clone();
        change(&mut value);
        *self = Self::new(value);
    }
}

impl<T: Clone + Default + Hash> Default for Hashed<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for Hashed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Hashed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.hash);
    }
}
