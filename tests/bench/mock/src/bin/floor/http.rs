//! The same over HTTP: for calls the bytes are echoed through a socket, or sent as ready-made
//! requests; a big result is parsed in memory, or only transferred.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::{INIT, INITIALIZED, call, emit, micros, wait_for_runner};

/// Does what a spec asks for.
pub(crate) fn run(spec: &Value, bare: bool, text: &Value) {
    let server = &spec["servers"][0];
    let number = |key: &str| spec[key].as_u64().unwrap_or(1) as usize;
    match spec["op"].as_str() {
        Some("calls") => {
            let (calls, inflight) = (number("calls"), number("inflight"));
            let body = call(0, "echo", text);
            let connect = if bare { Client::conversing } else { Client::echoing };
            let clients: Vec<Client> = (0..inflight)
                .map(|_| connect(server, &body, number("warmup") / inflight))
                .collect();
            emit(json!({"event": "begin"}));
            let share = calls / inflight;
            let threads: Vec<_> = clients
                .into_iter()
                .map(|mut client| thread::spawn(move || client.calls(share)))
                .collect();
            let mut latencies: Vec<f64> =
                threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect();
            let done = latencies.len();
            if inflight > 1 {
                latencies.clear();
            }
            emit(json!({"event": "done", "calls": done, "lat_us": latencies}));
        }
        Some("big") => big(server, number("bytes"), number("repeat"), bare),
        op => panic!("no {op:?} over HTTP"),
    }
    wait_for_runner();
}

fn big(server: &Value, bytes: usize, repeat: usize, bare: bool) {
    let body = call(0, "blob", &json!({"bytes": bytes}));
    let mut client = Client::conversing(server, &body, 0);
    emit(json!({"event": "begin"}));
    let answer = String::from_utf8(client.answer.clone()).expect("UTF-8");
    let (start, end) = (answer.find("{\"jsonrpc").expect("a message"), answer.rfind('}'));
    let message = &answer[start..=end.expect("its end")];
    for _ in 0..repeat {
        if bare {
            client.exchange();
        } else {
            let value: Value = serde_json::from_str(message).expect("JSON");
            let text = value["result"]["content"][0]["text"].as_str();
            assert_eq!(text.map(str::len), Some(bytes));
        }
    }
    emit(json!({"event": "done", "bytes": bytes * repeat}));
}

/// A connection, a request and an answer that is as long each time.
struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// To a server that gives back what it gets.
    fn echoing(server: &Value, body: &str, warmup: usize) -> Self {
        let request = request("mcp-session-id: mock\r\nmcp-protocol-version: 2025-11-25\r\n", body);
        let answer = vec![0; request.len()];
        let mut client = Self { stream: connect(&server["raw_url"]), request, answer };
        client.calls(warmup);
        client
    }

    /// To a server of the protocol, greeted.
    fn conversing(server: &Value, body: &str, warmup: usize) -> Self {
        let mut stream = connect(&server["url"]);
        let hello = ask(&mut stream, &request("", INIT));
        let id = hello.split("mcp-session-id: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let id = id.expect("a session");
        let head = format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n");
        ask(&mut stream, &request(&head, INITIALIZED));
        let request = request(&head, body);
        let answer = ask(&mut stream, &request).into_bytes();
        let mut client = Self { stream, request, answer };
        client.calls(warmup);
        client
    }

    fn exchange(&mut self) {
        self.stream.write_all(&self.request).expect("a write");
        self.stream.read_exact(&mut self.answer).expect("an answer");
    }

    /// So many exchanges, each with its microseconds.
    fn calls(&mut self, calls: usize) -> Vec<f64> {
        let timed = |_| {
            let start = Instant::now();
            self.exchange();
            micros(start)
        };
        (0..calls).map(timed).collect()
    }
}

fn connect(url: &Value) -> TcpStream {
    let url = url.as_str().expect("an address");
    let host = url.trim_start_matches("http://").split('/').next().expect("a host");
    let stream = TcpStream::connect(host).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    stream
}

fn request(head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// One exchange whose answer may have any length, its end found by its head.
fn ask(stream: &mut TcpStream, request: &[u8]) -> String {
    stream.write_all(request).expect("a write");
    let (mut answer, mut chunk) = (Vec::new(), vec![0; 1 << 20]);
    loop {
        let count = stream.read(&mut chunk).expect("an answer");
        assert!(count > 0, "the server closed");
        answer.extend_from_slice(&chunk[..count]);
        let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&answer[..end]).expect("a head");
        let length = head.split("content-length: ").nth(1);
        let length = length.map(|it| it.split("\r\n").next().expect("a line"));
        let whole = match length.map(|it| it.parse::<usize>().expect("a number")) {
            Some(length) => answer.len() >= end + 4 + length,
            None => answer.ends_with(b"\r\n0\r\n\r\n"),
        };
        if whole {
            return String::from_utf8(answer).expect("UTF-8");
        }
    }
}
