//! The protocol without a handshake: every request says for itself what it needs.

use serde_json::{Value, json};

use super::{Peer, Reaction, Say, Stage, answer, error, overridden, result};
use crate::lists::Kind;
use crate::script::Script;

/// The revision that is spoken.
const REVISION: &str = "2026-07-28";
/// The keys of the protocol's own begin with this.
const OWN: &str = "io.modelcontextprotocol/";

/// Whether a request says its revision for itself.
pub(super) fn is_modern(params: &Value) -> bool {
    params["_meta"].get(format!("{OWN}protocolVersion")).is_some()
}

/// What who shakes hands is told (C-VER-25).
pub(super) fn refusal(params: &Value) -> String {
    let requested = &params["protocolVersion"];
    let error = json!({
        "code": -32022, "message": "there is no handshake",
        "data": { "supported": [REVISION], "requested": requested },
    });
    format!("\"error\":{error}")
}

impl Peer {
    /// A request without a handshake.
    pub(super) fn stateless(
        &mut self,
        script: &Script,
        method: &str,
        key: &str,
        params: &Value,
    ) -> Vec<Reaction> {
        if matches!(self.stage, Stage::Greeted | Stage::Ready) {
            self.breach(format!("{method} without a handshake after there was one"));
        }
        // Whoever hears no answer to the question may try a handshake yet.
        if method != "server/discover" {
            self.stage = Stage::Stateless;
        }
        self.check_meta(method, params);
        let (after, member) = match method {
            "server/discover" => (script.delays.initialize, self.discover(script)),
            "tools/call" => return self.call(script, key, params),
            "resources/read" | "prompts/get" => (script.delays.call, self.fetch(method, params)),
            _ => match Kind::of(method) {
                Some(kind) => (script.delays.list, self.list(script, kind, key, params)),
                // It has nothing to tell of by itself (C-SUB-10).
                None if method == "subscriptions/listen" => (0, error(-32601, "Method not found")),
                None => {
                    self.breach(format!("{method}, which does not exist without a handshake"));
                    (0, error(-32601, "Method not found"))
                }
            },
        };
        let other = overridden(script, method);
        self.lists.spoiled |= other.is_some() && Kind::of(method).is_some();
        let member = other.unwrap_or_else(|| typed(&member));
        vec![Reaction::Say(Say { after, line: answer(key, &member), of: Some(key.into()) })]
    }

    /// What a call to a tool that asks is answered before it has what it asks for: first a form,
    /// then nothing but to be called again (C-MRTR-01 to C-MRTR-07).
    pub(super) fn round(&mut self, params: &Value) -> Option<String> {
        let (responses, state) = (params.get("inputResponses"), params.get("requestState"));
        let n = &params["arguments"]["n"];
        let declared = &params["_meta"][format!("{OWN}clientCapabilities")]["elicitation"];
        match (responses, state.and_then(Value::as_str)) {
            (None, None) if declared.get("form").is_none() => None,
            (None, None) => {
                let asked = json!({ "message": "Who are you?", "requestedSchema": {} });
                let form = json!({ "method": "elicitation/create", "params": asked });
                Some(result(&json!({
                    "resultType": "input_required", "inputRequests": { "who": form },
                    "requestState": format!("asked {n} \u{e9}\\"),
                })))
            }
            (Some(responses), Some(state)) if state == format!("asked {n} \u{e9}\\") => {
                if !responses["who"]["action"].is_string() {
                    self.breach(format!("tools/call with the answer {responses}"));
                }
                let state = format!("told {n}");
                let again = json!({ "resultType": "input_required", "requestState": state });
                Some(result(&again))
            }
            (None, Some(state)) if state == format!("told {n}") => None,
            (responses, state) => {
                self.breach(format!("tools/call {n} with {responses:?} and {state:?}"));
                None
            }
        }
    }

    /// C-META-01, C-META-02, C-META-04.
    fn check_meta(&mut self, method: &str, params: &Value) {
        let meta = |name: &str| &params["_meta"][format!("{OWN}{name}")];
        if meta("protocolVersion") != REVISION {
            self.breach(format!("{method} in the revision {}", meta("protocolVersion")));
        }
        if !meta("clientCapabilities").is_object() {
            self.breach(format!("{method} without clientCapabilities"));
        }
        if !(meta("clientInfo")["name"].is_string() && meta("clientInfo")["version"].is_string()) {
            self.breach(format!("{method} without clientInfo"));
        }
    }

    fn discover(&mut self, script: &Script) -> String {
        let capabilities = self.declare(script, json!({}));
        // That of its handshake says nothing, unless nobody knows it.
        let unknown = script.revision.as_deref().filter(|revision| !revision.starts_with("202"));
        let supported = json!([unknown.unwrap_or(REVISION)]);
        result(&json!({
            "supportedVersions": supported,
            "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "private",
            "_meta": { format!("{OWN}serverInfo"): { "name": "scripted", "version": "1" } },
        }))
    }
}

/// The same result with its type.
pub(super) fn typed(member: &str) -> String {
    match member.strip_prefix("\"result\":{") {
        Some("}") => "\"result\":{\"resultType\":\"complete\"}".into(),
        Some(rest) => format!("\"result\":{{\"resultType\":\"complete\",{rest}"),
        None => member.into(),
    }
}
