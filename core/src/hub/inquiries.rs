//! What servers ask the host: one table from the question to the one end of each.
//!
//! Floor 4. Each ends with the host's answer, or is told to need none any more, and never with
//! both (G49, L7). While a server waits for the host, the clock by which its calls run out
//! without progress stands still; their longest time counts on.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::event::Event;
use crate::id::{CallId, ConnId, Counter, InquiryId, ServerName};
use crate::inquiry::{Inquiry, Refusal, Reply, Service, Unneeded};
use crate::outbox::Outbox;
use crate::time::Timestamp;
use crate::wire::rpc::Id;

use super::Hub;

/// The table.
#[derive(Clone, Debug, Default)]
pub(super) struct Inquiries {
    next: Counter,
    open: BTreeMap<InquiryId, Open>,
}

/// A question that nobody has answered.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Open {
    conn: ConnId,
    service: Service,
    call: Option<CallId>,
    origin: Origin,
}

/// How it was asked.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Origin {
    /// By a request, which is answered.
    Request(Id),
    /// In the place of an answer to this call, as the thing at this place that is wanted.
    Round(CallId, usize),
}

impl Inquiries {
    fn is_asking(&self, conn: ConnId) -> bool {
        self.open.values().any(|open| open.conn == conn)
    }

    /// What tells this table from another one, questions by their order.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.open.len().hash(state);
        for open in self.open.values() {
            (open.service, open.call.is_some()).hash(state);
            match &open.origin {
                Origin::Request(id) => (Some(id), 0),
                Origin::Round(_, at) => (None, *at),
            }
            .hash(state);
        }
    }
}

impl Hub {
    /// A server asks.
    pub(super) fn inquired(
        &mut self,
        server: &ServerName,
        conn: ConnId,
        id: Id,
        what: Inquiry,
        call: Option<CallId>,
        out: &mut Outbox,
    ) {
        let service = what.service();
        self.ask_host(server, Open { conn, service, call, origin: Origin::Request(id) }, what, out);
    }

    /// A server wants to be told something before it answers a call, at this place of all it
    /// wants.
    pub(super) fn inquired_in_round(
        &mut self,
        server: &ServerName,
        (conn, call, at): (ConnId, CallId, usize),
        what: Inquiry,
        out: &mut Outbox,
    ) {
        let (service, origin) = (what.service(), Origin::Round(call, at));
        self.ask_host(server, Open { conn, service, call: Some(call), origin }, what, out);
    }

    fn ask_host(&mut self, server: &ServerName, open: Open, what: Inquiry, out: &mut Outbox) {
        let inquiry = InquiryId::new(self.inquiries.next.next());
        let call = open.call;
        self.calls.hold(open.conn);
        self.inquiries.open.insert(inquiry, open);
        out.event(Event::Inquired { inquiry, server: server.clone(), call, what });
    }

    /// How much a server waits for.
    pub(super) fn inquiries_on(&self, conn: ConnId) -> usize {
        self.inquiries.open.values().filter(|open| open.conn == conn).count()
    }

    /// The host answers.
    pub fn reply(&mut self, now: Timestamp, inquiry: InquiryId, reply: &Reply, out: &mut Outbox) {
        if let Some(open) = self.end_inquiry(inquiry, now) {
            self.tell(open, reply, now, out);
        }
    }

    /// A server takes back what it asked.
    pub(super) fn withdrawn(&mut self, conn: ConnId, id: &Id, now: Timestamp, out: &mut Outbox) {
        let why = Unneeded::Withdrawn;
        self.unneeded(now, why, out, |open| {
            open.conn == conn && matches!(&open.origin, Origin::Request(own) if own == id)
        });
    }

    /// Nothing can be said to a server any more.
    pub(super) fn end_inquiries_on(&mut self, conn: ConnId, now: Timestamp, out: &mut Outbox) {
        self.unneeded(now, Unneeded::ServerGone, out, |open| open.conn == conn);
    }

    /// Calls may have ended in the course of which something was asked. The servers wait for their
    /// answers all the same (C-RPC-18).
    pub(super) fn end_inquiries_of_calls(&mut self, now: Timestamp, out: &mut Outbox) {
        let is_over = |call| !self.calls.is_open(call);
        let over = |open: &Open| open.call.is_some_and(is_over);
        if !self.inquiries.open.values().any(over) {
            return;
        }
        let calls: Vec<CallId> =
            self.inquiries.open.values().filter_map(|open| open.call).collect();
        let over: Vec<CallId> = calls.into_iter().filter(|call| is_over(*call)).collect();
        let ended = self.unneeded(now, Unneeded::CallOver, out, |open| {
            open.call.is_some_and(|call| over.contains(&call))
        });
        for open in ended.into_iter().filter(|open| matches!(open.origin, Origin::Request(_))) {
            let reply = match open.service {
                Service::ElicitationForm | Service::ElicitationUrl => {
                    Reply::Done(Json::new("{\"action\":\"cancel\"}"))
                }
                Service::Sampling | Service::SamplingTools | Service::SamplingContext => {
                    let message = "The call in the course of which this was asked is over".into();
                    Reply::Refused(Refusal::Failed { message })
                }
            };
            self.tell(open, &reply, now, out);
        }
    }

    fn unneeded(
        &mut self,
        now: Timestamp,
        why: Unneeded,
        out: &mut Outbox,
        which: impl Fn(&Open) -> bool,
    ) -> Vec<Open> {
        let ended = self.inquiries.open.iter().filter(|(_, open)| which(open));
        let ended: Vec<InquiryId> = ended.map(|(inquiry, _)| *inquiry).collect();
        let end = |inquiry| {
            out.event(Event::InquiryEnded { inquiry, why });
            self.end_inquiry(inquiry, now)
        };
        ended.into_iter().filter_map(end).collect()
    }

    fn end_inquiry(&mut self, inquiry: InquiryId, now: Timestamp) -> Option<Open> {
        let open = self.inquiries.open.remove(&inquiry)?;
        if !self.inquiries.is_asking(open.conn) {
            self.calls.release(open.conn, now);
        }
        Some(open)
    }

    fn tell(&mut self, open: Open, reply: &Reply, now: Timestamp, out: &mut Outbox) {
        let Open { conn, service, origin, .. } = open;
        match origin {
            Origin::Request(id) => self.with_server(conn, now, out, |server, out| {
                server.reply(now, &id, service, reply, out);
                Vec::new()
            }),
            Origin::Round(call, at) => self.round_answered((call, at), service, reply, now, out),
        }
    }
}
