//! What a search must have met to be worth its name.

use std::collections::BTreeSet;

use tidegate_core::command::Command;
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, OpResult, Outcome};
use tidegate_core::id::ServerName;
use tidegate_core::tools::catalog::{Catalog, ToolState};

use crate::machine::Machine;
use crate::world::World;

/// Notes what a step came to.
pub(crate) fn note<M: Machine>(
    before: &World<M>,
    after: &World<M>,
    met: &mut BTreeSet<&'static str>,
) {
    met.extend(after.last_commands().iter().filter_map(ordered));
    met.extend(after.last_events().iter().filter_map(said));
    let (was, is) = (before.machine().catalog(), after.machine().catalog());
    if was.revision != is.revision {
        met.extend(was.tools.iter().filter_map(|tool| {
            Some(match (&tool.state, state_of(is, &tool.server)) {
                (ToolState::Deferred, Some(ToolState::Live)) => "deferred tools get live",
                (ToolState::Deferred, Some(ToolState::Failed { .. })) => "deferred tools fail",
                (ToolState::Deferred, None) => "deferred tools go",
                (ToolState::Live, None) => "live tools go",
                (ToolState::Failed { .. }, Some(ToolState::Deferred)) => {
                    "failed tools get another try"
                }
                (_, _) => return None,
            })
        }));
    }
}

fn state_of<'a>(catalog: &'a Catalog, server: &ServerName) -> Option<&'a ToolState> {
    catalog.tools.iter().find(|tool| tool.server == *server).map(|tool| &tool.state)
}

fn ordered(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Terminate { .. } => "a process is terminated",
        Command::Kill { .. } => "a process is killed",
        Command::Abandon { .. } => "a process is abandoned",
        Command::Send { bytes, .. } if contains(bytes, b"notifications/cancelled") => {
            "a server is told of a cancellation"
        }
        _ => return None,
    })
}

fn said(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::GateOpened(report) if !report.deferred.is_empty() => "the gate defers",
        Event::GateOpened(report) if !report.failed.is_empty() => "the gate tells of a failure",
        Event::GateOpened(report) if report.connected.len() > 1 => "the gate tells of two servers",
        Event::CallFinished { outcome, .. } => match outcome {
            Outcome::Answered(_) => "a call is answered",
            Outcome::Aborted => "a call is aborted",
            Outcome::Failed(CallError::TimedOut { .. }) => "a call times out",
            Outcome::Failed(CallError::Closed) => "a call loses its server",
            Outcome::Failed(CallError::NotConnected { .. }) => "a call finds no server",
            Outcome::Failed(CallError::ShuttingDown) => "a call meets the shutdown",
            Outcome::Failed(_) => return None,
        },
        Event::Done { result, .. } => match result {
            OpResult::Reloaded { restarted, .. } if !restarted.is_empty() => "a reload restarts",
            OpResult::Reloaded { stopped, .. } if !stopped.is_empty() => "a reload stops",
            OpResult::Reloaded { started, .. } if !started.is_empty() => "a reload starts",
            OpResult::Reloaded { .. } => "a reload keeps",
            OpResult::Superseded => "an operation is superseded",
            OpResult::Failed { .. } => "a connect fails",
            OpResult::ShuttingDown => "an operation meets the shutdown",
            _ => return None,
        },
        Event::Stopped => "everything stops",
        _ => return None,
    })
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
