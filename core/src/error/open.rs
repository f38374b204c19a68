//! Why a server could not be started at all.
//!
//! Floor 0.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// Why a server could not be started at all. Reported by the driver.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpenError {
    /// No such program in the `PATH` that was searched: the entry's own `env.PATH` if it has
    /// one, else the host's (F-016).
    CommandNotFound {
        /// The command as configured.
        command: String,
        /// Where it was looked for: a `PATH`, the directory that a relative path starts from, or
        /// empty for an absolute path.
        searched: String,
        /// What that is.
        #[serde(default)]
        whose: WhosePath,
    },
    /// The program is there and must not be run.
    NotExecutable {
        /// The command as configured.
        command: String,
    },
    /// The working directory does not exist (F-018).
    NoDirectory {
        /// The directory, after `~` and relative paths were resolved.
        cwd: String,
    },
    /// This driver does not speak the server's transport.
    Unsupported {
        /// The transport: `http`.
        transport: String,
    },
    /// Its address is none that requests can be sent to.
    InvalidAddress {
        /// What is wrong with it, without the address, which may hold a secret.
        message: String,
    },
    /// One of its headers cannot be sent.
    InvalidHeader {
        /// The name of the header.
        name: String,
    },
    /// The operating system refused for another reason.
    Other {
        /// The operating system's own words.
        message: String,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandNotFound { command, searched, whose } => {
                write!(f, "command {command:?} not found")?;
                // As a driver on a POSIX system splits it.
                let count = searched.split(':').count();
                let noun = if count == 1 { "directory" } else { "directories" };
                match whose {
                    _ if searched.is_empty() => {}
                    WhosePath::Host => write!(f, " in the {count} {noun} of PATH")?,
                    WhosePath::Entry => {
                        write!(f, " in the {count} {noun} of env.PATH in its definition")?;
                    }
                    WhosePath::Directory => write!(
                        f,
                        " from {searched}: a relative path starts at \"cwd\", or else at the \
                         project"
                    )?,
                }
                // F-023: a whole command line in `command`.
                if command.trim().contains(char::is_whitespace) {
                    f.write_str("; put the words after the first one into \"args\"")?;
                }
                Ok(())
            }
            Self::NotExecutable { command } => write!(f, "command {command:?} is not executable"),
            Self::NoDirectory { cwd } => write!(f, "working directory {cwd:?} does not exist"),
            Self::Unsupported { transport } => {
                write!(f, "the transport {transport:?} is not spoken here")
            }
            Self::InvalidAddress { message } => write!(f, "its address cannot be used: {message}"),
            Self::InvalidHeader { name } => {
                write!(f, "the header {name:?} is none that can be sent")
            }
            Self::Other { message } => f.write_str(message),
        }
    }
}

/// What was searched for a command.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhosePath {
    /// The host's `PATH`, or the system's default if it has none.
    #[default]
    Host,
    /// That of the entry's own `env`, which takes the place of the host's.
    Entry,
    /// No `PATH` but one directory: the command is a relative path.
    Directory,
}
