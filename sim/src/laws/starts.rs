//! Starts: a server is started because somebody asked for it, or because it was lost and has
//! waited long enough.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use tidegate_core::command::{Command, Launch};
use tidegate_core::error::{Cause, HttpFailure};
use tidegate_core::event::{Event, OpResult, ServerState};
use tidegate_core::held::Held;
use tidegate_core::hub::policy::{Policy, Reconnect};
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::id::{ConnId, OpId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::time::Timestamp;

use super::{Breach, Law, Seen};
use crate::hashed::Hashed;

/// In the one question that needs no handshake.
const DISCOVER: &[u8] = b"\"server/discover\"";

#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    servers: Held<BTreeMap<ServerName, Past>>,
}

/// What matters of a server's past.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Past {
    ask: Option<Ask>,
    /// What was started last.
    launch: Option<Hashed<Launch>>,
    /// The host let it go, and how.
    let_go: Option<LetGo>,
    /// How often it was started by itself since it was stable or somebody acted.
    automatic: u32,
    ready_since: Option<Timestamp>,
    lost_at: Option<Timestamp>,
    /// Only its session was lost, for the first time in a row.
    prompt: bool,
    /// The attempt in which something was said last.
    spoken: Option<ConnId>,
    /// Its attempt, while nothing was said in it but the question that needs no handshake.
    asked: Option<ConnId>,
    /// That attempt ended: the other question is owed at once (C-VER-19).
    misasked: bool,
}

/// Who asked for a server that was not started since.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Ask {
    /// The configuration was read.
    Configuration,
    /// The host, by its name: what it lost before is forgiven.
    ByName,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum LetGo {
    /// By its name: only its name brings it back (G14).
    Alone,
    /// With all others: a start brings it back as well.
    WithAll,
    /// It switched it off.
    Switched,
}

impl Starts {
    pub(super) fn check(&mut self, seen: &Seen<'_>, policy: &Policy) -> Result<(), Breach> {
        // What was due came before the input, and so did some of the starts (L5); what it says
        // of starts to come counts from before the host acted.
        self.note_asked(seen, !seen.fired);
        if !seen.fired {
            self.note_let_go(seen);
        }
        for event in seen.events {
            if let Event::ServerChanged { server, state } = event {
                self.changed(server, state, seen.now, policy)?;
            }
        }
        if let Some(Input::Io(Fact::Closed { conn, .. })) = seen.input {
            for past in self.servers.values_mut().filter(|past| past.asked == Some(*conn)) {
                (past.asked, past.misasked) = (None, true);
            }
        }
        for command in seen.commands {
            if let Command::Send { conn, bytes } = command {
                self.said(*conn, bytes, seen);
            }
            let (conn, server, launch) = match command {
                Command::Open { conn, server, launch } => (conn, server, launch),
                Command::Connect { conn, server, remote } => {
                    let command = remote.url.clone();
                    (conn, server, &Launch { command, ..Launch::default() })
                }
                _ => continue,
            };
            {
                let past = self.servers.entry(server.clone()).or_default();
                past.started(server, launch, seen, policy).map_err(|breach| Breach {
                    how: format!("Open {conn}: {}", breach.how),
                    ..breach
                })?;
            }
        }
        if seen.fired {
            self.note_asked(seen, true);
            self.note_let_go(seen);
        }
        for server in &seen.status.servers {
            let known = self.servers.get(&server.name);
            let past = known.cloned().unwrap_or_default();
            // What runs, or runs again by itself, needs no start: nobody is waiting for one.
            let itself = matches!(server.state, ServerState::Retrying { .. });
            let ask = past.ask.filter(|_| !itself && server.state != ServerState::Connected);
            if known.is_none() || ask != past.ask {
                self.servers.insert(server.name.clone(), Past { ask, ..past });
            }
        }
        if self.servers.keys().any(|name| seen.server(name).is_none()) {
            self.servers.retain(|name, _| seen.server(name).is_some());
        }
        Ok(())
    }

    pub(super) fn digest(&self, now: Timestamp, policy: &Policy, state: &mut impl Hasher) {
        let Reconnect::OnLoss(backoff) = &policy.reconnect else { return };
        for (name, past) in self.servers.iter() {
            // How long it has been ready matters only where there is a count to forget.
            let counts = past.automatic > 0;
            let stable = |since| if counts { now.since(since).min(backoff.stable_ms) } else { 0 };
            let waits = |since: Timestamp| now.since(since).min(backoff.delay_ms(u32::MAX) * 2);
            (name, past.ask, past.let_go, past.automatic, &past.launch).hash(state);
            (past.asked.is_some(), past.misasked).hash(state);
            (past.ready_since.map(stable), past.lost_at.map(waits)).hash(state);
        }
    }

    fn said(&mut self, conn: ConnId, bytes: &[u8], seen: &Seen<'_>) {
        let of = seen.status.servers.iter().find(|server| server.conn == Some(conn));
        let Some(past) = of.and_then(|server| self.servers.get_mut(&server.name)) else { return };
        let first = past.spoken.replace(conn) != Some(conn);
        let asks = bytes.windows(DISCOVER.len()).any(|part| part == DISCOVER);
        past.asked = Some(conn).filter(|_| first && asks);
    }

    /// Whether it was lost and started by itself since it was stable or somebody acted.
    pub(super) fn is_back_by_itself(&self, server: &ServerName) -> bool {
        self.servers.get(server).is_some_and(|past| past.automatic > 0)
    }

    fn note_let_go(&mut self, seen: &Seen<'_>) {
        match seen.input {
            Some(Input::Host(Request::Disable { server, .. })) => {
                self.let_go(server, LetGo::Switched);
            }
            Some(Input::Host(Request::Disconnect { op, server }))
                if is_let_go(seen, server) && !is_refused(seen, *op) =>
            {
                self.let_go(server, LetGo::Alone);
            }
            Some(Input::Host(Request::DisconnectAll { op })) if is_refused(seen, *op) => {}
            Some(Input::Host(Request::DisconnectAll { .. } | Request::Shutdown)) => {
                let names: Vec<ServerName> = self.servers.keys().cloned().collect();
                for name in names {
                    let new = self.servers.get(&name).is_some_and(|past| past.let_go.is_none());
                    if new && is_let_go(seen, &name) {
                        self.let_go(&name, LetGo::WithAll);
                    }
                }
            }
            Some(_) | None => {}
        }
    }

    fn note_asked(&mut self, seen: &Seen<'_>, forgives: bool) {
        match seen.input {
            Some(Input::Host(
                Request::Connect { server, .. }
                | Request::Reconnect { server, .. }
                | Request::Restart { server, .. }
                | Request::Enable { server, .. },
            )) => {
                let past = self.servers.entry(server.clone()).or_default();
                (past.ask, past.let_go) = (Some(Ask::ByName), None);
                let connected = |s: &ServerStatus| s.state == ServerState::Connected;
                if forgives && seen.server(server).is_some_and(|s| !connected(s)) {
                    past.automatic = 0;
                }
            }
            Some(Input::Host(Request::Start { .. })) => {
                for past in self.servers.values_mut() {
                    past.let_go = past.let_go.filter(|how| *how != LetGo::WithAll);
                }
            }
            Some(Input::Io(fact)) if is_of_configuration(fact) => {
                for server in &seen.status.servers {
                    let past = self.servers.entry(server.name.clone()).or_default();
                    past.ask = past.ask.max(Some(Ask::Configuration));
                }
            }
            Some(_) | None => {}
        }
    }

    fn let_go(&mut self, server: &ServerName, how: LetGo) {
        let launch = self.servers.remove(server).and_then(|past| past.launch);
        let past = Past { let_go: Some(how), launch, ..Past::default() };
        self.servers.insert(server.clone(), past);
    }

    /// G50: what was ready and is lost comes back by itself, or was lost too often.
    fn changed(
        &mut self,
        server: &ServerName,
        state: &ServerState,
        now: Timestamp,
        policy: &Policy,
    ) -> Result<(), Breach> {
        let past = self.servers.entry(server.clone()).or_default();
        if *state == ServerState::Connected {
            (past.asked, past.misasked) = (None, false);
            past.ready_since = Some(now);
            return Ok(());
        }
        let ready_since = past.ready_since.take();
        let Reconnect::OnLoss(backoff) = &policy.reconnect else { return Ok(()) };
        if ready_since.is_some_and(|since| now.since(since) >= backoff.stable_ms) {
            past.automatic = 0;
        }
        match state {
            ServerState::Retrying { start, failure } => {
                let session_lost = Cause::Http { failure: HttpFailure::SessionLost };
                past.prompt = *start == 1 && failure.cause == session_lost;
                past.lost_at = past.lost_at.or(Some(now));
                Law::Starts.demands(*start == past.automatic + 1, || {
                    format!(
                        "{server} is said to be started by itself for the {start}. time, not \
                             the {}.",
                        past.automatic + 1
                    )
                })
            }
            ServerState::Suspended { .. } => Law::Starts
                .demands(past.automatic >= backoff.starts_max, || {
                    format!("{server} is suspended after {} starts", past.automatic)
                }),
            ServerState::Failed { .. } => {
                past.lost_at = None;
                let lost = ready_since.is_some() || past.automatic > 0;
                Law::Starts.demands(!lost || past.ask.is_some(), || {
                    format!("{server} was lost and nobody starts it again")
                })
            }
            _ => Ok(()),
        }
    }
}

/// Whether the host's word counts, perhaps only once the server is on again.
fn is_let_go(seen: &Seen<'_>, server: &ServerName) -> bool {
    seen.server(server)
        .is_some_and(|server| server.state == ServerState::Disconnected || is_off(&server.state))
}

/// Whether an operation was refused: nothing comes of it.
fn is_refused(seen: &Seen<'_>, op: OpId) -> bool {
    seen.events.iter().any(|event| match event {
        Event::OpRefused { op: refused } => *refused == op,
        Event::Done { op: ended, result: OpResult::TooMany { .. } } => *ended == op,
        _ => false,
    })
}

/// Whether its definition or the user keeps it from being started.
const fn is_off(state: &ServerState) -> bool {
    matches!(
        state,
        ServerState::Disabled | ServerState::Skipped { .. } | ServerState::NeedsApproval
    )
}

impl Past {
    fn started(
        &mut self,
        server: &ServerName,
        launch: &Launch,
        seen: &Seen<'_>,
        policy: &Policy,
    ) -> Result<(), Breach> {
        let off = seen.server(server).is_some_and(|server| is_off(&server.state));
        Law::Starts.demands(seen.fired || !off, || {
            format!("{server} is switched off (G15) or not approved (F-038)")
        })?;
        Law::Starts.demands(self.let_go.is_none(), || format!("{server} was let go (G14)"))?;
        let other = self.launch.as_deref() != Some(launch);
        if other {
            self.launch = Some(Hashed::new(launch.clone()));
        }
        let owed = match self.ask.take() {
            Some(Ask::ByName) => true,
            Some(Ask::Configuration) => self.lost_at.is_none() || other,
            None => matches!(seen.input, Some(Input::Io(fact)) if is_of_configuration(fact)),
        };
        if owed {
            (self.automatic, self.lost_at) = (0, None);
            return Ok(());
        }
        if std::mem::take(&mut self.misasked) {
            return Ok(());
        }
        let Reconnect::OnLoss(backoff) = &policy.reconnect else {
            return Law::Starts.broken(format!("nobody asked for {server}"));
        };
        let Some(lost_at) = self.lost_at.take() else {
            return Law::Starts.broken(format!("nobody asked for {server}, which was not lost"));
        };
        let waited = seen.now.since(lost_at);
        // Where only the session was lost nothing has to be waited for (F-070).
        let prompt = std::mem::take(&mut self.prompt);
        let least = if prompt { 1 } else { backoff.delay_ms(self.automatic) };
        Law::Starts.demands(waited >= least, || {
            format!("{server} was lost {waited}ms ago and must wait for {least}ms (G50)")
        })?;
        self.automatic += 1;
        Law::Starts.demands(self.automatic <= backoff.starts_max, || {
            format!("{server} was started by itself {} times (G50)", self.automatic)
        })
    }
}

/// Whether a fact may end a reading of the configuration.
const fn is_of_configuration(fact: &Fact) -> bool {
    matches!(fact, Fact::ConfigRead { .. } | Fact::FolderListed { .. } | Fact::ApprovalsRead { .. })
}
