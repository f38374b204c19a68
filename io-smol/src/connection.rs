//! One running server: its pipes, its end, and the facts that come of them.
//!
//! Nothing here blocks, and no stream of a server waits for another: reading, writing and
//! ending go on by themselves as the poll set reports them.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use tidegate_core::bytes::Bytes;
use tidegate_core::error::Exit;
use tidegate_core::id::ConnId;
use tidegate_core::input::Fact;

use crate::pipe::{READ_BYTES, Read, Reader, Writer, Written};
use crate::pollset::{End, Interest, PollSet, Source};
use crate::process::{Process, Signal};
use crate::spawn::Started;

/// How much is read of a pipe once nobody is left to write to it: what a pipe holds at most.
const REST_BYTES_MAX: usize = 1024 * 1024;

/// How soon a group is looked at whose leader has ended: at first, and at most. A wrapper may
/// leave its server running for days; whatever is done to the server and the end of its output
/// begin with short pauses again.
const LOOK_PAUSE_MIN: Duration = Duration::from_millis(1);
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(2);

/// From which pause on a group that is still there may be one of ended processes that nobody
/// reaps.
const LOOK_PAUSE_LONG: Duration = Duration::from_millis(8);

/// What all connections work with.
pub(crate) struct Shared {
    /// Where their descriptors are watched.
    pub(crate) poll: PollSet,
    /// Where small reads go first.
    buffer: Vec<u8>,
    /// What happened and is not handled yet.
    pub(crate) facts: VecDeque<Fact>,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Self> {
        let buffer = Vec::with_capacity(READ_BYTES);
        Ok(Self { poll: PollSet::new()?, buffer, facts: VecDeque::new() })
    }
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Connection {
    conn: ConnId,
    process: Process,
    /// Until the machine closes it or the server does.
    input: Option<Writer>,
    /// Whether `input` is watched because its pipe is full.
    blocked: bool,
    /// Whether `input` is closed once everything is written.
    closing: bool,
    output: Option<Reader>,
    errors: Option<Reader>,
    /// Readable once the leader has ended; absent where the system has no such thing.
    exit_fd: Option<OwnedFd>,
    /// Once the leader has ended.
    leaderless: Option<Leaderless>,
}

/// A group whose leader has ended.
#[derive(Clone, Copy, Debug)]
struct Leaderless {
    exit: Exit,
    /// When it is looked at next, and how long after that.
    next: Instant,
    pause: Duration,
}

/// What a look at a group without a leader came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Look {
    /// It is gone, or was never without a leader.
    Gone,
    /// It is there.
    There,
    /// It has been there for so long that its members may have ended without being reaped.
    Lasts,
}

impl Connection {
    /// Takes over a server that was started.
    pub(crate) fn new(conn: ConnId, started: Started, poll: &mut PollSet) -> io::Result<Self> {
        let Started { process, pipes } = started;
        let output = Reader::new(pipes.output)?;
        let errors = Reader::new(pipes.errors)?;
        let input = Writer::new(pipes.input)?;
        poll.watch(output.as_fd(), Source::Process { conn, end: End::Output }, Interest::Read)?;
        poll.watch(errors.as_fd(), Source::Process { conn, end: End::Errors }, Interest::Read)?;
        let exit_fd = process.exit_fd().ok();
        if let Some(exit_fd) = &exit_fd {
            poll.watch(exit_fd.as_fd(), Source::Process { conn, end: End::Exit }, Interest::Read)?;
        }
        Ok(Self {
            conn,
            process,
            input: Some(input),
            blocked: false,
            closing: false,
            output: Some(output),
            errors: Some(errors),
            exit_fd,
            leaderless: None,
        })
    }

    pub(crate) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Whether the poll set tells the end of the leader.
    pub(crate) fn exit_is_watched(&self) -> bool {
        self.exit_fd.is_some()
    }

    /// Adds to what is to be written; whether a flush is wanted that was not wanted before.
    /// Nothing happens if the input is closed.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, shared: &mut Shared) -> bool {
        let Some(input) = self.input.as_mut().filter(|_| !self.closing) else { return false };
        let idle = input.is_idle();
        if input.push(bytes) {
            return idle;
        }
        self.break_input(shared);
        false
    }

    /// Has the input closed once everything is written.
    pub(crate) fn close_input(&mut self) {
        self.closing = true;
        self.look_soon();
    }

    /// Sends a signal to the group.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.process.signal(signal);
        self.look_soon();
    }

    /// Writes what the pipe takes.
    pub(crate) fn flush(&mut self, shared: &mut Shared) {
        let Some(input) = &mut self.input else { return };
        let source = Source::Process { conn: self.conn, end: End::Input };
        match input.flush() {
            Written::All if self.closing => self.drop_input(shared),
            Written::All if self.blocked => {
                self.blocked = false;
                shared.poll.forget(input.as_fd(), source);
            }
            Written::All => {}
            Written::Blocked if self.blocked => {}
            Written::Blocked => match shared.poll.watch(input.as_fd(), source, Interest::Write) {
                Ok(()) => self.blocked = true,
                Err(_) => self.break_input(shared),
            },
            Written::Broken => self.break_input(shared),
        }
    }

    /// Reads once from the server's output.
    pub(crate) fn read_output(&mut self, shared: &mut Shared) {
        let conn = self.conn;
        let Some(output) = &mut self.output else { return };
        match output.read(&mut shared.buffer) {
            Read::Bytes(bytes) => {
                shared.facts.push_back(Fact::Received { conn, bytes: Bytes(bytes) });
            }
            Read::Nothing => {}
            Read::End => {
                shared.poll.forget(output.as_fd(), Source::Process { conn, end: End::Output });
                self.output = None;
                self.look_soon();
                shared.facts.push_back(Fact::OutputEnded { conn });
            }
        }
    }

    /// Reads once from the server's standard error.
    pub(crate) fn read_errors(&mut self, shared: &mut Shared) {
        let conn = self.conn;
        let Some(errors) = &mut self.errors else { return };
        match errors.read(&mut shared.buffer) {
            Read::Bytes(bytes) => {
                shared.facts.push_back(Fact::Complained { conn, bytes: Bytes(bytes) });
            }
            Read::Nothing => {}
            Read::End => {
                shared.poll.forget(errors.as_fd(), Source::Process { conn, end: End::Errors });
                self.errors = None;
            }
        }
    }

    /// Notes that the leader has ended: from here on its group is looked at.
    pub(crate) fn lose_leader(&mut self, exit: Exit, now: Instant, shared: &mut Shared) {
        if let Some(exit_fd) = self.exit_fd.take() {
            shared
                .poll
                .forget(exit_fd.as_fd(), Source::Process { conn: self.conn, end: End::Exit });
        }
        self.leaderless = Some(Leaderless { exit, next: now, pause: LOOK_PAUSE_MIN });
        // A wrapper that leaves its server behind exits with success. A server that fails is over,
        // whoever of its children still holds its output open (L8).
        if exit != Exit::Code(0) && self.end_output(shared) {
            shared.facts.push_back(Fact::OutputEnded { conn: self.conn });
        }
    }

    /// When the group is to be looked at, if its leader has ended.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        self.leaderless.map(|leaderless| leaderless.next)
    }

    /// Looks whether the group is gone.
    pub(crate) fn look(&mut self, now: Instant) -> Look {
        let Some(leaderless) = &mut self.leaderless else { return Look::There };
        if !self.process.group_exists() {
            return Look::Gone;
        }
        let pause = leaderless.pause;
        leaderless.next = now + pause;
        leaderless.pause = pause.saturating_mul(2).min(LOOK_PAUSE_MAX);
        if pause < LOOK_PAUSE_LONG { Look::There } else { Look::Lasts }
    }

    /// Ends with the last of what the server said: nobody is left who could say more.
    pub(crate) fn end(mut self, shared: &mut Shared) {
        let conn = self.conn;
        if let Some(errors) = self.errors.take() {
            let source = Source::Process { conn, end: End::Errors };
            rest(errors, source, shared, |bytes| Fact::Complained { conn, bytes });
        }
        self.end_output(shared);
        self.drop_input(shared);
        let exit = self.leaderless.map_or(Exit::Unknown, |leaderless| leaderless.exit);
        shared.facts.push_back(Fact::Closed { conn, exit });
    }

    /// Has the group looked at soon: something was done that may end it.
    fn look_soon(&mut self) {
        if let Some(leaderless) = &mut self.leaderless {
            leaderless.pause = LOOK_PAUSE_MIN;
            leaderless.next = leaderless.next.min(Instant::now() + LOOK_PAUSE_MIN);
        }
    }

    /// Reads what is left of the output and no more; whether it was open.
    fn end_output(&mut self, shared: &mut Shared) -> bool {
        let conn = self.conn;
        let Some(output) = self.output.take() else { return false };
        let source = Source::Process { conn, end: End::Output };
        rest(output, source, shared, |bytes| Fact::Received { conn, bytes });
        true
    }

    fn break_input(&mut self, shared: &mut Shared) {
        self.drop_input(shared);
        shared.facts.push_back(Fact::InputFailed { conn: self.conn });
    }

    fn drop_input(&mut self, shared: &mut Shared) {
        if let Some(input) = self.input.take()
            && self.blocked
        {
            shared.poll.forget(input.as_fd(), Source::Process { conn: self.conn, end: End::Input });
        }
        self.blocked = false;
    }
}

/// Reads what is left in a pipe.
fn rest(mut pipe: Reader, source: Source, shared: &mut Shared, fact: impl Fn(Bytes) -> Fact) {
    let mut count = 0;
    while count < REST_BYTES_MAX
        && let Read::Bytes(bytes) = pipe.read(&mut shared.buffer)
    {
        count += bytes.len();
        shared.facts.push_back(fact(Bytes(bytes)));
    }
    shared.poll.forget(pipe.as_fd(), source);
}
