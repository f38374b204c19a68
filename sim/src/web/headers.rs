//! What the head of an exchange says where there is no handshake.

use serde_json::Value;
use tidegate_core::command::{HttpRequest, Method, SessionId};

/// The key under which a request says its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// Whether a message is one without a handshake.
pub(super) fn is_modern(message: &Value) -> bool {
    message["params"]["_meta"].get(REVISION).is_some()
}

/// What is wrong with how a request is sent (C-MHTTP-02 to C-MHTTP-06).
pub(super) fn check(request: &HttpRequest, message: &Value) -> Vec<String> {
    let header = |name: &str| {
        let own = request.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        own.map(|(_, value)| value.as_str())
    };
    let method = message["method"].as_str();
    let about = match method {
        Some("tools/call" | "prompts/get") => message["params"]["name"].as_str(),
        Some("resources/read") => message["params"]["uri"].as_str(),
        _ => None,
    };
    let revision = message["params"]["_meta"][REVISION].as_str();
    let mut wrong = Vec::new();
    for (name, is, must) in [
        ("MCP-Protocol-Version", header("MCP-Protocol-Version"), revision),
        ("Mcp-Method", header("Mcp-Method"), method),
        ("Mcp-Name", header("Mcp-Name"), about),
        ("Last-Event-ID", header("Last-Event-ID"), None),
    ] {
        if is != must {
            wrong.push(format!("{name} is {is:?} of a message that says {must:?}"));
        }
    }
    if request.session != SessionId::Ignore || request.method != Method::Post {
        wrong.push("a session where there is no handshake (C-MHTTP-06)".into());
    }
    if message.get("id").is_none() {
        wrong.push(format!("{method:?}, which is no request (C-MHTTP-01)"));
    }
    wrong
}

/// The status that goes with an answer.
pub(super) fn status(message: &Value) -> u16 {
    match message["error"]["code"].as_i64() {
        Some(-32601) => 404,
        Some(-32022..=-32020) => 400,
        _ => 200,
    }
}
