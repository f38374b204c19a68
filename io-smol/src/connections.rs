//! All servers that are being started or run.
//!
//! Keeps the driver's half of the contract: per `Open` exactly one `Opened` or `OpenFailed`,
//! after `Opened` exactly one `Closed`, and nothing for a connection after that.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use tidegate_core::bytes::Bytes;
use tidegate_core::error::{Exit, OpenError};
use tidegate_core::id::ConnId;
use tidegate_core::input::Fact;

use crate::connection::{Connection, Look, Shared};
use crate::descendants::living_groups;
use crate::inbox::{Inbox, Message};
use crate::launch::Program;
use crate::pollset::{End, Interest, Source};
use crate::process::Signal;
use crate::spawn::{Spawner, Started};

/// From how many servers on that are being started at once they are a crowd.
const CROWD: usize = 8;

/// The servers.
pub(crate) struct Connections {
    entries: BTreeMap<ConnId, Entry>,
    shared: Shared,
    spawner: Spawner,
    inbox: Arc<Inbox>,
    /// What is readable once the guard has ended.
    guard: Option<OwnedFd>,
    /// Those with something to write, since the last flush.
    unflushed: Vec<ConnId>,
    /// Those whose leader has ended and whose group has not.
    leaderless: BTreeSet<ConnId>,
    /// Whether all groups are being looked at from another thread.
    scanning: bool,
}

#[derive(Debug)]
enum Entry {
    Starting(Orders),
    Running(Box<Connection>),
}

/// What is to be done with a server once it has started.
#[derive(Debug, Default)]
struct Orders {
    bytes: Vec<u8>,
    close_input: bool,
    signal: Option<Signal>,
    abandon: bool,
}

impl Connections {
    pub(crate) fn new(spawner: Spawner, inbox: Arc<Inbox>) -> io::Result<Self> {
        Ok(Self {
            entries: BTreeMap::new(),
            shared: Shared::new()?,
            spawner,
            inbox,
            guard: None,
            unflushed: Vec::new(),
            leaderless: BTreeSet::new(),
            scanning: false,
        })
    }

    /// What the connections work with, for the one who waits.
    pub(crate) fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// The oldest fact that is not handled yet.
    pub(crate) fn next_fact(&mut self) -> Option<Fact> {
        self.shared.facts.pop_front()
    }

    /// Whether so many servers are being started that the machine is full of them.
    pub(crate) fn is_crowded(&self) -> bool {
        let starting = |entry: &&Entry| matches!(entry, Entry::Starting(_));
        self.entries.values().filter(starting).count() >= CROWD
    }

    /// Has a server started.
    pub(crate) fn open(&mut self, conn: ConnId, program: Program) {
        match self.spawner.start(conn, program) {
            Ok(()) => {
                self.entries.insert(conn, Entry::Starting(Orders::default()));
            }
            Err(error) => self.fail(conn, OpenError::Other { message: error.to_string() }),
        }
    }

    /// A server was started, or not.
    pub(crate) fn started(&mut self, conn: ConnId, result: Result<Box<Started>, OpenError>) {
        let Some(Entry::Starting(orders)) = self.entries.remove(&conn) else { return };
        if orders.abandon {
            return;
        }
        let opened = result.and_then(|started| {
            Connection::new(conn, *started, &mut self.shared.poll)
                .map_err(|error| OpenError::Other { message: error.to_string() })
        });
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(error) => return self.fail(conn, error),
        };
        let pid = u32::try_from(connection.process().group().as_raw_pid()).ok();
        if !connection.exit_is_watched() {
            let inbox = Arc::clone(&self.inbox);
            let report = move |exit| inbox.report(Message::Exited(conn, exit));
            connection.process().reap_later(report);
        }
        self.shared.facts.push_back(Fact::Opened { conn, pid });
        self.entries.insert(conn, Entry::Running(Box::new(connection)));
        self.send(conn, Bytes(orders.bytes));
        if orders.close_input {
            self.close_input(conn);
        }
        if let Some(signal) = orders.signal {
            self.signal(conn, signal);
        }
    }

    /// Has bytes written at the next flush.
    pub(crate) fn send(&mut self, conn: ConnId, Bytes(bytes): Bytes) {
        match self.entries.get_mut(&conn) {
            Some(Entry::Starting(orders)) => orders.bytes.extend(bytes),
            Some(Entry::Running(connection)) if !bytes.is_empty() => {
                if connection.push(bytes, &mut self.shared) {
                    self.unflushed.push(conn);
                }
            }
            Some(Entry::Running(_)) | None => {}
        }
    }

    /// Has the input closed after what was sent before.
    pub(crate) fn close_input(&mut self, conn: ConnId) {
        if self.withdraw(conn) {
            return;
        }
        match self.entries.get_mut(&conn) {
            Some(Entry::Starting(orders)) => orders.close_input = true,
            Some(Entry::Running(connection)) => {
                connection.close_input();
                self.unflushed.push(conn);
            }
            None => {}
        }
    }

    /// Sends a signal to the server's group.
    pub(crate) fn signal(&mut self, conn: ConnId, signal: Signal) {
        if self.withdraw(conn) {
            return;
        }
        match self.entries.get_mut(&conn) {
            Some(Entry::Starting(orders)) => orders.signal = Some(signal),
            Some(Entry::Running(connection)) => connection.signal(signal),
            None => {}
        }
    }

    /// Lets go of a server that cannot be ended: killed once more and reaped whenever it ends.
    pub(crate) fn abandon(&mut self, conn: ConnId) {
        if let Some(Entry::Starting(orders)) = self.entries.get_mut(&conn) {
            orders.abandon = true;
        } else {
            self.entries.remove(&conn);
            self.leaderless.remove(&conn);
        }
    }

    /// Does what a ready descriptor asks for.
    pub(crate) fn ready(&mut self, conn: ConnId, end: End) {
        let Some(Entry::Running(connection)) = self.entries.get_mut(&conn) else { return };
        match end {
            End::Output => connection.read_output(&mut self.shared),
            End::Errors => connection.read_errors(&mut self.shared),
            End::Input => connection.flush(&mut self.shared),
            End::Exit => {
                if let Some(exit) = connection.process().reap() {
                    self.exited(conn, exit);
                }
            }
        }
    }

    /// The leader of a group has ended.
    pub(crate) fn exited(&mut self, conn: ConnId, exit: Exit) {
        if let Some(Entry::Running(connection)) = self.entries.get_mut(&conn) {
            let now = Instant::now();
            connection.lose_leader(exit, now, &mut self.shared);
            self.leaderless.insert(conn);
            self.look(now);
        }
    }

    /// When a group whose leader has ended is to be looked at.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        let next = |conn| match self.entries.get(conn) {
            Some(Entry::Running(connection)) => connection.next_look(),
            Some(Entry::Starting(_)) | None => None,
        };
        self.leaderless.iter().filter_map(next).min()
    }

    /// Looks at the groups whose leader has ended, as far as it is time.
    pub(crate) fn look(&mut self, now: Instant) {
        let mut lasts = false;
        for conn in self.leaderless.clone() {
            let Some(Entry::Running(connection)) = self.entries.get_mut(&conn) else { continue };
            if connection.next_look().is_none_or(|next| next > now) {
                continue;
            }
            match connection.look(now) {
                Look::Gone => self.end(conn),
                Look::There => {}
                Look::Lasts => lasts = true,
            }
        }
        if lasts && !self.scanning {
            self.scanning = true;
            let inbox = Arc::clone(&self.inbox);
            let scan = move || inbox.report(Message::Scanned(living_groups()));
            blocking::unblock(scan).detach();
        }
    }

    /// Ends what has no living member in its group: an ended process that its parent does not
    /// reap keeps the group in being, and nothing else.
    pub(crate) fn scanned(&mut self, living: Option<&BTreeSet<i32>>) {
        self.scanning = false;
        let Some(living) = living else { return };
        for conn in self.leaderless.clone() {
            if let Some(Entry::Running(connection)) = self.entries.get_mut(&conn)
                && !living.contains(&connection.process().group().as_raw_pid())
            {
                self.end(conn);
            }
        }
    }

    /// Lets everything go that was sent since the last flush: one write per server.
    pub(crate) fn flush(&mut self) {
        while let Some(conn) = self.unflushed.pop() {
            if let Some(Entry::Running(connection)) = self.entries.get_mut(&conn) {
                connection.flush(&mut self.shared);
            }
        }
    }

    /// Has something run off the loop that starts processes of this run, with a guard standing.
    pub(crate) fn guarded(&mut self, run: impl FnOnce() + Send + 'static) {
        self.spawner.guarded(move || blocking::unblock(run).detach());
    }

    /// A guard stands.
    pub(crate) fn watch_guard(&mut self, exit: OwnedFd) {
        self.forget_guard();
        // One that cannot be watched is replaced when it does not listen.
        if self.shared.poll.watch(exit.as_fd(), Source::Guard, Interest::Read).is_ok() {
            self.guard = Some(exit);
        }
    }

    /// The guard has ended: another one is to stand.
    pub(crate) fn guard_ended(&mut self) {
        self.forget_guard();
        self.spawner.replace_guard();
    }

    fn forget_guard(&mut self) {
        if let Some(exit) = self.guard.take() {
            self.shared.poll.forget(exit.as_fd(), Source::Guard);
        }
    }

    /// Ends the thread that starts servers, and the guard; `true` if there is
    /// one, and [`Message::Ended`] follows.
    pub(crate) fn retire(&self) -> bool {
        self.spawner.retire()
    }

    /// A server that nobody has begun to start is not started once it is to be stopped (F-013).
    fn withdraw(&mut self, conn: ConnId) -> bool {
        let starting = matches!(self.entries.get(&conn), Some(Entry::Starting(_)));
        if starting && self.spawner.withdraw(conn) {
            self.entries.remove(&conn);
            let message = "stopped before it was started".into();
            self.fail(conn, OpenError::Other { message });
            return true;
        }
        false
    }

    fn fail(&mut self, conn: ConnId, error: OpenError) {
        self.shared.facts.push_back(Fact::OpenFailed { conn, error });
    }

    fn end(&mut self, conn: ConnId) {
        self.leaderless.remove(&conn);
        if let Some(Entry::Running(mut connection)) = self.entries.remove(&conn) {
            self.spawner.forget(connection.process().group());
            connection.end(&mut self.shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::inbox::Stamped;
    use crate::launch::Surroundings;
    use crate::mark::Mark;
    use crate::settings::Guard;

    #[test]
    fn servers_are_a_crowd_until_all_but_a_few_have_started() {
        let inbox = Arc::new(Inbox::new());
        let surroundings = Surroundings::of_process("/", Mark::new());
        let spawner = Spawner::new(surroundings, Guard::Off, Arc::clone(&inbox));
        let mut connections = Connections::new(spawner, Arc::clone(&inbox)).unwrap();
        for conn in 0..CROWD as u64 {
            assert!(!connections.is_crowded());
            let mut program = Program::default();
            program.filled.command = "true".into();
            connections.open(ConnId::new(conn), program);
        }
        assert!(connections.is_crowded());
        let mut messages = VecDeque::new();
        while connections.is_crowded() {
            inbox.take(&mut messages);
            for Stamped { message, .. } in messages.drain(..) {
                if let Message::Started(conn, result) = message {
                    connections.started(conn, result);
                }
            }
            std::thread::yield_now();
        }
    }
}
