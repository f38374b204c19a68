//! A world on its way through a search, and what can happen in it next.

use std::hash::Hash;
use std::sync::Arc;

use tidegate_core::canon;
use tidegate_core::error::Exit;
use tidegate_core::id::{CallId, ServerName};
use tidegate_core::input::{Fact, Input};

use crate::driver::{Lane, Pipe};
use crate::machine::Machine;
use crate::violation::Violation;
use crate::world::World;

use super::Budget;

/// One thing that happens next.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Act {
    Deliver(Lane),
    Tick,
    Start,
    Call(usize),
    Cancel,
    Crash(usize, bool),
    Pipe(usize, Pipe),
    Fail(usize),
    Disconnect(usize),
    DisconnectAll,
    Connect(usize),
    Reload,
    Shutdown,
}

/// A world on the way, and how it came about.
#[derive(Clone)]
pub(super) struct Node<M: Machine> {
    pub(super) world: World<M>,
    pub(super) path: Path,
    budget: Budget,
    servers: Arc<[ServerName]>,
}

/// How a world came about: what happened, the last thing first, and in which world.
#[derive(Clone, Default)]
pub(super) struct Path(Option<Arc<Walked>>);

struct Walked {
    act: Act,
    from: u128,
    before: Path,
}

impl Path {
    /// Remembers what is about to happen in the world with this fingerprint.
    pub(super) fn push(&mut self, act: Act, from: u128) {
        let before = std::mem::take(self);
        self.0 = Some(Arc::new(Walked { act, from, before }));
    }

    /// Whether the world with this fingerprint lies on it.
    pub(super) fn came_through(&self, fingerprint: u128) -> bool {
        self.walk().any(|walked| walked.from == fingerprint)
    }

    /// What happened, the first thing first.
    pub(super) fn acts(&self) -> Vec<Act> {
        let mut acts: Vec<Act> = self.walk().map(|walked| walked.act).collect();
        acts.reverse();
        acts
    }

    fn walk(&self) -> impl Iterator<Item = &Walked> {
        std::iter::successors(self.0.as_deref(), |walked| walked.before.0.as_deref())
    }
}

impl<M: Machine> Node<M> {
    pub(super) fn new(world: World<M>, budget: Budget) -> Self {
        let names = world.model.file().iter().map(|entry| entry.name.as_str().into());
        Self { servers: names.collect(), world, path: Path::default(), budget }
    }

    pub(super) fn fingerprint(&self) -> u128 {
        let mut hasher = canon::Hasher::default();
        (self.world.fingerprint(), &self.budget).hash(&mut hasher);
        hasher.value()
    }

    /// Whether anything happens by itself.
    pub(super) fn goes_on(&self) -> bool {
        self.world.next_due().is_some()
    }

    pub(super) fn acts(&self) -> Vec<Act> {
        let mut acts: Vec<Act> = self.world.driver.lanes().into_iter().map(Act::Deliver).collect();
        if self.world.machine().poll_timeout().is_some()
            && (acts.is_empty() || self.budget.slow > 0)
        {
            acts.push(Act::Tick);
        }
        if self.world.machine().is_stopped() {
            return acts;
        }
        let Budget { start, call, cancel, crash, pipe, fail, disconnect, connect, .. } =
            &self.budget;
        let servers = 0..self.world.model.file().len();
        let each =
            |times: u8, act: fn(usize) -> Act| servers.clone().filter(move |_| times > 0).map(act);
        acts.extend(each(*call, Act::Call));
        acts.extend(each(*crash, |at| Act::Crash(at, true)));
        acts.extend(each(*crash, |at| Act::Crash(at, false)));
        acts.extend(each(*pipe, |at| Act::Pipe(at, Pipe::Input)));
        acts.extend(each(*pipe, |at| Act::Pipe(at, Pipe::Output)));
        acts.extend(each(*fail, Act::Fail));
        acts.extend(each(*disconnect, Act::Disconnect));
        acts.extend(each(*connect, Act::Connect));
        for (left, act) in [
            (*start > 0, Act::Start),
            (*cancel > 0 && self.world.open_calls() > 0, Act::Cancel),
            (self.budget.disconnect_all > 0, Act::DisconnectAll),
            (!self.budget.reload.is_empty(), Act::Reload),
            (self.budget.shutdown > 0, Act::Shutdown),
        ] {
            acts.extend(left.then_some(act));
        }
        acts
    }

    pub(super) fn perform(&mut self, act: Act) -> Result<(), Violation> {
        let Self { world, budget, servers, path: _ } = self;
        let name = |at: usize| servers.get(at).map_or("", ServerName::as_str);
        match act {
            Act::Deliver(lane) => world.deliver(lane),
            Act::Tick => {
                if world.driver.due().is_some() {
                    budget.slow -= 1;
                    // What is late may have come too late.
                    world.model.doubt(None);
                }
                world.tick().map(drop)
            }
            Act::Start => {
                budget.start -= 1;
                world.start().map(drop)
            }
            Act::Call(at) => {
                budget.call -= 1;
                let script = world.driver.script(name(at));
                let tool = script.and_then(|script| script.offers.tools.first().cloned());
                world.call(name(at), &tool.unwrap_or_default()).map(drop)
            }
            Act::Cancel => {
                budget.cancel -= 1;
                world.cancel(CallId::new(world.calls_made().saturating_sub(1)))
            }
            Act::Crash(at, eof) => {
                budget.crash -= 1;
                let now = world.now();
                world.driver.crash(&servers[at], Exit::Code(1), eof, now);
                Ok(())
            }
            Act::Pipe(at, pipe) => {
                budget.pipe -= 1;
                let now = world.now();
                world.driver.close_pipe(&servers[at], pipe, now);
                Ok(())
            }
            Act::Fail(at) => {
                budget.fail -= 1;
                let now = world.now();
                world.driver.fail_start(&servers[at], now);
                Ok(())
            }
            Act::Disconnect(at) => {
                budget.disconnect -= 1;
                world.disconnect(name(at)).map(drop)
            }
            Act::DisconnectAll => {
                budget.disconnect_all -= 1;
                world.disconnect_all().map(drop)
            }
            Act::Connect(at) => {
                budget.connect -= 1;
                world.connect(name(at)).map(drop)
            }
            Act::Reload => {
                let config = budget.reload.remove(0);
                world.set_config(config);
                world.reload().map(drop)
            }
            Act::Shutdown => {
                budget.shutdown -= 1;
                world.shutdown()
            }
        }
    }

    /// The servers an act is about.
    pub(super) fn about(&self, act: Act) -> Vec<ServerName> {
        let servers = &self.servers;
        match act {
            Act::Deliver(Lane::Process(conn)) => {
                self.world.driver.server_of(conn).into_iter().cloned().collect()
            }
            Act::Call(at) | Act::Disconnect(at) | Act::Connect(at) => vec![servers[at].clone()],
            Act::Crash(..) | Act::Pipe(..) | Act::Fail(_) | Act::Cancel => Vec::new(),
            Act::Deliver(Lane::Read(_))
            | Act::Tick
            | Act::Start
            | Act::DisconnectAll
            | Act::Reload
            | Act::Shutdown => servers.to_vec(),
        }
    }
}

pub(super) fn named(act: Act, input: Option<&Input>) -> &'static str {
    match (act, input) {
        (Act::Deliver(_), Some(Input::Io(fact))) => match fact {
            Fact::ConfigRead { .. } => "config read",
            Fact::CacheRead { .. } => "cache read",
            Fact::Opened { .. } => "opened",
            Fact::OpenFailed { .. } => "open failed",
            Fact::Received { .. } => "received",
            Fact::Complained { .. } => "complained",
            Fact::OutputEnded { .. } => "output ended",
            Fact::InputFailed { .. } => "input failed",
            Fact::Closed { .. } => "closed",
            _ => "another fact",
        },
        (Act::Deliver(_), _) => "nothing",
        (Act::Tick, _) => "~ tick",
        (Act::Start, _) => "< start",
        (Act::Call(_), _) => "< call",
        (Act::Cancel, _) => "< cancel",
        (Act::Crash(..) | Act::Pipe(..) | Act::Fail(_), _) => "fault",
        (Act::Disconnect(_), _) => "< disconnect",
        (Act::DisconnectAll, _) => "< disconnect all",
        (Act::Connect(_), _) => "< connect",
        (Act::Reload, _) => "< reload",
        (Act::Shutdown, _) => "< shutdown",
    }
}
