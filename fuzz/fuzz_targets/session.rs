//! See `tidegate_sim::fuzz::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_sim::fuzz::session(data));
