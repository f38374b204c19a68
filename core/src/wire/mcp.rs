//! The MCP messages of the revisions with a handshake.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bytes::Json;
use crate::error::RpcError;
use crate::wire::dialect::Revision;
use crate::wire::rpc::Id;

/// `initialize`
pub const INITIALIZE: &str = "initialize";
/// `notifications/initialized`
pub const INITIALIZED: &str = "notifications/initialized";
/// `ping`
pub const PING: &str = "ping";
/// `tools/list`
pub const TOOLS_LIST: &str = "tools/list";
/// `tools/call`
pub const TOOLS_CALL: &str = "tools/call";
/// `notifications/tools/list_changed`
pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
/// `notifications/cancelled`
pub const CANCELLED: &str = "notifications/cancelled";
/// `notifications/progress`
pub const PROGRESS: &str = "notifications/progress";
/// `notifications/message`: a log entry.
pub const LOG: &str = "notifications/message";
/// `roots/list`
pub const ROOTS_LIST: &str = "roots/list";

/// The peer does not know the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The peer knows the method and not what to do with the parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// The peer failed by itself.
pub const INTERNAL_ERROR: i64 = -32603;

/// Valid JSON that is not what the protocol says.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Shape {
    /// Which member is wrong and how: `tools[3].name is missing`.
    pub message: String,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a server says about itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Initialized {
    /// The revision it chose, as it spells it.
    pub revision: String,
    /// Whether it has tools.
    pub tools: bool,
    /// Whether it tells when its tools change.
    pub tools_list_changed: bool,
    /// Whether it can send log entries.
    pub logging: bool,
    /// Its name and version, if it gave them.
    pub server_info: Option<String>,
    /// What it wants the model to know.
    pub instructions: Option<String>,
}

/// One tool, as its server describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ToolDef {
    /// Its name; never empty.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Its `inputSchema`, byte for byte.
    pub input_schema: Json,
    /// The whole entry, byte for byte.
    pub raw: Json,
    /// Whether it can be offered, or why not (C-TOOL-12, F-055).
    pub usable: Result<(), String>,
}

/// One page of a server's tools.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ToolsPage {
    /// The tools, in the server's order.
    pub tools: Vec<ToolDef>,
    /// The entries that are none: they were left out (G33).
    pub bad: Vec<Shape>,
    /// Where the next page starts; `None` at the end. An empty text is a cursor (C-PAGE-03).
    pub next_cursor: Option<String>,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The token that was sent with the call.
    pub token: Id,
    /// How far it is.
    pub value: f64,
}

/// The parameters of `initialize`.
#[must_use]
pub fn initialize_params(_revision: Revision, _client_name: &str, _client_version: &str) -> String {
    todo!()
}

/// Reads the result of `initialize`.
///
/// # Errors
/// If it is not an object with a `protocolVersion`.
pub fn read_initialize(_result: &str) -> Result<Initialized, Shape> {
    todo!()
}

/// The revisions a server offers when it refuses `initialize` (C-VER-24); empty if it does not
/// say.
#[must_use]
pub fn supported_revisions(_error: &RpcError) -> Vec<String> {
    todo!()
}

/// The parameters of a list request.
#[must_use]
pub fn list_params(_cursor: Option<&str>) -> String {
    todo!()
}

/// Reads one page of tools.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_tools_page(_result: &str) -> Result<ToolsPage, Shape> {
    todo!()
}

/// The line of a tool call, with the request's id as its progress token (F-065). `arguments` is
/// an object.
#[must_use]
pub fn call_request(_id: u64, _tool: &str, _arguments: &Json) -> Vec<u8> {
    todo!()
}

/// The line that tells the server that nobody waits for request `id` any more.
#[must_use]
pub fn cancelled(_id: u64, _reason: &str) -> Vec<u8> {
    todo!()
}

/// Reads the parameters of `notifications/progress`.
#[must_use]
pub fn read_progress(_params: &str) -> Option<Progress> {
    todo!()
}

/// The result of `roots/list`: the directory the runtime works for, an absolute path.
#[must_use]
pub fn roots_result(_cwd: &str) -> String {
    todo!()
}

/// Tools as the tool cache keeps them: an array of their entries.
#[must_use]
pub fn encode_tools(_tools: &[ToolDef]) -> String {
    todo!()
}

/// Reads what [`encode_tools`] wrote, as suspicious as of a server's answer (G34).
///
/// # Errors
/// If it is not an array or any entry is not a tool.
pub fn read_tools(_text: &str) -> Result<Vec<ToolDef>, Shape> {
    todo!()
}
