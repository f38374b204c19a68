//! How the command ends: its exit codes, and errors worded for the person who typed it.

use std::io;
use std::process::ExitCode;

use tidegate_smol::signals::Ending;

/// The exit codes, as the help documents them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: the operation failed.
    Failed,
    /// 2: wrong usage, or a file the user named cannot be read.
    Usage,
    /// What a built-in server of the demo exits with.
    Server(u8),
    /// 129, 130 or 143: ended by a signal, after teardown.
    Signal(Ending),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::Server(status) => Self::from(status),
            Exit::Signal(ending) => Self::from(ending.exit_code()),
        }
    }
}

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It was asked wrongly, or a file the user named cannot be read: exit code 2.
    Usage(String),
    /// It failed: exit code 1.
    Failed(String),
}

impl Trouble {
    /// What to tell the user. Safe for a terminal if its parts were.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Usage(message) | Self::Failed(message) => message,
        }
    }

    /// How the command ends with it.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Failed(_) => Exit::Failed,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
