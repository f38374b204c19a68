//! Who waits for what, and how news reaches them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tidegate_core::event::{Event, OpResult, Outcome, StartReport};
use tidegate_core::id::{CallId, InquiryId, OpId};

use crate::events::Observer;
use crate::inbox::Inbox;
use crate::inquiries::{Asked, Inquirer};
use crate::reply::{Reply, reply};

/// Everybody who waits for the machine.
#[derive(Debug)]
pub(crate) struct Desk {
    starts: BTreeMap<OpId, Reply<StartReport>>,
    operations: BTreeMap<OpId, Reply<OpResult>>,
    calls: HashMap<CallId, Reply<Outcome>>,
    /// Who answers what servers ask, and what they are told by the end of a question.
    inquirer: Option<Inquirer>,
    inbox: Arc<Inbox>,
    inquiries: BTreeMap<InquiryId, Reply<()>>,
    shutdowns: Vec<Reply<()>>,
    observers: Vec<Observer>,
    published: bool,
}

impl Desk {
    /// Nobody waits for anything.
    pub(crate) fn new(inquirer: Option<Inquirer>, inbox: Arc<Inbox>) -> Self {
        Self {
            starts: BTreeMap::new(),
            operations: BTreeMap::new(),
            calls: HashMap::new(),
            inquirer,
            inbox,
            inquiries: BTreeMap::new(),
            shutdowns: Vec::new(),
            observers: Vec::new(),
            published: false,
        }
    }

    /// The host answered what a server asked.
    pub(crate) fn replied(&mut self, inquiry: InquiryId) {
        self.inquiries.remove(&inquiry);
    }

    /// Notes who waits for a gate.
    pub(crate) fn await_start(&mut self, op: OpId, reply: Reply<StartReport>) {
        self.starts.insert(op, reply);
    }

    /// Notes who waits for an operation.
    pub(crate) fn await_operation(&mut self, op: OpId, reply: Reply<OpResult>) {
        self.operations.insert(op, reply);
    }

    /// Notes who waits for a call.
    pub(crate) fn await_call(&mut self, call: CallId, reply: Reply<Outcome>) {
        self.calls.insert(call, reply);
    }

    /// Whether anybody waits for a call.
    pub(crate) fn awaits_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Notes who waits for the end.
    pub(crate) fn await_stopped(&mut self, reply: Reply<()>) {
        self.shutdowns.push(reply);
    }

    /// Takes on an observer, who hears first what there is already, so that nothing that came
    /// before it is missed (G25).
    pub(crate) fn observe(&mut self, observer: Observer, present: impl Iterator<Item = Event>) {
        for event in present {
            observer.tell(&event);
        }
        self.observers.push(observer);
    }

    /// Whether anything was published since this was asked last.
    pub(crate) fn has_published(&mut self) -> bool {
        std::mem::take(&mut self.published)
    }

    /// Tells everybody whom an event concerns.
    pub(crate) fn publish(&mut self, event: Event) {
        self.published = true;
        if let Event::CallFinished { call, outcome } = event {
            if let Some(reply) = self.calls.remove(&call) {
                reply.give(outcome);
            }
            return;
        }
        self.observers.retain(|observer| observer.tell(&event));
        if let Event::GateOpened(report) = event {
            if let Some(reply) = self.starts.remove(&report.op) {
                reply.give(report);
            }
        } else if let Event::Done { op, result } = event {
            if let Some(reply) = self.operations.remove(&op) {
                reply.give(result);
            }
            // A start that is one too many has no report: whoever waited is told by the drop.
            self.starts.remove(&op);
        } else if let Event::CallRefused { call } = event {
            // Cannot happen with numbers from `Host`; whoever waited is told by the drop.
            self.calls.remove(&call);
        } else if let Event::Inquired { inquiry, server, call, what } = event {
            if let Some(inquirer) = &self.inquirer {
                let (needed, over) = reply();
                self.inquiries.insert(inquiry, needed);
                let asked = (inquiry, server, call, what);
                inquirer.tell(Asked::new(asked, &self.inbox, over));
            }
        } else if let Event::InquiryEnded { inquiry, why: _ } = event {
            self.inquiries.remove(&inquiry);
        } else if event == Event::Stopped {
            self.inquirer.iter().for_each(Inquirer::end);
            for reply in self.shutdowns.drain(..) {
                reply.give(());
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.inquirer.iter().for_each(Inquirer::end);
    }
}
