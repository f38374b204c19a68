//! A driver of nothing but `std`: one thread owns the machine, and a few for each server block.
//!
//! Everything that happens comes to the owner through one channel, and waiting for that channel
//! until the machine's deadline is the whole loop. What it leaves out: a tool cache, a trace,
//! `~` in paths, and the end of the servers should this process be killed.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::error::{CallError, OpenError};
use tidegate_core::event::{Event, Outcome, StartReport};
use tidegate_core::hub::status::Status;
use tidegate_core::id::{CallId, ConnId, OpId};
use tidegate_core::input::{Fact, Found, Input, Listed, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::tools::catalog::Catalog;

use crate::system;
use server::Server;

/// How many messages wait for the owner; whoever has another one waits.
const MESSAGES_MAX: usize = 256;
/// What the owner of the machine hears.
enum Message {
    Start(Sender<StartReport>),
    Call(Target, Json, Sender<Outcome>),
    Look(Sender<(Status, Arc<Catalog>)>),
    Stop,
    Happened(Fact),
}

/// A runtime on a thread of its own. Dropping it shuts the runtime down and waits for the end.
pub(crate) struct Host {
    inbox: SyncSender<Message>,
    owner: Option<JoinHandle<()>>,
}

impl Host {
    pub(crate) fn new(options: Options) -> Self {
        let (inbox, messages) = mpsc::sync_channel(MESSAGES_MAX);
        let owner = Owner::new(options, inbox.clone());
        Self { inbox, owner: Some(thread::spawn(move || owner.run(&messages))) }
    }

    /// Starts everything that is configured; returns when the gate opens.
    pub(crate) fn start(&self) -> Option<StartReport> {
        self.ask(Message::Start)
    }

    /// Calls a tool; returns when the call has ended.
    pub(crate) fn call(&self, target: Target, arguments: Json) -> Outcome {
        let outcome = self.ask(|reply| Message::Call(target, arguments, reply));
        outcome.unwrap_or(Outcome::Failed(CallError::ShuttingDown))
    }

    /// What is known of the servers, and what may be called.
    pub(crate) fn look(&self) -> Option<(Status, Arc<Catalog>)> {
        self.ask(Message::Look)
    }

    fn ask<T>(&self, message: impl FnOnce(Sender<T>) -> Message) -> Option<T> {
        let (reply, answer) = mpsc::channel();
        self.inbox.send(message(reply)).ok()?;
        answer.recv().ok()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.inbox.send(Message::Stop);
        let _ = self.owner.take().map(JoinHandle::join);
    }
}

/// What the thread that owns the machine has.
struct Owner {
    runtime: Runtime,
    cwd: String,
    epoch: Instant,
    inbox: SyncSender<Message>,
    /// How many messages there were: numbers rise and are not used twice.
    heard: u64,
    starts: BTreeMap<OpId, Sender<StartReport>>,
    calls: BTreeMap<CallId, Sender<Outcome>>,
    servers: BTreeMap<ConnId, Server>,
}

impl Owner {
    fn new(options: Options, inbox: SyncSender<Message>) -> Self {
        let cwd = options.cwd.clone();
        let (starts, calls, servers) = Default::default();
        let (runtime, epoch) = (Runtime::new(options), Instant::now());
        Self { runtime, cwd, epoch, inbox, heard: 0, starts, calls, servers }
    }

    fn run(mut self, messages: &Receiver<Message>) {
        while !self.runtime.is_stopped() {
            let heard = match self.runtime.poll_timeout() {
                Some(deadline) => {
                    let due = self.epoch + Duration::from_millis(deadline.at.as_millis());
                    messages.recv_timeout(due.saturating_duration_since(Instant::now()))
                }
                None => messages.recv().map_err(RecvTimeoutError::from),
            };
            match heard {
                Ok(message) => self.hear(message),
                Err(_) => self.runtime.handle_timeout(self.now()),
            }
            while let Some(command) = self.runtime.poll_command() {
                self.execute(command);
            }
            while let Some(event) = self.runtime.poll_event() {
                self.publish(event);
            }
        }
    }

    /// Rounded down: what is due at a moment is due once this reaches it.
    fn now(&self) -> Timestamp {
        let ms = self.epoch.elapsed().as_millis();
        Timestamp::from_millis(ms.try_into().unwrap_or(u64::MAX))
    }

    fn hear(&mut self, message: Message) {
        self.heard += 1;
        let input = match message {
            Message::Start(reply) => {
                let op = OpId::new(self.heard);
                self.starts.insert(op, reply);
                Input::Host(Request::Start { op })
            }
            Message::Call(target, arguments, reply) => {
                let call = CallId::new(self.heard);
                self.calls.insert(call, reply);
                let (timeout_ms, max_ms) = (None, None);
                let new = NewCall { call, target, arguments, timeout_ms, max_ms };
                Input::Host(Request::Call(new))
            }
            Message::Look(reply) => {
                let _ = reply.send((self.runtime.status(), Arc::clone(self.runtime.catalog())));
                return;
            }
            Message::Stop => Input::Host(Request::Shutdown),
            Message::Happened(fact) => {
                if let Fact::Closed { conn, .. } = fact {
                    self.servers.remove(&conn);
                }
                Input::Io(fact)
            }
        };
        self.runtime.handle(self.now(), input);
    }

    /// Gives an event to the one who waits for it. A host would show people some of the others.
    fn publish(&mut self, event: Event) {
        if let Event::GateOpened(report) = event {
            let _ = self.starts.remove(&report.op).map(|reply| reply.send(report));
        } else if let Event::CallFinished { call, outcome } = event {
            let _ = self.calls.remove(&call).map(|reply| reply.send(outcome));
        }
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::ReadConfig { read, path, bytes_max } => {
                let inbox = self.inbox.clone();
                thread::spawn(move || {
                    let found = system::find(&path, bytes_max);
                    tell(&inbox, Fact::ConfigRead { read, origin: None, found });
                });
            }
            // Every file is named by this kind of host.
            Command::ListFolder { read, .. } => {
                self.happened(Fact::FolderListed { read, listed: Listed::Nothing });
            }
            Command::ReadApprovals { read } => {
                let approved = std::collections::BTreeSet::new();
                self.happened(Fact::ApprovalsRead { read, approved });
            }
            Command::ReadCache { read, key: _ } => {
                self.happened(Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 });
            }
            // A host of this kind has no shell and nobody to ask.
            Command::Ask { ask, what: _ } => {
                let result = Err(tidegate_core::error::AskError::NobodyToAsk);
                self.happened(Fact::Answered { ask, result });
            }
            // Watching is ordered only if the policy says so.
            Command::StopAsking { .. }
            | Command::Watch { .. }
            | Command::WriteCache { .. }
            | Command::DropCache { .. } => {}
            Command::Open { conn, server: _, launch } => {
                let inbox = self.inbox.clone();
                let tell = move |fact| tell(&inbox, fact);
                let fact = match Server::open(&launch, &self.cwd, conn, tell) {
                    Ok((server, pid)) => {
                        self.servers.insert(conn, server);
                        Fact::Opened { conn, pid: Some(pid) }
                    }
                    Err(error) => {
                        Fact::OpenFailed { conn, error: system::refused(&launch, &error) }
                    }
                };
                self.happened(fact);
            }
            // This driver speaks to processes only.
            Command::Connect { conn, .. } => {
                let error = OpenError::Unsupported { transport: "http".into() };
                self.happened(Fact::OpenFailed { conn, error });
            }
            Command::Exchange { .. } | Command::Abort { .. } => {}
            Command::Send { conn, bytes } => self.with(conn, |server| server.send(bytes)),
            Command::CloseInput { conn } => self.with(conn, Server::close_input),
            Command::Terminate { conn } => self.with(conn, |server| server.group().terminate()),
            Command::Kill { conn } => self.with(conn, |server| server.group().kill()),
            Command::Abandon { conn } => drop(self.servers.remove(&conn)),
        }
    }

    fn with(&mut self, conn: ConnId, act: impl FnOnce(&mut Server)) {
        let _ = self.servers.get_mut(&conn).map(act);
    }

    /// Something that the owner itself finds out. Not through the channel, which may be full.
    fn happened(&mut self, fact: Fact) {
        self.runtime.handle(self.now(), Input::Io(fact));
    }
}

/// Tells the owner what happened; after its end, nobody.
fn tell(inbox: &SyncSender<Message>, fact: Fact) {
    let _ = inbox.send(Message::Happened(fact));
}
