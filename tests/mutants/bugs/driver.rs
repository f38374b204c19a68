//! Bugs that a driver would meet: time, facts, processes, what is sent.

use std::panic::resume_unwind;
use std::sync::atomic::Ordering;

use tidegate_core::bytes::{Bytes, Json};
use tidegate_core::command::Command;
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, Outcome};
use tidegate_core::id::ConnId;
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::time::{Deadline, Timestamp};
use tidegate_sim::laws::Law;

use crate::bugs::{Bug, bug};
use crate::mutant::Plant;
use crate::spoil::sends;

pub(super) const BUGS: &[Bug] = &[
    // Whatever comes in.
    bug(
        "falls over the end of an output",
        Law::Total,
        &[Plant::Input(|memory, input| {
            if matches!(&input, Input::Io(Fact::OutputEnded { conn }) if memory.runs(*conn)) {
                resume_unwind(Box::new("planted"));
            }
            Some(input)
        })],
    ),
    bug(
        "says what depends on other runs of the process",
        Law::Pure,
        &[Plant::Output(|step| {
            let number = step.memory.steps.load(Ordering::Relaxed) % 3;
            step.each_send(|bytes| [&b"  "[..number], bytes].concat());
        })],
    ),
    bug(
        "forgets orders that are fetched late",
        Law::FreeDraining,
        &[Plant::Unfetched(|commands, _| commands.clear())],
    ),
    bug(
        "forgets news that is fetched late",
        Law::FreeDraining,
        &[Plant::Unfetched(|_, events| events.clear())],
    ),
    // Time.
    bug(
        "forgets when a call must end",
        Law::HonestDeadline,
        &[Plant::Deadline(|_, deadline| (deadline.why != "call").then_some(deadline))],
    ),
    bug(
        "forgets the next rung of a stop",
        Law::NoOrphan,
        &[Plant::Deadline(|_, deadline| (!deadline.why.starts_with("stop")).then_some(deadline))],
    ),
    bug(
        "names a deadline that is past",
        Law::HonestDeadline,
        &[Plant::Deadline(|_, Deadline { at: _, why }| {
            Some(Deadline { at: Timestamp::ZERO, why })
        })],
    ),
    bug(
        "wants to be woken a second late",
        Law::CalmClock,
        &[Plant::Deadline(|_, Deadline { at, why }| Some(Deadline { at: at.plus(1_000), why }))],
    ),
    bug(
        "gives a call a second more than it has",
        Law::HonestDeadline,
        &[Plant::Input(|_, mut input| {
            if let Input::Host(Request::Call(call)) = &mut input {
                call.timeout_ms = call.timeout_ms.map(|ms| ms + 1_000);
            }
            Some(input)
        })],
    ),
    bug(
        "never ends a call that ran out of time",
        Law::HonestDeadline,
        &[
            Plant::Output(|step| {
                let late = |outcome: &Outcome| {
                    matches!(outcome, Outcome::Failed(CallError::TimedOut { .. }))
                };
                step.lose_calls(late);
            }),
            Plant::Status(|memory, status| status.open_calls += memory.lost_calls),
        ],
    ),
    bug(
        "says something at every tick",
        Law::CalmClock,
        &[Plant::Output(|step| {
            if step.input.is_none() {
                step.events
                    .push(Event::Logged { server: "alpha".into(), message: Json::new("{}") });
            }
        })],
    ),
    bug(
        "puts its deadline off at every tick",
        Law::CalmClock,
        &[Plant::Deadline(|memory, Deadline { at, why }| {
            Some(Deadline { at: at.plus(memory.ticks), why })
        })],
    ),
    // Facts about what is over.
    bug(
        "takes an old fact for one of the present",
        Law::StaleIsSilent,
        &[Plant::Input(|memory, input| match input {
            Input::Io(Fact::OutputEnded { conn }) if memory.over.contains(&conn) => {
                let present = memory.opened.last().map_or(conn, |(conn, ..)| *conn);
                Some(Input::Io(Fact::OutputEnded { conn: present }))
            }
            input => Some(input),
        })],
    ),
    bug(
        "uses the number of an attempt again",
        Law::StaleIsSilent,
        &[Plant::Output(|step| {
            let used = step.memory.opened.first().map(|(conn, ..)| *conn);
            for command in step.commands.iter_mut() {
                if let (Command::Open { conn, .. }, Some(used)) = (command, used) {
                    *conn = used;
                }
            }
        })],
    ),
    // Processes.
    bug(
        "never closes an input",
        Law::NoOrphan,
        &[Plant::Output(|step| {
            step.commands.retain(|order| !matches!(order, Command::CloseInput { .. }))
        })],
    ),
    bug(
        "never terminates",
        Law::NoOrphan,
        &[Plant::Output(|step| {
            step.commands.retain(|order| !matches!(order, Command::Terminate { .. }))
        })],
    ),
    bug(
        "never kills",
        Law::NoOrphan,
        &[Plant::Output(|step| {
            step.commands.retain(|order| !matches!(order, Command::Kill { .. }))
        })],
    ),
    bug(
        "abandons instead of killing",
        Law::NoOrphan,
        &[Plant::Output(|step| {
            for command in step.commands.iter_mut() {
                if let Command::Kill { conn } = *command {
                    *command = Command::Abandon { conn };
                }
            }
        })],
    ),
    bug(
        "says Stopped before the last process has ended",
        Law::NoOrphan,
        &[Plant::Output(|step| {
            if matches!(step.input, Some(Input::Host(Request::Shutdown))) && !step.memory.stopped {
                step.memory.stopped = true;
                step.events.retain(|event| *event != Event::Stopped);
                step.events.push(Event::Stopped);
            }
        })],
    ),
    bug(
        "terminates twice",
        Law::Orders,
        &[Plant::Output(|step| {
            step.double_command(|order| matches!(order, Command::Terminate { .. }))
        })],
    ),
    bug(
        "sends after closing the input",
        Law::Orders,
        &[Plant::Output(|step| {
            let closes = |order: &Command| match order {
                Command::CloseInput { conn } => Some(*conn),
                _ => None,
            };
            let closed: Vec<ConnId> = step.commands.iter().filter_map(closes).collect();
            let bytes = Bytes::from("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n");
            let sends = closed.into_iter().map(|conn| Command::Send { conn, bytes: bytes.clone() });
            step.commands.extend(sends.collect::<Vec<_>>());
        })],
    ),
    bug(
        "opens a second process for a server",
        Law::Orders,
        &[Plant::Output(|step| {
            step.double_command(|order| matches!(order, Command::Open { .. }));
            let mut before = None;
            for command in step.commands.iter_mut() {
                let Command::Open { conn, server, .. } = command else { continue };
                if before.replace(server.clone()) == Some(server.clone()) {
                    *conn = ConnId::new(conn.number() + 1_000);
                }
            }
        })],
    ),
    bug(
        "opens a server after Shutdown",
        Law::Orders,
        &[Plant::Output(|step| {
            let latest = step.memory.opened.last().cloned();
            if let (Some(Input::Host(Request::Shutdown)), Some((_, server, launch))) =
                (step.input, latest)
                && step.events.last() != Some(&Event::Stopped)
            {
                let conn = ConnId::new(u64::from(u32::MAX));
                step.commands.push(Command::Open { conn, server, launch });
            }
        })],
    ),
    // The wire.
    bug(
        "sends a call twice",
        Law::Wire,
        &[Plant::Output(|step| step.double_command(|order| sends(order, "\"tools/call\"")))],
    ),
    bug(
        "asks with the same number again",
        Law::Wire,
        &[Plant::Output(|step| step.double_command(|order| sends(order, "\"tools/list\"")))],
    ),
    bug(
        "does not answer what a server asks",
        Law::Wire,
        &[Plant::Output(|step| {
            step.commands.retain(|order| {
                !matches!(order, Command::Send { .. }) || sends(order, "\"method\"")
            });
        })],
    ),
    bug(
        "does not say which calls are given up",
        Law::Wire,
        &[Plant::Output(|step| {
            step.commands.retain(|order| !sends(order, "\"notifications/cancelled\""))
        })],
    ),
];
