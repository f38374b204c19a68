//! Remote servers: what is open, what is freed, and which way requests take.
//!
//! A program of its own: hundreds of sockets beside the other tests would spoil what they count.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[expect(dead_code, reason = "the tests with processes use more of it")]
#[path = "../real/project.rs"]
mod project;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::input::Target;
use tidegate_smol::{Host, Network};

use project::{Project, call, hasty, text};

/// A server that greets, lists two tools, `echo` and `silent`, and never answers a call of that.
struct Web {
    port: u16,
    /// The first line of every request.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let lines = Arc::clone(&lines);
                thread::spawn(move || serve(&stream, &lines));
            }
        });
        Self { port, asked }
    }

    fn entry(&self) -> Value {
        json!({"type": "http", "url": format!("http://127.0.0.1:{}/mcp", self.port)})
    }

    /// How many connections to it are open.
    fn connections(&self) -> usize {
        let wanted = format!("0100007F:{:04X}", self.port);
        let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
        // The fields: number, local address, remote address, state; 01 is an open connection.
        let open = table.lines().filter(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, _, to, "01", ..] if to == wanted)
        });
        open.count()
    }
}

fn serve(stream: &TcpStream, lines: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            if let Some(written) = line.strip_prefix("content-length: ") {
                length = written.trim().parse().unwrap();
            }
            head.push(line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        lines.lock().unwrap().push(head[0].trim_end().into());
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            None => {
                say(stream, "405 No", "");
                continue;
            }
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            }),
            Some("tools/list") => {
                let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
                json!({"tools": [tool("echo"), tool("silent")]})
            }
            Some("tools/call") if message["params"]["name"] == "echo" => {
                let said = message["params"]["arguments"]["text"].clone();
                json!({"content": [{"type": "text", "text": said}]})
            }
            // Says nothing until the other side hangs up.
            Some("tools/call") => continue,
            Some(_) => {
                say(stream, "202 Accepted", "");
                continue;
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        say(stream, "200 OK", &answer.to_string());
    }
}

fn say(mut stream: &TcpStream, status: &str, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    let _ = stream.write_all((head + body).as_bytes());
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done().await {
        assert!(Instant::now() < end, "{what}");
        async_io::Timer::after(Duration::from_millis(5)).await;
    }
}

async fn state(host: &Host) -> ServerState {
    host.status().await.servers[0].state.clone()
}

#[test]
fn a_remote_server_is_listed_and_called() {
    let (project, web) = (Project::new(), Web::new());
    project.run(web.entry(), async |host| {
        for said in ["one", "two"] {
            assert_eq!(text(&call(host, "echo", json!({ "text": said })).await), said);
        }
        assert_eq!(state(host).await, ServerState::Connected);
    });
    assert_eq!(web.connections(), 0);
}

/// Issue 5, 7: a hundred calls to a silent server, given up at once, hold nothing.
#[test]
#[cfg(target_os = "linux")]
fn a_hundred_silent_calls_are_freed_at_once_and_hold_no_thread() {
    let (project, web) = (Project::new(), Web::new());
    project.run(web.entry(), async |host| {
        let threads = || fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        let target = || Target::Tool { server: "s".into(), tool: "silent".into() };
        let silent: Vec<_> = (0..100)
            .map(|_| host.call(target(), tidegate_core::bytes::Json::new("{}"), None))
            .collect();
        until("a hundred connections", async || web.connections() >= 100).await;
        // One thread each is the server's own; the driver adds none.
        assert!(threads() < before + 150, "{before} {}", threads());
        for call in &silent {
            call.cancel();
        }
        for call in silent {
            assert_eq!(call.await, Outcome::Aborted);
        }
        until("the end of them", async || web.connections() < 100).await;
        assert_eq!(
            text(&call(host, "echo", json!({ "text": "still there" })).await),
            "still there"
        );
    });
    assert_eq!(web.connections(), 0);
}

/// Issue 5, 7: closing what is silent takes no time either.
#[test]
fn a_hundred_silent_servers_hold_up_no_end() {
    let project = Project::new();
    // A backlog that nobody accepts from: the peer is the kernel.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let web = Web { port, asked: Arc::default() };
    let names: Vec<String> = (0..100).map(|number| format!("s{number}")).collect();
    let servers: Vec<_> = names.iter().map(|name| (name.as_str(), web.entry())).collect();
    let settings = hasty(project.settings(&servers));
    project.run_with(settings, async |host| {
        let starting = host.start();
        let connected = until("a hundred connections", async || web.connections() >= 100);
        futures_lite::future::or(async { drop(starting.await) }, connected).await;
        let begun = Instant::now();
        host.shutdown().await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    });
    assert_eq!(web.connections(), 0);
}

/// F-076.
#[test]
fn a_proxy_is_used_unless_it_is_excepted() {
    for (except, through) in [("", true), ("far.example", true), ("127.0.0.1", false)] {
        let (project, web, proxy) = (Project::new(), Web::new(), Web::new());
        let address = format!("http://127.0.0.1:{}", proxy.port);
        let network = Network::of(move |name| match name {
            "HTTP_PROXY" => Some(address.clone()),
            "NO_PROXY" => Some(except.into()),
            _ => None,
        })
        .with_loopback_proxied();
        let settings = project.settings(&[("s", web.entry())]).with_network(network);
        project.run_with(settings, async |host| {
            host.start().await;
            assert_eq!(state(host).await, ServerState::Connected);
        });
        let asked = proxy.asked.lock().unwrap().clone();
        assert_eq!(!asked.is_empty(), through, "{except:?}: {asked:?}");
        assert_eq!(web.asked.lock().unwrap().is_empty(), through);
        let whole = format!("POST http://127.0.0.1:{}/mcp HTTP/1.1", web.port);
        assert!(asked.iter().all(|line| line.contains("http://127.0.0.1")), "{asked:?}");
        assert!(!through || asked.contains(&whole), "{asked:?}");
    }
}
