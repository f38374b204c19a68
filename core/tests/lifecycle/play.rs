//! A runtime and what it has said so far.

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{Category, Exit};
use tidegate_core::event::{Event, Outcome, ServerState, StartReport};
use tidegate_core::id::{CallId, ConnId, OpId, ReadId};
use tidegate_core::input::{Fact, Input, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::tools::catalog::ToolState;

pub(crate) const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
pub(crate) const ECHO: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;

pub(crate) struct Play {
    pub(crate) runtime: Runtime,
    pub(crate) now: u64,
    pub(crate) commands: Vec<Command>,
    pub(crate) events: Vec<Event>,
}

impl Play {
    pub(crate) fn new(config: &str) -> Self {
        Self::with(Options::new("/project", vec![Source::inline("test", config)]))
    }

    pub(crate) fn with(options: Options) -> Self {
        Self { runtime: Runtime::new(options), now: 0, commands: vec![], events: vec![] }
    }

    pub(crate) fn drain(&mut self) {
        self.commands.extend(std::iter::from_fn(|| self.runtime.poll_command()));
        self.events.extend(std::iter::from_fn(|| self.runtime.poll_event()));
        // L4: an honest deadline.
        if let Some(deadline) = self.runtime.poll_timeout() {
            assert!(deadline.at.as_millis() > self.now, "{deadline:?} is not after {}", self.now);
        }
    }

    pub(crate) fn input(&mut self, input: Input) -> &mut Self {
        self.runtime.handle(Timestamp::from_millis(self.now), input);
        self.drain();
        self
    }

    pub(crate) fn host(&mut self, request: Request) -> &mut Self {
        self.input(Input::Host(request))
    }

    pub(crate) fn io(&mut self, fact: Fact) -> &mut Self {
        self.input(Input::Io(fact))
    }

    /// Sleeps exactly until each deadline up to `until`.
    pub(crate) fn sleep(&mut self, until: u64) -> &mut Self {
        while let Some(deadline) = self.runtime.poll_timeout()
            && deadline.at.as_millis() <= until
        {
            self.now = deadline.at.as_millis();
            self.runtime.handle_timeout(deadline.at);
            self.drain();
        }
        self.now = until;
        self
    }

    pub(crate) fn start(&mut self) -> &mut Self {
        self.host(Request::Start { op: OpId::new(0) })
    }

    pub(crate) fn opened(&mut self, conn: u64) -> &mut Self {
        self.io(Fact::Opened { conn: ConnId::new(conn), pid: Some(100) })
    }

    pub(crate) fn says(&mut self, conn: u64, line: &str) -> &mut Self {
        let bytes = format!("{line}\n").as_str().into();
        self.io(Fact::Received { conn: ConnId::new(conn), bytes })
    }

    pub(crate) fn answers(&mut self, conn: u64, id: u64, result: &str) -> &mut Self {
        self.says(conn, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    pub(crate) fn refuses(&mut self, conn: u64, id: u64, code: i64) -> &mut Self {
        let error = format!(r#"{{"code":{code},"message":"no"}}"#);
        self.says(conn, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
    }

    /// A notification without parameters; its method without what all of them begin with.
    pub(crate) fn notifies(&mut self, conn: u64, method: &str) -> &mut Self {
        self.says(conn, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}"}}"#))
    }

    /// From `Open` to ready, with one tool.
    pub(crate) fn connect(&mut self, conn: u64) -> &mut Self {
        self.opened(conn).answers(conn, 1, HELLO).answers(conn, 2, ECHO)
    }

    pub(crate) fn closed(&mut self, conn: u64, exit: Exit) -> &mut Self {
        self.io(Fact::Closed { conn: ConnId::new(conn), exit })
    }

    pub(crate) fn call(&mut self, call: u64, server: &str, tool: &str) -> &mut Self {
        self.call_within(call, server, tool, None)
    }

    pub(crate) fn call_within(
        &mut self,
        call: u64,
        server: &str,
        tool: &str,
        max_ms: Option<u64>,
    ) -> &mut Self {
        self.host(Request::Call(NewCall {
            call: CallId::new(call),
            target: Target::Tool { server: server.into(), tool: tool.into() },
            arguments: Json::new("{}"),
            timeout_ms: None,
            max_ms,
        }))
    }

    /// Calls a tool of server `a`.
    pub(crate) fn call_with(&mut self, call: u64, tool: &str, arguments: &str) -> &mut Self {
        self.host(Request::Call(NewCall {
            call: CallId::new(call),
            target: Target::Tool { server: "a".into(), tool: tool.into() },
            arguments: Json::new(arguments),
            timeout_ms: None,
            max_ms: None,
        }))
    }

    pub(crate) fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    pub(crate) fn sent(&mut self) -> String {
        let text = |command| match command {
            Command::Send { bytes, .. } => String::from_utf8(bytes.0).unwrap(),
            _ => String::new(),
        };
        self.take_commands().into_iter().map(text).collect()
    }

    /// What was sent, a line each: number, method, and which page, address or request.
    pub(crate) fn asked(&mut self) -> Vec<String> {
        let line = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            let params =
                ["cursor", "uri", "requestId", "name"].map(|name| &message["params"][name]);
            let all = [&message["id"], &message["method"]].into_iter().chain(params);
            let all = all.filter(|value| !value.is_null());
            let text = |value: &serde_json::Value| match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string(),
            };
            all.map(text).collect::<Vec<_>>().join(" ")
        };
        self.sent().lines().map(line).collect()
    }

    /// The problems that were said.
    pub(crate) fn problems(&self) -> Vec<(Category, &str)> {
        let problem = self.events.iter().map(|event| match event {
            Event::ProblemFound(problem) => Some((problem.category, problem.message.as_str())),
            _ => None,
        });
        problem.flatten().collect()
    }

    pub(crate) fn report(&self) -> &StartReport {
        let report = |event: &'_ Event| matches!(event, Event::GateOpened(_));
        match self.events.iter().rfind(|event| report(event)) {
            Some(Event::GateOpened(report)) => report,
            _ => panic!("the gate is shut; events so far: {:?}", self.events),
        }
    }

    pub(crate) fn gate_is_open(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::GateOpened(_)))
    }

    pub(crate) fn outcome(&self, call: u64) -> Option<&Outcome> {
        let mut ends = self.events.iter().filter_map(|event| match event {
            Event::CallFinished { call: id, outcome } if id.number() == call => Some(outcome),
            _ => None,
        });
        let end = ends.next();
        assert!(ends.next().is_none(), "call {call} ended twice (L7)");
        end
    }

    pub(crate) fn state(&self, name: &str) -> ServerState {
        let status = self.runtime.status();
        status.servers.into_iter().find(|s| s.name.as_str() == name).unwrap().state
    }

    pub(crate) fn tools(&self) -> Vec<(&str, &ToolState)> {
        self.runtime.catalog().tools.iter().map(|t| (t.exposed.as_str(), &t.state)).collect()
    }
}

pub(crate) fn one() -> Play {
    Play::new(r#"{"mcpServers":{"a":{"command":"a"}}}"#)
}

pub(crate) fn two() -> Play {
    Play::new(r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#)
}

/// The key of the first cache read, and the answer to it.
pub(crate) fn cached(play: &mut Play) -> ReadId {
    let read = play.take_commands().into_iter().find_map(|command| match command {
        Command::ReadCache { read, .. } => Some(read),
        _ => None,
    });
    read.expect("the cache is asked")
}

/// What a first run of server `a` in `one()` or `two()` leaves in the cache.
pub(crate) fn stored() -> Vec<u8> {
    let mut play = one();
    play.start().connect(0);
    let content = play.take_commands().into_iter().find_map(|command| match command {
        Command::WriteCache { content, .. } => Some(content.0),
        _ => None,
    });
    content.expect("a live list is stored")
}

pub(crate) fn file_options(path: &str) -> Options {
    let places = tidegate_core::config::Places {
        cwd: "/project".into(),
        explicit: vec![path.into()],
        ..Default::default()
    };
    Options::new("/project", places.sources())
}

pub(crate) fn read_of(play: &mut Play) -> ReadId {
    let read = play.take_commands().into_iter().rev().find_map(|command| match command {
        Command::ReadConfig { read, .. } => Some(read),
        _ => None,
    });
    read.expect("the file is read")
}
