//! The documented `--json` shapes, version 1: fields may be added, never renamed; absent means
//! unknown.

use std::sync::Arc;

use serde::Serialize;
use tidegate_core::bytes::Json;
use tidegate_core::config::{Level, Provider};
use tidegate_core::error::Problem;
use tidegate_core::hub::status::{ServerStatus, Status};
use tidegate_core::timeline::steers;
use tidegate_core::tools::catalog::{Tool, ToolState};
use tidegate_core::wire::dialect::Revision;

use super::{servers, tools};

/// The version of the shapes.
pub(crate) const VERSION: u32 = 1;

/// What `list --json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct List<'a> {
    version: u32,
    gate_ms: u64,
    elapsed_ms: u64,
    servers: Vec<Server<'a>>,
    problems: &'a [Problem],
}

#[derive(Debug, Serialize)]
struct Server<'a> {
    name: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    transport: &'a str,
    source: Source<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    tools: Vec<ListedTool<'a>>,
}

#[derive(Debug, Serialize)]
struct Source<'a> {
    provider: Provider,
    /// The documented one.
    label: String,
    level: Level,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ListedTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    tool: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Json>,
}

/// What `tools --json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Tools<'a> {
    version: u32,
    tools: Vec<ListedTool<'a>>,
}

/// What `call --json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Call<'a> {
    /// [`VERSION`].
    pub(crate) version: u32,
    /// The server that was called, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<&'a str>,
    /// The tool as its server calls it, or the exposed name if it is not known.
    pub(crate) tool: &'a str,
    /// `ok`, `tool_error`, `error` or `aborted`.
    pub(crate) outcome: &'static str,
    /// What a model would get to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'a str>,
    /// Why it failed, for people, with what helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'a str>,
    /// `content` as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Json>,
    /// `structuredContent` as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structured: Option<Json>,
    /// Milliseconds from the call to its end.
    pub(crate) elapsed_ms: u64,
}

/// What every command prints that has nothing else to print.
#[derive(Debug, Serialize)]
struct Failure<'a> {
    version: u32,
    error: &'a str,
}

/// When a list was asked for and answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The gate.
    pub(crate) gate_ms: u64,
    /// From the start to the answer.
    pub(crate) elapsed_ms: u64,
}

impl<'a> List<'a> {
    /// The list.
    pub(crate) fn new(
        status: &'a Status,
        catalog: &'a [Arc<Tool>],
        detail: tools::Detail,
        times: Times,
    ) -> Self {
        Self {
            version: VERSION,
            gate_ms: times.gate_ms,
            elapsed_ms: times.elapsed_ms,
            servers: status.servers.iter().map(|one| server(one, catalog, detail)).collect(),
            problems: &status.problems,
        }
    }
}

impl<'a> Tools<'a> {
    /// The tools, each with its server.
    pub(crate) fn new(tools: impl Iterator<Item = &'a Tool>, detail: tools::Detail) -> Self {
        let named =
            |one: &'a Tool| ListedTool { server: Some(one.server.as_str()), ..tool(one, detail) };
        Self { version: VERSION, tools: tools.map(named).collect() }
    }
}

fn server<'a>(
    server: &'a ServerStatus,
    tools: &'a [Arc<Tool>],
    detail: tools::Detail,
) -> Server<'a> {
    let failure = server.state.failure();
    let source = &server.source;
    Server {
        name: server.name.as_str(),
        state: server.state.name(),
        reason: servers::reason(server),
        transport: &server.transport,
        source: Source {
            provider: source.provider,
            label: format!("mcp:{} via {}", server.name, source.provider.display()),
            level: source.level,
            path: &source.path,
            line: Some(source.line).filter(|line| *line > 0),
        },
        era: server.revision.as_deref().and_then(Revision::parse).map(|it| it.era().as_str()),
        revision: server.revision.as_deref(),
        connect_ms: server.connect_ms,
        failed_ms: failure.map(|failure| failure.after_ms),
        pid: server.pid,
        stderr: failure.and(Some(server.stderr_tail.as_str())).filter(|tail| !tail.is_empty()),
        tools: tools
            .iter()
            .filter(|tool| tool.server == server.name)
            .map(|one| tool(one, detail))
            .collect(),
    }
}

fn tool(tool: &Tool, detail: tools::Detail) -> ListedTool<'_> {
    ListedTool {
        name: &tool.exposed,
        server: None,
        tool: &tool.tool,
        state: tools::state_name(&tool.state),
        reason: match &tool.state {
            ToolState::Failed { reason } | ToolState::Quarantined { reason } => Some(reason),
            ToolState::Live | ToolState::Deferred => None,
        },
        description: &tool.description,
        schema: (detail == tools::Detail::Schema).then_some(&tool.schema),
    }
}

/// That nothing came of a command, and why.
pub(crate) fn failure(error: &str) -> String {
    // A text is always JSON.
    line(&Failure { version: VERSION, error }).unwrap_or_default()
}

/// The value as one line of JSON in which nothing can steer a terminal.
///
/// # Errors
/// If a part that is passed on as received is not JSON.
pub(crate) fn line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    let mut safe = if text.contains(is_raw) { escaped(&text) } else { text };
    safe.push('\n');
    Ok(safe)
}

/// Whether a character steers a terminal and may stand in JSON as it is: only inside a string,
/// where an escape means the same.
fn is_raw(c: char) -> bool {
    !c.is_ascii_control() && steers(c) || c == '\u{7f}'
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_raw(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_and_cannot_steer_a_terminal() {
        let value = serde_json::json!({"a": "\u{1b}[2J\u{9b}2J\u{202e}\u{200f}\u{61c}x"});
        let text = line(&value).unwrap();
        assert_eq!(text, "{\"a\":\"\\u001b[2J\\u009b2J\\u202e\\u200f\\u061cx\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        // White space of what is passed on as received stays.
        assert_eq!(line(&Json::new("{\t\"a\": 1\r}")).unwrap(), "{\t\"a\": 1\r}\n");
    }
}
