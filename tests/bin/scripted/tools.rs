//! The tools, each a way in which servers behave.

use std::process::exit;
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::knobs::Knobs;
use crate::output::Output;

const NAMES: [&str; 17] = [
    "echo",
    "env",
    "cwd",
    "pid",
    "blob",
    "pieces",
    "wait",
    "progress",
    "fail",
    "reject",
    "ask",
    "inquire",
    "cancelled",
    "grow",
    "deaf",
    "half",
    "exit",
];
const INVALID_PARAMS: i64 = -32_602;

/// The tools and what they remember.
pub(crate) struct Tools {
    output: Output,
    names: Vec<String>,
    page: usize,
    list_delay_ms: u64,
    /// The requests that the host cancelled.
    cancelled: Vec<Value>,
    /// The call that asked the host something, and the answers so far.
    asking: Option<(Value, Vec<Value>)>,
    /// The call that has a person asked.
    inquiring: Option<Value>,
}

impl Tools {
    pub(crate) fn new(knobs: &Knobs, output: Output) -> Self {
        Self {
            output,
            names: NAMES.map(str::to_owned).to_vec(),
            page: knobs.number("page-size", u64::from(u32::MAX)) as usize,
            list_delay_ms: knobs.number("list-delay-ms", 0),
            cancelled: Vec::new(),
            asking: None,
            inquiring: None,
        }
    }

    pub(crate) fn list(&self, id: &Value, cursor: &Value) {
        let from: usize = cursor.as_str().map_or(0, |cursor| cursor.parse().expect("our cursor"));
        let tool = |name: &String| json!({"name": name, "inputSchema": {"type": "object"}});
        let tools: Vec<Value> = self.names.iter().skip(from).take(self.page).map(tool).collect();
        let end = from + tools.len();
        let mut result = json!({"tools": tools});
        if end < self.names.len() {
            result["nextCursor"] = json!(end.to_string());
        }
        self.output.answer_after(self.list_delay_ms, id, result);
    }

    /// A notification from the host.
    pub(crate) fn note(&mut self, message: &Value) {
        if message["method"] == "notifications/cancelled" {
            self.cancelled.push(message["params"]["requestId"].clone());
        }
    }

    /// The host's answer to a request of ours.
    pub(crate) fn reply(&mut self, message: &Value) {
        if let Some(call) = self.inquiring.take() {
            // What was said is for this server alone: it tells no more than how long it is.
            let pin = message["result"]["content"]["pin"].as_str().map(str::len);
            let said = json!([message["result"]["action"], pin, message["error"]["code"]]);
            return self.output.answer(&call, &text(&said.to_string()));
        }
        let Some((call, replies)) = &mut self.asking else { return };
        replies.push(message.clone());
        if replies.len() == 2 {
            self.output.answer(call, &text(&json!(replies).to_string()));
            self.asking = None;
        }
    }

    pub(crate) fn call(&mut self, id: &Value, params: &Value) {
        let output = self.output;
        let argument = &params["arguments"];
        let number = |name: &str| argument[name].as_u64().unwrap_or_default();
        let say = |words: &str| output.answer(id, &text(words));
        match params["name"].as_str().unwrap_or_default() {
            "echo" => say(argument["text"].as_str().unwrap_or_default()),
            "env" => {
                let name = argument["name"].as_str().unwrap_or_default();
                say(&std::env::var(name).unwrap_or_else(|_| "(unset)".into()));
            }
            "cwd" => say(&std::env::current_dir().expect("a directory").display().to_string()),
            "pid" => say(&std::process::id().to_string()),
            "blob" => say(&"x".repeat(number("bytes") as usize)),
            "pieces" => pieces(output, id, number("bytes") as usize),
            "wait" => output.answer_after(number("ms"), id, text("waited")),
            "progress" => progress(output, id, params, number("times"), number("every_ms")),
            "fail" => {
                let content = json!([{"type": "text", "text": "no such row"}]);
                output.answer(id, &json!({"isError": true, "content": content}));
            }
            "reject" => output.error(id, INVALID_PARAMS, "bad arguments"),
            "ask" => {
                self.asking = Some((id.clone(), Vec::new()));
                let ask = |id, method| json!({"jsonrpc": "2.0", "id": id, "method": method});
                output.message(&ask("one", "roots/list"));
                output.message(&ask("two", "nobody/knows"));
            }
            "inquire" => {
                self.inquiring = Some(id.clone());
                let schema = json!({"type": "object", "properties": {"pin": {"type": "string"}}});
                let params = json!({"message": "The number?", "requestedSchema": schema});
                output.message(&json!({
                    "jsonrpc": "2.0", "id": "who", "method": "elicitation/create", "params": params,
                }));
            }
            "cancelled" => say(&json!(self.cancelled).to_string()),
            "grow" => {
                self.names.push("grown".into());
                say("grown");
                output.note("notifications/tools/list_changed", &json!({}));
            }
            "deaf" => {
                say("I hear nothing from here on");
                sleep(Duration::from_millis(number("ms")));
            }
            "half" => {
                output.raw(format!(r#"{{"jsonrpc":"2.0","id":{id},"resu"#).as_bytes());
                exit(67);
            }
            "exit" => exit(number("code") as i32),
            name => output.error(id, INVALID_PARAMS, &format!("no tool {name}")),
        }
    }
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

/// A big answer in small writes with pauses.
fn pieces(output: Output, id: &Value, bytes: usize) {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": text(&"ä".repeat(bytes / 2))});
    for (number, piece) in format!("{answer}\n").as_bytes().chunks(4095).enumerate() {
        output.raw(piece);
        if number % 32 == 0 {
            sleep(Duration::from_millis(1));
        }
    }
}

fn progress(output: Output, id: &Value, params: &Value, times: u64, every_ms: u64) {
    let (id, token) = (id.clone(), params["_meta"]["progressToken"].clone());
    spawn(move || {
        for done in 1..=times {
            sleep(Duration::from_millis(every_ms));
            let params = json!({"progressToken": token, "progress": done, "total": times});
            output.note("notifications/progress", &params);
        }
        output.answer(&id, &text("done"));
    });
}
