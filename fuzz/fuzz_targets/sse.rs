//! See `tidegate_sim::fuzz::sse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_sim::fuzz::sse(data));
