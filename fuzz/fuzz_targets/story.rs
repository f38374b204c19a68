//! See `tidegate_sim::fuzz::story`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_sim::fuzz::story(data));
