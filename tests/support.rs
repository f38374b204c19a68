//! What the tests share: live hosts and their processes.

pub mod live;
pub mod processes;
