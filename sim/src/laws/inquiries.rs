//! What servers ask the host: each question ends exactly once, nothing is asked that is not
//! served, and nobody is asked for a server that can hear no answer (G49).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tidegate_core::event::Event;
use tidegate_core::id::{CallId, ConnId, InquiryId, ServerName};
use tidegate_core::input::{Input, Request};
use tidegate_core::inquiry::Services;
use tidegate_core::limits::Limits;

use super::conns::Conns;
use super::{Breach, Law, Seen};

#[derive(Clone, Debug, Default)]
pub(super) struct Inquiries {
    services: Services,
    open: BTreeMap<InquiryId, Open>,
    newest: Option<InquiryId>,
    /// The servers that waited for the host at any moment of the last step.
    waited: BTreeSet<ServerName>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Open {
    server: ServerName,
    conn: Option<ConnId>,
    call: Option<CallId>,
}

impl Inquiries {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone(), ..Self::default() }
    }

    pub(super) fn check(
        &mut self,
        seen: &Seen<'_>,
        conns: &Conns,
        limits: &Limits,
    ) -> Result<(), Breach> {
        self.waited = self.asking().cloned().collect();
        let replied = match seen.input {
            Some(Input::Host(Request::Reply { inquiry, .. })) => Some(*inquiry),
            Some(_) | None => None,
        };
        if let Some(replied) = replied {
            self.open.remove(&replied);
        }
        for event in seen.events {
            match event {
                Event::Inquired { inquiry, server, call, what } => {
                    let new = self.newest.replace(*inquiry) < Some(*inquiry);
                    Law::ExactlyOnce.demands(new, || format!("{inquiry} is no new number"))?;
                    Law::Wire.demands(self.services.has(what.service()), || {
                        format!("{server} asks for {what}, which is not served")
                    })?;
                    let conn = seen.server(server).and_then(|server| server.conn);
                    self.waited.insert(server.clone());
                    let open = Open { server: server.clone(), conn, call: *call };
                    self.open.insert(*inquiry, open);
                }
                Event::InquiryEnded { inquiry, .. } => {
                    // What was due came before the reply.
                    let before = seen.fired && replied == Some(*inquiry);
                    let was_open = self.open.remove(inquiry).is_some();
                    Law::ExactlyOnce.demands(was_open || before, || {
                        format!("{inquiry} ended and was not open")
                    })?;
                }
                _ => {}
            }
        }
        for (inquiry, open) in &self.open {
            let hears = open.conn.is_some_and(|conn| conns.can_answer(conn));
            Law::Prompt.demands(hears, || {
                format!("{inquiry} is open and {} can hear no answer", open.server)
            })?;
            let asked = self.open.values().filter(|other| other.conn == open.conn).count();
            Law::Bounded.demands(asked <= limits.inquiries_per_server, || {
                format!("{} asks {asked} things at once", open.server)
            })?;
        }
        Ok(())
    }

    /// Those in the course of calls.
    pub(super) fn of_calls(&self) -> impl Iterator<Item = (InquiryId, CallId)> {
        self.open.iter().filter_map(|(inquiry, open)| Some((*inquiry, open.call?)))
    }

    /// Any that is open.
    pub(super) fn open(&self) -> impl Iterator<Item = InquiryId> {
        self.open.keys().copied()
    }

    /// How many a connection waits for.
    pub(super) fn count(&self, conn: ConnId) -> usize {
        self.open.values().filter(|open| open.conn == Some(conn)).count()
    }

    /// Whether a server waited for the host at any moment of this step.
    pub(super) fn has_waited(&self, server: &ServerName) -> bool {
        self.waited.contains(server)
    }

    fn asking(&self) -> impl Iterator<Item = &ServerName> {
        self.open.values().map(|open| &open.server)
    }

    /// Questions are told apart by their order alone.
    pub(super) fn digest(&self, state: &mut impl Hasher) {
        self.open.len().hash(state);
        for open in self.open.values() {
            (&open.server, open.call.is_some()).hash(state);
        }
    }
}
