//! Time: the deadline lies ahead, calling early changes nothing, and what is gone stays silent.

use std::collections::BTreeSet;

use tidegate_core::command::Command;
use tidegate_core::error::{Exit, OpenError};
use tidegate_core::event::Event;
use tidegate_core::id::{ConnId, ExchangeId, ReadId};
use tidegate_core::input::{Fact, Found, HttpHead, Input, Listed};
use tidegate_core::time::Timestamp;

use super::{Breach, Law, Seen};
use crate::driver::Driver;
use crate::machine::Machine;

/// L4: after a step the next deadline lies ahead.
pub(super) fn check(seen: &Seen<'_>) -> Result<(), Breach> {
    let Some(deadline) = seen.deadline else { return Ok(()) };
    Law::HonestDeadline.demands(deadline.at > seen.now, || {
        format!("{:?} is due at {} and it is {}", deadline.why, deadline.at, seen.now)
    })
}

/// L5: calling early, or with a time that lies back, changes nothing.
pub(crate) fn check_calm(
    machine: &impl Machine,
    before: u128,
    now: Timestamp,
) -> Result<(), Breach> {
    let early = machine.poll_timeout().map(|deadline| deadline.at.as_millis().saturating_sub(1));
    let mut twin = machine.clone();
    let back = now.as_millis().saturating_sub(7);
    for at in [Some(back), Some(now.as_millis()), early].into_iter().flatten() {
        twin.handle_timeout(Timestamp::from_millis(at));
        if let Some(said) = anything(&mut twin) {
            return Law::CalmClock.broken(format!("a tick at {at}ms made it say {said}"));
        }
        Law::CalmClock.demands(twin.poll_timeout() == machine.poll_timeout(), || {
            format!("a tick at {at}ms moved the deadline to {:?}", twin.poll_timeout())
        })?;
    }
    Law::CalmClock.demands(twin.fingerprint(now) == before, || {
        "ticks that came early changed the state".into()
    })
}

/// L6: facts about attempts and reads that are over, or never were, change a counter.
pub(crate) fn check_stale(
    machine: &impl Machine,
    before: u128,
    driver: &Driver,
    now: Timestamp,
) -> Result<(), Breach> {
    let mut twin = machine.clone();
    let never = ConnId::new(u64::MAX);
    let gone = driver.gone().iter().next_back().copied();
    for conn in [Some(never), gone].into_iter().flatten() {
        for fact in about(conn) {
            twin.handle(now, Input::Io(fact.clone()));
            if let Some(said) = anything(&mut twin) {
                return Law::StaleIsSilent.broken(format!("{fact:?} made it say {said}"));
            }
        }
    }
    Law::StaleIsSilent.demands(twin.fingerprint(now) == before, || {
        format!("facts about {gone:?}, which is over, changed the state")
    })
}

fn about(conn: ConnId) -> [Fact; 13] {
    let (read, exchange) = (ReadId::new(u64::MAX), ExchangeId::new(0));
    [
        Fact::Opened { conn, pid: None },
        Fact::Received { conn, bytes: "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".into() },
        Fact::Head { conn, exchange, head: HttpHead::default() },
        Fact::Body { conn, exchange, bytes: "{}".into() },
        Fact::ExchangeEnded { conn, exchange, end: Ok(()) },
        Fact::OutputEnded { conn },
        Fact::InputFailed { conn },
        Fact::OpenFailed { conn, error: OpenError::NotExecutable { command: "x".into() } },
        Fact::Closed { conn, exit: Exit::Unknown },
        Fact::ConfigRead { read, origin: None, found: Found::Nothing },
        Fact::FolderListed { read, listed: Listed::Nothing },
        Fact::ApprovalsRead { read, approved: BTreeSet::new() },
        Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 },
    ]
}

fn anything(machine: &mut impl Machine) -> Option<String> {
    let command = machine.poll_command().map(|command: Command| format!("{command:?}"));
    command.or_else(|| machine.poll_event().map(|event: Event| format!("{event:?}")))
}
