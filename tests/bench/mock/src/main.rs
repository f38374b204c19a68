//! A mock MCP server on stdio or behind HTTP, cheap enough that the host under test is what gets
//! measured.
//!
//! Every knob is `--name VALUE` or `--flag`, or `MOCK_NAME` in the environment; see [`Knobs`].
//! `--tag` is read by the runner alone: it finds a run's servers by it.

mod http;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::exit;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::value::RawValue;

type Object<'a> = HashMap<&'a str, &'a RawValue>;

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const SIGTERM: i32 = 15;
const SIG_IGN: usize = 1;

unsafe extern "C" {
    fn alarm(seconds: u32) -> u32;
    fn signal(signum: i32, handler: usize) -> usize;
}

#[derive(Clone, Copy)]
struct Knobs {
    /// `--raw`: echo bytes without a protocol; the floor of calls.
    raw: bool,
    /// `--ports`: listen on so many ports of loopback and print them, as one server each; 0 is
    /// stdio.
    ports: u64,
    /// `--sse`: answer requests with streams of events.
    sse: bool,
    /// `--init-step-ms`: by how much longer each port takes for `initialize` than the one before.
    init_step_ms: u64,
    /// `--init-delay-ms`: before `initialize` is answered.
    init_ms: u64,
    /// `--tools`: how many; the first two are `echo` and `blob`.
    tools: usize,
    /// `--page-size`: tools a page; 0 is one page.
    page: usize,
    /// `--ignore-eof`: outlive the end of the input.
    ignore_eof: bool,
    /// `--ignore-term`: ignore SIGTERM.
    ignore_term: bool,
    /// `--max-life-s`: when the process ends whatever happens, so that nothing is left for good.
    max_life_s: u64,
}

impl Knobs {
    fn read() -> Self {
        Self {
            raw: knob("raw").is_some(),
            ports: number("ports", 0),
            sse: knob("sse").is_some(),
            init_step_ms: number("init-step-ms", 0),
            init_ms: number("init-delay-ms", 0),
            tools: number("tools", 10) as usize,
            page: number("page-size", 0) as usize,
            ignore_eof: knob("ignore-eof").is_some(),
            ignore_term: knob("ignore-term").is_some(),
            max_life_s: number("max-life-s", 300),
        }
    }
}

/// The value of a knob, if it is given; a flag has an empty one or the next knob's name. A knob in
/// the environment (`MOCK_INIT_DELAY_MS`) leaves the definition what it is for a host's cache.
fn knob(name: &str) -> Option<String> {
    let flag = format!("--{name}");
    let mut args = std::env::args().skip_while(|arg| *arg != flag);
    let variable = || std::env::var(format!("MOCK_{}", name.to_uppercase().replace('-', "_"))).ok();
    args.next().map_or_else(variable, |_| Some(args.next().unwrap_or_default()))
}

fn number(name: &str, default: u64) -> u64 {
    knob(name).map_or(default, |value| value.parse().expect("a number"))
}

struct Answer {
    line: Vec<u8>,
    delay_ms: u64,
}

struct Server {
    knobs: Knobs,
    /// The last big text, which is asked for several times.
    blob: (usize, String),
}

impl Server {
    fn new(knobs: Knobs) -> Self {
        Self { knobs, blob: (usize::MAX, String::new()) }
    }

    /// The answer to one line; none for a notification.
    fn answer(&mut self, line: &str) -> Option<Answer> {
        let message: Object = serde_json::from_str(line).expect("hosts send JSON objects");
        let id = message.get("id")?.get();
        let method = message.get("method").map(|method| method.get().trim_matches('"'))?;
        let params = message.get("params").map_or("{}", |params| params.get());
        let params: Object = serde_json::from_str(params).unwrap_or_default();
        let mut line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into_bytes();
        let mut delay_ms = 0;
        match method {
            "initialize" => {
                let asked = params.get("protocolVersion").map_or("", |v| v.get().trim_matches('"'));
                let revision = REVISIONS.iter().find(|known| **known == asked);
                let revision = revision.unwrap_or(&"2025-11-25");
                write!(line, r#"{{"protocolVersion":"{revision}","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"mock","version":"1.0.0"}}}}"#).unwrap();
                delay_ms = self.knobs.init_ms;
            }
            "ping" => line.extend_from_slice(b"{}"),
            "tools/list" => {
                let cursor =
                    params.get("cursor").and_then(|c| c.get().trim_matches('"').parse().ok());
                self.list(cursor.unwrap_or(0), &mut line);
            }
            "tools/call" => self.call(&params, &mut line),
            _ => {
                line = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}"#).into_bytes();
            }
        }
        line.extend_from_slice(b"}\n");
        Some(Answer { line, delay_ms })
    }

    fn list(&self, from: usize, out: &mut Vec<u8>) {
        let total = self.knobs.tools;
        let end = if self.knobs.page == 0 { total } else { total.min(from + self.knobs.page) };
        out.extend_from_slice(b"{\"tools\":[");
        for i in from..end {
            let name = match i {
                0 => "echo".into(),
                1 => "blob".into(),
                _ => format!("tool_{i:05}"),
            };
            let comma = if i > from { "," } else { "" };
            write!(out, r#"{comma}{{"name":"{name}","title":"Mock tool {i}","description":"Mock tool number {i}. Looks up records by key in the synthetic table and returns those that match, newest first.","inputSchema":{{"type":"object","properties":{{"text":{{"type":"string","description":"Text to send back"}},"bytes":{{"type":"integer","minimum":0,"description":"Size of the result"}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"additionalProperties":false}},"annotations":{{"readOnlyHint":true}}}}"#).unwrap();
        }
        out.push(b']');
        if end < total {
            write!(out, ",\"nextCursor\":\"{end}\"").unwrap();
        }
        out.push(b'}');
    }

    fn call(&mut self, params: &Object, out: &mut Vec<u8>) {
        let arguments = params.get("arguments").map_or("{}", |arguments| arguments.get());
        let arguments: Object = serde_json::from_str(arguments).unwrap_or_default();
        out.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
        match params.get("name").map_or("", |name| name.get()) {
            "\"echo\"" => {
                let text = arguments.get("text").map_or("\"\"", |text| text.get());
                out.extend_from_slice(text.as_bytes());
            }
            "\"blob\"" => {
                let bytes = arguments.get("bytes").and_then(|bytes| bytes.get().parse().ok());
                let bytes = bytes.unwrap_or(1024);
                if self.blob.0 != bytes {
                    self.blob = (bytes, escaped_text(bytes));
                }
                out.reserve(self.blob.1.len() + 64);
                out.push(b'"');
                out.extend_from_slice(self.blob.1.as_bytes());
                out.push(b'"');
            }
            _ => out.extend_from_slice(b"\"ok\""),
        }
        out.extend_from_slice(b"}],\"isError\":false}");
    }
}

/// `bytes` of source-like text, escaped for a JSON string. Each line is 78 characters, a newline
/// and two quotes, so that decoding it cannot just copy.
fn escaped_text(bytes: usize) -> String {
    let line =
        "    let value = table.get(\\\"key\\\").copied().unwrap_or_default(); // 0123456789ab\\n";
    let decoded = line.len() - 3;
    let lines = bytes / decoded;
    let mut text = line.repeat(lines);
    text.extend(std::iter::repeat_n('x', bytes - lines * decoded));
    text
}

fn serve(knobs: Knobs) {
    let out = Arc::new(Mutex::new(stdout()));
    let mut server = Server::new(knobs);
    let mut input = io::stdin().lock();
    let (mut read, mut chunk) = (Vec::with_capacity(1 << 16), vec![0_u8; 1 << 16]);
    let mut batch: Vec<u8> = Vec::with_capacity(1 << 16);
    while let Some(n) = input.read(&mut chunk).ok().filter(|n| *n > 0) {
        read.extend_from_slice(&chunk[..n]);
        let mut start = 0;
        while let Some(n) = read[start..].iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&read[start..start + n]).expect("hosts send UTF-8");
            start += n + 1;
            let Some(answer) = server.answer(line) else { continue };
            if answer.delay_ms > 0 {
                let out = out.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(answer.delay_ms));
                    let _ = out.lock().unwrap().write_all(&answer.line);
                });
            } else if answer.line.len() > 1 << 16 {
                let mut out = out.lock().unwrap();
                let batch = std::mem::take(&mut batch);
                if out.write_all(&batch).and_then(|()| out.write_all(&answer.line)).is_err() {
                    return;
                }
            } else {
                batch.extend_from_slice(&answer.line);
            }
        }
        read.drain(..start);
        // One write for all that one read brought: pipelined calls batch.
        if !batch.is_empty() && out.lock().unwrap().write_all(&batch).is_err() {
            return;
        }
        batch.clear();
    }
}

fn echo(mut input: impl Read, mut output: impl Write) {
    let mut chunk = vec![0_u8; 1 << 16];
    while let Some(n) = input.read(&mut chunk).ok().filter(|n| *n > 0) {
        if output.write_all(&chunk[..n]).is_err() {
            return;
        }
    }
}

/// Standard output without a buffer in front of it.
fn stdout() -> File {
    File::from(io::stdout().as_fd().try_clone_to_owned().expect("an open standard output"))
}

fn main() {
    let knobs = Knobs::read();
    // SAFETY: two calls of the C library that take numbers and touch no memory of ours.
    unsafe {
        alarm(knobs.max_life_s as u32);
        if knobs.ignore_term {
            signal(SIGTERM, SIG_IGN);
        }
    }
    let (outlive, life) = (knobs.ignore_eof, Duration::from_secs(knobs.max_life_s));
    if knobs.ports > 0 {
        http::serve(&knobs);
    } else if knobs.raw {
        echo(io::stdin().lock(), stdout());
    } else {
        serve(knobs);
    }
    if outlive {
        thread::sleep(life);
    }
    exit(0)
}
