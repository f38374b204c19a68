//! One attempt to run one server: from what to run to `Closed`.
//!
//! Floor 3. May import floors 0 to 2. A [`Server`] is one attempt with one [`ConnId`]; the next
//! attempt is another `Server`. It pushes commands into the shared outbox and *returns* signals
//! to the hub, which consumes them before the step ends.
//!
//! ```text
//!       launch    Opened        it is known what      last page
//!  Resolving ─► Opening ─────────► Greeting ───────► Listing ─────────► Ready
//!     │                  │                 │                 │
//!     │ OpenFailed       └────────┬────────┴─────────────────┘
//!     ▼                           ▼ stop, failure, end of output
//!    Gone ◄──────────────────── Stopping (close input, TERM, KILL, give up)
//!              Closed
//! ```
//!
//! Invariants: a timer lives in the phase that needs it, so leaving the phase drops it. Nothing
//! leaves `Gone`. A server that failed says so ([`Signal::Failed`]), once more if its pipes ended
//! before it was known how its process did, and every attempt ends with exactly one
//! [`Signal::Gone`].

mod channel;
mod era;
mod exchanges;
mod greeting;
mod listen;
mod listing;
pub mod live;
pub mod refresh;
mod repair;
pub mod session;
mod signal;
pub mod stop;
mod tail;
mod talk;
mod watch;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::command::{Command, Launch};
use crate::config::Protocol;
use crate::error::{Cause, Exit, Failure, OpenError, Stage};
use crate::held::Held;
use crate::id::{CallId, ConnId, ServerName};
use crate::inquiry::{Reply, Service, Services};
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};
use crate::wire::dialect::{Era, Revision};
use crate::wire::mcp::{Aim, Initialized, Job, LogLevel, ToolDef};
use crate::wire::rpc::Id;

use channel::Step;
use era::{Decision, Word};
use greeting::Patience;
use listing::Listing;
use live::{Extras, Live};
use refresh::{Burst, ListChanged};
use session::{Asked, Heard, Session};
use stop::{Stop, StopLadder};
use tail::Tail;

pub use channel::Speech;
pub use signal::Signal;

/// What every server of a runtime is run with.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Setting {
    /// The name of the host, told to servers.
    pub client_name: String,
    /// The version of the host, told to servers.
    pub client_version: String,
    /// The revision that a handshake offers first.
    pub offered: Revision,
    /// From which level on servers tell what they log, if they are told.
    pub log_level: Option<LogLevel>,
    /// The project, told to servers that ask for roots.
    pub cwd: String,
    /// What the host does for servers: so much is declared to them.
    pub services: Services,
    /// The bounds.
    pub limits: Limits,
    /// How processes are ended.
    pub ladder: StopLadder,
    /// The limit of starting and greeting, and of each list, in milliseconds; a definition's
    /// own `timeout` takes their place.
    pub connect_ms: u64,
    /// The limit of one list, in milliseconds.
    pub list_ms: u64,
    /// What happens when a list changed.
    pub list_changed: ListChanged,
    /// Whether resources and prompts are loaded.
    pub extras: Extras,
}

/// How one attempt is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Approach {
    /// How the server is spoken to.
    pub speech: Speech,
    /// Which eras of the protocol are spoken with it.
    pub protocol: Protocol,
    /// The era it was of last, as far as that is known.
    pub remembered: Option<Era>,
    /// The limit of starting and greeting, and of each list, in milliseconds, if it has its own.
    pub timeout_ms: Option<u64>,
}

/// One attempt to run one server.
#[derive(Clone, Debug)]
pub struct Server {
    name: ServerName,
    conn: ConnId,
    setting: Arc<Setting>,
    timeout_ms: Option<u64>,
    patience: Patience,
    /// What is tried before anything is known, made when its time has come.
    approach: Approach,
    started: Timestamp,
    pid: Option<u32>,
    session: Session,
    hello: Option<Held<Initialized>>,
    stderr: Tail,
    phase: Phase,
    failure: Option<Failure>,
}

/// How far the attempt has come; each phase owns its data and its timer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Phase {
    /// What to run is being found out; there is no process.
    Resolving {
        deadline: Timestamp,
    },
    Opening {
        deadline: Timestamp,
    },
    /// `silence`: when it has been silent long enough to be asked something else.
    Greeting {
        deadline: Timestamp,
        decision: Decision,
        silence: Option<Timestamp>,
    },
    /// `again`: the tools changed meanwhile.
    Listing {
        deadline: Timestamp,
        listing: Listing<ToolDef>,
        again: Option<Burst>,
    },
    Ready {
        tools: Held<Tools>,
        connect_ms: u64,
        live: Live,
    },
    Stopping {
        stop: Stop,
        why: Why,
    },
    Gone,
}

/// The tools of a ready server, in its own order, and the way to one by name.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Tools {
    list: Arc<[ToolDef]>,
    /// The places in the list, in the order of the names that stand there.
    by_name: Vec<usize>,
}

/// Why an attempt is being stopped.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Why {
    /// The hub asked for it.
    Asked,
    /// It failed, and the failure was told.
    Failed,
    /// It was spoken to in the wrong era, and is started once more.
    Again,
    /// A pipe ended; how its process ends will say why, if it does before the first rung of the
    /// ladder has passed. `untold`: when the end of the pipe is told as the failure at the latest,
    /// if it was not yet.
    Ending { stage: Stage, cause: Cause, untold: Option<Timestamp> },
}

/// How an attempt looks from outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum View {
    /// On its way.
    Connecting,
    /// Ready.
    Connected,
    /// It failed.
    Failed,
    /// It is being stopped because the hub asked for it, or is gone for that reason.
    Leaving,
}

impl Server {
    /// Begins an attempt; what there is to be run has to be found out first.
    #[must_use]
    pub fn new(
        name: &ServerName,
        conn: ConnId,
        approach: Approach,
        setting: &Arc<Setting>,
        now: Timestamp,
    ) -> Self {
        let timeout_ms = approach.timeout_ms;
        let start_ms = timeout_ms.unwrap_or(setting.connect_ms);
        let (deadline, patience) = (now.plus(start_ms), Patience::new(start_ms, &setting.limits));
        Self {
            name: name.clone(),
            conn,
            setting: Arc::clone(setting),
            timeout_ms,
            patience,
            approach,
            started: now,
            pid: None,
            session: Session::new(conn, approach.speech, patience, &setting.limits),
            hello: None,
            stderr: Tail::new(setting.limits.stderr_tail_bytes),
            phase: Phase::Resolving { deadline },
            failure: None,
        }
    }

    /// Starts the process, once it is known what to run.
    pub fn launch(&mut self, launch: Launch, out: &mut Outbox) {
        if let Phase::Resolving { deadline } = self.phase {
            out.command(Command::Open { conn: self.conn, server: self.name.clone(), launch });
            self.enter(Phase::Opening { deadline });
        }
    }

    /// The process runs, or it is known where the server is.
    pub fn handle_opened(&mut self, now: Timestamp, pid: Option<u32>, out: &mut Outbox) {
        self.pid = pid;
        match &mut self.phase {
            Phase::Opening { deadline } => {
                let deadline = *deadline;
                self.greet(now, deadline, out);
            }
            Phase::Stopping { stop, .. } => {
                stop.handle_opened(self.conn, now, &self.setting.ladder, out);
            }
            Phase::Resolving { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Ready { .. }
            | Phase::Gone => {}
        }
    }

    /// The process could not be started.
    pub fn handle_open_failed(&mut self, now: Timestamp, error: OpenError) -> Vec<Signal> {
        let mut signals = Vec::new();
        match &self.phase {
            Phase::Opening { .. } => {
                self.fail(now, Stage::Spawn, Cause::Open { error }, &mut signals);
            }
            Phase::Stopping { .. } => {}
            Phase::Resolving { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Ready { .. }
            | Phase::Gone => {
                return signals;
            }
        }
        self.enter(Phase::Gone);
        signals.push(Signal::Gone);
        signals
    }

    /// The server wrote something. Takes from `bytes` what came before the hub has to act, and
    /// is given the rest then: however a stream is cut, the same follows from it (G44).
    pub fn handle_received(
        &mut self,
        now: Timestamp,
        bytes: &mut &[u8],
        out: &mut Outbox,
    ) -> Vec<Signal> {
        self.hear_bytes(now, bytes, out, Session::handle_received)
    }

    /// The server wrote something to its standard error.
    pub fn handle_complained(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
    }

    /// One of the server's pipes ended while its process may still run.
    pub fn handle_pipe_ended(
        &mut self,
        now: Timestamp,
        cause: Cause,
        out: &mut Outbox,
    ) -> Vec<Signal> {
        let mut signals = Vec::new();
        if cause == Cause::OutputClosed {
            self.hear_the_rest(now, &mut signals, out);
        }
        if let Some(stage) = self.stage() {
            signals.push(Signal::Deaf);
            if self.is_spoken_to_wrongly(&mut signals) {
                self.begin_stop(now, Why::Again, out);
                return signals;
            }
            // One that was connected and is not: that is told at once. In both cases it is told
            // again when it is known how its process ended.
            let untold = (stage != Stage::Ready).then(|| now.plus(self.setting.limits.pipe_end_ms));
            if untold.is_none() {
                self.fail(now, stage, cause.clone(), &mut signals);
            }
            self.begin_stop(now, Why::Ending { stage, cause, untold }, out);
        }
        signals
    }

    /// The process and its whole group are gone.
    pub fn handle_closed(&mut self, now: Timestamp, exit: Exit, out: &mut Outbox) -> Vec<Signal> {
        let mut signals = Vec::new();
        self.hear_the_rest(now, &mut signals, out);
        if self.stage().is_some() {
            signals.push(Signal::Deaf);
        }
        let wrongly = self.is_spoken_to_wrongly(&mut signals);
        match &self.phase {
            Phase::Gone => return signals,
            Phase::Stopping { why: Why::Asked | Why::Failed | Why::Again, .. } => {}
            Phase::Stopping { why: Why::Ending { stage, .. }, .. } => {
                let stage = *stage;
                self.fail(now, stage, Cause::Exited { exit }, &mut signals);
            }
            Phase::Greeting { .. } if wrongly => {}
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Ready { .. } => {
                let stage = self.stage().unwrap_or(Stage::Spawn);
                self.fail(now, stage, Cause::Exited { exit }, &mut signals);
            }
        }
        self.enter(Phase::Gone);
        signals.push(Signal::Gone);
        signals
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Timestamp, out: &mut Outbox) -> Vec<Signal> {
        let mut signals = Vec::new();
        let Some(deadline) = self.deadline().filter(|deadline| deadline.at <= now) else {
            return signals;
        };
        if self.fire_exchanges(now, &mut signals, out) {
            return signals;
        }
        if let Phase::Stopping { .. } = self.phase {
            self.fire_stop(now, &mut signals, out);
        } else if let Phase::Resolving { .. } = self.phase {
            let limit_ms = deadline.at.since(self.started);
            self.fail(now, Stage::Resolve, Cause::TimedOut { limit_ms }, &mut signals);
            self.enter(Phase::Gone);
            signals.push(Signal::Gone);
        } else if self.is_silent(now) {
            self.heard_nothing(now, &mut signals, out);
        } else if matches!(self.phase, Phase::Ready { .. }) {
            self.fire_lists(now, &mut signals, out);
        } else {
            let stage = self.stage().unwrap_or(Stage::Spawn);
            let limit_ms = match stage {
                Stage::ListTools => self.timeout_ms.unwrap_or(self.setting.list_ms),
                Stage::Config
                | Stage::Resolve
                | Stage::Spawn
                | Stage::Initialize
                | Stage::Discover
                | Stage::Ready => deadline.at.since(self.started),
            };
            self.give_up(now, stage, Cause::TimedOut { limit_ms }, &mut signals, out);
        }
        signals
    }

    /// Stops the attempt because the hub wants it; does nothing if it is stopping already, but
    /// a failure that was not told yet never will be.
    pub fn stop(&mut self, now: Timestamp, out: &mut Outbox) {
        match &mut self.phase {
            Phase::Stopping { why, .. } => {
                if matches!(why, Why::Ending { .. } | Why::Again) {
                    *why = Why::Asked;
                }
            }
            Phase::Gone => {}
            Phase::Resolving { .. } => self.enter(Phase::Gone),
            Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Ready { .. } => self.begin_stop(now, Why::Asked, out),
        }
    }

    /// Sends a call, perhaps `again`; the number of its request, or `None` if the server is not
    /// ready.
    pub fn call(
        &mut self,
        now: Timestamp,
        call: CallId,
        job: &Job,
        again: bool,
        out: &mut Outbox,
    ) -> Option<u64> {
        let Phase::Ready { tools, .. } = &self.phase else { return None };
        let schema = match &job.aim {
            Aim::Tool(tool) => tools.schema(tool),
            Aim::Resource(_) | Aim::Prompt(_) | Aim::Completion(_) => None,
        };
        let mut step = Step { now, setting: &self.setting, out };
        Some(self.session.call(call, job, schema, again, &mut step))
    }

    /// Tells the server that the answer to a request is of no use any more (C-CANC-01).
    pub fn cancel(&mut self, now: Timestamp, request: u64, reason: &str, out: &mut Outbox) {
        if self.stage().is_some() {
            self.session.cancel(request, reason, &mut Step { now, setting: &self.setting, out });
        }
    }

    /// Answers what the server asked.
    pub fn reply(
        &mut self,
        now: Timestamp,
        id: &Id,
        service: Service,
        reply: &Reply,
        out: &mut Outbox,
    ) {
        if self.stage().is_some() {
            let mut step = Step { now, setting: &self.setting, out };
            self.session.reply(id, service, reply, &mut step);
        }
    }

    /// When this attempt wants to be woken.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let own = match &self.phase {
            Phase::Resolving { deadline } => Some(Deadline { at: *deadline, why: "resolve" }),
            Phase::Opening { deadline } => Some(Deadline { at: *deadline, why: "open" }),
            Phase::Greeting { deadline, decision, silence } => {
                let silence = silence.map(|at| Deadline { at, why: "probe" });
                let why = match decision.word() {
                    Word::Discover(_) => "discover",
                    Word::Initialize(_) => "initialize",
                };
                Deadline::earlier(Some(Deadline { at: *deadline, why }), silence)
            }
            Phase::Listing { deadline, .. } => Some(Deadline { at: *deadline, why: "tools/list" }),
            Phase::Ready { live, .. } => live.deadline(),
            Phase::Stopping { stop, why: Why::Ending { untold: Some(at), .. } } => {
                let told = Deadline { at: *at, why: "pipe ended" };
                return Deadline::earlier(Some(told), Some(stop.deadline()));
            }
            Phase::Stopping { stop, .. } => return Some(stop.deadline()),
            Phase::Gone => return None,
        };
        Deadline::earlier(own, self.session.deadline())
    }
}

/// Feeds a failure to a hasher, without what only a person reads of it.
#[cfg(feature = "_explore")]
pub fn digest_failure(failure: Option<&Failure>, state: &mut impl core::hash::Hasher) {
    use core::hash::Hash as _;
    failure.map(|failure| (failure.stage, &failure.cause)).hash(state);
}

mod accessors;
mod hearing;
