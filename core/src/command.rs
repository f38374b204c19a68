//! Orders to the driver.
//!
//! Floor 0. Imperative, and each answered by facts as [`Fact`](crate::input::Fact) says. A new
//! variant is a breaking change for drivers.

mod exchange;
mod text;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::canon::Fingerprint;
use crate::id::{AnswerId, ConnId, ExchangeId, ReadId, ServerName};

pub use exchange::{FilledRemote, HttpRequest, Method, Remote, SessionId};
pub use text::{Fill, Text};

/// One order to the driver.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Read a whole configuration file; answered by `ConfigRead`.
    ReadConfig {
        /// Returned in the answer.
        read: ReadId,
        /// The file.
        path: String,
        /// Files longer than this are `Unreadable`.
        bytes_max: u64,
    },
    /// List a folder of configuration files; answered by `FolderListed`.
    ListFolder {
        /// Returned in the answer.
        read: ReadId,
        /// The folder.
        path: String,
        /// So many entries are told at most, the first ones by name.
        entries_max: u64,
    },
    /// Watch these files and, of a folder, what is directly in it, those that do not exist too,
    /// until the end or until other ones are ordered in their place; each change is told by
    /// `FilesChanged`. No change of what is watched before and after such an order is missed.
    Watch {
        /// The files and folders.
        paths: Vec<String>,
    },
    /// Read what the user approved; answered by `ApprovalsRead`. Ordered only if a project
    /// brought along a definition that may not run without.
    ReadApprovals {
        /// Returned in the answer.
        read: ReadId,
    },
    /// Read a cache entry; answered by `CacheRead`.
    ReadCache {
        /// Returned in the answer.
        read: ReadId,
        /// The entry.
        key: CacheKey,
    },
    /// Write a cache entry, atomically and best effort; not answered.
    WriteCache {
        /// The entry.
        key: CacheKey,
        /// Its content.
        content: Bytes,
    },
    /// Drop a cache entry that turned out to be of no use; best effort, not answered.
    DropCache {
        /// The entry.
        key: CacheKey,
    },
    /// Find something out and keep it, never to be logged, until the runtime ends; answered by
    /// `Answered`, which does not say what it is.
    Ask {
        /// What it is to be kept under.
        ask: AnswerId,
        /// What is to be found out.
        what: Question,
    },
    /// An answer is of no use any more: the command that finds it out is killed with its group, and
    /// nothing needs to be answered. What was answered already is forgotten.
    StopAsking {
        /// What it is or was to be kept under.
        ask: AnswerId,
    },
    /// Start a server's process in a group of its own; answered by `Opened` or `OpenFailed`.
    Open {
        /// The attempt.
        conn: ConnId,
        /// Whose, for people and for the process list.
        server: ServerName,
        /// What to run.
        launch: Launch,
    },
    /// Write bytes to a server's input, in order, without blocking anything else.
    Send {
        /// The attempt.
        conn: ConnId,
        /// Whole lines.
        bytes: Bytes,
    },
    /// Close the server's input once what was sent before is written: the polite stop.
    CloseInput {
        /// The attempt.
        conn: ConnId,
    },
    /// Ask the server's process group to end (SIGTERM).
    Terminate {
        /// The attempt.
        conn: ConnId,
    },
    /// End the server's process group (SIGKILL), whatever it does; of a remote server, break off
    /// every exchange and forget what was kept.
    Kill {
        /// The attempt.
        conn: ConnId,
    },
    /// Keep where a remote server is, for the exchanges of this attempt; answered at once and
    /// without asking the server by `Opened`, or by `OpenFailed` if the address or a header can
    /// not be used.
    Connect {
        /// The attempt.
        conn: ConnId,
        /// Whose, for people.
        server: ServerName,
        /// Where it is.
        remote: Remote,
    },
    /// Make one HTTP exchange with the server; answered by `Head`, `Body` and `ExchangeEnded`.
    Exchange {
        /// The attempt.
        conn: ConnId,
        /// The exchange.
        exchange: ExchangeId,
        /// What is asked.
        request: HttpRequest,
    },
    /// Break an exchange off: what it holds is free at once, and no fact comes of it any more.
    Abort {
        /// The attempt.
        conn: ConnId,
        /// The exchange.
        exchange: ExchangeId,
    },
    /// Stop waiting for an attempt that even `Kill` did not end, or whose start was never
    /// reported; no fact comes of it any more. A process that turns out to run later is killed
    /// by the driver at once.
    Abandon {
        /// The attempt.
        conn: ConnId,
    },
}

/// What the driver is asked to find out.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// What a command prints to its standard output, white space around it left out. Run by
    /// `/bin/sh -c` or the platform's like, in the runtime's directory, in a process group of
    /// its own and without input.
    Shell {
        /// The command.
        line: String,
    },
    /// What a person answers.
    Input {
        /// The file that asks. Untrusted text.
        file: String,
        /// Which of the file's `inputs`. Untrusted text.
        id: String,
        /// What the file says it is. Untrusted text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Whether nobody should see it being typed.
        password: bool,
        /// What the answer is if nothing is typed. Untrusted text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        /// What the answer can be, if that is a list. Untrusted text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
    },
}

/// What to run for a stdio server.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Launch {
    /// The program: a name to look up in `PATH`, or a path; `~/` is the home directory.
    pub command: Text,
    /// Its arguments.
    pub args: Vec<Text>,
    /// What is laid over the inherited environment.
    pub env: BTreeMap<String, Text>,
    /// What is taken out of the inherited environment first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_unset: Vec<String>,
    /// A file of lines `NAME=value`, laid under `env`; its place as for `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_file: Option<Text>,
    /// Its working directory; relative to the runtime's, which is also the default (F-018,
    /// F-019); `~` is the home directory.
    pub cwd: Option<Text>,
}

/// A [`Launch`] with every gap filled. Holds secrets: never to be logged.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Filled {
    /// See [`Launch`]; so for all.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is laid over the inherited environment.
    pub env: BTreeMap<String, String>,
    /// What is taken out of the inherited environment first.
    pub env_unset: Vec<String>,
    /// A file of lines `NAME=value`.
    pub env_file: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
}

impl Launch {
    /// Fills every gap with what `find` finds for it: the value of a variable, or an answer.
    #[must_use]
    pub fn filled(&self, find: impl Fn(&Fill) -> Option<String>) -> Filled {
        let fill = |text: &Text| text.filled(&find);
        Filled {
            command: fill(&self.command),
            args: self.args.iter().map(fill).collect(),
            env: self.env.iter().map(|(name, text)| (name.clone(), fill(text))).collect(),
            env_unset: self.env_unset.clone(),
            env_file: self.env_file.as_ref().map(fill),
            cwd: self.cwd.as_ref().map(fill),
        }
    }
}

impl core::fmt::Debug for Filled {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Filled")
    }
}

/// Where a server's tool list is kept: derived from its name, the fingerprint of its
/// unresolved definition, the working directory and the version of the cache (G35).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct CacheKey(Fingerprint);

impl CacheKey {
    /// The key with this fingerprint.
    #[must_use]
    pub const fn new(fingerprint: Fingerprint) -> Self {
        Self(fingerprint)
    }
}

impl core::fmt::Display for CacheKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0)
    }
}
