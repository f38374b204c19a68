//! All calls of a runtime: one table from acceptance to the one end of each (G1, L7).
//!
//! Floor 4. A call waits for its server or is sent to it, at most once (G40). Its limit counts
//! from acceptance (G38); progress extends it up to a maximum (C-TIME-03, C-TIME-04).

mod gathering;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::CallError;
use crate::event::{Event, Outcome};
use crate::id::{CallId, ConnId, ServerName};
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};
use crate::wire::mcp::Job;

use super::policy::Policy;

use gathering::Gathering;

/// The table.
#[derive(Clone, Debug)]
pub struct Calls {
    open: BTreeMap<CallId, OpenCall>,
    due: BTreeSet<(Timestamp, CallId)>,
    /// The connections whose servers wait for the host: their calls run out by their longest time
    /// only.
    held: BTreeSet<ConnId>,
    /// The calls that are made again at some time.
    later: BTreeSet<(Timestamp, CallId)>,
    /// The highest number used: numbers only rise, so every lower one was used or skipped.
    last: Option<CallId>,
    most: usize,
    idle_ms: u64,
    most_ms: u64,
}

/// A call that has not ended.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct OpenCall {
    server: ServerName,
    place: Place,
    idle_ms: u64,
    max_ms: u64,
    due: Timestamp,
    last_due: Timestamp,
    /// It was sent once and certainly did not arrive (G40).
    again: bool,
    /// How often its server wanted to be told something.
    rounds: u32,
}

/// How long a call may take, in milliseconds, where it differs from the policy.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLimits {
    /// Without progress.
    pub timeout_ms: Option<u64>,
    /// However much progress there is.
    pub max_ms: Option<u64>,
}

/// Where a call is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Place {
    /// Here, until its server is ready.
    Waiting(Job),
    /// With its server.
    Sent(Sent),
    /// Here, until what its server wants to be told is known.
    Gathering(Gathering),
}

/// A call that is with its server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Sent {
    pub(super) conn: ConnId,
    pub(super) request: u64,
    /// What was asked, of a server on the way to which it may get lost.
    pub(super) kept: Option<Job>,
}

/// A call that waited and can be sent.
#[derive(Clone, Debug)]
pub(super) struct Ripe {
    pub(super) call: CallId,
    pub(super) job: Job,
    /// Whether it was sent before.
    pub(super) again: bool,
}

/// A request that was sent and whose answer is of no use any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Dropped {
    pub(super) conn: ConnId,
    pub(super) request: u64,
}

impl Calls {
    pub(super) const fn new(most: usize, policy: &Policy) -> Self {
        Self {
            open: BTreeMap::new(),
            due: BTreeSet::new(),
            held: BTreeSet::new(),
            later: BTreeSet::new(),
            last: None,
            most,
            idle_ms: policy.call_ms,
            most_ms: policy.call_max_ms,
        }
    }

    /// Whether this number may be used; it counts as used from here on.
    pub(super) fn admit(&mut self, call: CallId) -> bool {
        let new = self.last.is_none_or(|last| last < call);
        if new {
            self.last = Some(call);
        }
        new
    }

    /// The bound, if no further call can be opened.
    pub(super) fn full(&self) -> Option<u64> {
        (self.open.len() >= self.most).then_some(self.most as u64)
    }

    /// Opens a call that waits for its server.
    pub(super) fn wait(
        &mut self,
        now: Timestamp,
        call: CallId,
        server: &ServerName,
        limits: CallLimits,
        job: Job,
    ) {
        self.open(now, call, server, limits, Place::Waiting(job));
    }

    /// Opens a call that was sent.
    pub(super) fn sent(
        &mut self,
        now: Timestamp,
        call: CallId,
        server: &ServerName,
        limits: CallLimits,
        sent: Sent,
    ) {
        self.open(now, call, server, limits, Place::Sent(sent));
    }

    fn open(
        &mut self,
        now: Timestamp,
        call: CallId,
        server: &ServerName,
        limits: CallLimits,
        place: Place,
    ) {
        let idle_ms = limits.timeout_ms.unwrap_or(self.idle_ms);
        let max_ms = limits.max_ms.unwrap_or_else(|| self.most_ms.max(idle_ms));
        let last_due = now.plus(max_ms);
        let due = if self.is_held(&place) { last_due } else { now.plus(idle_ms).min(last_due) };
        self.due.insert((due, call));
        self.open.insert(
            call,
            OpenCall {
                server: server.clone(),
                place,
                idle_ms,
                max_ms,
                due,
                last_due,
                again: false,
                rounds: 0,
            },
        );
    }

    /// Takes the calls that wait for a server, in order of their numbers.
    pub(super) fn ripe(&self, server: &ServerName) -> Vec<Ripe> {
        let ripe = |(call, open): (&CallId, &OpenCall)| match &open.place {
            Place::Waiting(job) if open.server == *server => {
                Some(Ripe { call: *call, job: job.clone(), again: open.again })
            }
            Place::Waiting(_) | Place::Sent(_) | Place::Gathering(_) => None,
        };
        self.open.iter().filter_map(ripe).collect()
    }

    /// A call that waited was sent.
    pub(super) fn was_sent(&mut self, call: CallId, sent: Sent) {
        let place = Place::Sent(sent);
        let held = self.is_held(&place);
        if let Some(open) = self.open.get_mut(&call) {
            open.place = place;
            if held {
                self.put_off(call, |open| open.last_due);
            }
        }
    }

    /// A call did not reach its tool: it waits for its server once more, and only once (G40).
    pub(super) fn unsent(
        &mut self,
        call: CallId,
        conn: ConnId,
        error: CallError,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        if !self.is_on(call, conn) {
            return;
        }
        if self.held.contains(&conn) {
            // Whatever its server waits for, it is not on the way of this call any more.
            self.put_off(call, |open| now.plus(open.idle_ms));
        }
        if let Some(OpenCall { place, again: again @ false, .. }) = self.open.get_mut(&call)
            && let Place::Sent(Sent { kept, .. }) = place
            && let Some(job) = kept.take()
        {
            *place = Place::Waiting(job);
            *again = true;
        } else {
            self.finish(call, Outcome::Failed(error), out);
        }
    }

    /// An answer came on a connection.
    pub(super) fn answered(
        &mut self,
        call: CallId,
        conn: ConnId,
        reply: Result<Json, CallError>,
        out: &mut Outbox,
    ) {
        if self.is_on(call, conn) {
            let outcome = match reply {
                Ok(result) => Outcome::Answered(result),
                Err(error) => Outcome::Failed(error),
            };
            self.finish(call, outcome, out);
        }
    }

    /// Whether a call that is lost on its way may be made once more, because that changes nothing.
    pub(super) fn may_repeat(&self, call: CallId, conn: ConnId) -> bool {
        let open = self.open.get(&call).filter(|open| !open.again);
        open.is_some_and(|open| match &open.place {
            Place::Sent(sent) if sent.conn == conn => {
                sent.kept.as_ref().is_some_and(Job::is_harmless)
            }
            Place::Sent(_) | Place::Waiting(_) | Place::Gathering(_) => false,
        })
    }

    /// Progress came on a connection.
    pub(super) fn progressed(
        &mut self,
        call: CallId,
        conn: ConnId,
        progress: Json,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        if !self.is_on(call, conn) {
            return;
        }
        if !self.held.contains(&conn) {
            self.put_off(call, |open| now.plus(open.idle_ms));
        }
        out.event(Event::CallProgressed { call, progress });
    }

    /// The server of a connection waits for the host.
    pub(super) fn hold(&mut self, conn: ConnId) {
        if self.held.insert(conn) {
            self.put_off_on(conn, |open| open.last_due);
        }
    }

    /// It waits no more.
    pub(super) fn release(&mut self, conn: ConnId, now: Timestamp) {
        if self.held.remove(&conn) {
            self.put_off_on(conn, |open| now.plus(open.idle_ms));
        }
    }

    /// Whether a call has not ended.
    pub(super) fn is_open(&self, call: CallId) -> bool {
        self.open.contains_key(&call)
    }

    fn is_held(&self, place: &Place) -> bool {
        matches!(place, Place::Sent(sent) if self.held.contains(&sent.conn))
    }

    fn put_off_on(&mut self, conn: ConnId, due: impl Fn(&OpenCall) -> Timestamp) {
        let on = |open: &OpenCall| matches!(&open.place, Place::Sent(sent) if sent.conn == conn);
        let calls = self.open.iter().filter(|(_, open)| on(open)).map(|(call, _)| *call);
        for call in calls.collect::<Vec<_>>() {
            self.put_off(call, &due);
        }
    }

    fn put_off(&mut self, call: CallId, due: impl Fn(&OpenCall) -> Timestamp) {
        if let Some(open) = self.open.get_mut(&call) {
            self.due.remove(&(open.due, call));
            open.due = due(open).min(open.last_due);
            self.due.insert((open.due, call));
        }
    }

    /// Ends one call.
    pub(super) fn fail(&mut self, call: CallId, error: CallError, out: &mut Outbox) {
        self.finish(call, Outcome::Failed(error), out);
    }

    /// Ends every call that is under way on a connection.
    pub(super) fn fail_on(&mut self, conn: ConnId, error: &CallError, out: &mut Outbox) {
        self.fail_where(error, out, |open| open.place.conn() == Some(conn));
    }

    /// Ends every call that waits for a server.
    pub(super) fn fail_waiting(
        &mut self,
        server: &ServerName,
        error: &CallError,
        out: &mut Outbox,
    ) {
        self.fail_where(error, out, |open| {
            open.server == *server && matches!(open.place, Place::Waiting(_))
        });
    }

    /// Ends every call.
    pub(super) fn fail_all(&mut self, error: &CallError, out: &mut Outbox) {
        self.fail_where(error, out, |_| true);
    }

    fn fail_where(
        &mut self,
        error: &CallError,
        out: &mut Outbox,
        fits: impl Fn(&OpenCall) -> bool,
    ) {
        let ended: Vec<CallId> =
            self.open.iter().filter(|(_, open)| fits(open)).map(|(call, _)| *call).collect();
        for call in ended {
            self.finish(call, Outcome::Failed(error.clone()), out);
        }
    }

    /// The host gives a call up; the request to cancel, if it was sent.
    pub(super) fn abort(&mut self, call: CallId, out: &mut Outbox) -> Option<Dropped> {
        let open = self.finish(call, Outcome::Aborted, out)?;
        open.place.dropped()
    }

    /// Ends the calls whose limit is reached; the requests to cancel.
    pub(super) fn expire(&mut self, now: Timestamp, out: &mut Outbox) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        while let Some((due, call)) = self.due.first().copied()
            && due <= now
        {
            let limit_ms = match self.open.get(&call) {
                Some(open) if open.due == open.last_due => open.max_ms,
                Some(open) => open.idle_ms,
                None => 0,
            };
            let outcome = Outcome::Failed(CallError::TimedOut { limit_ms });
            match self.finish(call, outcome, out) {
                Some(open) => dropped.extend(open.place.dropped()),
                None => {
                    self.due.remove(&(due, call));
                }
            }
        }
        dropped
    }

    /// When the next call reaches its limit.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let due = self.due.first().map(|(at, _)| Deadline { at: *at, why: "call" });
        Deadline::earlier(due, self.next_round())
    }

    /// How many calls have not ended.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    fn is_on(&self, call: CallId, conn: ConnId) -> bool {
        let open = self.open.get(&call);
        open.is_some_and(|open| matches!(&open.place, Place::Sent(sent) if sent.conn == conn))
    }

    fn finish(&mut self, call: CallId, outcome: Outcome, out: &mut Outbox) -> Option<OpenCall> {
        let open = self.open.remove(&call)?;
        self.due.remove(&(open.due, call));
        if let Some(at) = open.again_at() {
            self.later.remove(&(at, call));
        }
        out.event(Event::CallFinished { call, outcome });
        Some(open)
    }

    /// The newest call there was.
    #[cfg(feature = "_explore")]
    pub(super) const fn newest(&self) -> Option<CallId> {
        self.last
    }

    /// What tells this table from another one: times relative to `now`, calls counted from the
    /// newest. What a call says is the host's and changes nothing here.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        let newest = self.last.map_or(0, CallId::number);
        self.open.len().hash(state);
        for (call, open) in &self.open {
            (newest - call.number(), &open.server, open.idle_ms, open.max_ms).hash(state);
            open.again.hash(state);
            match &open.place {
                Place::Waiting(job) => Some(&job.aim),
                Place::Sent(_) | Place::Gathering(_) => None,
            }
            .hash(state);
            open.digest_rounds(now, state);
            (open.due.since(now), open.last_due.since(now)).hash(state);
        }
    }
}

impl Place {
    /// Where its server is, if that has anything to do with it.
    const fn conn(&self) -> Option<ConnId> {
        match self {
            Self::Waiting(_) => None,
            Self::Sent(sent) => Some(sent.conn),
            Self::Gathering(gathering) => Some(gathering.conn),
        }
    }

    const fn dropped(&self) -> Option<Dropped> {
        match self {
            Self::Waiting(_) | Self::Gathering(_) => None,
            Self::Sent(sent) => Some(Dropped { conn: sent.conn, request: sent.request }),
        }
    }
}
