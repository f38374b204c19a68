//! What can happen next in a world: what follows by itself, and what a budget allows.
//!
//! Adding something is: a variant of [`Kind`] (and its place in [`Kind::ALL`]), a variant of
//! [`Act`], and one arm each in [`Act::kind`], [`Act::name`], [`Node::offers`],
//! [`Node::perform`] and [`Node::about`]; the compiler asks for all of them but the place.

use tidegate_core::error::Exit;
use tidegate_core::id::{AnswerId, CallId, ConnId, OpId, ServerName};
use tidegate_core::input::{Fact, Input};

use crate::driver::{Lane, Pipe};
use crate::machine::Machine;
use crate::scene::CONFIG;
use crate::violation::Violation;

use super::node::Node;

/// How long a host waits for a server to be connected, in milliseconds: so short that it can be
/// over before any deadline of a server.
const AWAIT_MS: u64 = 2;

/// What may happen in a story besides what follows from it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// The host asks for a start.
    Start,
    /// The host calls the first tool of any server.
    Call,
    /// The host gives any open call up.
    Cancel,
    /// Any process ends by itself.
    Crash,
    /// Any process closes a pipe and goes on running.
    Pipe,
    /// The start of any process fails.
    Fail,
    /// Any process writes to its standard error.
    Complain,
    /// The host connects any server.
    Connect,
    /// The host disconnects any server.
    Disconnect,
    /// The host disconnects every server.
    DisconnectAll,
    /// The host reconnects any server, after any attempt or after one that is over.
    Reconnect,
    /// The host restarts any server.
    Restart,
    /// The host switches any server on.
    Enable,
    /// The host switches any server off.
    Disable,
    /// Any running server offers another tool and says so.
    Change,
    /// The host waits for any server to be connected.
    Await,
    /// The host waits no more for any operation.
    StopWaiting,
    /// The user approves any server that waits for it, and the host asks for a reload.
    Approve,
    /// The user takes back whatever was approved, and the host asks for a reload.
    Revoke,
    /// What is being found out turns out to be nothing.
    Refuse,
    /// The next configuration is written and the host asks for a reload.
    Reload,
    /// The next configuration is written and whoever watches the file hears of that.
    Save,
    /// The host asks for the end.
    Shutdown,
    /// A deadline passes while a fact is waiting: somebody is slow.
    Late,
}

impl Kind {
    /// All of them, in the order in which they are declared.
    pub const ALL: [Self; 24] = [
        Self::Start,
        Self::Call,
        Self::Cancel,
        Self::Crash,
        Self::Pipe,
        Self::Fail,
        Self::Complain,
        Self::Connect,
        Self::Disconnect,
        Self::DisconnectAll,
        Self::Reconnect,
        Self::Restart,
        Self::Enable,
        Self::Disable,
        Self::Change,
        Self::Await,
        Self::StopWaiting,
        Self::Approve,
        Self::Revoke,
        Self::Refuse,
        Self::Reload,
        Self::Save,
        Self::Shutdown,
        Self::Late,
    ];
}

/// One thing that happens next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Act {
    Deliver(Lane),
    Tick,
    /// A tick while facts are waiting.
    Late,
    Start,
    Call(usize),
    Cancel(CallId),
    Crash(usize, Eof),
    Pipe(usize, Pipe),
    Fail(usize),
    Complain(usize),
    Disconnect(usize),
    DisconnectAll,
    Connect(usize),
    Reconnect(usize, Named),
    Restart(usize),
    Enable(usize),
    Disable(usize),
    Change(usize),
    Await(usize),
    StopWaiting(OpId),
    Approve(usize),
    Revoke,
    Refuse(AnswerId),
    Reload,
    Save,
    Shutdown,
}

/// Which attempt a host names that asks to reconnect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Named {
    Nothing,
    /// One that is over, or that never was.
    Other,
}

/// Whether the end of a crashed process's output is noticed before its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Eof {
    Noticed,
    Missed,
}

impl Act {
    /// What it takes from the budget; nothing if it follows by itself.
    pub(super) const fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Deliver(_) | Self::Tick => return None,
            Self::Late => Kind::Late,
            Self::Start => Kind::Start,
            Self::Call(_) => Kind::Call,
            Self::Cancel(_) => Kind::Cancel,
            Self::Crash(..) => Kind::Crash,
            Self::Pipe(..) => Kind::Pipe,
            Self::Fail(_) => Kind::Fail,
            Self::Complain(_) => Kind::Complain,
            Self::Disconnect(_) => Kind::Disconnect,
            Self::DisconnectAll => Kind::DisconnectAll,
            Self::Connect(_) => Kind::Connect,
            Self::Reconnect(..) => Kind::Reconnect,
            Self::Restart(_) => Kind::Restart,
            Self::Enable(_) => Kind::Enable,
            Self::Disable(_) => Kind::Disable,
            Self::Change(_) => Kind::Change,
            Self::Await(_) => Kind::Await,
            Self::StopWaiting(_) => Kind::StopWaiting,
            Self::Approve(_) => Kind::Approve,
            Self::Revoke => Kind::Revoke,
            Self::Refuse(_) => Kind::Refuse,
            Self::Reload => Kind::Reload,
            Self::Save => Kind::Save,
            Self::Shutdown => Kind::Shutdown,
        })
    }

    /// Its row of the table; `input` is what the machine heard of it.
    pub(super) fn name(self, input: Option<&Input>) -> &'static str {
        match self {
            Self::Deliver(_) => input.map_or("nothing", fact_name),
            Self::Tick | Self::Late => "~ tick",
            Self::Start => "< start",
            Self::Call(_) => "< call",
            Self::Cancel(_) => "< cancel",
            Self::Crash(..) => "! crash",
            Self::Pipe(..) => "! pipe",
            Self::Fail(_) => "! no start",
            Self::Complain(_) => "! complaint",
            Self::Disconnect(_) => "< disconnect",
            Self::DisconnectAll => "< disconnect all",
            Self::Connect(_) => "< connect",
            Self::Reconnect(..) => "< reconnect",
            Self::Restart(_) => "< restart",
            Self::Enable(_) => "< enable",
            Self::Disable(_) => "< disable",
            Self::Change(_) => "! change",
            Self::Await(_) => "< await",
            Self::StopWaiting(_) => "< stop waiting",
            Self::Approve(_) => "! approve",
            Self::Revoke => "! revoke",
            Self::Refuse(_) => "! no answer",
            Self::Reload => "< reload",
            Self::Save => "files changed",
            Self::Shutdown => "< shutdown",
        }
    }
}

fn fact_name(input: &Input) -> &'static str {
    let Input::Io(fact) = input else { return "a request" };
    match fact {
        Fact::ConfigRead { .. } => "config read",
        Fact::FolderListed { .. } => "folder listed",
        Fact::FilesChanged => "files changed",
        Fact::ApprovalsRead { .. } => "approvals read",
        Fact::CacheRead { .. } => "cache read",
        Fact::Answered { .. } => "answered",
        Fact::Opened { .. } => "opened",
        Fact::OpenFailed { .. } => "open failed",
        Fact::Received { .. } => "received",
        Fact::Complained { .. } => "complained",
        Fact::OutputEnded { .. } => "output ended",
        Fact::InputFailed { .. } => "input failed",
        Fact::Head { .. } => "head",
        Fact::Body { .. } => "body",
        Fact::ExchangeEnded { .. } => "exchange ended",
        Fact::Closed { .. } => "closed",
        _ => "another fact",
    }
}

impl<M: Machine> Node<M> {
    /// What can happen next.
    pub(super) fn acts(&self) -> Vec<Act> {
        let mut acts: Vec<Act> = self.world.driver.lanes().into_iter().map(Act::Deliver).collect();
        if self.world.deadline().is_some() && acts.is_empty() {
            acts.push(Act::Tick);
        }
        if !self.world.machine().is_stopped() {
            let allowed = Kind::ALL.into_iter().filter(|kind| self.left.allows(*kind));
            acts.extend(allowed.flat_map(|kind| self.offers(kind)));
        }
        acts
    }

    /// What can happen of a kind, as far as it changes anything.
    fn offers(&self, kind: Kind) -> Vec<Act> {
        let driver = &self.world.driver;
        let each = |act: fn(usize) -> Act| (0..self.servers.len()).map(act).collect();
        let running = || {
            let servers = self.servers.iter().enumerate();
            servers.filter(|(_, name)| driver.runs(name)).map(|(at, _)| at)
        };
        match kind {
            Kind::Start => vec![Act::Start],
            Kind::Call => each(Act::Call),
            Kind::Cancel => self.world.open_calls().map(Act::Cancel).collect(),
            Kind::Crash => running()
                .flat_map(|at| [Eof::Noticed, Eof::Missed].map(|eof| Act::Crash(at, eof)))
                .collect(),
            Kind::Pipe => running()
                .flat_map(|at| [Pipe::Input, Pipe::Output].map(|pipe| Act::Pipe(at, pipe)))
                .collect(),
            Kind::Fail => {
                let servers = self.servers.iter().enumerate();
                let starting = servers.filter(|(_, name)| driver.is_starting(name));
                starting.map(|(at, _)| Act::Fail(at)).collect()
            }
            Kind::Complain => running().map(Act::Complain).collect(),
            Kind::Connect => each(Act::Connect),
            Kind::Disconnect => each(Act::Disconnect),
            Kind::DisconnectAll => vec![Act::DisconnectAll],
            Kind::Reconnect => self.reconnects(),
            Kind::Restart => each(Act::Restart),
            Kind::Enable => each(Act::Enable),
            Kind::Disable => each(Act::Disable),
            Kind::Change => running().map(Act::Change).collect(),
            Kind::Await => each(Act::Await),
            Kind::StopWaiting => self.world.awaited().map(Act::StopWaiting).collect(),
            Kind::Approve => {
                let servers = self.servers.iter().enumerate();
                let waiting =
                    servers.filter(|(_, it)| self.world.approval_wanted(it.as_str()).is_some());
                waiting.map(|(at, _)| Act::Approve(at)).collect()
            }
            Kind::Revoke if driver.has_approvals() => vec![Act::Revoke],
            Kind::Revoke => Vec::new(),
            Kind::Refuse => driver.open_questions().map(Act::Refuse).collect(),
            Kind::Reload => vec![Act::Reload],
            Kind::Save if driver.watches(CONFIG) => vec![Act::Save],
            Kind::Save => Vec::new(),
            Kind::Shutdown => vec![Act::Shutdown],
            Kind::Late => {
                let late = self.world.deadline().is_some() && driver.due().is_some();
                if late { vec![Act::Late] } else { Vec::new() }
            }
        }
    }

    /// Which attempt is named matters only while another one is ready.
    fn reconnects(&self) -> Vec<Act> {
        let servers = self.servers.iter().zip(0..);
        let named = |(name, at)| {
            let ready = self.world.machine().phase_of(name) == "ready";
            let other = ready.then_some(Act::Reconnect(at, Named::Other));
            std::iter::once(Act::Reconnect(at, Named::Nothing)).chain(other)
        };
        servers.flat_map(named).collect()
    }

    /// Lets something happen.
    pub(super) fn perform(&mut self, act: Act) -> Result<(), Violation> {
        let left = usize::from(act.kind().map_or(0, |kind| self.left.spend(kind)));
        let Self { world, servers, configs, saved, .. } = self;
        let name = |at: usize| servers.get(at).map_or("", ServerName::as_str);
        let now = world.now();
        match act {
            Act::Deliver(lane) => return world.deliver(lane),
            Act::Tick => drop(world.tick()?),
            Act::Late => {
                // What is late may have come too late.
                world.model.doubt(None);
                world.tick()?;
            }
            Act::Start => drop(world.start()?),
            Act::Call(at) => {
                let script = world.driver.script(name(at));
                let tool = script.and_then(|script| script.offers.tools.first().cloned());
                world.call(name(at), &tool.unwrap_or_default())?;
            }
            Act::Cancel(call) => world.cancel(call)?,
            Act::Crash(at, eof) => {
                let eof = eof == Eof::Noticed;
                world.driver.crash(&servers[at], Exit::Code(1), eof, now);
            }
            Act::Pipe(at, pipe) => world.driver.close_pipe(&servers[at], pipe, now),
            Act::Fail(at) => world.driver.fail_start(&servers[at], now),
            Act::Complain(at) => world.driver.complain(&servers[at], b"oh no\n", now),
            Act::Disconnect(at) => drop(world.disconnect(name(at))?),
            Act::DisconnectAll => drop(world.disconnect_all()?),
            Act::Connect(at) => drop(world.connect(name(at))?),
            Act::Reconnect(at, named) => {
                let over = world.driver.gone().last().copied();
                let over = over.unwrap_or(ConnId::new(u64::MAX));
                world.reconnect(name(at), (named == Named::Other).then_some(over))?;
            }
            Act::Restart(at) => drop(world.restart(name(at))?),
            Act::Enable(at) => drop(world.enable(name(at))?),
            Act::Disable(at) => drop(world.disable(name(at))?),
            Act::Change(at) => world.change(name(at), |offers| {
                let tool = if offers.tools == ["echo"] { "other" } else { "echo" };
                offers.tools = vec![tool.into()];
            }),
            Act::Await(at) => drop(world.await_connected(name(at), Some(AWAIT_MS))?),
            Act::StopWaiting(op) => world.stop_waiting(op)?,
            Act::Approve(at) => drop(world.approve(name(at))?),
            Act::Revoke => drop(world.revoke_all()?),
            Act::Refuse(ask) => world.driver.fail_answer(ask, now),
            Act::Reload => {
                if let Some(config) = configs.iter().rev().nth(left) {
                    world.set_config(config.clone());
                }
                world.reload()?;
            }
            Act::Save => {
                let config = saved.iter().rev().nth(left).cloned().unwrap_or_default();
                world.save_config(config)?;
            }
            Act::Shutdown => world.shutdown()?,
        }
        Ok(())
    }

    /// The servers that something is about.
    pub(super) fn about(&self, act: Act) -> Vec<ServerName> {
        let servers = &self.servers;
        match act {
            Act::Deliver(Lane::Process(conn)) => {
                self.world.driver.server_of(conn).into_iter().cloned().collect()
            }
            Act::Call(at)
            | Act::Crash(at, _)
            | Act::Pipe(at, _)
            | Act::Fail(at)
            | Act::Complain(at)
            | Act::Disconnect(at)
            | Act::Connect(at)
            | Act::Reconnect(at, _)
            | Act::Restart(at)
            | Act::Enable(at)
            | Act::Disable(at)
            | Act::Change(at)
            | Act::Await(at)
            | Act::Approve(at) => vec![servers[at].clone()],
            Act::Cancel(call) => self.world.server_of_call(call).into_iter().collect(),
            Act::Deliver(Lane::Read(_) | Lane::Answer(_))
            | Act::Tick
            | Act::Late
            | Act::Start
            | Act::DisconnectAll
            | Act::StopWaiting(_)
            | Act::Revoke
            | Act::Refuse(_)
            | Act::Reload
            | Act::Save
            | Act::Shutdown => servers.to_vec(),
        }
    }
}
