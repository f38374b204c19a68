//! Bounds: nothing grows beyond its limit, whatever a server does.

use tidegate_core::event::Event;
use tidegate_core::input::{Fact, Input};
use tidegate_core::limits::Limits;

use super::{Breach, Law, Seen};

/// How many orders and news one step may bring for each thing that exists.
const PER_THING: usize = 16;

pub(super) fn check(seen: &Seen<'_>, limits: &Limits) -> Result<(), Breach> {
    let within = |what: &str, count: usize, limit: usize| {
        Law::Bounded.demands(count <= limit, || format!("{count} {what} where {limit} are allowed"))
    };
    // One more says that there were more.
    within("problems", seen.status.problems.len(), limits.problems + 1)?;
    within("open calls", seen.status.open_calls, limits.open_calls)?;
    within("servers", seen.status.servers.len(), limits.servers)?;
    for server in &seen.status.servers {
        // Invalid UTF-8 is replaced by up to three bytes each.
        let tail = server.stderr_tail.len();
        within("bytes of standard error", tail, limits.stderr_tail_bytes.saturating_mul(3))?;
        let tools = seen.catalog.tools.iter().filter(|tool| tool.server == server.name).count();
        within("tools", tools, limits.tools_per_server)?;
    }
    let lines = match seen.input {
        Some(Input::Io(Fact::Received { bytes, .. } | Fact::Body { bytes, .. })) => bytes.len() / 8,
        Some(_) | None => 0,
    };
    let things = 1 + seen.status.servers.len() + limits.open_calls + lines;
    within("orders in one step", seen.commands.len(), PER_THING * things)?;
    // Operations are the host's to ask for, as many as it likes, and each is answered once (L7).
    let answer = |event: &&Event| matches!(event, Event::Done { .. } | Event::GateOpened(_));
    let unasked = seen.events.len() - seen.events.iter().filter(answer).count();
    within("pieces of news in one step", unasked, PER_THING * things)
}
