//! What the tests share: live hosts and their processes.

pub mod live;
pub mod processes;

/// The README's code is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
