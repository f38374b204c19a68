//! What a search must have met to be worth its name.

use tidegate_core::command::Command;
use tidegate_core::error::{CallError, Cause, Exit, Failure};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState};
use tidegate_core::id::ServerName;
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::tools::catalog::{Catalog, ToolState};

use crate::machine::Machine;
use crate::world::World;

/// The phases of a server that is on its way.
const CONNECTING: [&str; 3] = ["opening", "greeting", "listing"];

/// What a step can come to that a search must have met at least once.
pub const ALL: [&str; 36] = [
    "a call finds no server",
    "a call is aborted",
    "a call is answered",
    "a call is cancelled before its server is ready",
    "a call loses its server",
    "a call meets the shutdown",
    "a call times out",
    "a connect fails",
    "a connect waits for the old process",
    "a crash is met while the gate is shut",
    "a late open is closed again",
    "a process is abandoned",
    "a process is killed",
    "a process is terminated",
    "a reload comes while a call is under way",
    "a reload comes while a server connects",
    "a reload keeps",
    "a reload restarts",
    "a reload starts",
    "a reload stops",
    "a server is told of a cancellation",
    "a shutdown comes while a reload reads",
    "a shutdown comes while a server connects",
    "a shutdown comes while a server is being stopped",
    "an operation is superseded",
    "an operation meets the shutdown",
    "deferred tools fail",
    "deferred tools get live",
    "deferred tools go",
    "everything stops",
    "failed tools get another try",
    "live tools go",
    "the gate defers",
    "the gate opens without a server that is late",
    "the gate tells of a failure",
    "the gate tells of two servers",
];

/// The same of a search with every operation on a server, and with servers that change.
pub const OF_OPERATIONS: [&str; 8] = [
    "a call finds no such tool",
    "a disable comes while a lost server waits",
    "a list changes while it is read again",
    "a lost server is connected again",
    "a lost server waits to be started again",
    "a reconnect names an attempt that is over",
    "a restart comes while a server connects",
    "a server is lost too often",
];

/// Notes what a step came to.
pub(crate) fn note<M: Machine>(
    before: &World<M>,
    after: &World<M>,
    mut met: impl FnMut(&'static str),
) {
    if let Some(input) = after.last_input() {
        heard(before, after, input).into_iter().for_each(&mut met);
    }
    after.last_commands().iter().filter_map(ordered).for_each(&mut met);
    for event in after.last_events() {
        said(event).into_iter().for_each(&mut met);
        if let Event::ServerChanged { server, state: ServerState::Connected } = event
            && before.is_back_by_itself(server)
        {
            met("a lost server is connected again");
        }
    }
    let (was, is) = (before.machine().catalog(), after.machine().catalog());
    if was.revision != is.revision {
        let became = was.tools.iter().filter_map(|tool| {
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
        });
        became.for_each(met);
    }
}

/// What was heard at a moment that matters.
fn heard<M: Machine>(before: &World<M>, after: &World<M>, input: &Input) -> Vec<&'static str> {
    let machine = before.machine();
    let servers = || before.model.file().iter().map(|entry| entry.name.as_str().into());
    let phase = |name: &ServerName| machine.phase_of(name);
    let connects = |name: &ServerName| CONNECTING.contains(&phase(name));
    let closes = |conn| after.last_commands().contains(&Command::CloseInput { conn });
    let mut met = Vec::new();
    let mut when = |holds: bool, what| met.extend(holds.then_some(what));
    match input {
        Input::Host(Request::Cancel { call }) => {
            let server = before.server_of_call(*call);
            let waits = server.is_some_and(|server| connects(&server));
            when(waits, "a call is cancelled before its server is ready");
        }
        Input::Host(Request::Connect { server, .. }) => {
            when(phase(server) == "stopping", "a connect waits for the old process");
        }
        Input::Host(Request::Reconnect { server, failed: Some(failed), .. }) => {
            // Where there is one server, it is one of its own.
            let over = before.driver.gone().contains(failed) && servers().count() == 1;
            when(over && phase(server) == "ready", "a reconnect names an attempt that is over");
        }
        Input::Host(Request::Restart { server, .. }) => {
            when(connects(server), "a restart comes while a server connects");
        }
        Input::Host(Request::Disable { server, .. }) => {
            let status = machine.status();
            let mut states = status.servers.iter().filter(|is| is.name == *server);
            let waits = states.any(|is| matches!(is.state, ServerState::Retrying { .. }));
            when(waits, "a disable comes while a lost server waits");
        }
        Input::Host(Request::Reload { .. }) => {
            when(servers().any(|name| connects(&name)), "a reload comes while a server connects");
            let calls = before.open_calls().next().is_some();
            when(calls, "a reload comes while a call is under way");
        }
        Input::Host(Request::Shutdown) => {
            when(before.is_reading(), "a shutdown comes while a reload reads");
            when(servers().any(|name| connects(&name)), "a shutdown comes while a server connects");
            let stopping = servers().any(|name| phase(&name) == "stopping");
            when(stopping, "a shutdown comes while a server is being stopped");
        }
        Input::Io(Fact::Opened { conn, .. }) => {
            when(closes(*conn), "a late open is closed again");
        }
        Input::Io(Fact::Received { conn, bytes }) if contains(bytes, b"list_changed") => {
            let ready = before.driver.server_of(*conn).is_some_and(|name| phase(name) == "ready");
            let asked = after.driver.is_asked_for_tools(*conn);
            when(ready && asked, "a list changes while it is read again");
        }
        Input::Io(Fact::Closed { exit: Exit::Code(1), .. }) => {
            when(before.gate_is_shut(), "a crash is met while the gate is shut");
        }
        _ => {}
    }
    met
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
        Event::GateOpened(report) if report.failed.iter().any(is_late) => {
            "the gate opens without a server that is late"
        }
        Event::GateOpened(report) if !report.failed.is_empty() => "the gate tells of a failure",
        Event::GateOpened(report) if report.connected.len() > 1 => "the gate tells of two servers",
        Event::CallFinished { outcome, .. } => match outcome {
            Outcome::Answered(_) => "a call is answered",
            Outcome::Aborted => "a call is aborted",
            Outcome::Failed(CallError::TimedOut { .. }) => "a call times out",
            Outcome::Failed(CallError::Closed) => "a call loses its server",
            Outcome::Failed(CallError::NotConnected { .. }) => "a call finds no server",
            Outcome::Failed(CallError::UnknownTool { .. }) => "a call finds no such tool",
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
        Event::ServerChanged { state: ServerState::Retrying { .. }, .. } => {
            "a lost server waits to be started again"
        }
        Event::ServerChanged { state: ServerState::Suspended { .. }, .. } => {
            "a server is lost too often"
        }
        Event::Stopped => "everything stops",
        _ => return None,
    })
}

fn is_late((_, failure): &(ServerName, Failure)) -> bool {
    matches!(failure.cause, Cause::StartupDeadline { .. })
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
