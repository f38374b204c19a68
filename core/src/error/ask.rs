//! Why the driver has no answer to what it was asked to find out.
//!
//! Floor 0.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::Exit;

/// Why there is no answer. Never holds what a command printed to its output.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AskError {
    /// There is nobody to ask: no terminal, or a host that does not pass questions on.
    NobodyToAsk,
    /// Who was asked did not want to answer.
    Declined,
    /// The command failed.
    Failed {
        /// How it ended.
        exit: Exit,
        /// The end of its standard error, the values of the host's variables left out.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        stderr: String,
    },
    /// The command did not end in time.
    TimedOut {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The command printed nothing, or the answer was empty.
    Empty,
    /// The command printed more than can be a value.
    TooLong {
        /// The bound, in bytes.
        limit: u64,
    },
    /// What the command printed is no text, or has a NUL in it.
    NoText,
    /// The command could not be run.
    Other {
        /// The operating system's own words.
        message: String,
    },
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyToAsk => f.write_str("there is nobody to ask: run it on a terminal"),
            Self::Declined => f.write_str("no answer was given"),
            Self::Failed { exit, stderr } if stderr.is_empty() => write!(f, "its command {exit}"),
            Self::Failed { exit, stderr } => write!(f, "its command {exit}: {stderr}"),
            Self::TimedOut { limit_ms } => {
                write!(f, "its command did not end within {limit_ms}ms")
            }
            Self::Empty => f.write_str("the answer is empty"),
            Self::TooLong { limit } => write!(f, "its command printed more than {limit} bytes"),
            Self::NoText => f.write_str("its command printed something that is no text"),
            Self::Other { message } => write!(f, "its command could not be run: {message}"),
        }
    }
}

/// What is missing in a text that was to be filled.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// A variable that is not set.
    Variable {
        /// Its name.
        name: String,
    },
    /// What a command prints.
    Output {
        /// Why it is missing.
        error: AskError,
    },
    /// What a person answers.
    Input {
        /// Which of the file's `inputs`.
        id: String,
        /// Why it is missing.
        error: AskError,
    },
    /// What only the tool that the file belongs to can put there, or what is in a file.
    Foreign,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name } => write!(f, "the variable {name} is not set"),
            Self::Output { error } => write!(f, "{error}"),
            Self::Input { id, error } => write!(f, "the input {id:?} is missing: {error}"),
            Self::Foreign => f.write_str("it holds what is not filled in here"),
        }
    }
}
