//! All that can happen to the machine: what the host asks and what the driver reports.
//!
//! Floor 0. [`Input`] is the only door into the runtime besides
//! [`Runtime::handle_timeout`](crate::runtime::Runtime::handle_timeout), so a run *is* a list of
//! (time, input). Requests are imperative, facts are past tense.

mod head;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::bytes::{Bytes, Json};
use crate::error::{AskError, ExchangeError, Exit, OpenError};
use crate::id::{AnswerId, CallId, ConnId, ExchangeId, InquiryId, OpId, ReadId, ServerName};
use crate::inquiry::Reply;

pub use head::HttpHead;

/// One thing that happens to the machine.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The host asks for something.
    Host(Request),
    /// The driver reports something.
    Io(Fact),
}

/// What a host can ask for. Each is answered by exactly one event, named with it.
///
/// Operations are applied in the order in which they are asked for, server by server (G16). One
/// on a server that is not known, or switched off, waits for the configuration if that is being
/// read: nothing else can say what becomes of it.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Request {
    /// Read the configuration and connect everything it names; ends with
    /// [`Event::GateOpened`](crate::event::Event::GateOpened). Servers that are connected or
    /// connecting already are left alone, and so are those that the host disconnected by name;
    /// those that it disconnected all at once are connected again (G14).
    Start {
        /// Returned in the event.
        op: OpId,
    },
    /// Read the configuration again and restart only what changed (F-033); ends with
    /// [`Event::Done`](crate::event::Event::Done) once every server that was (re)started has
    /// settled. Two overlapping reloads end as the second alone.
    Reload {
        /// Returned in the event.
        op: OpId,
    },
    /// Connect one configured server that is disconnected or failed; ends with
    /// [`Event::Done`](crate::event::Event::Done) when it has settled.
    Connect {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
    },
    /// Disconnect one server, its calls ending at once; ends with
    /// [`Event::Done`](crate::event::Event::Done) when its process is gone. It stays disconnected,
    /// also when its definition changes or switches it off and on, until the host asks for it by
    /// name or it is configured again after it was removed (G14).
    Disconnect {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
    },
    /// Disconnect every server; ends with [`Event::Done`](crate::event::Event::Done) when the
    /// last process is gone. The next start connects them again, also those that were off; a reload
    /// does not, and until then a file that changes starts no server, also no new one.
    DisconnectAll {
        /// Returned in the event.
        op: OpId,
    },
    /// Connect one server again; ends with [`Event::Done`](crate::event::Event::Done) when it
    /// has settled. What is on its way already is waited for (all who ask share one attempt);
    /// what waits to be started again is started at once.
    Reconnect {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
        /// The attempt that failed the host, if it was one: if another one took its place, that
        /// one is left alone (G13).
        failed: Option<ConnId>,
    },
    /// Stop one server, wherever it stands, and start it anew; ends with
    /// [`Event::Done`](crate::event::Event::Done) when it has settled.
    Restart {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
    },
    /// Switch one server on for this run, also if its definition switches it off, and connect
    /// it; ends with [`Event::Done`](crate::event::Event::Done) when it has settled.
    Enable {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
    },
    /// Switch one server off until it is enabled or no longer configured: no reload brings it
    /// back (G14). Ends with [`Event::Done`](crate::event::Event::Done) when its process is gone.
    Disable {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
    },
    /// Wait for one server to be connected and change nothing; ends with
    /// [`Event::Done`](crate::event::Event::Done) when it is connected, when nothing is under
    /// way that could connect it (reading the configuration could), or in time.
    AwaitConnected {
        /// Returned in the event.
        op: OpId,
        /// The server.
        server: ServerName,
        /// How long to wait at most, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// Stop waiting for an operation other than `Start`: it ends as aborted, and what it set
    /// going goes on. Nothing happens if it has ended already. Not answered itself.
    StopWaiting {
        /// The operation.
        op: OpId,
    },
    /// Call a tool, or ask for something else a server has; ends with [`Event::CallFinished`](crate::event::Event::CallFinished).
    Call(NewCall),
    /// End a call; its server is told. Nothing happens if it has ended already.
    Cancel {
        /// The call.
        call: CallId,
    },
    /// Answer what a server asked ([`Event::Inquired`](crate::event::Event::Inquired)). Not
    /// answered itself; nothing happens if nobody needs it any more.
    Reply {
        /// What was asked.
        inquiry: InquiryId,
        /// The answer.
        reply: Reply,
    },
    /// Follow changes of every listed resource of each server that has subscriptions, from here
    /// on or no more; off at first. Has no answer: what changes comes as
    /// [`Event::ResourceUpdated`](crate::event::Event::ResourceUpdated).
    Watch {
        /// Whether they are followed.
        on: bool,
    },
    /// Disconnect everything and refuse everything from here on; ends with
    /// [`Event::Stopped`](crate::event::Event::Stopped).
    Shutdown,
}

/// A call to make.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct NewCall {
    /// The host's number for it; must be new.
    pub call: CallId,
    /// What is called.
    pub target: Target,
    /// The arguments, a JSON object; see [`Target`].
    #[serde(with = "crate::bytes::unread")]
    pub arguments: Json,
    /// The limit without progress in milliseconds, if not the server's or the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The limit in milliseconds however much progress there is, if not the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<u64>,
}

/// What is called. All but tools change nothing at their server, so that what was lost on its way
/// is asked once more.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// By the name the catalogue exposes it under: `mcp_github_search`.
    Exposed(String),
    /// By server and the server's own name for it.
    Tool {
        /// The server.
        server: ServerName,
        /// The tool as the server calls it.
        tool: String,
    },
    /// A resource: the answer is the `result` of `resources/read`. There are no arguments.
    Resource {
        /// The server.
        server: ServerName,
        /// Its address.
        uri: String,
    },
    /// A prompt: the answer is the `result` of `prompts/get`. The arguments are the prompt's, each
    /// a text.
    Prompt {
        /// The server.
        server: ServerName,
        /// The prompt as the server calls it.
        prompt: String,
    },
    /// What an argument could be: the answer is the `result` of `completion/complete`. The
    /// arguments are its parameters without `ref`: `argument`, and perhaps `context`.
    Completion {
        /// The server.
        server: ServerName,
        /// Whose argument.
        of: Reference,
    },
}

impl Target {
    /// The server, unless only the catalogue knows it.
    #[must_use]
    pub const fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Exposed(_) => None,
            Self::Tool { server, .. }
            | Self::Resource { server, .. }
            | Self::Prompt { server, .. }
            | Self::Completion { server, .. } => Some(server),
        }
    }
}

/// What has arguments that a server can complete.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// A prompt, by its name.
    Prompt(String),
    /// A resource or a template of resources, by its address.
    Resource(String),
}

/// What the driver can report.
///
/// The driver's half of the contract: per `Open` or `Connect` exactly one `Opened` or
/// `OpenFailed`; after `Opened` exactly one `Closed`, and nothing for that connection after it;
/// per `ReadConfig`, `ListFolder`, `ReadApprovals` and `ReadCache` exactly one answer; per `Ask`
/// exactly one, unless it was told to stop; per `Exchange` at most one `Head`, then any number of `Body`, then
/// exactly one `ExchangeEnded`, which is a success only after a `Head`, unless it was broken off
/// or its attempt was closed.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fact {
    /// A configuration file was read, or was not there.
    ConfigRead {
        /// Which read this answers.
        read: ReadId,
        /// Where the file really is, every symbolic link in its path resolved: what is approved
        /// there is not approved elsewhere. Absent if the driver cannot say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// What was found.
        found: Found,
    },
    /// A folder was listed, or was not there.
    FolderListed {
        /// Which read this answers.
        read: ReadId,
        /// What is in it.
        listed: Listed,
    },
    /// Something about the files of a `Watch` may have changed. May come too often.
    FilesChanged,
    /// The user's approvals were read.
    ApprovalsRead {
        /// Which read this answers.
        read: ReadId,
        /// All of them; none if there are none or they cannot be read.
        approved: BTreeSet<Approval>,
    },
    /// A cache entry was read, or was not there.
    CacheRead {
        /// Which read this answers.
        read: ReadId,
        /// What was found; the age in milliseconds comes with it.
        found: Found,
        /// How long ago the entry was written, in milliseconds by the wall clock; 0 if unknown.
        age_ms: u64,
    },
    /// What was asked is known, or cannot be found out.
    Answered {
        /// What was asked.
        ask: AnswerId,
        /// Whether there is an answer; the driver keeps what it is.
        result: Result<(), AskError>,
    },
    /// The server's process runs, or it is known where a remote server is.
    Opened {
        /// The attempt.
        conn: ConnId,
        /// The process, if it is one.
        pid: Option<u32>,
    },
    /// The server's process could not be started, or a remote server's address cannot be used.
    /// Nothing more comes for this attempt.
    OpenFailed {
        /// The attempt.
        conn: ConnId,
        /// Why not.
        error: OpenError,
    },
    /// The server wrote something.
    Received {
        /// From which attempt.
        conn: ConnId,
        /// What, cut anywhere.
        bytes: Bytes,
    },
    /// The server wrote something to its standard error.
    Complained {
        /// From which attempt.
        conn: ConnId,
        /// What, cut anywhere.
        bytes: Bytes,
    },
    /// The server closed its output, or reading it failed. Its process may still run.
    OutputEnded {
        /// The attempt.
        conn: ConnId,
    },
    /// Writing to the server failed: it closed its input. Its process may still run.
    InputFailed {
        /// The attempt.
        conn: ConnId,
    },
    /// A server began to answer an exchange.
    Head {
        /// The attempt.
        conn: ConnId,
        /// The exchange.
        exchange: ExchangeId,
        /// What it said so far.
        head: HttpHead,
    },
    /// A part of the body of an answer.
    Body {
        /// The attempt.
        conn: ConnId,
        /// The exchange.
        exchange: ExchangeId,
        /// What came, cut anywhere, 64 KiB at most.
        bytes: Bytes,
    },
    /// An exchange is over.
    ExchangeEnded {
        /// The attempt.
        conn: ConnId,
        /// The exchange.
        exchange: ExchangeId,
        /// Whether its answer is complete.
        end: Result<(), ExchangeError>,
    },
    /// The server's process and every process of its group are gone, or after `Kill` every
    /// exchange with a remote server. Nothing more comes.
    Closed {
        /// The attempt.
        conn: ConnId,
        /// How the process ended; `Unknown` where there was none.
        exit: Exit,
    },
}

/// What a read found.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// The whole content.
    Content(Bytes),
    /// There is nothing at that place.
    Nothing,
    /// There is something and it cannot be read; the operating system's words.
    Unreadable(String),
}

/// What is in a folder.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listed {
    /// It has entries, or is empty.
    Names {
        /// The names of files and folders in it, in any order; those that are no Unicode are
        /// left out.
        names: Vec<String>,
        /// How many there are beyond those.
        surplus: u64,
    },
    /// There is no such folder.
    Nothing,
    /// There is something and it cannot be listed; the operating system's words.
    Unreadable(String),
}
