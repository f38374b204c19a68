//! Very many healthy servers around one machine, for measuring it.
//!
//! No law is checked and nothing is kept, so that what a story costs is what the machine costs.
//! Servers get ready in an order that is drawn from a seed, and half of them after the gate time.

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Command;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::error::Exit;
use tidegate_core::event::{Event, OpResult, StartReport};
use tidegate_core::id::{ConnId, OpId};
use tidegate_core::input::{Fact, Found, Input, Request};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;

use crate::choices::{Choices, Seeded};
use crate::scene::{CONFIG, Entry, config};

/// A reload changes the definition of every so many servers.
const CHANGED: usize = 10;
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"crowd","version":"1"}}}"#;
const PROMPTS: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"greet"}]}}"#;

/// A machine with very many servers, in the middle of their story.
#[derive(Clone, Debug)]
pub struct Crowd {
    runtime: Runtime,
    now: Timestamp,
    entries: Vec<Entry>,
    /// The answers of every server.
    answers: [Bytes; 3],
    /// What has happened and was not told yet, one fact a server at most.
    waiting: Vec<Fact>,
    order: Seeded,
    connected: usize,
    gate: Option<StartReport>,
    reloaded: Option<OpResult>,
    inputs: usize,
}

impl Crowd {
    /// So many servers with so many tools each; nothing has happened.
    #[must_use]
    pub fn new(servers: usize, tools: usize) -> Self {
        Self::answering(servers, [HELLO, &list(tools), ""])
    }

    /// The same with a prompt each.
    #[must_use]
    pub fn with_prompts(servers: usize, tools: usize) -> Self {
        let hello = HELLO.replace("\"tools\"", "\"prompts\":{},\"tools\"");
        Self::answering(servers, [&hello, &list(tools), PROMPTS])
    }

    fn answering(servers: usize, answers: [&str; 3]) -> Self {
        let source = Source::file(Provider::Explicit, Level::Explicit, CONFIG);
        let line = |text: &str| Bytes::from(format!("{text}\n").as_str());
        Self {
            runtime: Runtime::new(Options::new("/project", vec![source])),
            now: Timestamp::ZERO,
            entries: (0..servers).map(|at| Entry::new(&format!("server{at}"))).collect(),
            answers: answers.map(line),
            waiting: Vec::new(),
            order: Seeded::new(17),
            connected: 0,
            gate: None,
            reloaded: None,
            inputs: 0,
        }
    }

    /// The machine.
    #[must_use]
    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The machine, to let other things happen to it.
    pub const fn runtime_mut(&mut self) -> &mut Runtime {
        &mut self.runtime
    }

    /// The time.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// How many inputs the machine was given.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    /// Starts every server and waits until all are ready.
    ///
    /// # Panics
    /// If the gate does not open or not every server is connected.
    pub fn start(&mut self) {
        let half = self.entries.len() / 2;
        self.give(Input::Host(Request::Start { op: OpId::new(0) }));
        while self.connected < half && self.deliver() {}
        // The gate time passes, and the cache is asked for those that are still on their way.
        self.now = self.now.plus(300);
        while self.deliver() {}
        let report = self.gate.take().expect("the gate opens");
        assert_eq!(report.connected.len(), self.entries.len());
    }

    /// Changes the definition of every tenth server, reloads, and waits until all are ready.
    ///
    /// # Panics
    /// If the reload does not end.
    pub fn reload(&mut self) {
        self.entries.iter_mut().step_by(CHANGED).for_each(|entry| entry.version += 1);
        let changed = self.entries.iter().step_by(CHANGED).count();
        self.now = self.now.plus(1_000);
        self.give(Input::Host(Request::Reload { op: OpId::new(1) }));
        while self.deliver() {}
        let Some(OpResult::Reloaded { restarted, .. }) = self.reloaded.take() else {
            panic!("the reload ends")
        };
        assert_eq!(restarted.len(), changed);
    }

    /// Ends every server.
    ///
    /// # Panics
    /// If the machine does not stop.
    pub fn shut_down(&mut self) {
        self.give(Input::Host(Request::Shutdown));
        while self.deliver() {}
        assert!(self.runtime.is_stopped());
    }

    /// Tells the machine one thing that has happened; `false` if nothing has.
    fn deliver(&mut self) -> bool {
        let count = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return false;
        }
        let at = self.order.choose(count) as usize;
        let fact = self.waiting.swap_remove(at);
        self.give(Input::Io(fact));
        true
    }

    fn give(&mut self, input: Input) {
        self.inputs += 1;
        self.runtime.handle(self.now, input);
        while let Some(command) = self.runtime.poll_command() {
            self.waiting.extend(self.obey(command));
        }
        while let Some(event) = self.runtime.poll_event() {
            match event {
                Event::ToolsChanged { .. } => self.connected += 1,
                Event::GateOpened(report) => self.gate = Some(report),
                Event::Done { result, .. } => self.reloaded = Some(result),
                _ => {}
            }
        }
    }

    /// What comes of an order.
    fn obey(&self, command: Command) -> Option<Fact> {
        match command {
            Command::ReadConfig { read, .. } => {
                let found = Found::Content(Bytes::from(config(&self.entries).as_str()));
                Some(Fact::ConfigRead { read, origin: None, found })
            }
            Command::ReadCache { read, .. } => {
                Some(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 })
            }
            Command::Open { conn, .. } => Some(Fact::Opened { conn, pid: None }),
            Command::Send { conn, bytes } => self.answer(conn, &bytes),
            Command::CloseInput { conn } => Some(Fact::Closed { conn, exit: Exit::Code(0) }),
            _ => None,
        }
    }

    fn answer(&self, conn: ConnId, asked: &[u8]) -> Option<Fact> {
        let asks = |method: &str| asked.windows(method.len()).any(|at| at == method.as_bytes());
        let [hello, tools, prompts] = &self.answers;
        let bytes = if asks("\"initialize\"") {
            hello
        } else if asks("\"tools/list\"") {
            tools
        } else if asks("\"prompts/list\"") {
            prompts
        } else {
            return None;
        };
        Some(Fact::Received { conn, bytes: bytes.clone() })
    }
}

/// The answer to `tools/list`.
fn list(tools: usize) -> String {
    let tool = |at| {
        format!(
            r#"{{"name":"tool{at}","description":"What tool number {at} does.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string"}}}},"required":["path"]}}}}"#
        )
    };
    let tools: Vec<String> = (0..tools).map(tool).collect();
    format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{}]}}}}"#, tools.join(","))
}
