//! Whole stories: any bytes are one.

use tidegate_core::hub::policy::Policy;

use crate::choices::{Bytes, Choices};
use crate::story::{Step, scene};

/// How many steps a story has at most; a longer input is cut.
const STEPS_MAX: usize = 120;

/// Whatever happens, every law holds after every step, and the story converges once the faults
/// are off.
///
/// # Panics
/// With the timeline of the story, if not.
pub fn story(data: &[u8]) {
    let (beginning, steps) = data.split_at(data.len().min(64));
    let mut choices = Bytes::new(beginning);
    let documented = choices.once_in(2);
    let policy = if documented { Policy::documented() } else { Policy::default() };
    let mut world = scene(&mut choices, policy).world();
    let told = steps
        .chunks(4)
        .take(STEPS_MAX)
        .try_for_each(|step| world.apply(Step::choose(&mut Bytes::new(step))))
        .and_then(|()| world.settle());
    if let Err(violation) = told {
        panic!("{violation}");
    }
}
