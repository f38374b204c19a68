//! The built-in servers of `demo`: what each does, and how over standard input and output.
//!
//! They speak just enough of the protocol to be servers in their own right: the demo runs them as
//! processes, exactly as it would run anybody's.

use std::env;
use std::io::{self, BufRead as _, Write as _};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::exit::Exit;

/// The environment variable that sets how many milliseconds `slow` takes to answer `initialize`.
///
/// In the environment and not an argument: the values of variables are no part of what a server
/// *is*, so its cached list of tools stays valid.
pub(crate) const DELAY: &str = "TIDEGATE_DEMO_DELAY_MS";
/// How long `slow` takes by default.
pub(crate) const DELAY_MS: u64 = 600;
/// With what status `dies` exits.
pub(crate) const DIES_WITH: u8 = 3;

/// Which server to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Kind {
    /// Answers at once.
    Fast,
    /// Takes its time to start.
    Slow,
    /// Exits while it is being greeted.
    Dies,
    /// Offers a tool that no model could use, among others.
    Odd,
    /// Is reached over HTTP.
    Web,
}

impl Kind {
    /// All of them, in the order of the demo.
    pub(crate) const ALL: [Self; 5] = [Self::Fast, Self::Slow, Self::Dies, Self::Odd, Self::Web];

    /// Its name, as a server and on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Slow => "slow",
            Self::Dies => "dies",
            Self::Odd => "odd",
            Self::Web => "web",
        }
    }

    /// Whether it is run as a process.
    pub(crate) fn is_process(self) -> bool {
        self != Self::Web
    }
}

/// Serves until standard input ends.
pub(crate) fn serve(kind: Kind) -> Exit {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id") else { continue };
        if kind == Kind::Dies {
            let _ = io::stderr().write_all(
                b"starting tide-archive 2.1\nfatal: no database at tcp://127.0.0.1:5432\n",
            );
            return Exit::Server(DIES_WITH);
        }
        let mut reply = answer(kind, &message);
        reply["jsonrpc"] = "2.0".into();
        reply["id"] = id.clone();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    Exit::Done
}

/// The reply to one request, without its envelope.
pub(super) fn answer(kind: Kind, message: &Value) -> Value {
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            thread::sleep(delay(kind));
            json!({"result": {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": kind.name(), "version": env!("CARGO_PKG_VERSION")},
            }})
        }
        "ping" => json!({"result": {}}),
        "tools/list" => json!({"result": {"tools": tools(kind)}}),
        "tools/call" => call(&message["params"]),
        method => json!({"error": {"code": -32601, "message": format!("no method {method}")}}),
    }
}

fn delay(kind: Kind) -> Duration {
    let wished = env::var(DELAY).ok().and_then(|ms| ms.parse().ok());
    Duration::from_millis(if kind == Kind::Slow { wished.unwrap_or(DELAY_MS) } else { 0 })
}

fn tools(kind: Kind) -> Value {
    let place = json!({"type": "object", "properties": {"place": {"type": "string"}},
                       "required": ["place"]});
    match kind {
        Kind::Fast => json!([
            {"name": "add", "description": "Adds two numbers.",
             "inputSchema": {"type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"]}},
            {"name": "echo", "description": "Says what it is told.",
             "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
            {"name": "fail", "description": "Fails, and says so.",
             "inputSchema": {"type": "object"}},
        ]),
        Kind::Slow | Kind::Dies => json!([
            {"name": "high_tide", "description": "When the water is highest at a place.",
             "inputSchema": place},
        ]),
        Kind::Odd => json!([
            {"name": "low_tide", "description": "When the water is lowest at a place.",
             "inputSchema": place},
            {"name": "broken", "description": "Its schema is a list, which no model accepts.",
             "inputSchema": ["place"]},
            {"name": "moon", "description": "The phase of the moon.",
             "inputSchema": {"type": "object"}},
        ]),
        Kind::Web => json!([
            {"name": "forecast", "description": "How the sea will be at a place.",
             "inputSchema": place},
        ]),
    }
}

fn call(params: &Value) -> Value {
    let arguments = &params["arguments"];
    let text = match params["name"].as_str().unwrap_or_default() {
        "add" => match (arguments["a"].as_f64(), arguments["b"].as_f64()) {
            (Some(a), Some(b)) => (a + b).to_string(),
            _ => return failure("\"a\" and \"b\" must be numbers"),
        },
        "echo" => arguments["text"].as_str().unwrap_or_default().to_owned(),
        "fail" => return failure("the tide is out"),
        "high_tide" => format!("High tide at {}: 06:41 and 19:04", place(arguments)),
        "low_tide" => format!("Low tide at {}: 00:27 and 12:50", place(arguments)),
        "forecast" => format!("Tomorrow at {}: calm, 0.4 m", place(arguments)),
        "moon" => "Waxing gibbous".to_owned(),
        name => return json!({"error": {"code": -32602, "message": format!("no tool {name}")}}),
    };
    json!({"result": {"content": [{"type": "text", "text": text}]}})
}

fn place(arguments: &Value) -> &str {
    arguments["place"].as_str().unwrap_or("an unknown place")
}

fn failure(text: &str) -> Value {
    json!({"result": {"content": [{"type": "text", "text": text}], "isError": true}})
}
