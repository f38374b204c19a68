//! One server. Floor 3.
