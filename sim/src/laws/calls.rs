//! Calls: each ends exactly once, in time, and as soon as its server cannot answer.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Command;
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::held::Held;
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::{CallId, ConnId, ExchangeId, ServerName};
use tidegate_core::input::{Input, NewCall, Request, Target};
use tidegate_core::time::Timestamp;

use crate::digest::Present;

use super::conns::Conns;
use super::inquiries::Inquiries;
use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    open: Held<BTreeMap<CallId, Open>>,
    ended: Held<BTreeSet<CallId>>,
    arrived: Held<BTreeSet<u64>>,
    /// Open calls that were sent, and where to.
    sent: BTreeMap<CallId, Sent>,
}

/// Where a call was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    conn: ConnId,
    /// By which exchange, if breaking that off calls it off.
    exchange: Option<ExchangeId>,
}

#[derive(Clone, Debug)]
struct Open {
    server: Option<ServerName>,
    start: Timestamp,
    progress: Timestamp,
    timeout_ms: Option<u64>,
    max_ms: Option<u64>,
    /// It may be with nobody between two rounds, where its server wants to be told something.
    rounds: bool,
}

impl Calls {
    pub(super) fn check(
        &mut self,
        seen: &Seen<'_>,
        (conns, inquiries): (&Conns, &Inquiries),
        policy: &Policy,
        overslept: bool,
    ) -> Result<(), Breach> {
        // While a server waits for the host, the clock of its calls stands still.
        for open in self.open.values_mut() {
            let waited = open.server.as_ref().is_some_and(|server| inquiries.has_waited(server));
            open.progress = if waited { seen.now } else { open.progress };
        }
        let refused = match seen.input {
            Some(Input::Host(Request::Call(call))) => self.accept(call, seen),
            Some(_) | None => None,
        };
        self.note_sent(seen);
        let mut refusals = 0;
        for event in seen.events {
            match event {
                Event::CallFinished { call, outcome } => {
                    let open = self.finish(*call, outcome)?;
                    let sent = self.sent.remove(call).filter(|_| !open.rounds);
                    check_told((*call, sent), outcome, seen, conns)?;
                    Law::HonestDeadline
                        .demands(overslept || seen.now <= open.limit(policy), || {
                            format!("{call} ends beyond its limit (G38)")
                        })?;
                }
                Event::CallProgressed { call, .. } => {
                    let Some(open) = self.open.get_mut(call) else {
                        return Law::ExactlyOnce
                            .broken(format!("{call} progressed and is not open"));
                    };
                    open.progress = seen.now;
                }
                Event::CallRefused { call } => {
                    refusals += 1;
                    Law::ExactlyOnce.demands(refused == Some(*call), || {
                        format!("{call} was refused and its number is new")
                    })?;
                }
                _ => {}
            }
        }
        Law::ExactlyOnce
            .demands(seen.stopped || refusals == usize::from(refused.is_some()), || {
                "a number was used twice and not refused".into()
            })?;
        if let Some(Input::Host(Request::Cancel { call })) = seen.input {
            Law::ExactlyOnce.demands(!self.open.contains_key(call), || {
                format!("{call} was cancelled and goes on (G77)")
            })?;
        }
        Law::Bounded.demands(seen.status.open_calls == self.open.len(), || {
            format!(
                "the status counts {} open calls of {}",
                seen.status.open_calls,
                self.open.len()
            )
        })?;
        for (inquiry, call) in inquiries.of_calls() {
            Law::Prompt.demands(self.open.contains_key(&call), || {
                format!("{inquiry} is open and {call} is over")
            })?;
        }
        self.open.iter().try_for_each(|(call, open)| {
            open.check_prompt(*call, seen, conns)?;
            open.check_limit(*call, seen.now, policy)
        })
    }

    /// Calls that arrived at servers, by the numbers in their arguments (G40).
    pub(super) fn arrived(&mut self, calls: Vec<u64>) -> Result<(), Breach> {
        calls.into_iter().try_for_each(|call| {
            Law::Wire.demands(self.arrived.insert(call), || {
                format!("call k{call} was sent to a server twice (G40)")
            })
        })
    }

    pub(super) fn open(&self) -> impl Iterator<Item = CallId> {
        self.open.keys().copied()
    }

    pub(super) fn server_of(&self, call: CallId) -> Option<&ServerName> {
        self.open.get(&call)?.server.as_ref()
    }

    /// Calls that have ended are history.
    pub(super) fn digest(&self, present: Present, state: &mut impl Hasher) {
        self.open.len().hash(state);
        for (call, open) in self.open.iter() {
            let times = (present.now.since(open.start), present.now.since(open.progress));
            let (age, sent) = (present.age(*call), self.sent.contains_key(call));
            (age, &open.server, times, open.timeout_ms, open.max_ms, sent).hash(state);
        }
    }

    /// The number of the call if it was used before.
    fn accept(&mut self, new: &NewCall, seen: &Seen<'_>) -> Option<CallId> {
        let newest = self.open.keys().chain(self.ended.iter()).max();
        if newest >= Some(&new.call) {
            return Some(new.call);
        }
        let server = match &new.target {
            Target::Exposed(name) => {
                let tool = seen.catalog.tools.iter().find(|tool| tool.exposed == *name);
                tool.map(|tool| tool.server.clone())
            }
            target => target.server().cloned(),
        };
        let open = Open {
            server,
            start: seen.now,
            progress: seen.now,
            timeout_ms: new.timeout_ms,
            max_ms: new.max_ms,
            rounds: false,
        };
        self.open.insert(new.call, open);
        None
    }

    /// Takes in which calls are sent where, by the numbers in their arguments.
    fn note_sent(&mut self, seen: &Seen<'_>) {
        for command in seen.commands {
            let Some((conn, bytes)) = said(command) else { continue };
            let exchange = match command {
                Command::Exchange { exchange, .. } => Some(*exchange),
                _ => None,
            };
            let text = String::from_utf8_lossy(bytes);
            let stateless = text.contains("/protocolVersion\"");
            let sent = Sent { conn: *conn, exchange: exchange.filter(|_| stateless) };
            for line in text.lines().filter(|line| line.contains("\"tools/call\"")) {
                let rest = line.split_once("{\"n\":").map(|(_, rest)| rest);
                let number = rest.and_then(|rest| rest.split('}').next()?.parse().ok());
                let Some(call) = number.map(CallId::new) else { continue };
                self.sent.insert(call, sent);
                if let Some(open) = self.open.get_mut(&call) {
                    open.rounds |= stateless && line.contains("\"name\":\"ask");
                }
            }
        }
    }

    fn finish(&mut self, call: CallId, outcome: &Outcome) -> Result<Open, Breach> {
        let Some(open) = self.open.remove(&call) else {
            return Law::ExactlyOnce.broken(format!("{call} finished and was not open"));
        };
        self.ended.insert(call);
        let Outcome::Answered(result) = outcome else { return Ok(open) };
        // The scripted servers answer a call with its own arguments (G39).
        let Some((_, rest)) = result.as_str().split_once("\"structuredContent\":{\"n\":") else {
            return Ok(open);
        };
        let number = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        Law::ExactlyOnce.demands(number == call.number().to_string(), || {
            format!("{call} finished with the answer to k{number} (G39)")
        })?;
        Ok(open)
    }
}

/// G42: a server that can still answer is told that nobody waits for it. Over HTTP without a
/// handshake that is told by breaking the exchange off (C-CANC-02).
fn check_told(
    (call, sent): (CallId, Option<Sent>),
    outcome: &Outcome,
    seen: &Seen<'_>,
    conns: &Conns,
) -> Result<(), Breach> {
    let sent = sent.filter(|sent| conns.can_answer(sent.conn));
    let given_up =
        matches!(outcome, Outcome::Aborted | Outcome::Failed(CallError::TimedOut { .. }));
    let Some(Sent { conn, exchange }) = sent.filter(|_| given_up) else { return Ok(()) };
    if let Some(exchange) = exchange {
        let broken_off = seen.commands.contains(&Command::Abort { conn, exchange });
        return Law::Wire.demands(broken_off, || {
            format!("{call} was given up and {exchange} of {conn} goes on (G42)")
        });
    }
    let told = seen.commands.iter().filter_map(said).any(|(to, bytes)| {
        *to == conn && String::from_utf8_lossy(bytes).contains("\"notifications/cancelled\"")
    });
    Law::Wire.demands(told, || format!("{call} was given up and {conn} was not told (G42)"))
}

impl Open {
    /// L8: its server is on its way, or ready and able to answer.
    fn check_prompt(&self, call: CallId, seen: &Seen<'_>, conns: &Conns) -> Result<(), Breach> {
        let server = self.server.as_ref().and_then(|name| seen.server(name));
        let Some(server) = server else {
            return Law::Prompt.broken(format!("{call} waits for a server nobody configured"));
        };
        let answers = match server.state {
            ServerState::Connecting | ServerState::Retrying { .. } => true,
            ServerState::Connected => server.conn.is_some_and(|conn| conns.can_answer(conn)),
            _ => false,
        };
        Law::Prompt.demands(answers, || {
            format!("{call} waits for {}, which is {}", server.name, server.state.name())
        })
    }

    /// G38: it ends at its limit.
    fn check_limit(&self, call: CallId, now: Timestamp, policy: &Policy) -> Result<(), Breach> {
        Law::HonestDeadline
            .demands(now < self.limit(policy), || format!("{call} is open beyond its limit (G38)"))
    }

    /// When it ends at the latest.
    fn limit(&self, policy: &Policy) -> Timestamp {
        // A definition may set a longer limit than the policy, never a longer maximum.
        let idle_ms = self.timeout_ms.unwrap_or(policy.call_max_ms);
        let most_ms = self.max_ms.unwrap_or_else(|| policy.call_max_ms.max(idle_ms));
        let last = self.start.plus(most_ms);
        // Between two rounds the clock stands still.
        if self.rounds { last } else { self.progress.plus(idle_ms).min(last) }
    }
}

/// What a command says to a server.
const fn said(command: &Command) -> Option<(&ConnId, &Bytes)> {
    match command {
        Command::Send { conn, bytes } => Some((conn, bytes)),
        Command::Exchange { conn, request, .. } => Some((conn, &request.body)),
        _ => None,
    }
}
