//! How much a server is to log.
//!
//! Floor 1. May import floor 0.

use core::fmt;

use serde::{Deserialize, Serialize};

/// From which level on a server is to tell what it logs (C-LOG-01).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// What helps to find a fault.
    Debug,
    /// What happens.
    Info,
    /// What happens and matters.
    Notice,
    /// What may go wrong.
    Warning,
    /// What went wrong.
    Error,
    /// What went wrong and stops a part of it.
    Critical,
    /// What has to be seen to at once.
    Alert,
    /// What stops all of it.
    Emergency,
}

impl LogLevel {
    /// The spelling on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
