//! A server on loopback that says what the test tells it to, byte by byte.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub(super) struct Server {
    pub(super) address: SocketAddr,
    /// How many connections were made to it.
    accepted: Arc<AtomicUsize>,
}

impl Server {
    /// Serves each connection with `serve`, which is told the how manieth it is, from zero.
    pub(super) fn new(serve: impl Fn(Peer, usize) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", serve)
    }

    pub(super) fn at(address: &str, serve: impl Fn(Peer, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(Peer { stream }, number));
            }
        });
        Self { address, accepted }
    }

    /// Says the same to every request, and keeps the connection.
    pub(super) fn saying(answer: &'static str) -> Self {
        Self::new(move |mut peer, _| {
            while peer.request().is_some() {
                peer.say(answer);
            }
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// The other end of a connection.
pub(super) struct Peer {
    pub(super) stream: TcpStream,
}

impl Peer {
    /// The next request; `None` once there is none.
    pub(super) fn request(&mut self) -> Option<String> {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(b"\r\n\r\n") {
            match self.stream.read(&mut byte) {
                Ok(0) => return None,
                Ok(_) => text.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        let head = String::from_utf8(text).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(head + &String::from_utf8(body).unwrap())
    }

    pub(super) fn say(&mut self, text: &str) {
        // The test may have hung up.
        let _ = self.stream.write_all(text.as_bytes());
    }

    /// Waits for the other side to hang up.
    pub(super) fn wait(&mut self) {
        while self.stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    }
}
