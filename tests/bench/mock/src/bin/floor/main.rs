//! The floor adapter: what the machine allows, with no MCP host in the way.
//!
//! `floor SPEC`  — spawn+exit of the servers, echo of the same bytes through the
//!                 same pipes or sockets, one serde_json parse of a big result.
//! `floor --bare SPEC` — the protocol conversation against the real mock server
//!                 with ready-made bytes, no JSON parser and no async runtime:
//!                 what the mock itself costs.

mod http;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const INIT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn emit(v: Value) {
    println!("{v}");
}

fn wait_for_runner() {
    let _ = std::io::stdin().lock().read_line(&mut String::new());
}

/// Ids have a fixed width, so that every answer has the same length.
fn call(id: usize, tool: &str, args: &Value) -> String {
    let id = 1_000_000 + id;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
    )
}

struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Peer {
    fn spawn(server: &Value, extra: &[&str]) -> Peer {
        let mut child = command(server)
            .args(extra)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("spawn");
        Peer {
            input: child.stdin.take(),
            output: BufReader::with_capacity(1 << 16, child.stdout.take().unwrap()),
            child,
            line: Vec::new(),
        }
    }

    fn send(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).expect("write");
    }

    fn recv(&mut self) -> &[u8] {
        self.line.clear();
        self.output.read_until(b'\n', &mut self.line).expect("read");
        &self.line
    }

    fn list_page(&mut self, cursor: &str) {
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{{{cursor}}}}}\n"
        ));
    }

    /// Reads pages to the end; the number of tools.
    fn list_rest(&mut self) -> usize {
        let mut tools = 0;
        loop {
            let line = self.recv();
            tools += line.windows(15).filter(|w| w == b"\"inputSchema\":{").count();
            let tail = String::from_utf8_lossy(&line[line.len().saturating_sub(64)..]).into_owned();
            let Some((_, rest)) = tail.split_once("\"nextCursor\":\"") else { return tools };
            self.list_page(&format!("\"cursor\":\"{}\"", rest.split('"').next().unwrap()));
        }
    }
}

fn command(server: &Value) -> Command {
    let mut c = Command::new(server["command"].as_str().expect("command"));
    c.args(server["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()));
    c
}

fn close(peers: Vec<Peer>) {
    let mut peers = peers;
    peers.iter_mut().for_each(|p| drop(p.input.take()));
    for p in &mut peers {
        let _ = p.child.wait();
    }
}

fn spawn_and_exit(servers: &[Value]) {
    let mut children: Vec<Child> = servers
        .iter()
        .map(|s| command(s).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("spawn"))
        .collect();
    for c in &mut children {
        c.wait().expect("wait");
    }
    emit(json!({"event": "listed", "servers": servers.len(), "tools": 0}));
    wait_for_runner();
}

fn connect_and_list(servers: &[Value]) -> Vec<Peer> {
    let mut peers: Vec<(bool, Peer)> =
        servers.iter().map(|s| (s["slow"] == true, Peer::spawn(s, &[]))).collect();
    for (_, p) in &mut peers {
        p.send(&format!("{INIT}\n"));
    }
    let mut tools = 0;
    for slow in [false, true] {
        let mut batch: Vec<&mut Peer> =
            peers.iter_mut().filter(|p| p.0 == slow).map(|p| &mut p.1).collect();
        for p in &mut batch {
            p.recv();
            p.send(&format!("{INITIALIZED}\n"));
            p.list_page("");
        }
        for p in &mut batch {
            tools += p.list_rest();
        }
        if !slow {
            emit(json!({"event": "fast", "tools": tools}));
        }
    }
    emit(json!({"event": "listed", "servers": peers.len(), "tools": tools}));
    peers.into_iter().map(|p| p.1).collect()
}

fn micros(t: Instant) -> f64 {
    t.elapsed().as_nanos() as f64 / 1e3
}

/// Keeps `inflight` lines under way on one pipe: answers that arrive together
/// are replaced by as many requests in one write.
fn stdio_calls(p: &mut Peer, calls: usize, inflight: usize, args: &Value) -> Vec<f64> {
    let request = |i: usize| call(i, "echo", args) + "\n";
    let mut latencies = Vec::new();
    if inflight == 1 {
        let line = request(0);
        for _ in 0..calls {
            let t = Instant::now();
            p.send(&line);
            p.recv();
            latencies.push(micros(t));
        }
        return latencies;
    }
    let send = |p: &mut Peer, from: usize, n: usize| {
        let text: String = (from..from + n).map(request).collect();
        p.send(&text);
    };
    let (mut sent, mut done) = (inflight.min(calls), 0);
    send(p, 0, sent);
    while done < calls {
        let chunk = p.output.fill_buf().expect("read");
        assert!(!chunk.is_empty(), "server closed its output");
        let (n, got) = (chunk.len(), chunk.iter().filter(|b| **b == b'\n').count());
        p.output.consume(n);
        done += got;
        let more = got.min(calls - sent);
        if more > 0 {
            send(p, sent, more);
            sent += more;
        }
    }
    latencies
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let bare = args.first().is_some_and(|a| a == "--bare");
    let spec = std::fs::read_to_string(args.pop().expect("floor [--bare] SPEC")).expect("spec");
    let spec: Value = serde_json::from_str(&spec).expect("spec is JSON");
    emit(json!({"event": "loaded"}));
    let servers = spec["servers"].as_array().expect("servers");
    let n = |k: &str| spec[k].as_u64().unwrap_or(1) as usize;
    let text = json!({"text": "x".repeat(spec["arg_bytes"].as_u64().unwrap_or(100) as usize)});
    match spec["op"].as_str().expect("op") {
        _ if servers[0]["url"].is_string() => http::run(&spec, bare, &text),
        "list" if !bare => return spawn_and_exit(servers),
        "list" => {
            let peers = connect_and_list(servers);
            wait_for_runner();
            close(peers);
        }
        "calls" => {
            let mut peers = if bare {
                connect_and_list(servers)
            } else {
                vec![Peer::spawn(&servers[0], &["--raw"])]
            };
            stdio_calls(&mut peers[0], n("warmup"), 1, &text);
            emit(json!({"event": "begin"}));
            let latencies = stdio_calls(&mut peers[0], n("calls"), n("inflight"), &text);
            emit(json!({"event": "done", "calls": n("calls"), "lat_us": latencies}));
            wait_for_runner();
            close(peers);
        }
        "big" => {
            let mut peers = connect_and_list(servers);
            let p = &mut peers[0];
            let line = call(0, "blob", &json!({"bytes": n("bytes")})) + "\n";
            p.send(&line);
            let answer = p.recv().to_vec();
            emit(json!({"event": "begin"}));
            for _ in 0..n("repeat") {
                if bare {
                    p.send(&line);
                    p.recv();
                } else {
                    let v: Value = serde_json::from_slice(&answer).expect("parse");
                    assert_eq!(
                        v["result"]["content"][0]["text"].as_str().map(str::len),
                        Some(n("bytes"))
                    );
                }
            }
            emit(json!({"event": "done", "bytes": n("bytes") * n("repeat")}));
            wait_for_runner();
            close(peers);
        }
        op => panic!("unknown op {op}"),
    }
    emit(json!({"event": "closed"}));
}
