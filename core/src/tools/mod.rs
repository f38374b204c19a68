//! Hub state → what the agent may call: pure functions.
//!
//! Floor 5. May import floors 0 to 4.

pub mod catalog;
pub mod content;
pub mod name;
pub mod proxy;
pub mod registry;
pub mod shelf;
