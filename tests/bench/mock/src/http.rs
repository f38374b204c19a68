//! The same behind streamable HTTP: a thread for each connection, a session, and a stream that
//! stays open and says nothing.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::exit;
use std::thread;
use std::time::Duration;

use crate::{Knobs, Server, echo};

/// Threads are many and do little.
const STACK_BYTES: usize = 256 * 1024;

/// Serves until the input ends.
pub(crate) fn serve(knobs: &Knobs) {
    let listen = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let listeners: Vec<TcpListener> = (0..knobs.ports).map(listen).collect();
    let ports: Vec<u16> =
        listeners.iter().map(|it| it.local_addr().expect("an address").port()).collect();
    println!("{{\"ports\":{ports:?}}}");
    for (number, listener) in (0..).zip(listeners) {
        let init_ms = knobs.init_ms + knobs.init_step_ms * number;
        let knobs = Knobs { init_ms, ..*knobs };
        spawn(move || {
            for stream in listener.incoming().flatten() {
                spawn(move || converse(knobs, stream));
            }
        });
    }
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    exit(0)
}

fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
}

struct Request {
    method: String,
    has_session: bool,
    body: Vec<u8>,
}

fn read(input: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let method = line.split(' ').next()?.to_owned();
    let (mut has_session, mut length, mut chunked) = (false, 0, false);
    loop {
        line.clear();
        input.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "transfer-encoding" => chunked = true,
            "mcp-session-id" => has_session = true,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    while chunked {
        line.clear();
        input.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let at = body.len();
        body.resize(at + size + 2, 0);
        input.read_exact(&mut body[at..]).ok()?;
        body.truncate(at + size);
        chunked = size > 0;
    }
    Some(Request { method, has_session, body })
}

fn converse(knobs: Knobs, stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut out = stream.try_clone().ok()?;
    if knobs.raw {
        echo(stream, out);
        return None;
    }
    let mut server = Server::new(knobs);
    let mut input = BufReader::with_capacity(1 << 16, stream);
    let mut answer = Vec::new();
    loop {
        let request = read(&mut input)?;
        answer.clear();
        match request.method.as_str() {
            "POST" => post(&mut server, &request, &mut answer),
            "GET" => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n").ok()?;
                // Until the client goes.
                let _ = io::copy(&mut input, &mut io::sink());
                return None;
            }
            _ => answer.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        }
        out.write_all(&answer).ok()?;
    }
}

fn post(server: &mut Server, request: &Request, out: &mut Vec<u8>) {
    let text = std::str::from_utf8(&request.body).expect("hosts send UTF-8");
    let begins = text.contains("\"initialize\"");
    if !request.has_session && !begins {
        out.extend_from_slice(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        return;
    }
    let Some(mut answer) = server.answer(text) else {
        out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
        return;
    };
    thread::sleep(Duration::from_millis(answer.delay_ms));
    answer.line.pop();
    let (length, session) =
        (answer.line.len(), if begins { "mcp-session-id: mock\r\n" } else { "" });
    out.reserve(length + 256);
    if server.knobs.sse {
        let frame = "event: message\ndata: ";
        write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{session}transfer-encoding: chunked\r\n\r\n{:x}\r\n{frame}", frame.len() + length + 2).expect("memory");
        out.extend_from_slice(&answer.line);
        out.extend_from_slice(b"\n\n\r\n0\r\n\r\n");
    } else {
        write!(out, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{session}content-length: {length}\r\n\r\n").expect("memory");
        out.extend_from_slice(&answer.line);
    }
}
