//! A value that copies of a machine share until one of them changes it.
//!
//! Floor 0. The simulator copies machines by the million, and what happens to one server leaves
//! the others alone.

use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};

/// A value that is copied when it is changed and somebody else has it too.
#[derive(Clone, Debug, Default)]
pub struct Held<T>(Arc<T>);

impl<T> Held<T> {
    /// Nobody else has it yet.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
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
}
