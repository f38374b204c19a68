//! A simulated process: a scripted server with pipes, signals and an end.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tidegate_core::error::{Exit, OpenError};
use tidegate_core::held::Held;
use tidegate_core::id::ConnId;
use tidegate_core::input::Fact;
use tidegate_core::time::Timestamp;

use crate::digest::Present;
use crate::driver::Pipe;
use crate::hashed::Hashed;
use crate::peer::{Peer, Reaction};
use crate::script::{Fault, Script, Spawn, Stopping};

/// How many things a server may do one after the other without a fact about it.
const ACTS_MAX: usize = 100_000;
/// SIGTERM and SIGKILL.
const TERMINATED: Exit = Exit::Signal(15);
const KILLED: Exit = Exit::Signal(9);

/// One process and what it is going to do.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    conn: ConnId,
    script: Hashed<Script>,
    pub(crate) peer: Held<Peer>,
    life: Life,
    /// What it is going to do, in order of time.
    agenda: VecDeque<(Timestamp, Act)>,
    /// What has come out of it and was not reported yet.
    ready: VecDeque<Fact>,
    ready_since: Timestamp,
    /// How many messages and bytes of its output have come out.
    messages: usize,
    bytes: usize,
    output: Output,
    /// Whether the last it wrote was no whole line, so that what follows is not heard as one.
    mid_line: bool,
    /// What it has heard of the line it is being sent.
    heard: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Life {
    /// Being started; the strongest way in which it was asked to end meanwhile.
    Spawning(Option<Ask>),
    Running,
    Exited,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Ask {
    Eof,
    Term,
    Kill,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Output {
    Open,
    Silent,
    Closed,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Act {
    Start,
    Fail(OpenError),
    Say { line: Arc<str>, of: Option<Arc<str>> },
    Exit(Exit),
}

impl Process {
    pub(crate) fn spawn(conn: ConnId, script: Hashed<Script>, now: Timestamp) -> Self {
        let mut process = Self {
            conn,
            peer: Held::new(Peer::new(script.speaks)),
            life: Life::Spawning(None),
            agenda: VecDeque::new(),
            ready: VecDeque::new(),
            ready_since: now,
            messages: 0,
            bytes: 0,
            output: Output::Open,
            mid_line: false,
            heard: Vec::new(),
            script: script.clone(),
        };
        match &script.spawn {
            Spawn::Runs(after) => process.plan(now.plus(*after), Act::Start),
            Spawn::Fails(after, error) => {
                process.plan(now.plus(*after), Act::Fail(error.clone()));
            }
        }
        process
    }

    /// When the next fact about it is due, if it does anything by itself.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        if !self.ready.is_empty() {
            return Some(self.ready_since);
        }
        self.agenda.front().map(|(at, _)| *at)
    }

    /// The next fact about it; `None` if all it did was nothing that shows.
    pub(crate) fn next_fact(&mut self, now: Timestamp) -> Option<Fact> {
        for _ in 0..ACTS_MAX {
            if let Some(fact) = self.ready.pop_front() {
                return Some(fact);
            }
            let (_, act) = self.agenda.pop_front()?;
            self.ready_since = now;
            self.perform(act, now);
        }
        panic!("a scripted server did {ACTS_MAX} things and none of them shows")
    }

    /// Bytes arrive at its input.
    pub(crate) fn handle_input(&mut self, bytes: &[u8], now: Timestamp) {
        match self.life {
            Life::Spawning(_) => self.peer.breaches.push("bytes were sent before it runs".into()),
            Life::Exited => self.fail_input(),
            Life::Running => {
                self.heard.extend_from_slice(bytes);
                while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.heard.drain(..=end).collect();
                    self.hear(&line[..end], now);
                }
                if !self.heard.is_empty() {
                    self.peer.breaches.push("half a line was sent".into());
                }
            }
        }
    }

    pub(crate) fn handle_close_input(&mut self, now: Timestamp) {
        self.asked_to_end(Ask::Eof, now);
    }

    pub(crate) fn handle_terminate(&mut self, now: Timestamp) {
        self.asked_to_end(Ask::Term, now);
    }

    pub(crate) fn handle_kill(&mut self, now: Timestamp) {
        self.asked_to_end(Ask::Kill, now);
    }

    /// It ends by itself, whatever it was about to do. With `eof`, the end of its output is
    /// noticed before its end is.
    pub(crate) fn crash(&mut self, exit: Exit, eof: bool, now: Timestamp) {
        if self.life == Life::Running {
            if !eof {
                self.output = Output::Closed;
            }
            self.exit(exit, now);
        }
    }

    /// It closes a pipe and goes on running.
    pub(crate) fn close_pipe(&mut self, pipe: Pipe, now: Timestamp) {
        if self.life != Life::Running {
            return;
        }
        if self.ready.is_empty() {
            self.ready_since = now;
        }
        match pipe {
            Pipe::Input => self.fail_input(),
            Pipe::Output => self.close_output(),
        }
    }

    /// It turns out not to start, if it is being started.
    pub(crate) fn fail_start(&mut self, now: Timestamp) {
        if matches!(self.life, Life::Spawning(_)) {
            self.agenda.clear();
            self.plan(now, Act::Fail(OpenError::Other { message: "no more processes".into() }));
        }
    }

    /// It writes something nobody expects.
    pub(crate) fn blurt(&mut self, bytes: &[u8], now: Timestamp) {
        if self.output == Output::Open && self.life == Life::Running {
            bytes.split(|byte| *byte == b'\n').for_each(|line| self.peer.ask(line));
        }
        self.write(bytes, now);
    }

    /// It writes to its standard error.
    pub(crate) fn complain(&mut self, bytes: &[u8], now: Timestamp) {
        if self.life != Life::Running {
            return;
        }
        if self.ready.is_empty() {
            self.ready_since = now;
        }
        self.ready.push_back(Fact::Complained { conn: self.conn, bytes: bytes.to_vec().into() });
    }

    /// Its script is another one from here on: what it already planned stays planned.
    pub(crate) fn set_script(&mut self, script: Hashed<Script>) {
        self.script = script;
    }

    /// Whether its start was not reported yet.
    pub(crate) const fn is_starting(&self) -> bool {
        matches!(self.life, Life::Spawning(_))
    }

    /// Whether it runs, as its operating system sees it.
    pub(crate) fn is_running(&self) -> bool {
        self.life == Life::Running
    }

    /// What distinguishes it from another process.
    pub(crate) fn digest(&self, present: Present, state: &mut impl Hasher) {
        (&self.script, self.life, self.output, self.mid_line, &self.heard).hash(state);
        if !self.script.faults.is_empty() {
            // How much it has said matters only to faults.
            (self.messages, self.bytes).hash(state);
        }
        self.peer.hash(state);
        let newest = self.peer.newest();
        (self.ready.len(), self.agenda.len()).hash(state);
        for fact in &self.ready {
            std::mem::discriminant(fact).hash(state);
            match fact {
                Fact::OpenFailed { error, .. } => error.hash(state),
                Fact::Received { bytes, .. } => present.digest_line(bytes, newest, state),
                Fact::Complained { bytes, .. } => bytes.hash(state),
                Fact::Closed { exit, .. } => exit.hash(state),
                _ => {}
            }
        }
        for (at, act) in &self.agenda {
            (at.since(present.now), std::mem::discriminant(act)).hash(state);
            match act {
                Act::Start => {}
                Act::Fail(error) => error.hash(state),
                Act::Say { line, .. } => present.digest_line(line.as_bytes(), newest, state),
                Act::Exit(exit) => exit.hash(state),
            }
        }
    }

    fn plan(&mut self, at: Timestamp, act: Act) {
        let place = self.agenda.partition_point(|(other, _)| *other <= at);
        self.agenda.insert(place, (at, act));
    }

    fn hear(&mut self, line: &[u8], now: Timestamp) {
        let script = self.script.clone();
        for reaction in self.peer.hear(&script, line) {
            match reaction {
                Reaction::Say(say) => {
                    let of = say.of.map(Into::into);
                    self.plan(now.plus(say.after), Act::Say { line: say.line.into(), of });
                }
                Reaction::Drop(request) => self.agenda.retain(
                    |(_, act)| !matches!(act, Act::Say { of: Some(of), .. } if **of == *request),
                ),
            }
        }
    }

    fn asked_to_end(&mut self, ask: Ask, now: Timestamp) {
        match self.life {
            Life::Spawning(before) => self.life = Life::Spawning(before.max(Some(ask))),
            Life::Exited => {}
            Life::Running => {
                let exit = match (ask, self.script.stop) {
                    (Ask::Eof, Stopping::Polite) => (self.script.delays.exit, Exit::Code(0)),
                    (Ask::Term, Stopping::Polite | Stopping::IgnoresEof) => {
                        (self.script.delays.exit, TERMINATED)
                    }
                    (
                        Ask::Kill,
                        Stopping::Polite | Stopping::IgnoresEof | Stopping::IgnoresTerm,
                    ) => (0, KILLED),
                    (Ask::Eof | Ask::Term | Ask::Kill, _) => return,
                };
                self.plan(now.plus(exit.0), Act::Exit(exit.1));
            }
        }
    }

    fn perform(&mut self, act: Act, now: Timestamp) {
        match act {
            Act::Start => self.start(now),
            Act::Fail(error) => {
                self.life = Life::Exited;
                self.ready.push_back(Fact::OpenFailed { conn: self.conn, error });
            }
            Act::Say { line, of } => {
                of.iter().for_each(|of| self.peer.answered(of));
                self.say(&line, now);
            }
            Act::Exit(exit) => self.exit(exit, now),
        }
    }

    fn start(&mut self, now: Timestamp) {
        let Life::Spawning(asked) = self.life else { return };
        self.life = Life::Running;
        let pid = u32::try_from(self.conn.number()).ok().map(|number| 1_000 + number);
        self.ready.push_back(Fact::Opened { conn: self.conn, pid });
        for fault in &self.script.faults {
            if let Fault::FloodsStderr { bytes } = fault {
                let bytes = vec![b'!'; *bytes].into();
                self.ready.push_back(Fact::Complained { conn: self.conn, bytes });
            }
        }
        if let Some(ask) = asked {
            self.asked_to_end(ask, now);
        }
    }

    /// Says one message, or whatever its faults make of that.
    fn say(&mut self, line: &str, now: Timestamp) {
        let script = self.script.clone();
        let number = self.messages;
        let mut line = line.to_owned();
        if script.faults.contains(&Fault::Batches) {
            line = self.batch(&line, now);
        }
        self.messages += 1;
        let mut times = 1;
        for fault in &script.faults {
            match fault {
                Fault::Writes { before, bytes } if *before == number => {
                    if self.output == Output::Open {
                        let lines = bytes.split(|byte| *byte == b'\n');
                        lines.skip(usize::from(self.mid_line)).for_each(|line| self.peer.ask(line));
                    }
                    self.write(bytes, now);
                }
                Fault::Repeats { message, times: n } if *message == number => times = *n,
                Fault::AnswersWithTextId { message } if *message == number => line = text_id(&line),
                Fault::FallsSilent { from } if *from <= number => self.output = Output::Silent,
                Fault::ClosesOutput { before } if *before == number => self.close_output(),
                Fault::ClosesInput { before } if *before == number => self.fail_input(),
                _ => {}
            }
        }
        let asks = self.output == Output::Open && !self.mid_line && is_request(&line);
        line.push('\n');
        for _ in 0..times {
            if asks {
                self.peer.ask(line.trim_end().as_bytes());
            }
            self.write(line.as_bytes(), now);
        }
    }

    /// Everything that is to be said at this moment, as one batch.
    fn batch(&mut self, first: &str, now: Timestamp) -> String {
        let mut lines = vec![first.into()];
        let is_due = |(at, act): &(Timestamp, Act)| *at <= now && matches!(act, Act::Say { .. });
        while self.agenda.front().is_some_and(is_due) {
            if let Some((_, Act::Say { line, of })) = self.agenda.pop_front() {
                of.iter().for_each(|of| self.peer.answered(of));
                lines.push(line);
            }
        }
        format!("[{}]", lines.join(","))
    }

    fn write(&mut self, bytes: &[u8], now: Timestamp) {
        if self.output != Output::Open || self.life != Life::Running {
            return;
        }
        let crash = self.script.faults.iter().find_map(|fault| match fault {
            Fault::Crashes { after_bytes, exit } => Some((*after_bytes, *exit)),
            _ => None,
        });
        let room = crash.map_or(usize::MAX, |(after, _)| after.saturating_sub(self.bytes));
        if self.ready.is_empty() {
            self.ready_since = now;
        }
        let written = &bytes[..bytes.len().min(room)];
        self.bytes += written.len();
        self.mid_line = !written.ends_with(b"\n");
        let chunk = if self.script.chunk_bytes == 0 { usize::MAX } else { self.script.chunk_bytes };
        for part in written.chunks(chunk) {
            let bytes = part.to_vec().into();
            self.ready.push_back(Fact::Received { conn: self.conn, bytes });
        }
        if let Some((_, exit)) = crash.filter(|_| room <= bytes.len()) {
            self.exit(exit, now);
        }
    }

    fn close_output(&mut self) {
        if self.output != Output::Closed {
            self.output = Output::Closed;
            self.ready.push_back(Fact::OutputEnded { conn: self.conn });
        }
    }

    /// Writing to it failed; where its end is known but not reported, the failure comes first.
    fn fail_input(&mut self) {
        let fact = Fact::InputFailed { conn: self.conn };
        if self.ready.contains(&fact) {
            return;
        }
        let closed = matches!(self.ready.back(), Some(Fact::Closed { .. }));
        let at = self.ready.len() - usize::from(closed);
        self.ready.insert(at, fact);
    }

    fn exit(&mut self, exit: Exit, now: Timestamp) {
        self.close_output();
        self.life = Life::Exited;
        self.agenda.clear();
        self.ready_since = now;
        self.ready.push_back(Fact::Closed { conn: self.conn, exit });
    }
}

/// The same answer with its id as a string.
/// Whether a line of ours asks something.
fn is_request(line: &str) -> bool {
    line.contains("\"method\":") && line.contains("\"id\":")
}

fn text_id(line: &str) -> String {
    let Some((head, rest)) = line.split_once("\"id\":") else { return line.into() };
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    format!("{head}\"id\":\"{}\"{}", rest[..end].trim_matches('"'), &rest[end..])
}
