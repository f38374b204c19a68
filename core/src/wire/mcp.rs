//! The MCP messages of every revision.
//!
//! Floor 1. May import floor 0. Strict in what is written; what is read may have more members
//! than we know, and is complained about by the name of the member that is wrong.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::wire::json::{JsonError, Kind};

mod calls;
mod capabilities;
mod discover;
mod form;
mod handshake;
mod hidden;
mod inquiries;
mod jobs;
mod list;
mod listen;
mod log;
mod meta;
mod mirror;
mod prompts;
mod resources;
mod rounds;
mod tools;

pub use calls::{Progress, cancelled, read_progress, roots_result};
pub use capabilities::{capabilities, declares};
pub use discover::{Discovered, read_discover};
pub use form::form_defaults;
pub use handshake::{Initialized, initialize_params, read_initialize, supported_revisions};
pub use hidden::{hidden, hidden_in};
pub use inquiries::{read_cancelled, read_inquiry, reply};
pub use jobs::{Aim, Job, Round};
pub use list::{List, Page, list_params};
pub use listen::{Changes, read_acknowledged};
pub use log::LogLevel;
pub use meta::{Meta, ResultType, request, required_capabilities};
pub use mirror::{check_mirrors, mirrors};
pub use prompts::{PromptDef, read_prompts_page};
pub use resources::{
    ResourceDef, TemplateDef, read_resources_page, read_templates_page, read_updated, uri_params,
};
pub use rounds::{Wanted, Wish, read_input_required};
pub use tools::{ToolDef, encode_tools, read_tools, read_tools_page};

/// The first request: which revision, and who are you?
pub const INITIALIZE: &str = "initialize";
/// Which revisions do you speak, and who are you? Where there is no handshake.
pub const DISCOVER: &str = "server/discover";
/// Tell us of these changes, as long as this request is open.
pub const LISTEN: &str = "subscriptions/listen";
/// What of that the server tells of.
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// We are ready; goes out once the answer to [`INITIALIZE`] was accepted.
pub const INITIALIZED: &str = "notifications/initialized";
/// Are you there?
pub const PING: &str = "ping";
/// One page of the tools.
pub const TOOLS_LIST: &str = "tools/list";
/// One call of one tool.
pub const TOOLS_CALL: &str = "tools/call";
/// The content of one resource.
pub const RESOURCES_READ: &str = "resources/read";
/// One prompt, with its arguments filled in.
pub const PROMPTS_GET: &str = "prompts/get";
/// What an argument of a prompt or of a template could be.
pub const COMPLETE: &str = "completion/complete";
/// The server's tools are not what they were.
pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
/// One page of the resources.
pub const RESOURCES_LIST: &str = "resources/list";
/// One page of the templates of resources.
pub const TEMPLATES_LIST: &str = "resources/templates/list";
/// Tell us when this resource changes.
pub const SUBSCRIBE: &str = "resources/subscribe";
/// Tell us no more when this resource changes.
pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// The server's resources or templates are not what they were.
pub const RESOURCES_LIST_CHANGED: &str = "notifications/resources/list_changed";
/// The content of a resource is not what it was.
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
/// One page of the prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// The server's prompts are not what they were.
pub const PROMPTS_LIST_CHANGED: &str = "notifications/prompts/list_changed";
/// Nobody waits for a request any more.
pub const CANCELLED: &str = "notifications/cancelled";
/// A request is under way.
pub const PROGRESS: &str = "notifications/progress";
/// How much is logged.
pub const SET_LEVEL: &str = "logging/setLevel";
/// A log entry.
pub const LOG: &str = "notifications/message";
/// The server asks which directories we work in.
pub const ROOTS_LIST: &str = "roots/list";
/// The server wants our model asked.
pub const SAMPLING: &str = "sampling/createMessage";
/// The server wants a person asked.
pub const ELICITATION: &str = "elicitation/create";

/// The peer's user said no.
pub const REJECTED: i64 = -1;
/// The peer understands the message and not what it is to mean.
pub const INVALID_REQUEST: i64 = -32600;
/// The peer does not know the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The peer knows the method and not what to do with the parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// The peer failed by itself.
pub const INTERNAL_ERROR: i64 = -32603;

/// What the headers of a request say is not what it says itself.
pub const HEADER_MISMATCH: i64 = -32020;
/// The peer needs more of its client than that said it can do.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The peer does not speak the revision of a request.
pub const UNSUPPORTED_REVISION: i64 = -32022;

/// JSON that is not what the protocol says.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Shape {
    /// Which member is wrong and how: `tools[3].name is missing`.
    pub message: String,
}

impl Shape {
    fn missing(member: &str) -> Self {
        Self { message: format!("{member} is missing") }
    }

    fn wrong(member: &str, found: Kind, wanted: Kind) -> Self {
        Self { message: format!("{member} is {found}, not {wanted}") }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Shape {}

impl From<JsonError> for Shape {
    fn from(error: JsonError) -> Self {
        Self { message: format!("not JSON: {error}") }
    }
}
