//! Many servers, and what the host asks of them.
//!
//! Floor 4. May import floors 0 to 3.

pub mod policy;
pub mod status;
