//! Processes: every one that was opened is needed or on its way down, and is ordered about in a
//! sensible order.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use tidegate_core::command::{Command, Method};
use tidegate_core::event::ServerState;
use tidegate_core::held::Held;
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::{ConnId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::limits::Limits;
use tidegate_core::time::Timestamp;

use crate::digest::hash_in_any_order;

use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Conns {
    attempts: Held<BTreeMap<ConnId, Attempt>>,
    shutting_down: bool,
    /// The attempt whose start this step brought, after something had fired.
    opened_now: Option<ConnId>,
    /// The attempt whose end this step brought, after something had fired that may order it.
    ended_now: Option<ConnId>,
}

#[derive(Clone, Debug)]
struct Attempt {
    server: ServerName,
    life: Life,
    rung: Rung,
    /// Since when it is on its rung.
    since: Timestamp,
    /// A pipe of it ended.
    deaf: bool,
    /// How many bytes it has written since its last line feed.
    line: usize,
    /// It wrote a line that is too long.
    too_long: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Life {
    Opening,
    Open,
    Ended,
}

/// How strongly it was asked to end.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Rung {
    None,
    CloseInput,
    Terminate,
    Kill,
}

impl Conns {
    pub(super) fn check(
        &mut self,
        seen: &Seen<'_>,
        policy: &Policy,
        limits: &Limits,
    ) -> Result<(), Breach> {
        (self.opened_now, self.ended_now) = (None, None);
        let shutdown = matches!(seen.input, Some(Input::Host(Request::Shutdown)));
        if let Some(Input::Io(fact)) = seen.input {
            self.note(fact, seen.fired, limits);
        }
        self.shutting_down |= shutdown && !seen.fired;
        for command in seen.commands {
            self.order(command, seen.now)?;
        }
        self.shutting_down |= shutdown;
        self.check_restarted(seen)?;
        for (conn, attempt) in self.attempts.iter() {
            attempt.check_needed(*conn, seen)?;
            attempt.check_line(*conn)?;
            attempt.check_rung(*conn, seen.now, policy)?;
        }
        let left = self.attempts.iter().find(|(_, attempt)| attempt.life != Life::Ended);
        match left {
            Some((conn, _)) if seen.stopped => {
                Law::NoOrphan.broken(format!("Stopped was said while {conn} had not ended"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// G16: what is restarted ends first.
    fn check_restarted(&self, seen: &Seen<'_>) -> Result<(), Breach> {
        let Some(Input::Host(Request::Restart { server, .. })) = seen.input else { return Ok(()) };
        let runs = |attempt: &&Attempt| attempt.server == *server && attempt.life == Life::Open;
        let kept = self.attempts.values().filter(runs).any(|attempt| attempt.rung == Rung::None);
        let can = seen.server(server).is_some_and(|server| server.state.is_connecting());
        Law::Orders.demands(seen.fired || !can || !kept, || {
            format!("{server} was to be restarted and its process goes on")
        })
    }

    /// At a quiet moment, every process is one that its server needs (G2).
    pub(super) fn check_quiet(&self) -> Result<(), Breach> {
        let asked = |attempt: &&Attempt| attempt.life != Life::Ended && attempt.rung > Rung::None;
        match self.attempts.values().find(asked) {
            Some(attempt) => Law::NoOrphan.broken(format!(
                "nothing is due any more and a process of {} was asked to end and did not",
                attempt.server
            )),
            None => Ok(()),
        }
    }

    /// Whether an attempt can answer, as far as the driver has told.
    pub(super) fn can_answer(&self, conn: ConnId) -> bool {
        self.attempts.get(&conn).is_some_and(|attempt| {
            attempt.life == Life::Open && attempt.rung == Rung::None && !attempt.deaf
        })
    }

    /// Attempts that are over are history: at most one a server is not (G5).
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl Hasher) {
        self.shutting_down.hash(state);
        let present = self.attempts.values().filter(|attempt| attempt.life != Life::Ended);
        hash_in_any_order(present, state, |attempt, state| {
            let Attempt { server, life, rung, since, deaf, line, too_long } = attempt;
            // Since when it has not been asked to end matters to nobody.
            let since = (*rung > Rung::None).then_some(now.since(*since));
            (server, life, rung, since, deaf, line, too_long).hash(state);
        });
    }

    /// Takes in a fact, and holds the simulated driver to its half of the contract.
    fn note(&mut self, fact: &Fact, fired: bool, limits: &Limits) {
        let (conn, ends) = match fact {
            Fact::ConfigRead { .. }
            | Fact::FolderListed { .. }
            | Fact::FilesChanged
            | Fact::ApprovalsRead { .. }
            | Fact::CacheRead { .. }
            | Fact::Answered { .. } => return,
            Fact::Opened { conn, .. } => (conn, Some(Life::Open)),
            Fact::OpenFailed { conn, .. } | Fact::Closed { conn, .. } => (conn, Some(Life::Ended)),
            Fact::Received { conn, .. } | Fact::Complained { conn, .. } => (conn, None),
            Fact::OutputEnded { conn } | Fact::InputFailed { conn } => (conn, None),
            Fact::Head { conn, .. } | Fact::Body { conn, .. } => (conn, None),
            Fact::ExchangeEnded { conn, .. } => (conn, None),
            _ => return,
        };
        let Some(attempt) = self.attempts.get_mut(conn) else { return };
        if attempt.life == Life::Ended {
            return;
        }
        if let Fact::Received { bytes, .. } = fact {
            attempt.read(bytes, limits);
        }
        attempt.deaf |= matches!(fact, Fact::OutputEnded { .. } | Fact::InputFailed { .. });
        let expected = match fact {
            Fact::Opened { .. } | Fact::OpenFailed { .. } => Life::Opening,
            _ => Life::Open,
        };
        assert_eq!(attempt.life, expected, "the simulated driver broke its contract: {fact:?}");
        attempt.life = ends.unwrap_or(attempt.life);
        self.ended_now = (fired && attempt.life == Life::Ended).then_some(*conn);
        self.opened_now = (fired && matches!(fact, Fact::Opened { .. })).then_some(*conn);
    }

    fn order(&mut self, command: &Command, now: Timestamp) -> Result<(), Breach> {
        let (conn, rung) = match command {
            Command::ReadConfig { .. }
            | Command::ListFolder { .. }
            | Command::Watch { .. }
            | Command::ReadApprovals { .. }
            | Command::ReadCache { .. }
            | Command::WriteCache { .. }
            | Command::DropCache { .. }
            | Command::Ask { .. }
            | Command::StopAsking { .. } => return Ok(()),
            Command::Connect { conn, server, remote: _ } => return self.open(*conn, server, now),
            // The end of its session is what a remote server is asked first.
            Command::Exchange { conn, request, .. } if request.method == Method::Delete => {
                (conn, Rung::CloseInput)
            }
            Command::Exchange { conn, .. } | Command::Abort { conn, .. } => (conn, Rung::None),
            Command::Open { conn, server, launch: _ } => return self.open(*conn, server, now),
            Command::Send { conn, .. } => (conn, Rung::None),
            Command::CloseInput { conn } => (conn, Rung::CloseInput),
            Command::Terminate { conn } => (conn, Rung::Terminate),
            Command::Kill { conn } => (conn, Rung::Kill),
            Command::Abandon { conn } => return self.abandon(*conn),
        };
        let Some(attempt) = self.attempts.get_mut(conn) else {
            return Law::Orders.broken(format!("{command:?}: {conn} was never opened"));
        };
        if self.ended_now == Some(*conn) {
            return Ok(());
        }
        Law::Orders.demands(attempt.life == Life::Open, || {
            format!("{command:?}: {conn} is not running")
        })?;
        if rung == Rung::None {
            return Law::Orders.demands(attempt.rung == Rung::None, || {
                format!("{command:?}: the input of {conn} is closed")
            });
        }
        Law::Orders.demands(rung > attempt.rung, || {
            format!("{command:?}: {conn} was asked that before (G8)")
        })?;
        attempt.rung = rung;
        attempt.since = now;
        Ok(())
    }

    fn open(&mut self, conn: ConnId, server: &ServerName, now: Timestamp) -> Result<(), Breach> {
        Law::Orders.demands(!self.shutting_down, || format!("Open {conn} after Shutdown (G9)"))?;
        // An attempt that has to find something out is opened after ones that began later.
        Law::StaleIsSilent.demands(!self.attempts.contains_key(&conn), || {
            format!("Open {conn}: that id was used before")
        })?;
        let other = self
            .attempts
            .iter()
            .find(|(_, attempt)| attempt.server == *server && attempt.life != Life::Ended);
        if let Some((other, _)) = other {
            return Law::Orders
                .broken(format!("Open {conn} for {server} while {other} has not ended (G5)"));
        }
        let attempt = Attempt {
            server: server.clone(),
            life: Life::Opening,
            rung: Rung::None,
            since: now,
            deaf: false,
            line: 0,
            too_long: false,
        };
        self.attempts.insert(conn, attempt);
        Ok(())
    }

    fn abandon(&mut self, conn: ConnId) -> Result<(), Breach> {
        let Some(attempt) = self.attempts.get_mut(&conn) else {
            return Law::Orders.broken(format!("Abandon {conn}, which was never opened"));
        };
        if self.ended_now == Some(conn) {
            return Ok(());
        }
        let last = match attempt.life {
            Life::Opening => true,
            Life::Open if self.opened_now == Some(conn) => true,
            Life::Open => attempt.rung == Rung::Kill,
            Life::Ended => false,
        };
        Law::NoOrphan.demands(last, || format!("Abandon {conn} without trying everything"))?;
        attempt.life = Life::Ended;
        Ok(())
    }
}

impl Attempt {
    fn read(&mut self, bytes: &[u8], limits: &Limits) {
        for byte in bytes {
            self.line += 1;
            if *byte == b'\n' {
                // A line may end in two bytes.
                self.too_long |= self.line > limits.message_bytes + 2;
                self.line = 0;
            }
        }
    }

    /// L10: a line that is too long ends its server.
    fn check_line(&self, conn: ConnId) -> Result<(), Breach> {
        let stays = self.life == Life::Open && self.rung == Rung::None;
        Law::Bounded.demands(!stays || !self.too_long, || {
            format!("{conn} of {} wrote a line that is too long and stays", self.server)
        })
    }

    /// L9, G2: a running process is the one its server needs, or it was asked to end.
    fn check_needed(&self, conn: ConnId, seen: &Seen<'_>) -> Result<(), Breach> {
        if self.life != Life::Open || self.rung > Rung::None {
            return Ok(());
        }
        let server = seen.server(&self.server);
        let needed = server.is_some_and(|server| {
            let runs = matches!(server.state, ServerState::Connecting | ServerState::Connected);
            runs && server.conn == Some(conn)
        });
        Law::NoOrphan.demands(needed, || {
            format!("{conn} of {} runs, is not needed, and was not asked to end", self.server)
        })?;
        Law::Prompt.demands(!self.deaf, || {
            format!("{conn} of {} lost a pipe and was not asked to end (G7)", self.server)
        })
    }

    /// L9, G6: no rung of the ladder lasts longer than the policy says.
    fn check_rung(&self, conn: ConnId, now: Timestamp, policy: &Policy) -> Result<(), Breach> {
        let lasts_ms = match self.rung {
            _ if self.life != Life::Open => return Ok(()),
            Rung::None => return Ok(()),
            Rung::CloseInput => policy.stop.polite_ms,
            Rung::Terminate => policy.stop.terminate_ms,
            Rung::Kill => policy.stop.kill_ms,
        };
        Law::NoOrphan.demands(now < self.since.plus(lasts_ms), || {
            format!("{conn} of {} has had its {lasts_ms}ms: {:?}", self.server, self.rung)
        })
    }
}
