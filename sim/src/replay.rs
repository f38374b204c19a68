//! A run again, by the same machine from its beginning: told the same, and told differently.
//!
//! What the machine says must be the same when it hears the same again (L2), when it is drained
//! late or in another order (L3), when it is woken early as well (L5), and when what servers
//! wrote arrives in other pieces (G44).

use tidegate_core::command::Command;
use tidegate_core::event::Event;
use tidegate_core::input::{Fact, Input};
use tidegate_core::time::Timestamp;
use tidegate_core::trace::TraceLine;

use crate::laws::{Breach, Law};
use crate::machine::Machine;

/// In which way a run is told again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Telling {
    /// As it was.
    Same,
    /// Nothing is drained before the end.
    DrainedAtTheEnd,
    /// Events are drained before commands, and commands only every third time.
    DrainedUnevenly,
    /// It is woken before and after everything else, and just before each deadline.
    WokenOften,
    /// What servers wrote arrives in pieces of so many bytes.
    InPieces(usize),
}

/// The ways in which a run can be told again, with the law each of them tests.
const TELLINGS: [(Telling, Law); 5] = [
    (Telling::Same, Law::Pure),
    (Telling::DrainedAtTheEnd, Law::FreeDraining),
    (Telling::DrainedUnevenly, Law::FreeDraining),
    (Telling::WokenOften, Law::CalmClock),
    (Telling::InPieces(7), Law::Wire),
];

/// Tells a run again in every way.
///
/// # Errors
/// The law that was broken.
pub fn check<M: Machine>(origin: &M, trace: &[TraceLine]) -> Result<(), Breach> {
    TELLINGS.iter().try_for_each(|(telling, law)| check_telling(origin, trace, *telling, *law))
}

/// Tells a run again in one way.
///
/// # Errors
/// The law that was broken.
pub fn check_telling<M: Machine>(
    origin: &M,
    trace: &[TraceLine],
    telling: Telling,
    law: Law,
) -> Result<(), Breach> {
    let said = tell(origin.clone(), trace, telling);
    let mut recorded = Said::default();
    for line in trace {
        match line {
            TraceLine::Command { command, .. } => recorded.commands.push(command.clone()),
            TraceLine::Event { event, .. } => recorded.events.push(event.clone()),
            TraceLine::Head { .. } | TraceLine::Input { .. } | TraceLine::Tick { .. } => {}
        }
    }
    same(&recorded.commands, &said.commands, telling, law)?;
    same(&recorded.events, &said.events, telling, law)
}

/// What a machine said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Said {
    commands: Vec<Command>,
    events: Vec<Event>,
}

fn same<T: std::fmt::Debug + PartialEq>(
    recorded: &[T],
    said: &[T],
    telling: Telling,
    law: Law,
) -> Result<(), Breach> {
    let at = recorded.iter().zip(said).take_while(|(a, b)| a == b).count();
    law.demands(recorded.len() == said.len() && at == said.len(), || {
        format!("told {telling:?}, it says {:?} instead of {:?}", said.get(at), recorded.get(at))
    })
}

fn tell<M: Machine>(mut machine: M, trace: &[TraceLine], telling: Telling) -> Said {
    let mut said = Said::default();
    for (turn, line) in trace.iter().enumerate() {
        let (at, input) = match line {
            TraceLine::Input { at, input } => (*at, Some(input)),
            TraceLine::Tick { at } => (*at, None),
            TraceLine::Head { .. } | TraceLine::Command { .. } | TraceLine::Event { .. } => {
                continue;
            }
        };
        if telling == Telling::WokenOften {
            wake(&mut machine, at);
        }
        for input in pieces(input, telling) {
            match input {
                Some(input) => machine.handle(at, input),
                None => machine.handle_timeout(at),
            }
        }
        match telling {
            Telling::DrainedAtTheEnd => {}
            Telling::DrainedUnevenly => {
                said.events.extend(std::iter::from_fn(|| machine.poll_event()));
                if turn % 3 == 0 {
                    said.commands.extend(std::iter::from_fn(|| machine.poll_command()));
                }
            }
            Telling::Same | Telling::WokenOften | Telling::InPieces(_) => {
                drain(&mut machine, &mut said);
            }
        }
    }
    drain(&mut machine, &mut said);
    said
}

/// Wakes a machine at moments at which nothing is due.
fn wake(machine: &mut impl Machine, at: Timestamp) {
    machine.handle_timeout(Timestamp::ZERO);
    let deadline = machine.poll_timeout().map(|deadline| deadline.at);
    if deadline.is_none_or(|deadline| at < deadline) {
        machine.handle_timeout(at);
    } else if let Some(before) = deadline.and_then(|at| at.as_millis().checked_sub(1)) {
        machine.handle_timeout(Timestamp::from_millis(before));
    }
}

/// An input as it is told.
fn pieces(input: Option<&Input>, telling: Telling) -> Vec<Option<Input>> {
    match (input, telling) {
        (Some(Input::Io(Fact::Received { conn, bytes })), Telling::InPieces(size)) => bytes
            .chunks(size.max(1))
            .map(|part| {
                Some(Input::Io(Fact::Received { conn: *conn, bytes: part.to_vec().into() }))
            })
            .collect(),
        (input, _) => vec![input.cloned()],
    }
}

fn drain(machine: &mut impl Machine, said: &mut Said) {
    said.commands.extend(std::iter::from_fn(|| machine.poll_command()));
    said.events.extend(std::iter::from_fn(|| machine.poll_event()));
}
