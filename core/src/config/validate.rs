//! What makes an entry usable: the documented runtime's checks and words.
//!
//! Floor 2. May import floors 0 and 1.
