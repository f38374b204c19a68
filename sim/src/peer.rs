//! The protocol half of a scripted server: it answers what it hears, and it is strict.
//!
//! A real server forgives a client much; this one writes down every breach of the protocol, so
//! that the laws find what a server in the field would only sometimes mind.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use serde_json::{Map, Value, json};
use tidegate_core::held::Held;

use crate::lists::{Kind, Lists};
use crate::script::{Fault, Script, Speaks};

use stateless::typed;

mod stateless;

/// The revisions a client may offer.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What a server knows of its client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peer {
    speaks: Speaks,
    stage: Stage,
    /// Every id the client used, and whether its answer was called off.
    ids: Held<BTreeMap<String, Request>>,
    /// The highest of them that is a number.
    newest: u64,
    /// The tools it has listed.
    listed: Held<BTreeSet<String>>,
    /// The ids of our own requests that wait for an answer, and how often each was used.
    asked: BTreeMap<String, usize>,
    /// Those of them that it took back, which its client may have answered before it heard so.
    withdrawn: BTreeMap<String, usize>,
    /// The calls that wait for the answer to a request of ours: what each is answered then.
    waiting: BTreeMap<String, (String, String)>,
    pub(crate) lists: Lists,
    /// The resources it was asked to tell of, and not to stop telling of.
    pub(crate) watched: BTreeSet<String>,
    /// The `n` of each call, in the order in which they came.
    pub(crate) calls: Vec<u64>,
    /// What the client did against the protocol.
    pub(crate) breaches: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
enum Stage {
    /// It waits for `initialize`.
    #[default]
    New,
    /// It waits for `notifications/initialized`.
    Greeted,
    /// Everything may be asked.
    Ready,
    /// Everything may be asked, and says for itself what it needs.
    Stateless,
}

#[derive(Clone, Debug)]
enum Request {
    Open { method: String },
    Cancelled,
}

/// Something the server is going to say.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Say {
    /// After how many milliseconds.
    pub(crate) after: u64,
    /// The message, without a line feed.
    pub(crate) line: String,
    /// The request it answers or reports on, if it does.
    pub(crate) of: Option<String>,
}

/// What a line that was heard leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Reaction {
    /// The server will say something.
    Say(Say),
    /// It will not say anything about this request that it has not said yet.
    Drop(String),
}

/// What distinguishes it from another one. What it remembers of the past only in order to catch
/// its client stays out.
impl Hash for Peer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.speaks, self.stage, &self.listed, &self.asked, &self.watched).hash(state);
        (&self.withdrawn, &self.waiting).hash(state);
        self.lists.digest(state);
    }
}

impl Peer {
    pub(crate) fn new(speaks: Speaks) -> Self {
        Self { speaks, ..Self::default() }
    }

    /// Takes one line without its line feed.
    pub(crate) fn hear(&mut self, script: &Script, line: &[u8]) -> Vec<Reaction> {
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else {
            self.breach(format!("{:?} is not a message", String::from_utf8_lossy(line)));
            return Vec::new();
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            self.breach("a message without \"jsonrpc\":\"2.0\"".into());
        }
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => self.request(script, method, id, &message),
            (Some(method), None) => self.notification(script, method, &message),
            (None, Some(id)) => self.answer(script, &message, id),
            (None, None) => {
                self.breach("a message with neither method nor id".into());
                Vec::new()
            }
        }
    }

    /// Remembers what the server said out of turn: that it asked something itself or took that
    /// back, or that it answered something.
    pub(crate) fn ask(&mut self, line: &[u8]) {
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else { return };
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(id)) => *self.asked.entry(id.to_string()).or_insert(0) += 1,
            (None, Some(id)) => self.lists.over_out_of_turn(&id.to_string()),
            (Some(method), None) if method == "notifications/cancelled" => {
                let id = message.get("params").and_then(|params| params.get("requestId"));
                let id = id.map(Value::to_string).unwrap_or_default();
                if let Some(times) = self.asked.remove(&id) {
                    *self.withdrawn.entry(id).or_insert(0) += times;
                }
            }
            (_, None) => {}
        }
    }

    /// Whether there is nothing to observe.
    pub(crate) const fn is_silent(&self) -> bool {
        self.breaches.is_empty() && self.calls.is_empty()
    }

    /// The highest number of a request that was heard.
    pub(crate) const fn newest(&self) -> u64 {
        self.newest
    }

    /// What the server asked and was not answered (G49), and how often; where there is no
    /// handshake nobody answers (C-RPC-17).
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (&String, usize)> {
        let asked = self.asked.iter().filter(|_| self.stage != Stage::Stateless);
        asked.map(|(id, times)| (id, *times))
    }

    fn breach(&mut self, what: String) {
        self.breaches.push(what);
    }

    fn request(
        &mut self,
        script: &Script,
        method: &str,
        id: &Value,
        message: &Map<String, Value>,
    ) -> Vec<Reaction> {
        let key = id.to_string();
        if !(id.is_number() || id.is_string()) {
            self.breach(format!("a request with the id {id}"));
        }
        self.newest = self.newest.max(id.as_u64().unwrap_or(0));
        let request = Request::Open { method: method.into() };
        if self.ids.insert(key.clone(), request).is_some() {
            self.breach(format!("the id {id} was used twice"));
        }
        let params = message.get("params").unwrap_or(&Value::Null);
        if !(params.is_object() || params.is_null()) {
            self.breach(format!("{method} with params that are no object"));
        }
        let modern = stateless::is_modern(params);
        if modern && self.speaks != Speaks::Legacy {
            return self.stateless(script, method, &key, params);
        }
        self.check_order(method);
        let (after, member) = match method {
            "initialize" if self.speaks == Speaks::Modern => {
                (script.delays.initialize, stateless::refusal(params))
            }
            "initialize" => (script.delays.initialize, self.initialize(script, params)),
            "resources/subscribe" | "resources/unsubscribe" => {
                (script.delays.watch, self.watch(method, params))
            }
            "tools/call" => return self.call(script, &key, params),
            "ping" => (0, result(&json!({}))),
            "resources/read" | "prompts/get" => (script.delays.call, self.fetch(method, params)),
            _ => match Kind::of(method) {
                Some(kind) => (script.delays.list, self.list(script, kind, &key, params)),
                None => (0, error(-32601, "Method not found")),
            },
        };
        let other = overridden(script, method);
        if method == "initialize" && other.as_ref().is_some_and(|it| it.starts_with("\"error\"")) {
            self.stage = Stage::New;
        }
        self.lists.spoiled |= other.is_some() && Kind::of(method).is_some();
        let member = other.unwrap_or(member);
        vec![Reaction::Say(Say { after, line: answer(&key, &member), of: Some(key) })]
    }

    fn check_order(&mut self, method: &str) {
        match (self.stage, method) {
            (Stage::Stateless, _) => self.breach(format!("{method} as if there were a handshake")),
            // What a server does not know it is asked only to find that out.
            (Stage::New | Stage::Greeted, "server/discover") => {}
            (Stage::New, _) if self.speaks == Speaks::Modern && method != "initialize" => {
                self.breach(format!("{method} before anything is known"));
            }
            (Stage::New, "initialize" | "ping") | (Stage::Greeted, "ping") => {}
            // A client may try again with another revision.
            (Stage::Greeted, "initialize") => {}
            (Stage::Ready, "initialize") => self.breach("initialize twice".into()),
            (Stage::Ready, _) => {}
            (Stage::New | Stage::Greeted, _) => {
                self.breach(format!("{method} before notifications/initialized"));
            }
        }
    }

    fn initialize(&mut self, script: &Script, params: &Value) -> String {
        self.stage = Stage::Greeted;
        let offered = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !REVISIONS.contains(&offered) {
            self.breach(format!("initialize offers the revision {offered:?}"));
        }
        if params.get("clientInfo").and_then(|info| info.get("name")).is_none() {
            self.breach("initialize without clientInfo".into());
        }
        if !params.get("capabilities").is_some_and(Value::is_object) {
            self.breach("initialize without capabilities".into());
        }
        let capabilities = self.declare(script, json!({}));
        let revision = json!(script.revision.as_deref().unwrap_or(offered));
        format!(
            "\"result\":{{\"capabilities\":{capabilities},\"protocolVersion\":{revision},\
             \"serverInfo\":{{\"name\":\"scripted\",\"version\":\"1\"}}}}"
        )
    }

    /// Its capabilities; `tools` are those of its tools.
    fn declare(&mut self, script: &Script, tools: Value) -> Value {
        let mut capabilities = json!({ "tools": tools });
        if !(script.offers.resources.is_empty() && script.offers.templates.is_empty()) {
            capabilities["resources"] =
                json!({ "listChanged": true, "subscribe": script.subscribe });
            self.lists.declared.extend([Kind::Resources, Kind::Templates]);
            self.lists.subscribe |= script.subscribe;
        }
        if !script.offers.prompts.is_empty() {
            capabilities["prompts"] = json!({ "listChanged": true });
            self.lists.declared.insert(Kind::Prompts);
        }
        capabilities
    }

    fn list(&mut self, script: &Script, kind: Kind, key: &str, params: &Value) -> String {
        let (page, breaches) = self.lists.page(script, kind, key, params);
        self.breaches.extend(breaches);
        if kind == Kind::Tools {
            let names = page["tools"].as_array().into_iter().flatten();
            self.listed.extend(names.filter_map(|tool| tool["name"].as_str().map(Into::into)));
        }
        result(&page)
    }

    /// What is asked for of what it has beside its tools.
    fn fetch(&mut self, method: &str, params: &Value) -> String {
        let (kind, name, found) = match method {
            "resources/read" => (Kind::Resources, "uri", json!({ "contents": [] })),
            _ => (Kind::Prompts, "name", json!({ "messages": [] })),
        };
        if !self.lists.declared.contains(&kind) {
            self.breach(format!("{method}, which was not declared (C-LIFE-07)"));
        }
        if !params[name].is_string() {
            self.breach(format!("{method} without {name}"));
        }
        result(&found)
    }

    fn watch(&mut self, method: &str, params: &Value) -> String {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
        if !self.lists.subscribe {
            self.breach(format!("{method}, which was not declared (C-RES-03)"));
        }
        if method == "resources/unsubscribe" {
            if !self.watched.remove(uri) {
                self.breach(format!("{method} of {uri:?}, which was not subscribed"));
            }
        } else {
            self.watched.insert(uri.into());
        }
        result(&json!({}))
    }

    /// A request was answered.
    pub(crate) fn answered(&mut self, request: &str) {
        self.lists.over(request);
    }

    fn call(&mut self, script: &Script, key: &str, params: &Value) -> Vec<Reaction> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        if !arguments.is_object() {
            self.breach("tools/call with arguments that are no object".into());
        }
        if !self.listed.contains(name) {
            self.breach(format!("tools/call of {name:?}, which was never listed"));
        }
        let again = params.get("inputResponses").is_some() || params.get("requestState").is_some();
        if !again {
            self.calls.extend(arguments.get("n").and_then(Value::as_u64));
        }
        let mut reactions = Vec::new();
        if let Some(token) = params.get("_meta").and_then(|meta| meta.get("progressToken")) {
            reactions.extend(progress(script, key, token));
        }
        let text = json!([{ "type": "text", "text": name }]);
        let member = overridden(script, "tools/call").unwrap_or_else(|| match name {
            name if name.starts_with("fail") => {
                result(&json!({ "content": text, "isError": true }))
            }
            name if name.starts_with("refuse") => error(-32000, "refused"),
            _ => result(&json!({ "content": text, "structuredContent": arguments })),
        });
        if self.stage == Stage::Stateless && name.starts_with("ask") {
            let line = answer(key, &self.round(params).unwrap_or_else(|| typed(&member)));
            let say = Say { after: script.delays.call, line, of: Some(key.into()) };
            reactions.push(Reaction::Say(say));
        } else if name.starts_with("ask") && !script.faults.contains(&Fault::Batches) {
            self.waiting.insert(inquiry_id(key), (key.into(), member));
            let say = Say { after: 0, line: inquiry(key), of: Some(key.into()) };
            reactions.push(Reaction::Say(say));
        } else if !name.starts_with("hang") {
            let line = answer(key, &member);
            let say = Say { after: script.delays.call, line, of: Some(key.into()) };
            reactions.push(Reaction::Say(say));
        }
        reactions
    }

    fn notification(
        &mut self,
        script: &Script,
        method: &str,
        message: &Map<String, Value>,
    ) -> Vec<Reaction> {
        match (method, self.stage) {
            ("notifications/initialized", Stage::Greeted) => self.stage = Stage::Ready,
            ("notifications/initialized", Stage::New | Stage::Ready | Stage::Stateless) => {
                self.breach("notifications/initialized at the wrong time".into());
            }
            ("notifications/cancelled", _) => return self.cancelled(script, message),
            (_, _) => {}
        }
        Vec::new()
    }

    fn cancelled(&mut self, script: &Script, message: &Map<String, Value>) -> Vec<Reaction> {
        let id = message.get("params").and_then(|params| params.get("requestId"));
        let key = id.map(Value::to_string).unwrap_or_default();
        match self.ids.insert(key.clone(), Request::Cancelled) {
            Some(Request::Open { method }) if method != "initialize" => {}
            Some(Request::Open { .. }) => self.breach("initialize was cancelled".into()),
            Some(Request::Cancelled) => self.breach(format!("request {key} was cancelled twice")),
            None => self.breach(format!("the unknown request {key} was cancelled")),
        }
        self.lists.over(&key);
        if script.faults.contains(&Fault::AnswersCancelled) {
            return Vec::new();
        }
        vec![Reaction::Drop(key)]
    }

    fn answer(
        &mut self,
        script: &Script,
        message: &Map<String, Value>,
        id: &Value,
    ) -> Vec<Reaction> {
        let own = id.to_string();
        if !(take(&mut self.asked, &own) || take(&mut self.withdrawn, &own)) {
            self.breach(format!("an answer to {id}, which was not asked or answered before"));
        }
        if message.contains_key("result") == message.contains_key("error") {
            self.breach(format!("an answer to {id} that is not either a result or an error"));
        }
        let Some((key, member)) = self.waiting.remove(&own) else { return Vec::new() };
        if matches!(self.ids.get(&key), Some(Request::Cancelled)) {
            return Vec::new();
        }
        let line = answer(&key, &member);
        vec![Reaction::Say(Say { after: script.delays.call, line, of: Some(key) })]
    }
}

/// Counts one down; whether there was one.
fn take(counts: &mut BTreeMap<String, usize>, id: &str) -> bool {
    match counts.get_mut(id) {
        Some(1) => counts.remove(id).is_some(),
        Some(times) => {
            *times -= 1;
            true
        }
        None => false,
    }
}

/// The id of what is asked in the course of the call with this id.
fn inquiry_id(key: &str) -> String {
    json!(format!("ask-{key}")).to_string()
}

/// The call in the course of which a request of this id is made, if it is one that a tool makes.
pub(crate) fn call_of(id: &Value) -> Option<&str> {
    id.as_str()?.strip_prefix("ask-")
}

/// What a tool asks in the course of a call.
fn inquiry(key: &str) -> String {
    let id = inquiry_id(key);
    let params = json!({ "message": "Who are you?", "requestedSchema": { "type": "object" } });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{params}}}"#)
}

fn progress(script: &Script, key: &str, token: &Value) -> Vec<Reaction> {
    let mut reports = Vec::new();
    for fault in &script.faults {
        let Fault::Progress { every, times } = fault else { continue };
        reports.extend((1..=*times).map(|nth| {
            let line = json!({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": nth, "total": times },
            });
            let after = every.saturating_mul(nth);
            Reaction::Say(Say { after, line: line.to_string(), of: Some(key.into()) })
        }));
    }
    reports
}

fn overridden(script: &Script, wanted: &str) -> Option<String> {
    script.faults.iter().find_map(|fault| match fault {
        Fault::Answers { method, member } if method == wanted => Some(member.clone()),
        _ => None,
    })
}

fn answer(id: &str, member: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},{member}}}"#)
}

fn result(value: &Value) -> String {
    format!("\"result\":{value}")
}

fn error(code: i64, message: &str) -> String {
    format!("\"error\":{}", json!({ "code": code, "message": message }))
}
