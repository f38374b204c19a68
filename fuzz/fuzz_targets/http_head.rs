//! See `tidegate_sim::fuzz::http_head`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_sim::fuzz::http_head(data));
