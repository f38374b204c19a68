//! The loop that owns the machine.
//!
//! Hands it what happened, does what it orders, passes on its news, and sleeps until something
//! happens or the machine's own deadline. It knows nothing of the protocol.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use async_io::Timer;
use tidegate_core::command::Command;
use tidegate_core::error::OpenError;
use tidegate_core::input::{Fact, Found, Input, Request};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;

use crate::desk::Desk;
use crate::host::Host;
use crate::inbox::{Inbox, Last, Message, Stamped};
use crate::settings::Settings;

/// The half of a runtime that does the work; see [`Driver::run`].
#[derive(Debug)]
#[must_use = "nothing happens unless the driver is run"]
pub struct Driver {
    runtime: Runtime,
    inbox: Arc<Inbox>,
    desk: Desk,
    /// What was taken out of the inbox and not handled yet.
    batch: VecDeque<Stamped>,
    timer: Timer,
    /// When the timer fires; `None` if it does not.
    armed: Option<Instant>,
}

/// A runtime with these settings: a handle to ask it, and the driver that must be run for
/// anything to happen.
///
/// # Errors
///
/// If the trace file cannot be created.
pub fn open(settings: Settings) -> io::Result<(Host, Driver)> {
    let inbox = Arc::new(Inbox::new());
    let driver = Driver {
        runtime: Runtime::new(settings.options),
        inbox: Arc::clone(&inbox),
        desk: Desk::default(),
        batch: VecDeque::new(),
        timer: Timer::never(),
        armed: None,
    };
    Ok((Host::new(inbox), driver))
}

impl Driver {
    pub(crate) fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    /// Runs the runtime until it was shut down and every process is gone.
    ///
    /// May be polled on any executor and any thread; the I/O behind it is smol's. Cheapest on
    /// the thread that also polls the host's tasks, see [`block_on`](crate::block_on).
    ///
    /// # Errors
    ///
    /// None at present: what goes wrong with one server is that server's state, and what goes
    /// wrong with the driver's own files is a problem that observers hear of.
    pub async fn run(mut self) -> io::Result<()> {
        loop {
            self.turn();
            if self.runtime.is_stopped() {
                return Ok(());
            }
            poll_fn(|cx| self.poll_waiting(cx)).await;
        }
    }

    /// Handles everything that waits, then what time demands, and only then lets bytes go.
    fn turn(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        self.inbox.take(&mut batch);
        for Stamped { at, message } in batch.drain(..) {
            self.hear(at, message);
        }
        self.batch = batch;
        let now = self.inbox.clock().now();
        if self.runtime.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            self.runtime.handle_timeout(now);
            self.drain();
        }
    }

    fn hear(&mut self, at: Timestamp, message: Message) {
        match message {
            Message::Tell(request) => self.handle(at, Input::Host(request)),
            Message::Start(op, reply) => {
                self.desk.await_start(op, reply);
                self.handle(at, Input::Host(Request::Start { op }));
            }
            Message::Operate(op, request, reply) => {
                self.desk.await_operation(op, reply);
                self.handle(at, Input::Host(request));
            }
            Message::Shutdown(reply) => {
                self.desk.await_stopped(reply);
                self.handle(at, Input::Host(Request::Shutdown));
            }
            Message::Call(new, reply) => {
                self.desk.await_call(new.call, reply);
                self.handle(at, Input::Host(Request::Call(new)));
            }
            Message::Status(reply) => reply.give(self.runtime.status()),
            Message::Catalog(reply) => reply.give(self.desk.catalog(self.runtime.catalog())),
            Message::Observe(observer) => {
                self.desk.observe(observer, self.runtime.catalog().revision);
            }
            Message::Fact(fact) => self.handle(at, Input::Io(fact)),
        }
    }

    fn handle(&mut self, at: Timestamp, input: Input) {
        self.runtime.handle(at, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(command) = self.runtime.poll_command() {
            self.execute(command);
        }
        while let Some(event) = self.runtime.poll_event() {
            self.desk.publish(event);
        }
    }

    fn execute(&self, command: Command) {
        match command {
            Command::ReadConfig { read, .. } => {
                self.inbox.report(Message::Fact(Fact::ConfigRead { read, found: Found::Nothing }));
            }
            Command::ReadCache { read, .. } => {
                let found = Found::Nothing;
                self.inbox.report(Message::Fact(Fact::CacheRead { read, found, age_ms: 0 }));
            }
            Command::Open { conn, .. } => {
                let error = OpenError::Other { message: "no processes yet".into() };
                self.inbox.report(Message::Fact(Fact::OpenFailed { conn, error }));
            }
            Command::WriteCache { .. }
            | Command::DropCache { .. }
            | Command::Send { .. }
            | Command::CloseInput { .. }
            | Command::Terminate { .. }
            | Command::Kill { .. }
            | Command::Abandon { .. } => {}
        }
    }

    /// Ready when something waits or the machine's deadline has come. A deadline that moves
    /// away leaves the timer as it is: it fires once for nothing, which costs less than moving
    /// it with every call.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.inbox.poll_waiting(cx).is_ready() {
            return Poll::Ready(());
        }
        let due = self.runtime.poll_timeout();
        let due = due.and_then(|deadline| self.inbox.clock().instant(deadline.at));
        if let Some(due) = due
            && self.armed.is_none_or(|armed| due < armed)
        {
            self.timer.set_at(due);
            self.armed = Some(due);
        }
        if Pin::new(&mut self.timer).poll(cx).is_ready() {
            self.armed = None;
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A machine that panicked is not asked again.
        if std::thread::panicking() {
            self.runtime = Runtime::new(Options::default());
        }
        let catalog = self.desk.catalog(self.runtime.catalog());
        self.inbox.close(Last { status: self.runtime.status(), catalog });
    }
}
