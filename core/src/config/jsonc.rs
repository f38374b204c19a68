//! JSON with comments and trailing commas → an owned tree with lines.
//!
//! Floor 2. May import floors 0 and 1.
