//! The ladder that ends a process: close its input, ask its group, kill its group, give up. A
//! remote server has fewer rungs: goodbye, break everything off, give up.
//!
//! Floor 3. Every rung has its own deadline, counted from the moment the rung is entered, so
//! that a laptop that slept never gets TERM and KILL in one breath (L5). The whole ladder is
//! bounded whatever the driver does (G6, L9).

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::id::ConnId;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};

use super::channel::Close;

/// How long each rung lasts, in milliseconds.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct StopLadder {
    /// From closing its input to SIGTERM. Default 1 s.
    pub polite_ms: u64,
    /// From SIGTERM to SIGKILL. Default 2 s.
    pub terminate_ms: u64,
    /// From SIGKILL to giving up. Default 1 s.
    pub kill_ms: u64,
}

impl Default for StopLadder {
    fn default() -> Self {
        Self { polite_ms: 1_000, terminate_ms: 2_000, kill_ms: 1_000 }
    }
}

/// A process on its way down.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Stop {
    close: Close,
    rung: Rung,
    until: Timestamp,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Rung {
    /// Its start was not reported yet; there is nothing to close or to signal. As short as the
    /// last rung, so that a start and a stop together stay within the bound of a teardown.
    Opening,
    Polite,
    Terminating,
    Killing,
}

/// What a step of the ladder came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Climb {
    /// The next rung is entered.
    Climbed,
    /// The last rung has passed; the process is abandoned.
    GaveUp,
}

impl Stop {
    /// Enters the ladder.
    #[must_use]
    pub(super) fn begin(
        opened: bool,
        close: Close,
        conn: ConnId,
        now: Timestamp,
        ladder: &StopLadder,
        out: &mut Outbox,
    ) -> Self {
        let mut stop = Self { close, rung: Rung::Opening, until: now.plus(ladder.kill_ms) };
        if opened {
            stop.handle_opened(conn, now, ladder, out);
        }
        stop
    }

    /// The process turned out to run.
    pub fn handle_opened(
        &mut self,
        conn: ConnId,
        now: Timestamp,
        ladder: &StopLadder,
        out: &mut Outbox,
    ) {
        if self.rung != Rung::Opening {
            return;
        }
        match self.close {
            Close::Process => {
                out.command(Command::CloseInput { conn });
                self.enter(Rung::Polite, now.plus(ladder.polite_ms));
            }
            Close::Goodbye => self.enter(Rung::Polite, now.plus(ladder.polite_ms)),
            Close::Nothing => self.kill(conn, now, ladder, out),
        }
    }

    /// The goodbye of a remote server was answered.
    pub(super) fn said_goodbye(
        &mut self,
        conn: ConnId,
        now: Timestamp,
        ladder: &StopLadder,
        out: &mut Outbox,
    ) {
        if self.close == Close::Goodbye && self.rung == Rung::Polite {
            self.kill(conn, now, ladder, out);
        }
    }

    fn kill(&mut self, conn: ConnId, now: Timestamp, ladder: &StopLadder, out: &mut Outbox) {
        out.command(Command::Kill { conn });
        self.enter(Rung::Killing, now.plus(ladder.kill_ms));
    }

    const fn enter(&mut self, rung: Rung, until: Timestamp) {
        self.rung = rung;
        self.until = until;
    }

    /// The present rung has passed.
    pub fn handle_timeout(
        &mut self,
        conn: ConnId,
        now: Timestamp,
        ladder: &StopLadder,
        out: &mut Outbox,
    ) -> Climb {
        match self.rung {
            Rung::Polite if self.close == Close::Process => {
                out.command(Command::Terminate { conn });
                self.enter(Rung::Terminating, now.plus(ladder.terminate_ms));
            }
            Rung::Polite | Rung::Terminating => self.kill(conn, now, ladder, out),
            Rung::Opening | Rung::Killing => {
                out.command(Command::Abandon { conn });
                return Climb::GaveUp;
            }
        }
        Climb::Climbed
    }

    /// When the present rung passes.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        let why = match self.rung {
            Rung::Opening => "stop: open",
            Rung::Polite => "stop: terminate",
            Rung::Terminating => "stop: kill",
            Rung::Killing => "stop: give up",
        };
        Deadline { at: self.until, why }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    fn commands(out: &mut Outbox) -> Vec<Command> {
        core::iter::from_fn(|| out.next_command()).collect()
    }

    /// G6: each rung in its time, and an end.
    #[test]
    fn an_opened_process_is_closed_asked_killed_and_given_up() {
        let (conn, ladder, mut out) = (ConnId::new(1), StopLadder::default(), Outbox::default());
        let mut stop = Stop::begin(true, Close::Process, conn, Timestamp::ZERO, &ladder, &mut out);
        assert_eq!(commands(&mut out), vec![Command::CloseInput { conn }]);
        for (at, command, climb) in [
            (1_000, Command::Terminate { conn }, Climb::Climbed),
            (3_000, Command::Kill { conn }, Climb::Climbed),
            (4_000, Command::Abandon { conn }, Climb::GaveUp),
        ] {
            let now = Timestamp::from_millis(at);
            assert_eq!(stop.deadline().at, now);
            assert_eq!(stop.handle_timeout(conn, now, &ladder, &mut out), climb);
            assert_eq!(commands(&mut out), vec![command]);
        }
    }

    /// L5: a machine that slept through all rungs still gives each its whole time.
    #[test]
    fn a_rung_counts_from_the_moment_it_is_entered() {
        let (conn, ladder, mut out) = (ConnId::new(1), StopLadder::default(), Outbox::default());
        let mut stop = Stop::begin(true, Close::Process, conn, Timestamp::ZERO, &ladder, &mut out);
        stop.handle_timeout(conn, Timestamp::from_millis(90_000), &ladder, &mut out);
        assert_eq!(stop.deadline().at, Timestamp::from_millis(92_000));
    }

    #[test]
    fn a_process_that_is_still_being_started_is_closed_when_it_runs() {
        let (conn, ladder, mut out) = (ConnId::new(1), StopLadder::default(), Outbox::default());
        let mut stop = Stop::begin(false, Close::Process, conn, Timestamp::ZERO, &ladder, &mut out);
        assert!(out.is_empty());
        stop.handle_opened(conn, Timestamp::from_millis(500), &ladder, &mut out);
        assert_eq!(commands(&mut out), vec![Command::CloseInput { conn }]);
        assert_eq!(stop.deadline().at, Timestamp::from_millis(1_500));
    }
}
