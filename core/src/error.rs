//! What can go wrong, as values: typed where it arises, worded for the person who must act.
//!
//! Floor 0. Errors are sorted by who must act: the user's configuration ([`Problem`]), a server
//! ([`Failure`]), one call ([`CallError`]). Nothing is ever decided by the text of an error.

mod ask;
mod call;
mod exchange;
mod http;
mod open;

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::id::ServerName;
use crate::quote::{QUOTED_CHARS_MAX, Quoted};

pub use ask::{AskError, Missing};
pub use call::{CallError, Feature};
pub use exchange::{ConnectStep, ExchangeError, ExchangeFault, Sent};
pub use http::HttpFailure;
pub use open::{OpenError, WhosePath};

/// How a process ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// Nobody knows.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with status {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("ended"),
        }
    }
}

/// A JSON-RPC error a server answered with.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct RpcError {
    /// The code, as received.
    pub code: i64,
    /// The message, as received; in a [`Failure`], no longer than
    /// [`QUOTED_CHARS_MAX`].
    pub message: String,
    /// `data`, as received, if there was any; in a [`Failure`], only if it is as short as that.
    #[serde(
        default,
        deserialize_with = "crate::bytes::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<crate::bytes::Json>,
}

impl RpcError {
    /// The same with no more of the server's text than a message quotes, for what is kept longer
    /// than one call.
    pub(crate) fn quoted(self) -> Self {
        let message = Quoted(&self.message).to_string();
        let data = self.data.filter(|data| data.as_str().len() <= QUOTED_CHARS_MAX);
        Self { message, data, ..self }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP error {}: {}", self.code, self.message)
    }
}

/// How far a server had come when it failed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Its definition was read and could not be used.
    Config,
    /// What its definition leaves to be asked was being found out.
    Resolve,
    /// Its process was being started.
    Spawn,
    /// It had been asked to `initialize`.
    Initialize,
    /// It had been asked `server/discover`, which takes the place of that where there is no
    /// handshake.
    Discover,
    /// It had been asked for its tools.
    ListTools,
    /// It was ready.
    Ready,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Config => "config",
            Self::Resolve => "resolve",
            Self::Spawn => "spawn",
            Self::Initialize => "initialize",
            Self::Discover => "server/discover",
            Self::ListTools => "tools/list",
            Self::Ready => "ready",
        })
    }
}

/// Why a server failed.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// Its definition is not valid.
    Invalid {
        /// All that is wrong, joined with `; `.
        message: String,
    },
    /// Something that its definition needs to be started cannot be filled in.
    Unresolved {
        /// Where it is needed: `command`, `args.1`, `cwd`.
        field: String,
        /// What is missing.
        missing: Missing,
    },
    /// It could not be started.
    Open {
        /// Why not.
        error: OpenError,
    },
    /// It did not answer in time.
    TimedOut {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// It answered with an error.
    Refused {
        /// The error.
        error: RpcError,
    },
    /// It shook no hands, and does not do without a handshake either.
    NeitherEra {
        /// Why there was no handshake.
        initialize: Box<Self>,
        /// What it answered to `server/discover`.
        discover: Box<RpcError>,
    },
    /// It speaks no revision of the protocol that we speak.
    Revision {
        /// What it offered.
        offered: String,
    },
    /// It answered, and the answer is not what the protocol says.
    Shape {
        /// Which member is wrong and how.
        message: String,
    },
    /// It ended.
    Exited {
        /// How.
        exit: Exit,
    },
    /// It closed its output while its process went on.
    OutputClosed,
    /// It closed its input while its process went on.
    InputClosed,
    /// What was asked of it over HTTP came to nothing.
    Http {
        /// Why.
        failure: HttpFailure,
    },
    /// It exceeded one of the [`Limits`](crate::limits::Limits).
    Limit {
        /// What was too much.
        what: Excess,
        /// The bound: bytes for a message, else a count.
        limit: u64,
    },
    /// It repeated a page cursor, so that its list would never end (G37).
    RepeatedCursor,
    /// It was still starting when the startup as a whole had to end.
    StartupDeadline {
        /// The deadline, in milliseconds.
        limit_ms: u64,
    },
}

/// What of a server was too much.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// A message that no call could be charged with.
    Message,
    /// The pages of one of its lists.
    Pages,
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// Its resource templates.
    Templates,
    /// Its prompts.
    Prompts,
}

impl Excess {
    /// What a server did, the bound, and the field of [`Limits`](crate::limits::Limits) to raise.
    pub(crate) fn describe(self, limit: u64) -> String {
        let (did, bound) = match self {
            Self::Message => ("sent a message of too many bytes", "message_bytes"),
            Self::Pages => ("has a list of too many pages", "pages"),
            Self::Tools => ("has too many tools", "tools_per_server"),
            Self::Resources => ("has too many resources", "resources_per_server"),
            Self::Templates => ("has too many resource templates", "resources_per_server"),
            Self::Prompts => ("has too many prompts", "prompts_per_server"),
        };
        alloc::format!("{did}: the bound is {limit}; raise Limits::{bound} to allow more")
    }
}

/// A server's failure: what, where, after how long, and the last it said.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Failure {
    /// How far it had come.
    pub stage: Stage,
    /// What went wrong.
    pub cause: Cause,
    /// Milliseconds from its start to the failure.
    pub after_ms: u64,
    /// The end of its standard error; empty if it said nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
}

impl Failure {
    /// The failure in one line for a person, without the standard error.
    #[must_use]
    pub fn describe(&self, server: &ServerName) -> String {
        self.cause.describe(self.stage, server)
    }
}

impl Cause {
    fn describe(&self, stage: Stage, server: &ServerName) -> String {
        match self {
            Self::Invalid { message } => message.clone(),
            Self::Unresolved { field, missing } => {
                alloc::format!("Server \"{server}\": \"{field}\" cannot be filled in: {missing}")
            }
            Self::Open { error } => alloc::format!("Server \"{server}\": {error}"),
            // The documented runtime's words, with the stage added (F-003).
            Self::TimedOut { limit_ms } => alloc::format!(
                "Connection to MCP server \"{server}\" timed out after {limit_ms}ms ({stage})"
            ),
            Self::Refused { error } => {
                alloc::format!("Server \"{server}\" refused {stage}: {error}")
            }
            Self::NeitherEra { initialize, discover } => {
                let initialize = initialize.describe(Stage::Initialize, server);
                alloc::format!("{initialize}; and to server/discover it answers: {discover}")
            }
            Self::Revision { offered } => alloc::format!(
                "Server \"{server}\" speaks protocol revision {offered:?}, which is not supported"
            ),
            Self::Shape { message } => {
                alloc::format!("Server \"{server}\" answered {stage} wrongly: {message}")
            }
            Self::Exited { exit } => alloc::format!("Server \"{server}\" {exit} ({stage})"),
            Self::OutputClosed => {
                alloc::format!("Server \"{server}\" closed its output ({stage})")
            }
            Self::InputClosed => alloc::format!("Server \"{server}\" closed its input ({stage})"),
            Self::Http { failure } => {
                alloc::format!("Server \"{server}\" failed ({stage}): {failure}")
            }
            Self::Limit { what, limit } => {
                alloc::format!("Server \"{server}\" {} ({stage})", what.describe(*limit))
            }
            Self::RepeatedCursor => alloc::format!(
                "Server \"{server}\" repeated a page cursor in {stage}: its list never ends"
            ),
            Self::StartupDeadline { limit_ms } => alloc::format!(
                "Server \"{server}\" was still starting after {limit_ms}ms ({stage}); it goes on in the background"
            ),
        }
    }
}

/// How grave a [`Problem`] is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something configured is not used.
    Error,
    /// Something is used differently from how it is written.
    Warning,
    /// Worth knowing.
    Info,
}

/// What kind of [`Problem`] it is: stable names for programs.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Category {
    /// There are configuration files and none of them can be read: nothing is known.
    DiscoveryFailed,
    /// A file the user named cannot be read.
    UnreadableFile,
    /// A file is larger than [`Limits::config_bytes`](crate::limits::Limits::config_bytes).
    FileTooLarge,
    /// Bytes that are not UTF-8.
    EncodingInvalid,
    /// A byte order mark, which is skipped.
    EncodingBom,
    /// UTF-16, which few programs read.
    EncodingUtf16,
    /// Nothing but white space and comments.
    EmptyFile,
    /// The text is not JSON with comments.
    SyntaxError,
    /// The text is beyond the syntax of its file and still has only one meaning.
    LenientSyntax,
    /// Nested deeper than can be read.
    DepthLimit,
    /// Aliases that stand for more than can be kept.
    ExpansionLimit,
    /// The same key twice in one object; the last one counts.
    DuplicateKey,
    /// The file is not an object.
    WrongRootType,
    /// `mcpServers` is not an object.
    WrongSectionType,
    /// There is no `mcpServers`.
    MissingSection,
    /// There is no `mcpServers`; what another program would read is used instead.
    ForeignSection,
    /// An entry that is not an object.
    InvalidEntry,
    /// A name that cannot be a server's.
    InvalidName,
    /// A member of the wrong type.
    InvalidField,
    /// A value of another type that has only one meaning here, and is read as that.
    CoercedValue,
    /// A member nobody reads.
    UnknownField,
    /// A value with a variable in it that is passed on as it stands.
    UnexpandedVariable,
    /// A value with a variable in it that is not set.
    UnresolvedVariable,
    /// A value that a person has to be asked for.
    NeedsInput,
    /// A value that a command prints.
    NeedsCommand,
    /// A value that is in a file.
    NeedsFile,
    /// An entry that is an extension of its tool and no MCP server.
    NotMcpProcess,
    /// An address without a type, which the tool of the file would refuse.
    ImpliedTransport,
    /// A definition that the settings leave out.
    Filtered,
    /// A server that the organisation forbids, or that the file of its rules is not understood.
    Forbidden,
    /// A value that was left out because what stands in it for something else is missing.
    LeftOut,
    /// Neither command nor URL.
    MissingEndpoint,
    /// Both command and URL.
    ConflictingEndpoint,
    /// A transport without the endpoint it needs.
    TransportMismatch,
    /// An address that is none.
    InvalidUrl,
    /// An address whose traffic others can read.
    InsecureUrl,
    /// A transport nobody knows.
    UnknownTransport,
    /// A transport this version does not speak.
    UnsupportedTransport,
    /// A definition that a stronger one of the same name hides.
    Shadowed,
    /// More files in a folder than [`Limits::folder_entries`](crate::limits::Limits::folder_entries).
    TooManyFiles,
    /// More servers than [`Limits::servers`](crate::limits::Limits::servers).
    TooManyServers,
    /// Two tools would have the same name; one was renamed.
    ToolNameCollision,
    /// Tools that the definition of their server leaves out.
    ExcludedTools,
    /// A tool that cannot be offered.
    InvalidTool,
    /// A resource, or a template of resources, that cannot be offered.
    InvalidResource,
    /// A prompt that cannot be offered.
    InvalidPrompt,
    /// A list that was to be read anew and could not be; the earlier one stays.
    StaleList,
    /// A resource whose changes cannot be followed.
    NotSubscribed,
    /// A cached tool list that cannot be used.
    InvalidCache,
    /// The server's output held something that is not a message.
    ProtocolViolation,
    /// More problems than [`Limits::problems`](crate::limits::Limits::problems).
    TooManyProblems,
    /// Something of the driver's own does not work: its guard, its trace file.
    Driver,
}

impl Category {
    /// Whether it is about a whole file, of which nothing could be read.
    #[must_use]
    pub const fn is_of_whole_file(self) -> bool {
        matches!(
            self,
            Self::UnreadableFile
                | Self::FileTooLarge
                | Self::EncodingInvalid
                | Self::SyntaxError
                | Self::DepthLimit
                | Self::WrongRootType
        )
    }
}

/// Something a person may want to mend: in which file, at which line, about which server.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Problem {
    /// How grave it is.
    pub severity: Severity,
    /// What kind it is.
    pub category: Category,
    /// The file, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, in characters from 1, if it is that of an error of the syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The path of keys in that file, joined with dots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The server, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerName>,
    /// What is wrong and what to do, in one line without secrets.
    pub message: String,
}

impl Problem {
    /// A warning about a server that stands in no file.
    #[must_use]
    pub fn of_server(server: &ServerName, category: Category, message: String) -> Self {
        Self {
            severity: Severity::Warning,
            category,
            file: None,
            line: None,
            column: None,
            key: None,
            server: Some(server.clone()),
            message,
        }
    }
}

#[cfg(test)]
mod tests;
