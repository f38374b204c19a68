//! A driver on tokio: one task owns the machine, and a few for each server wait.
//!
//! Everything that happens comes to the owner through one channel, and waiting for that channel
//! until the machine's deadline is the whole loop. What it leaves out: a tool cache, a trace,
//! `~` in paths, and the end of the servers should this process be killed.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, spawn, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use crate::system;
use server::Server;

/// How many messages wait for the owner; whoever has another one waits.
const MESSAGES_MAX: usize = 256;

/// What the owner of the machine hears.
enum Message {
    Start(oneshot::Sender<StartReport>),
    Call(Target, Json, oneshot::Sender<Outcome>),
    Look(oneshot::Sender<(Status, Arc<Catalog>)>),
    Stop,
    Happened(Fact),
}

/// A runtime on a task of its own.
pub(crate) struct Host {
    inbox: mpsc::Sender<Message>,
    owner: JoinHandle<()>,
}

impl Host {
    /// Within a tokio runtime.
    pub(crate) fn new(options: Options) -> Self {
        let (inbox, messages) = mpsc::channel(MESSAGES_MAX);
        let owner = spawn(Owner::new(options, inbox.clone()).run(messages));
        Self { inbox, owner }
    }

    /// Starts everything that is configured; resolves when the gate opens.
    pub(crate) async fn start(&self) -> Option<StartReport> {
        self.ask(Message::Start).await
    }

    /// Calls a tool; resolves when the call has ended.
    pub(crate) async fn call(&self, target: Target, arguments: Json) -> Outcome {
        let outcome = self.ask(|reply| Message::Call(target, arguments, reply)).await;
        outcome.unwrap_or(Outcome::Failed(CallError::ShuttingDown))
    }

    /// What is known of the servers, and what may be called.
    pub(crate) async fn look(&self) -> Option<(Status, Arc<Catalog>)> {
        self.ask(Message::Look).await
    }

    /// Shuts the runtime down; resolves when every process is gone.
    pub(crate) async fn stop(self) {
        let _ = self.inbox.send(Message::Stop).await;
        let _ = self.owner.await;
    }

    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(message(reply)).await.ok()?;
        answer.await.ok()
    }
}

/// What the task that owns the machine has.
struct Owner {
    runtime: Runtime,
    cwd: String,
    epoch: Instant,
    inbox: mpsc::Sender<Message>,
    /// How many messages there were: numbers rise and are not used twice.
    heard: u64,
    starts: BTreeMap<OpId, oneshot::Sender<StartReport>>,
    calls: BTreeMap<CallId, oneshot::Sender<Outcome>>,
    servers: BTreeMap<ConnId, Server>,
}

impl Owner {
    fn new(options: Options, inbox: mpsc::Sender<Message>) -> Self {
        let cwd = options.cwd.clone();
        let (starts, calls, servers) = Default::default();
        let (runtime, epoch) = (Runtime::new(options), Instant::now());
        Self { runtime, cwd, epoch, inbox, heard: 0, starts, calls, servers }
    }

    async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        while !self.runtime.is_stopped() {
            let heard = match self.runtime.poll_timeout() {
                Some(deadline) => {
                    let due = self.epoch + Duration::from_millis(deadline.at.as_millis());
                    timeout_at(due, messages.recv()).await.ok().flatten()
                }
                None => messages.recv().await,
            };
            match heard {
                Some(message) => self.hear(message),
                None => self.runtime.handle_timeout(self.now()),
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
                spawn_blocking(move || {
                    let found = system::find(&path, bytes_max);
                    inbox.blocking_send(Message::Happened(Fact::ConfigRead {
                        read,
                        origin: None,
                        found,
                    }))
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
                let fact = match Server::open(&launch, &self.cwd, conn, self.inbox.clone()) {
                    Ok((server, pid)) => {
                        self.servers.insert(conn, server);
                        Fact::Opened { conn, pid }
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
