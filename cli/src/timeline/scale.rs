//! From time and text to pixels.

use std::iter;

use tidegate_core::time::Timestamp;

/// The width of the whole picture, in pixels.
pub(super) const WIDTH: u64 = 1200;
/// Where time begins.
pub(super) const LEFT: u64 = 190;
/// What is free on the right.
const RIGHT: u64 = 40;
/// About how many marks the axis has.
const MARKS: u64 = 8;
/// The width of a letter, about.
const LETTER: u64 = 7;

/// From time to pixels.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// The moment at the right edge; never 0.
    pub(super) end: Timestamp,
    /// The time between two marks of the axis, in milliseconds.
    step_ms: u64,
}

impl Scale {
    /// A scale on which everything fits, with marks at round times.
    pub(super) fn of(end: Timestamp) -> Self {
        let end_ms = end.as_millis().max(1);
        let rough = (end_ms / MARKS).max(1);
        let decade = 10_u64.pow(rough.ilog10());
        let nice = [1, 2, 5, 10].into_iter().map(|n| decade.saturating_mul(n));
        let step_ms = nice.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        Self { end: Timestamp::from_millis(end_ms), step_ms }
    }

    /// The marks of the axis, in milliseconds.
    pub(super) fn marks(self) -> impl Iterator<Item = u64> {
        let fits = move |ms: &u64| *ms <= self.end.as_millis();
        iter::successors(Some(0_u64), move |ms| ms.checked_add(self.step_ms)).take_while(fits)
    }

    /// Where a moment is.
    pub(super) fn x(self, at: Timestamp) -> u64 {
        let room = u128::from(WIDTH - LEFT - RIGHT);
        let x = u128::from(at.as_millis()) * room / u128::from(self.end.as_millis());
        LEFT + u64::try_from(x).unwrap_or(u64::MAX).min(WIDTH - LEFT - RIGHT)
    }
}

/// About how wide a text is, in pixels.
pub(super) fn text_width(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX).saturating_mul(LETTER)
}
