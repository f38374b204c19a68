//! The built-in server of `demo` that is reached over HTTP, at a port of its own on loopback, for
//! as long as the demo runs.
//!
//! It speaks streamable HTTP with sessions, and answers calls with streams. Nobody has to trust
//! who connects: what it takes is bounded, and pages of a browser are sent away.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::{self, Kind};

/// How many connections are served at once.
const CONNECTIONS_MAX: usize = 8;
/// How many sessions there may be.
const SESSIONS_MAX: usize = 8;
/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: u64 = 16 * 1024;
/// The longest body of a request, in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long connections take at most to be seen to end.
const ENDING: Duration = Duration::from_secs(1);

/// The server, which ends with this.
pub(super) struct Web {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What is left of who used the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rest {
    /// Sessions that were not ended.
    pub(super) sessions: usize,
    /// Connections that are open.
    pub(super) connections: usize,
}

#[derive(Debug, Default)]
struct Shared {
    stopping: AtomicBool,
    connections: AtomicUsize,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    begun: u64,
    open: BTreeSet<String>,
}

struct Request {
    method: String,
    session: Option<String>,
    /// Whether a page of a browser sent it.
    from_page: bool,
    body: Vec<u8>,
}

impl Web {
    /// Listens.
    ///
    /// # Errors
    /// If this machine has no port for it.
    pub(super) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let accepting = thread::spawn(move || accept(&listener, &own));
        Ok(Self { port, shared, accepting: Some(accepting) })
    }

    /// Where it is.
    pub(super) fn url(&self) -> String {
        format!("http://{}:{}/mcp", Ipv4Addr::LOCALHOST, self.port)
    }

    /// What is left, once everybody had time to leave.
    pub(super) fn rest(&self) -> Rest {
        let until = Instant::now() + ENDING;
        while self.shared.connections.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        Rest {
            sessions: self.shared.sessions().open.len(),
            connections: self.shared.connections.load(Ordering::SeqCst),
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Whoever waits for a connection gets one.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            // It has nothing to say, not even if it panicked.
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.connections.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS_MAX {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // Who breaks off or says nothing sensible is let go.
            let _ = converse(&shared, &stream);
            shared.connections.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn converse(shared: &Shared, mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream);
    while let Some(request) = Request::read(&mut input)? {
        stream.write_all(answer(shared, &request).as_bytes())?;
    }
    Ok(())
}

impl Request {
    /// The next one; `None` if there is none.
    fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = input.by_ref().take(HEAD_BYTES_MAX);
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let method = line.split(' ').next().unwrap_or_default().to_owned();
        let (mut session, mut from_page, mut length) = (None, false, 0);
        loop {
            line.clear();
            if head.read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(io::Error::other)?,
                "mcp-session-id" => session = Some(value.to_owned()),
                "origin" => from_page = true,
                _ => {}
            }
        }
        if length > BODY_BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        Ok(Some(Self { method, session, from_page, body }))
    }
}

fn answer(shared: &Shared, request: &Request) -> String {
    if request.from_page {
        return bare("403 Forbidden");
    }
    let message = match request.method.as_str() {
        "POST" => serde_json::from_slice::<Value>(&request.body),
        "DELETE" => return bare(end(shared, request)),
        _ => return bare("405 Method Not Allowed"),
    };
    let Ok(message) = message else { return bare("400 Bad Request") };
    let mut begun = None;
    if message["method"] == "initialize" {
        begun = begin(shared);
        if begun.is_none() {
            return bare("503 Service Unavailable");
        }
    } else if let Some(session) = &request.session {
        if !shared.sessions().open.contains(session) {
            return bare("404 Not Found");
        }
    } else {
        return bare("400 Bad Request");
    }
    let Some(id) = message.get("id") else { return bare("202 Accepted") };
    let mut reply = server::answer(Kind::Web, &message);
    reply["jsonrpc"] = "2.0".into();
    reply["id"] = id.clone();
    if message["method"] == "tools/call" {
        return whole(
            "text/event-stream",
            None,
            &format!(": asking the buoys\n\ndata: {reply}\n\n"),
        );
    }
    whole("application/json", begun.as_deref(), &reply.to_string())
}

/// The id of a new session, if there is room for one.
fn begin(shared: &Shared) -> Option<String> {
    let mut sessions = shared.sessions();
    if sessions.open.len() >= SESSIONS_MAX {
        return None;
    }
    sessions.begun += 1;
    let session = format!("demo-{}", sessions.begun);
    sessions.open.insert(session.clone());
    Some(session)
}

/// The status of the end of a session.
fn end(shared: &Shared, request: &Request) -> &'static str {
    let known = request.session.as_ref().is_some_and(|it| shared.sessions().open.remove(it));
    if known { "200 OK" } else { "404 Not Found" }
}

fn bare(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")
}

fn whole(content: &str, session: Option<&str>, body: &str) -> String {
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content}\r\n{session}content-length: {length}\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(web: &Web, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, web.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        // Who is not listened to is hung up on, and what was not read breaks the connection.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn post(headers: &str, body: &str) -> String {
        format!("POST /mcp HTTP/1.1\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn a_session_begins_answers_and_ends() {
        let web = Web::start().unwrap();
        let hello = ask(&web, &post("", r#"{"id":1,"method":"initialize","params":{}}"#));
        assert!(hello.contains("mcp-session-id: demo-1\r\n"), "{hello}");
        let list = r#"{"id":2,"method":"tools/list"}"#;
        assert!(ask(&web, &post("Mcp-Session-Id: demo-1\r\n", list)).contains("forecast"));
        assert!(ask(&web, &post("Mcp-Session-Id: demo-9\r\n", list)).contains(" 404 "));
        assert!(ask(&web, &post("", list)).contains(" 400 "));
        assert_eq!(web.rest(), Rest { sessions: 1, connections: 0 });
        let end = "DELETE /mcp HTTP/1.1\r\nmcp-session-id: demo-1\r\n\r\n";
        assert!(ask(&web, end).contains(" 200 ") && ask(&web, end).contains(" 404 "));
        assert_eq!(web.rest(), Rest { sessions: 0, connections: 0 });
    }

    /// L10.
    #[test]
    fn what_is_too_much_is_not_taken() {
        let web = Web::start().unwrap();
        assert_eq!(ask(&web, &format!("POST {}", "x".repeat(HEAD_BYTES_MAX as usize))), "");
        assert_eq!(ask(&web, "POST / HTTP/1.1\r\ncontent-length: 65537\r\n\r\n"), "");
        let initialize = r#"{"id":1,"method":"initialize"}"#;
        let from_page = ask(&web, &post("Origin: https://evil.example\r\n", initialize));
        assert!(from_page.contains(" 403 "), "{from_page}");
        for _ in 0..SESSIONS_MAX {
            assert!(ask(&web, &post("", initialize)).contains(" 200 "));
        }
        assert!(ask(&web, &post("", initialize)).contains(" 503 "));
    }
}
