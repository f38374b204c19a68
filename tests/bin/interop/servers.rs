//! The servers of the table: how each is started, and what its tools are called.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_core::wire::dialect::Era;

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);

/// A server, by the way it is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// The SDK it is made with.
    pub(crate) sdk: &'static str,
    make: Make,
    way: Way,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Make {
    Everything,
    TypeScript,
    Python,
    Rust,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Stdio,
    /// Streamable HTTP; answers as streams.
    Http,
    /// The same; answers as JSON.
    Json,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

const fn server(name: &'static str, sdk: &'static str, make: Make, way: Way) -> Server {
    Server { name, sdk, make, way }
}

/// All of them.
pub(crate) const ALL: [Server; 11] = [
    server("everything-stdio", "TypeScript 1.32.2", Make::Everything, Way::Stdio),
    server("everything-http", "TypeScript 1.32.2", Make::Everything, Way::Http),
    server("everything-sse", "TypeScript 1.32.2", Make::Everything, Way::Sse),
    server("typescript-stdio", "TypeScript 2.4.0", Make::TypeScript, Way::Stdio),
    server("typescript-http", "TypeScript 2.4.0", Make::TypeScript, Way::Http),
    server("python-stdio", "Python 2.3.0", Make::Python, Way::Stdio),
    server("python-http", "Python 2.3.0", Make::Python, Way::Http),
    server("python-json", "Python 2.3.0", Make::Python, Way::Json),
    server("python-sse", "Python 2.3.0", Make::Python, Way::Sse),
    server("rust-stdio", "Rust 3.11.0", Make::Rust, Way::Stdio),
    server("rust-http", "Rust 3.11.0", Make::Rust, Way::Http),
];

impl Server {
    /// A tool that adds.
    pub(crate) fn add(&self) -> &'static str {
        if self.make == Make::Everything { "get-sum" } else { "add" }
    }

    /// A tool that reports how far it is, so many times in so many seconds.
    pub(crate) fn count(&self, steps: u32, seconds: f64) -> (&'static str, Value) {
        if self.make == Make::Everything {
            ("trigger-long-running-operation", json!({"duration": seconds, "steps": steps}))
        } else {
            ("count", json!({"steps": steps, "pause": seconds / f64::from(steps)}))
        }
    }

    /// A prompt, and what it is asked for with.
    pub(crate) fn prompt(&self) -> (&'static str, Value) {
        if self.make == Make::Everything {
            ("simple-prompt", json!({}))
        } else {
            ("greet", json!({"name": "Ada"}))
        }
    }

    /// Whether it speaks the revisions of an era.
    pub(crate) fn speaks(&self, era: Era) -> bool {
        era == Era::Legacy || (self.make != Make::Everything && self.way != Way::Sse)
    }

    /// Whether its answers have room for reports before them.
    pub(crate) fn reports(&self) -> bool {
        self.way != Way::Json
    }

    /// Starts it, if it is no process of the host's, and says how it is reached.
    pub(crate) fn start(self) -> Result<Started, String> {
        if self.way == Way::Stdio {
            let words = self.words(None);
            let (command, args) = words.split_first().ok_or("no words")?;
            let env = json!({ "NODE_ROOT": tests(".interop") });
            let entry = json!({"command": command, "args": args, "env": env});
            return Ok(Started { server: self, entry, running: None });
        }
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let (kind, path) = if self.way == Way::Sse { ("sse", "sse") } else { ("http", "mcp") };
        let entry = json!({"type": kind, "url": format!("http://127.0.0.1:{port}/{path}")});
        let running = Some((port, self.launch(port)?));
        Ok(Started { server: self, entry, running })
    }

    fn launch(self, port: u16) -> Result<Child, String> {
        let words = self.words(Some(port));
        let (command, args) = words.split_first().ok_or("no words")?;
        let mut command = Command::new(command);
        command.args(args).env("PORT", port.to_string()).env("NODE_ROOT", tests(".interop"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.name))?;
        let until = Instant::now() + START;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("{} ended: {status}", self.name));
            }
            if Instant::now() >= until {
                let _ = child.kill();
                return Err(format!("{} does not listen", self.name));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(child)
    }

    fn words(self, port: Option<u16>) -> Vec<String> {
        let port = port.map(|port| port.to_string());
        let path = |path: &str| tests(path).display().to_string();
        let mut words = match self.make {
            Make::Everything => {
                let index = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
                let way = match self.way {
                    Way::Stdio => "stdio",
                    Way::Http | Way::Json => "streamableHttp",
                    Way::Sse => "sse",
                };
                // Without a host it would listen for other machines, too.
                let only = path("conformance/loopback.mjs");
                let index = path(&format!(".servers/{index}"));
                return vec!["node".into(), "--import".into(), only, index, way.into()];
            }
            Make::TypeScript => vec!["node".into(), path("interop/server.mjs")],
            Make::Python => vec![path(".servers/python/bin/python"), path("servers/sdk_server.py")],
            Make::Rust => vec![path(".interop/rust/debug/interop-rust")],
        };
        let way = match (self.way, self.make) {
            (Way::Stdio, _) => "stdio",
            (Way::Http | Way::Json, Make::Python) => "streamable-http",
            (Way::Http | Way::Json, _) => "http",
            (Way::Sse, _) => "sse",
        };
        words.push(way.into());
        words.extend(port);
        words.extend((self.way == Way::Json).then(|| "json".into()));
        words
    }
}

/// A server that is ready to be connected to; one behind a port runs until this is dropped.
pub(crate) struct Started {
    server: Server,
    /// An entry of the configuration for it.
    pub(crate) entry: Value,
    running: Option<(u16, Child)>,
}

impl Started {
    /// Kills it and starts it again at the same place, if it is no process of the host's; whether
    /// it was.
    pub(crate) fn restart(&mut self) -> Result<bool, String> {
        let Some((port, child)) = &mut self.running else { return Ok(false) };
        end(child);
        *child = self.server.launch(*port)?;
        Ok(true)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some((_, child)) = &mut self.running {
            end(child);
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
