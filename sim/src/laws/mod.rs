//! The laws L1–L10 and the guarantees that refine them, checked after every step.
//!
//! Each file knows one kind of thing and keeps only what it must remember of it. The laws see
//! what a driver and a host see, and the plain data a host may read; phases, frames and timers
//! are none of their business.

mod asks;
mod bounds;
mod calls;
pub(crate) mod clock;
mod conns;
mod exchanges;
mod gate;
mod inquiries;
mod live;
mod ops;
mod starts;
mod view;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tidegate_core::command::Command;
use tidegate_core::event::Event;
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::policy::Policy;
use tidegate_core::hub::status::{ServerStatus, Status};
use tidegate_core::id::{CallId, ConnId, InquiryId, OpId, ServerName};
use tidegate_core::input::Input;
use tidegate_core::limits::Limits;
use tidegate_core::options::Options;
use tidegate_core::time::{Deadline, Timestamp};
use tidegate_core::tools::catalog::Catalog;

use crate::digest::Present;
use crate::driver::Driver;

/// A law, by the name under which it is documented.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Law {
    /// L1: any input in any state, no panic.
    Total,
    /// L2: equal inputs, equal outputs.
    Pure,
    /// L3: commands and events may be drained in any order, late.
    FreeDraining,
    /// L4: everything waited for in time is behind the deadline.
    HonestDeadline,
    /// L5: spurious and late ticks do nothing.
    CalmClock,
    /// L6: facts about what is gone change a counter.
    StaleIsSilent,
    /// L7: one answer each.
    ExactlyOnce,
    /// L8: no call waits on a server that can no longer answer.
    Prompt,
    /// L9: every process leads to its end.
    NoOrphan,
    /// L10: everything obeys its limit.
    Bounded,
    /// G3, G5, G8, G14: orders to one process come in a sensible order.
    Orders,
    /// G19–G25: the catalogue is what the servers' states make of it.
    View,
    /// G66: what has to be found out is asked once.
    Asks,
    /// G14, G15, G50: what is started was asked for, or was lost and has waited long enough.
    Starts,
    /// G25–G28, G51: lists that change, and what is subscribed to.
    Live,
    /// G30, G31: the gate opens when it should and tells the truth.
    Gate,
    /// G40, G42, G49 and the protocol: what is sent is what may be sent.
    Wire,
    /// The reference model and the machine agree at quiet points.
    Model,
    /// A law of a host's own, by its name; see [`host`](crate::host).
    Own(&'static str),
}

impl Law {
    /// The number in the documents, or the nearest name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "L1 total",
            Self::Pure => "L2 pure",
            Self::FreeDraining => "L3 free draining",
            Self::HonestDeadline => "L4 honest deadline",
            Self::CalmClock => "L5 calm clock",
            Self::StaleIsSilent => "L6 stale is silent",
            Self::ExactlyOnce => "L7 exactly once",
            Self::Prompt => "L8 prompt",
            Self::NoOrphan => "L9 no orphan",
            Self::Bounded => "L10 bounded",
            Self::Orders => "orders (G3, G5, G8, G14)",
            Self::View => "view (G19-G25)",
            Self::Asks => "asks (G66)",
            Self::Starts => "starts (G14, G15, G50)",
            Self::Live => "live (G25-G28, G51)",
            Self::Gate => "gate (G30, G31)",
            Self::Wire => "wire (G40, G42, G49)",
            Self::Model => "model",
            Self::Own(name) => name,
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A law and how it was broken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Breach {
    /// Which law.
    pub law: Law,
    /// How.
    pub how: String,
}

impl Law {
    /// This law is broken.
    ///
    /// # Errors
    /// Always.
    pub fn broken<T>(self, how: impl Into<String>) -> Result<T, Breach> {
        Err(Breach { law: self, how: how.into() })
    }

    /// This law is broken unless `holds`.
    ///
    /// # Errors
    /// Then.
    pub fn demands(self, holds: bool, how: impl FnOnce() -> String) -> Result<(), Breach> {
        if holds { Ok(()) } else { self.broken(how()) }
    }
}

/// Everything that can be seen of one step.
pub(crate) struct Seen<'a> {
    pub(crate) now: Timestamp,
    /// What was put in; `None` for a tick.
    pub(crate) input: Option<&'a Input>,
    pub(crate) commands: &'a [Command],
    pub(crate) events: &'a [Event],
    pub(crate) status: &'a Status,
    pub(crate) catalog: &'a Catalog,
    pub(crate) resources: &'a Resources,
    pub(crate) prompts: &'a Prompts,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) stopped: bool,
    /// Whether a timer was due: what it led to came before the input (L5).
    pub(crate) fired: bool,
}

impl Seen<'_> {
    pub(crate) fn server(&self, name: &ServerName) -> Option<&ServerStatus> {
        self.status.servers.iter().find(|server| server.name == *name)
    }
}

/// What the laws remember between two steps.
#[derive(Clone, Debug)]
pub(crate) struct Laws {
    policy: Arc<Policy>,
    limits: Arc<Limits>,
    conns: conns::Conns,
    exchanges: exchanges::Exchanges,
    calls: calls::Calls,
    inquiries: inquiries::Inquiries,
    ops: ops::Ops,
    view: view::View,
    live: live::Live,
    gate: gate::Gates,
    starts: starts::Starts,
    asks: asks::Asks,
    /// Whether time was skipped, so that bounds on the whole are off.
    pub(crate) overslept: bool,
}

impl Laws {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            policy: Arc::new(options.policy.clone()),
            limits: Arc::new(options.limits.clone()),
            conns: conns::Conns::default(),
            exchanges: exchanges::Exchanges::default(),
            calls: calls::Calls::default(),
            inquiries: inquiries::Inquiries::new(&options.services),
            ops: ops::Ops::default(),
            view: view::View::default(),
            live: live::Live::default(),
            gate: gate::Gates::default(),
            starts: starts::Starts::default(),
            asks: asks::Asks::default(),
            overslept: false,
        }
    }

    /// Checks one step. `driver` has not carried out the step's commands yet.
    pub(crate) fn check(&mut self, seen: &Seen<'_>, driver: &mut Driver) -> Result<(), Breach> {
        clock::check(seen)?;
        let over = self.ops.is_over();
        self.ops.check(seen, self.overslept)?;
        if over {
            return Ok(());
        }
        self.conns.check(seen, &self.policy, &self.limits)?;
        self.exchanges.check(seen)?;
        self.inquiries.check(seen, &self.conns, &self.limits)?;
        self.calls.check(seen, (&self.conns, &self.inquiries), &self.policy, self.overslept)?;
        self.view.check(seen, &self.policy)?;
        self.live.check(seen, driver)?;
        self.gate.check(seen, &self.policy, self.overslept)?;
        self.starts.check(seen, &self.policy)?;
        self.asks.check(seen)?;
        bounds::check(seen, &self.limits)?;
        self.check_wire(driver)
    }

    /// What servers saw of their clients: the protocol, and each call at most once.
    pub(crate) fn check_wire(&mut self, driver: &mut Driver) -> Result<(), Breach> {
        let (breaches, calls) = driver.observations();
        if let Some(breach) = breaches.first() {
            return Law::Wire.broken(breach.clone());
        }
        self.calls.arrived(calls)
    }

    /// Checks a moment at which nothing is going to happen by itself (L4): nobody waits.
    pub(crate) fn check_quiet(&self) -> Result<(), Breach> {
        let waiting: Vec<String> =
            self.calls.open().map(|call| format!("call {call}")).chain(self.ops.open()).collect();
        Law::HonestDeadline.demands(waiting.is_empty(), || {
            format!("nothing is due any more and these wait: {}", waiting.join(", "))
        })?;
        self.conns.check_quiet()
    }

    pub(crate) fn open_calls(&self) -> impl Iterator<Item = CallId> {
        self.calls.open()
    }

    pub(crate) fn open_inquiries(&self) -> impl Iterator<Item = InquiryId> {
        self.inquiries.open()
    }

    /// How many answers of the host's a connection waits for.
    pub(crate) fn inquiries_on(&self, conn: ConnId) -> usize {
        self.inquiries.count(conn)
    }

    pub(crate) fn awaited(&self) -> impl Iterator<Item = OpId> {
        self.ops.awaited()
    }

    pub(crate) fn gate_is_shut(&self) -> bool {
        self.gate.is_shut()
    }

    pub(crate) fn is_reading(&self) -> bool {
        self.gate.is_reading()
    }

    pub(crate) fn is_back_by_itself(&self, server: &ServerName) -> bool {
        self.starts.is_back_by_itself(server)
    }

    pub(crate) fn server_of_call(&self, call: CallId) -> Option<&ServerName> {
        self.calls.server_of(call)
    }

    /// What the laws remember.
    pub(crate) fn digest(&self, present: Present, state: &mut impl Hasher) {
        self.conns.digest(present.now, state);
        self.exchanges.digest(state);
        self.calls.digest(present, state);
        self.inquiries.digest(state);
        self.ops.digest(present.now, state);
        self.overslept.hash(state);
        // After Stopped nothing of this is looked at.
        if !self.ops.is_over() {
            self.gate.digest(present.now, state);
            self.starts.digest(present.now, &self.policy, state);
            self.live.digest(state);
        }
    }
}
