//! Calls whose servers want to be told something before they answer.
//!
//! Floor 4. Such a call is with nobody: its server has answered, and hears of it again under
//! another number once everything is known (C-MRTR-06).

use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::id::{CallId, ConnId, ServerName};
use crate::time::{Deadline, Timestamp};
use crate::wire::json;
use crate::wire::mcp::{Aim, Job, Round};

use super::{Calls, OpenCall, Place, Sent};

/// How long to wait before a server that asks for nothing is asked again, in milliseconds; twice
/// as long each time (C-MRTR-03).
const AGAIN_MS: u64 = 500;
const AGAIN_MS_MAX: u64 = 8_000;

/// What is known of what a server wants to be told.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(in crate::hub) struct Gathering {
    pub(in crate::hub) conn: ConnId,
    /// What was asked.
    job: Job,
    /// By the server's keys, in its order (C-MRTR-14).
    answers: Vec<(String, Option<String>)>,
    state: Option<Json>,
    /// When to ask again, if nothing is wanted but that.
    until: Option<Timestamp>,
}

impl Gathering {
    /// The call is made again: the same parameters, and what the server wants (C-MRTR-06).
    fn job(self) -> Job {
        let mut responses = String::from("{");
        for (key, answer) in &self.answers {
            if responses.len() > 1 {
                responses.push(',');
            }
            json::push_quoted(&mut responses, key);
            responses.push(':');
            responses.push_str(answer.as_deref().unwrap_or("{}"));
        }
        responses.push('}');
        let responses = (!self.answers.is_empty()).then_some(responses);
        Job { round: Some(Round { responses, state: self.state }), ..self.job }
    }
}

impl Calls {
    /// A server wants to be told something before it answers a call: whose call it is, and how
    /// often it wanted that, this time included.
    pub(in crate::hub) fn round(&mut self, call: CallId, conn: ConnId) -> Option<(Aim, u32)> {
        if !self.is_on(call, conn) {
            return None;
        }
        let open = self.open.get_mut(&call)?;
        open.rounds = open.rounds.saturating_add(1);
        let Place::Sent(Sent { kept: Some(job), .. }) = &open.place else { return None };
        Some((job.aim.clone(), open.rounds))
    }

    /// Waits for what a server wants to be told, of which some is known. Only its longest time
    /// ends the call meanwhile (C-MRTR-08).
    pub(in crate::hub) fn gather(
        &mut self,
        now: Timestamp,
        call: CallId,
        answers: Vec<(String, Option<String>)>,
        state: Option<Json>,
    ) {
        let Some(open) = self.open.get_mut(&call) else { return };
        let Place::Sent(Sent { conn, kept, .. }) = &mut open.place else { return };
        let (conn, Some(job)) = (*conn, kept.take()) else { return };
        let until = answers.is_empty().then(|| {
            let doubled_ms = AGAIN_MS << (open.rounds.saturating_sub(1)).min(8);
            now.plus(doubled_ms.min(AGAIN_MS_MAX))
        });
        open.place = Place::Gathering(Gathering { conn, job, answers, state, until });
        self.later.extend(until.map(|until| (until, call)));
        self.put_off(call, |open| open.last_due);
    }

    /// One thing that a server wants to be told is known.
    pub(in crate::hub) fn told(&mut self, call: CallId, at: usize, answer: String) {
        if let Some(OpenCall { place: Place::Gathering(gathering), .. }) = self.open.get_mut(&call)
            && let Some((_, place)) = gathering.answers.get_mut(at)
        {
            *place = Some(answer);
        }
    }

    /// Takes a call that can be made again: on which connection, and what is asked.
    pub(in crate::hub) fn take_told(
        &mut self,
        now: Timestamp,
        call: CallId,
    ) -> Option<(ServerName, ConnId, Job)> {
        let open = self.open.get(&call)?;
        let Place::Gathering(gathering) = &open.place else { return None };
        let known = gathering.answers.iter().all(|(_, answer)| answer.is_some());
        if !known || gathering.until.is_some_and(|until| until > now) {
            return None;
        }
        let (conn, until, job) = (gathering.conn, gathering.until, gathering.clone().job());
        if let Some(until) = until {
            self.later.remove(&(until, call));
        }
        Some((open.server.clone(), conn, job))
    }

    /// A call was made again: its clock runs from here on.
    pub(in crate::hub) fn was_sent_again(&mut self, now: Timestamp, call: CallId, sent: Sent) {
        if !self.held.contains(&sent.conn) {
            self.put_off(call, |open| now.plus(open.idle_ms));
        }
        self.was_sent(call, sent);
    }

    /// The calls whose servers want to be asked again and have waited long enough.
    pub(in crate::hub) fn due_rounds(&self, now: Timestamp) -> Vec<CallId> {
        let due = self.later.iter().take_while(|(until, _)| *until <= now);
        due.map(|(_, call)| *call).collect()
    }

    pub(super) fn next_round(&self) -> Option<Deadline> {
        self.later.first().map(|(at, _)| Deadline { at: *at, why: "round" })
    }
}

impl OpenCall {
    /// When it is to be made again, if its server only wants that.
    pub(super) const fn again_at(&self) -> Option<Timestamp> {
        match &self.place {
            Place::Gathering(gathering) => gathering.until,
            Place::Sent(_) | Place::Waiting(_) => None,
        }
    }

    /// Feeds what is gathered to a hasher, times relative to `now`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest_rounds(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.rounds.hash(state);
        if let Place::Gathering(gathering) = &self.place {
            (&gathering.job.aim, &gathering.answers, &gathering.state).hash(state);
            gathering.until.map(|until| until.since(now)).hash(state);
        }
    }
}
