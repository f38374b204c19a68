//! The lifecycle of MCP servers as a pure, deterministic, sans-I/O state machine.
//!
//! A host of MCP servers starts many processes, greets them, lists their tools, offers what it
//! has after a short gate, passes calls on, follows changes of its configuration, and ends every
//! process again. This crate is all of that without doing any of it: two types matter.
//!
//! - [`Runtime`](runtime::Runtime) is the machine. [`Input`](input::Input)s go in: what the host
//!   asks ([`Request`](input::Request)) and what has happened ([`Fact`](input::Fact)).
//! - [`Command`](command::Command)s come out for a driver to carry out, and
//!   [`Event`](event::Event)s for the host.
//!
//! ```text
//!             requests ──►┌─────────┐──► events          catalog()  what may be called
//!   host                  │ Runtime │                    status()   every server's state
//!             facts ─────►└─────────┘──► commands
//!   driver                    │
//!             time ───────────┴────────► poll_timeout()  when to come back at the latest
//! ```
//!
//! It has no clock, no thread, no file and no randomness of its own: a run *is* its options and
//! its list of (time, input), and gives the same commands and events each time, byte for byte.
//! So a run can be [recorded](trace), [replayed](replay), [read](timeline) and explored.
//!
//! # A whole life without I/O
//!
//! One server from start to end; the driver's part is played by hand.
//!
//! ```
//! use tidegate_core::bytes::Json;
//! use tidegate_core::command::Command;
//! use tidegate_core::config::Source;
//! use tidegate_core::error::Exit;
//! use tidegate_core::event::{Event, Outcome};
//! use tidegate_core::id::{CallId, OpId};
//! use tidegate_core::input::{Fact, Input, NewCall, Request, Target};
//! use tidegate_core::options::Options;
//! use tidegate_core::runtime::Runtime;
//! use tidegate_core::time::Timestamp;
//!
//! let at = Timestamp::from_millis;
//! let config = r#"{ "mcpServers": { "clock": { "command": "clock-server" } } }"#;
//! let sources = vec![Source::inline("example", config)];
//! let mut runtime = Runtime::new(Options::new("/project", sources));
//!
//! // The host asks for a start: the driver is to run the server, and to be back at the gate.
//! runtime.handle(at(0), Input::Host(Request::Start { op: OpId::new(0) }));
//! let Some(Command::Open { conn, launch, .. }) = runtime.poll_command() else { panic!() };
//! assert_eq!(launch.command, "clock-server".into());
//! assert_eq!(runtime.poll_timeout().map(|deadline| deadline.at), Some(at(250)));
//!
//! // The process runs, and answers what it is asked: first `initialize`, then `tools/list`.
//! let says = |line: &str| Input::Io(Fact::Received { conn, bytes: line.into() });
//! runtime.handle(at(5), Input::Io(Fact::Opened { conn, pid: Some(42) }));
//! runtime.handle(at(20), says(concat!(
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","#,
//!     r#""capabilities":{"tools":{}},"serverInfo":{"name":"clock","version":"1"}}}"#, "\n",
//! )));
//! runtime.handle(at(21), says(concat!(
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"tools":"#,
//!     r#"[{"name":"now","inputSchema":{"type":"object"}}]}}"#, "\n",
//! )));
//!
//! // Everything has settled, so the gate opens before its time.
//! let events: Vec<Event> = std::iter::from_fn(|| runtime.poll_event()).collect();
//! let Some(Event::GateOpened(report)) = events.last() else { panic!() };
//! assert_eq!((report.connected.len(), report.elapsed_ms), (1, 21));
//! assert_eq!(runtime.catalog().tools[0].exposed, "mcp_clock_now");
//!
//! // A call by the name that a model sees.
//! let call = NewCall {
//!     call: CallId::new(0),
//!     target: Target::Exposed("mcp_clock_now".into()),
//!     arguments: Json::new("{}"),
//!     timeout_ms: None,
//!     max_ms: None,
//! };
//! runtime.handle(at(1_000), Input::Host(Request::Call(call)));
//! runtime.handle(at(1_010), says(concat!(
//!     r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"noon"}]}}"#, "\n",
//! )));
//! let Some(Event::CallFinished { outcome, .. }) = runtime.poll_event() else { panic!() };
//! assert!(matches!(outcome, Outcome::Answered(_)));
//!
//! // The end: the server's input is closed, which is all it takes.
//! runtime.handle(at(2_000), Input::Host(Request::Shutdown));
//! let commands: Vec<Command> = std::iter::from_fn(|| runtime.poll_command()).collect();
//! assert_eq!(commands.last(), Some(&Command::CloseInput { conn }));
//! runtime.handle(at(2_003), Input::Io(Fact::Closed { conn, exit: Exit::Code(0) }));
//! assert!(runtime.is_stopped());
//! ```
//!
//! # Floors
//!
//! Lower never imports upper; a test reads the sources and says so.
//!
//! ```text
//! roof     runtime · options trace timeline replay      routes, settles, answers polls
//! floor 5  tools/    what the agent may call             pure functions of the hub's state
//! floor 4  hub/      gate, calls, reload, cache          many servers
//! floor 3  server/   handshake, lists, stop ladder       one server
//! floor 2  config/   bytes → definitions and problems
//! floor 1  wire/     bytes ↔ messages
//! floor 0  time id limits entropy bytes canon approval inquiry · input command event error · outbox
//! ```
//!
//! A machine pushes commands down into the shared [`Outbox`](outbox::Outbox) and returns signals
//! up to its parent; nothing calls back.
//!
//! # Laws
//!
//! L1 to L10 stand on the methods of [`Runtime`](runtime::Runtime) that they bind. The simulator
//! checks them after every step of every run.
//!
//! A panic in this crate is a bug of ours: none can be reached from input.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod approval;
pub mod bytes;
pub mod canon;
pub mod command;
pub mod config;
pub mod entropy;
pub mod error;
pub mod event;
pub mod held;
pub mod hub;
pub mod id;
pub mod input;
pub mod inquiry;
pub mod limits;
pub mod options;
pub mod outbox;
pub mod quote;
pub mod replay;
pub mod runtime;
pub mod server;
pub mod time;
pub mod timeline;
pub mod tools;
pub mod trace;
#[cfg(feature = "_explore")]
pub mod wide;
pub mod wire;
