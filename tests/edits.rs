//! Random changes to random files: is the change there, and is everything else as it was?

use proptest::prelude::*;

proptest! {
    // A failure is kept as a file of the fuzz corpus, because a seed means another file when the
    // generator changes.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// G57.
    #[test]
    fn a_change_is_in_the_edited_file_and_nothing_else_is(
        data in proptest::collection::vec(any::<u8>(), 0..160),
    ) {
        tidegate_sim::fuzz::edit(&data);
    }
}
