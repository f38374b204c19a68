//! Published servers behind a port of this machine.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);

/// Which server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// The TypeScript SDK's, streamable HTTP.
    EverythingHttp,
    /// The same, HTTP+SSE of 2024-11-05.
    EverythingSse,
    /// The Python SDK's, streamable HTTP, answers as streams.
    PythonHttp,
    /// The same, answers as JSON.
    PythonJson,
    /// The same, HTTP+SSE.
    PythonSse,
}

pub(crate) const KINDS: [Kind; 5] = [
    Kind::EverythingHttp,
    Kind::EverythingSse,
    Kind::PythonHttp,
    Kind::PythonJson,
    Kind::PythonSse,
];

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::EverythingHttp => "everything-http",
            Self::EverythingSse => "everything-sse",
            Self::PythonHttp => "python-http",
            Self::PythonJson => "python-json",
            Self::PythonSse => "python-sse",
        }
    }

    /// A call, and what its answer must contain.
    pub(crate) fn call(self) -> (&'static str, Value, &'static str) {
        match self {
            Self::EverythingHttp | Self::EverythingSse => {
                ("get-sum", json!({"a": 19, "b": 23}), "42")
            }
            Self::PythonHttp | Self::PythonJson | Self::PythonSse => {
                ("add", json!({"a": 19, "b": 23}), "42")
            }
        }
    }

    const fn is_sse(self) -> bool {
        matches!(self, Self::EverythingSse | Self::PythonSse)
    }

    fn command(self, port: u16) -> Command {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let everything = |transport| {
            let mut command = Command::new("node");
            // Without a host it would listen for other machines, too.
            command.arg("--import").arg(here.join("conformance/loopback.mjs"));
            let program = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
            command.arg(installed(program)).arg(transport).env("PORT", port.to_string());
            command
        };
        let python = |transport, more: &[&str]| {
            let mut command = Command::new(installed("python/bin/python"));
            command.arg(here.join("servers/sdk_server.py")).arg(transport).arg(port.to_string());
            command.args(more);
            command
        };
        match self {
            Self::EverythingHttp => everything("streamableHttp"),
            Self::EverythingSse => everything("sse"),
            Self::PythonHttp => python("streamable-http", &[]),
            Self::PythonJson => python("streamable-http", &["json"]),
            Self::PythonSse => python("sse", &[]),
        }
    }
}

fn installed(path: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".servers").join(path);
    assert!(file.exists(), "{} is missing: run tests/servers/install", file.display());
    file
}

/// A server that runs until this is dropped.
pub(crate) struct Served {
    kind: Kind,
    port: u16,
    child: Child,
}

impl Served {
    pub(crate) fn start(kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        drop(listener);
        Self { kind, port, child: launch(kind, port) }
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// An entry for it.
    pub(crate) fn entry(&self) -> Value {
        let (transport, path) = if self.kind.is_sse() { ("sse", "sse") } else { ("http", "mcp") };
        json!({"type": transport, "url": format!("http://localhost:{}/{path}", self.port)})
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it at the same place.
    pub(crate) fn start_again(&mut self) {
        self.kill();
        self.child = launch(self.kind, self.port);
    }

    /// Fails if a connection to it is open.
    pub(crate) fn check_no_socket(&self) {
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
        let text: String = tables.iter().filter_map(|it| fs::read_to_string(it).ok()).collect();
        let remote = format!(":{:04X}", self.port);
        // The fields: number, local address, remote address, state; 01 is an open connection.
        let open = text.lines().filter(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, _, to, "01", ..] if to.ends_with(&remote))
        });
        assert_eq!(open.count(), 0, "{:?}", self.kind);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

fn launch(kind: Kind, port: u16) -> Child {
    let mut command = kind.command(port);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a server");
    let until = Instant::now() + START;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(child.try_wait().expect("its state").is_none(), "{kind:?} ended");
        assert!(Instant::now() < until, "{kind:?} does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    child
}
