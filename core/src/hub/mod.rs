//! Many servers, and what the host asks of them.
//!
//! Floor 4. May import floors 0 to 3. The hub owns one `Slot` per configured server; whatever
//! a host can see (states, catalogue, status) is *derived* from the slots after each step and
//! compared with what was said before, never patched.
//!
//! ```text
//!  Start, Reload ─► reading ─► resolve ─► diff ─► slots ─► Server ─► signals ─► calls, gate, ops
//! ```
//!
//! Rules that hold for every slot: at most one attempt at a time, so a new one waits until the
//! old one is gone (G5); an attempt is stopped when its slot is no longer wanted, and nothing is
//! opened for a slot that is not wanted (G14, G15).

mod accept;
mod answers;
pub mod asks;
mod cache;
pub mod calls;
#[cfg(feature = "_explore")]
mod digest;
mod early;
mod gate;
mod inquiries;
mod lifecycle;
pub mod live;
mod losses;
mod ops;
pub mod policy;
mod problems;
mod reload;
mod rounds;
mod slot;
pub mod status;
mod straggler;
mod trust;
mod watch;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::config::resolve::Told;
use crate::config::{Environment, Source, Surroundings, ToolFilter};
use crate::entropy::Entropy;
use crate::error::Cause;
use crate::event::Event;
use crate::held::Held;
use crate::id::{ConnId, Counter, ReadId, ServerName};
use crate::input::Fact;
use crate::outbox::Outbox;
use crate::server::{Server, Setting, Signal};
use crate::time::{Deadline, Timestamp};
use crate::wire::mcp::ToolDef;

use answers::Answers;
use calls::Calls;
use gate::Gate;
use inquiries::Inquiries;
use ops::Pending;
use policy::Policy;
use problems::Problems;
use reload::Reading;
use slot::Slot;

/// What a hub is made with.
#[derive(Clone, Debug)]
pub struct HubOptions {
    /// What every server is run with.
    pub setting: Arc<Setting>,
    /// What to do where the documents and the field disagree.
    pub policy: Policy,
    /// The configurations to read, the strongest first.
    pub sources: Vec<Source>,
    /// The names of the host's variables.
    pub environment: Environment,
    /// The user's home, if it is known.
    pub home: Option<String>,
    /// The file with the rules of the organisation.
    pub organisation: Option<String>,
    /// Only these servers are started, if any are named.
    pub only: BTreeSet<ServerName>,
    /// Whether servers' standard error is passed on as events.
    pub forward_stderr: bool,
    /// What chance is made of.
    pub entropy: Entropy,
}

impl HubOptions {
    /// What the configuration is read in.
    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            environment: &self.environment,
            project: &self.setting.cwd,
            home: self.home.as_deref(),
        }
    }
}

/// All servers of a runtime.
#[derive(Clone, Debug)]
pub struct Hub {
    options: Arc<HubOptions>,
    next_conn: Counter,
    next_read: Counter,
    slots: BTreeMap<ServerName, Held<Slot>>,
    /// The configured servers, in configuration order: another list each time it is read.
    order: Arc<[ServerName]>,
    by_conn: Held<BTreeMap<ConnId, ServerName>>,
    /// When each attempt wants to be woken, in order.
    alarms: Held<BTreeSet<(Deadline, ConnId)>>,
    /// When lost servers are to be started again, in order.
    retries: BTreeSet<(Timestamp, ServerName)>,
    entropy: Entropy,
    reading: Option<Reading>,
    /// What became of every definition of every file.
    fates: Arc<[Told]>,
    last_good: Held<watch::LastGood>,
    watching: watch::Watching,
    /// The servers that the organisation forbids.
    forbidden: BTreeSet<ServerName>,
    /// The keys of the Exa search in definitions that are left out, in the order of precedence.
    exa_keys: Vec<String>,
    /// The servers whose definitions a project brought along and the user has not approved.
    unapproved: BTreeSet<ServerName>,
    /// Whose stored list each read asks for.
    cache_reads: BTreeMap<ReadId, ServerName>,
    gates: Vec<Gate>,
    ops: Vec<Pending>,
    answers: Answers,
    calls: Held<Calls>,
    inquiries: Inquiries,
    live: live::Live,
    problems: Held<Problems>,
    /// Slots whose state may differ from what was said.
    touched: BTreeSet<ServerName>,
    /// Slots whose offer may differ from what was asked for last.
    changed: Vec<ServerName>,
    /// Whether a gate or an operation may have come to its end since the last look.
    progressed: bool,
    /// Whether every server was disconnected since the last start.
    resting: bool,
    stopping: bool,
    stale_facts: u64,
}

/// The tools of one server, as far as the agent may know them.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The server.
    pub server: &'a ServerName,
    /// Its tools, in its own order.
    pub tools: &'a Arc<[ToolDef]>,
    /// Which of them its definition wants.
    pub filter: &'a ToolFilter,
    /// What they are worth.
    pub worth: Worth,
}

/// What the tools of an [`Offer`] are worth.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Worth {
    /// They can be called.
    Live,
    /// They come from the cache; a call waits for the server.
    Deferred,
    /// They came from the cache and the server failed; why, in one line.
    Failed(String),
}

impl Hub {
    /// A hub that has read nothing yet.
    #[must_use]
    pub fn new(options: HubOptions) -> Self {
        let limits = &options.setting.limits;
        let calls = Held::new(Calls::new(limits.open_calls, &options.policy));
        let problems = Held::new(Problems::new(limits.problems));
        let entropy = options.entropy.clone();
        Self {
            options: Arc::new(options),
            next_conn: Counter::default(),
            next_read: Counter::default(),
            slots: BTreeMap::new(),
            order: Arc::default(),
            by_conn: Held::default(),
            alarms: Held::default(),
            retries: BTreeSet::new(),
            entropy,
            reading: None,
            fates: Arc::default(),
            last_good: Held::default(),
            watching: watch::Watching::default(),
            forbidden: BTreeSet::new(),
            exa_keys: Vec::new(),
            unapproved: BTreeSet::new(),
            cache_reads: BTreeMap::new(),
            gates: Vec::new(),
            ops: Vec::new(),
            answers: Answers::default(),
            calls,
            inquiries: Inquiries::default(),
            live: live::Live::default(),
            problems,
            touched: BTreeSet::new(),
            changed: Vec::new(),
            progressed: false,
            resting: false,
            stopping: false,
            stale_facts: 0,
        }
    }

    /// Takes in what the driver reports.
    pub fn handle_fact(&mut self, now: Timestamp, fact: Fact, out: &mut Outbox) {
        match fact {
            Fact::ConfigRead { read, origin, found } => {
                self.handle_config_read(now, read, origin, found, out);
            }
            Fact::ApprovalsRead { read, approved } => {
                self.handle_approvals_read(now, read, approved, out);
            }
            Fact::FolderListed { read, listed } => {
                self.handle_folder_listed(now, read, &listed, out);
            }
            Fact::FilesChanged => self.handle_files_changed(now),
            Fact::CacheRead { read, found, age_ms } => {
                self.handle_cache_read(read, found, age_ms, out);
            }
            Fact::Answered { ask, result } => self.handle_answered(now, ask, &result, out),
            Fact::Opened { conn, pid } => self.with_server(conn, now, out, |server, out| {
                server.handle_opened(now, pid, out);
                Vec::new()
            }),
            Fact::OpenFailed { conn, error } => {
                self.with_server(conn, now, out, |server, _| server.handle_open_failed(now, error))
            }
            Fact::Received { conn, bytes } => {
                self.handle_stream(conn, now, &bytes, out, |server, rest, out| {
                    server.handle_received(now, rest, out)
                });
            }
            Fact::Complained { conn, bytes } => {
                if self.options.forward_stderr
                    && let Some(server) = self.by_conn.get(&conn)
                {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    out.event(Event::Complained { server: server.clone(), text });
                }
                self.with_server(conn, now, out, |server, _| {
                    server.handle_complained(&bytes);
                    Vec::new()
                });
            }
            Fact::OutputEnded { conn } => self.with_server(conn, now, out, |server, out| {
                server.handle_pipe_ended(now, Cause::OutputClosed, out)
            }),
            Fact::InputFailed { conn } => self.with_server(conn, now, out, |server, out| {
                server.handle_pipe_ended(now, Cause::InputClosed, out)
            }),
            Fact::Head { conn, exchange, head } => {
                self.with_server(conn, now, out, |server, out| {
                    server.handle_head(now, exchange, &head, out)
                });
            }
            Fact::Body { conn, exchange, bytes } => {
                self.handle_stream(conn, now, &bytes, out, |server, rest, out| {
                    server.handle_body(now, exchange, rest, out)
                });
            }
            Fact::ExchangeEnded { conn, exchange, end } => {
                self.with_server(conn, now, out, |server, out| {
                    server.handle_exchange_ended(now, exchange, end, out)
                });
            }
            Fact::Closed { conn, exit } => {
                self.with_server(conn, now, out, |server, out| server.handle_closed(now, exit, out))
            }
        }
    }

    /// A server wrote something; what it says is heeded before more is heard of it.
    fn handle_stream(
        &mut self,
        conn: ConnId,
        now: Timestamp,
        bytes: &[u8],
        out: &mut Outbox,
        hear: impl Fn(&mut Server, &mut &[u8], &mut Outbox) -> Vec<Signal>,
    ) {
        let mut rest = bytes;
        loop {
            let before = rest.len();
            self.with_server(conn, now, out, |server, out| hear(server, &mut rest, out));
            if rest.is_empty() || rest.len() == before {
                return;
            }
        }
    }

    /// Lets everything happen that is due.
    pub fn handle_timeout(&mut self, now: Timestamp, out: &mut Outbox) {
        let due: Vec<ConnId> = self
            .alarms
            .iter()
            .take_while(|(deadline, _)| deadline.at <= now)
            .map(|(_, conn)| *conn)
            .collect();
        for conn in due {
            self.with_server(conn, now, out, |server, out| server.handle_timeout(now, out));
        }
        for expired in self.calls.expire(now, out) {
            self.tell_cancelled(now, expired, "the call timed out", out);
        }
        self.make_due_again(now, out);
        self.expire_answers(now, out);
        self.start_again(now, out);
        self.read_changed(now, out);
    }

    /// Says what changed: states first, so that a host that hears of the gate knows them.
    pub fn publish(&mut self, now: Timestamp, out: &mut Outbox) {
        self.end_inquiries_of_calls(now, out);
        self.progressed |= !self.touched.is_empty();
        while let Some(name) = self.touched.pop_first() {
            if let Some(slot) = self.slots.get_mut(&name)
                && let Some(state) = slot.news(now)
            {
                out.event(Event::ServerChanged { server: name.clone(), state });
            }
            self.arm_retry(&name);
            self.changed.push(name);
        }
        self.derive_extras(out);
    }

    /// The servers whose offers may have changed since the last time this was asked.
    pub fn take_touched(&mut self) -> Vec<ServerName> {
        core::mem::take(&mut self.changed)
    }

    /// Opens gates and ends operations whose time has come.
    pub fn conclude(&mut self, now: Timestamp, out: &mut Outbox) {
        let due = |gate: &Gate| gate.deadline().is_some_and(|deadline| deadline.at <= now);
        let waits = self.ops.iter().filter_map(Pending::deadline);
        let overdue = self.gates.iter().any(due) || waits.into_iter().any(|due| due.at <= now);
        if !core::mem::take(&mut self.progressed) && !overdue {
            return;
        }
        self.conclude_gates(now, out);
        self.conclude_ops(now, out);
    }

    /// When the hub wants to be woken.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let server = self.alarms.first().map(|(deadline, _)| *deadline);
        let retry = self.retries.first().map(|(at, _)| Deadline { at: *at, why: "reconnect" });
        let files = self.files_due();
        let gates = self.gates.iter().map(Gate::deadline).fold(None, Deadline::earlier);
        let ops = self.ops.iter().map(Pending::deadline).fold(None, Deadline::earlier);
        [gates, ops, self.calls.deadline(), self.answers.deadline(), server, retry, files]
            .into_iter()
            .fold(None, Deadline::earlier)
    }

    /// Whether a shutdown has nothing left to wait for.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.stopping && self.by_conn.is_empty()
    }

    /// The configured servers, in configuration order.
    #[must_use]
    pub fn order(&self) -> &Arc<[ServerName]> {
        &self.order
    }

    /// What a server offers.
    #[must_use]
    pub fn offer<'a>(&'a self, server: &'a ServerName) -> Option<Offer<'a>> {
        let slot = self.slots.get(server)?;
        let (tools, worth) = slot.offer(self.options.policy.late_failure)?;
        Some(Offer { server, tools, filter: &slot.definition().tools, worth })
    }

    /// Keeps a problem and says it, unless it was said before. What is about a server is found
    /// where its definition stands (G36).
    pub fn found(&mut self, mut problem: crate::error::Problem, out: &mut Outbox) {
        let slot = problem.server.as_ref().and_then(|name| self.slots.get(name));
        if let (None, Some(slot)) = (&problem.file, slot) {
            let source = &slot.definition().source;
            problem.file = Some(source.path.clone());
            problem.line = Some(source.line);
        }
        self.problems.add(problem, out);
    }

    /// Lets the attempt `conn` do something and heeds what it says; a fact about an attempt
    /// that is over changes nothing but a counter (L6).
    fn with_server(
        &mut self,
        conn: ConnId,
        now: Timestamp,
        out: &mut Outbox,
        act: impl FnOnce(&mut Server, &mut Outbox) -> Vec<Signal>,
    ) {
        let Some(name) = self.by_conn.get(&conn) else {
            self.stale_facts += 1;
            return;
        };
        let Some(slot) = self.slots.get_mut(name) else { return };
        let Some(server) = slot.server.as_mut() else { return };
        let before = server.deadline();
        let signals = act(server, out);
        let after = server.deadline();
        self.set_alarm(conn, before, after);
        if !signals.is_empty() {
            let Some(name) = self.by_conn.get(&conn).cloned() else { return };
            for signal in signals {
                self.heed(&name, conn, signal, now, out);
            }
        }
    }

    /// Whoever lets an attempt do something says what its deadline was and is.
    fn set_alarm(&mut self, conn: ConnId, before: Option<Deadline>, after: Option<Deadline>) {
        if before != after {
            if let Some(before) = before {
                self.alarms.remove(&(before, conn));
            }
            self.alarms.extend(after.map(|after| (after, conn)));
        }
    }
}
