//! A scripted MCP server on stdio: well behaved, or misbehaving as its arguments say.
//!
//! The arguments are listed in `knobs.rs`, the tools in `tools.rs`. It ends by itself after a
//! while whatever happens, so that a test that fails leaves nothing behind for good.

mod knobs;
mod output;
mod tools;

use std::io::{BufRead, stdin};
use std::process::{Command, exit};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::{Value, json};

use crate::knobs::Knobs;
use crate::output::Output;
use crate::tools::Tools;

const METHOD_NOT_FOUND: i64 = -32_601;

fn main() {
    let knobs = Knobs::read(std::env::args().skip(1));
    let life = Duration::from_millis(knobs.number("max-life-ms", 60_000));
    spawn(move || {
        sleep(life);
        exit(99);
    });
    prelude(&knobs);
    let output = Output;
    if let Some(bytes) = knobs.value("oversized") {
        output.raw(&vec![b'x'; bytes.parse().expect("a number of bytes")]);
        output.raw(b"\n");
    }
    serve(&knobs, output);
    if knobs.flag("ignore-eof") {
        sleep(life);
    }
}

/// What happens before anything is read.
fn prelude(knobs: &Knobs) {
    if let Some(file) = knobs.value("mark") {
        use std::io::Write;
        let mut file = std::fs::File::options().create(true).append(true).open(file).expect("mark");
        writeln!(file, "{}", std::process::id()).expect("mark");
    }
    if knobs.flag("grandchild") {
        // It holds the pipes open, as servers behind wrappers do.
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        spawn(move || child.wait());
    }
    if let Some(text) = knobs.value("stderr") {
        eprintln!("{text}");
    }
    let line = "a line of noise that fills the pipe of standard error until nobody can write it";
    for _ in 0..knobs.number("stderr-bytes", 0) / 80 {
        eprintln!("{line}");
    }
    sleep(Duration::from_millis(knobs.number("start-delay-ms", 0)));
    if let Some(code) = knobs.value("exit") {
        exit(code.parse().expect("a status"));
    }
}

fn serve(knobs: &Knobs, output: Output) {
    let mut tools = Tools::new(knobs, output);
    for (number, line) in stdin().lock().split(b'\n').map_while(Result::ok).enumerate() {
        let message: Value = serde_json::from_slice(&line).expect("hosts send JSON");
        let method = message["method"].as_str().unwrap_or_default();
        if number == 0 && knobs.flag("strict") && method != "initialize" {
            exit(64);
        }
        if knobs.flag("silent") {
            continue;
        }
        let Some(id) = message.get("id") else {
            tools.note(&message);
            continue;
        };
        if method.is_empty() {
            tools.reply(&message);
            continue;
        }
        if knobs.flag("garbage") {
            output.raw(b"INFO starting on port 3000 {not json\n\n\xff\xfe broken text\n");
        }
        if knobs.value("exit-at") == Some(method) {
            exit(65);
        }
        match method {
            "initialize" => initialize(knobs, output, id),
            "ping" => output.answer(id, &json!({})),
            "tools/list" => tools.list(id, &message["params"]["cursor"]),
            "tools/call" => tools.call(id, &message["params"]),
            _ if knobs.flag("strict") => exit(66),
            _ => output.error(id, METHOD_NOT_FOUND, "Method not found"),
        }
    }
}

fn initialize(knobs: &Knobs, output: Output, id: &Value) {
    if knobs.flag("early-notes") {
        output.note("notifications/message", &json!({"level": "info", "data": "starting"}));
        output.note("notifications/tools/list_changed", &json!({}));
    }
    let revision = knobs.value("revision").unwrap_or("2025-11-25");
    let capabilities = json!({
        "tools": {"listChanged": true, "zzz": 1}, "experimental": {"q": true}, "unknown": [],
    });
    let result = json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": {"name": "scripted", "version": "1.0.0"},
        "extra": {"field": true},
    });
    output.answer_after(knobs.number("init-delay-ms", 0), id, result);
}
