//! What a server wants to be told before it answers a call, where there is no handshake.
//!
//! Floor 4. The host is asked as it is where servers ask by themselves; once everything is known
//! the call is made again, with the answers and what the server wants to be reminded of
//! (C-MRTR-02). So often, and no longer than the call may take in all.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::CallError;
use crate::id::{CallId, ConnId, ServerName};
use crate::inquiry::{Inquiry, Refusal, Reply, Service};
use crate::outbox::Outbox;
use crate::time::Timestamp;
use crate::wire::dialect::Revision;
use crate::wire::json::{self, Kind, NESTING_MAX};
use crate::wire::mcp::{self, Aim, Wish};

use super::Hub;
use super::calls::Sent;

/// What a person said who was not there.
const CANCEL: &str = "{\"action\":\"cancel\"}";
const DECLINE: &str = "{\"action\":\"decline\"}";

impl Hub {
    /// A server wants to be told something before it answers.
    pub(super) fn wants(
        &mut self,
        server: &ServerName,
        conn: ConnId,
        call: CallId,
        result: &Json,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        match self.gather(server, conn, call, result, now, out) {
            Ok(()) => self.make_again(call, now, out),
            Err(error) => self.calls.answered(call, conn, Err(error), out),
        }
    }

    fn gather(
        &mut self,
        server: &ServerName,
        conn: ConnId,
        call: CallId,
        result: &Json,
        now: Timestamp,
        out: &mut Outbox,
    ) -> Result<(), CallError> {
        let Some((aim, rounds)) = self.calls.round(call, conn) else { return Ok(()) };
        let shape = |message: String| CallError::Shape { message };
        if let Aim::Completion(_) = aim {
            return Err(shape("it wants to be told something, which it may not here".into()));
        }
        let wanted = mcp::read_input_required(result.as_str()).map_err(|it| shape(it.message))?;
        let limits = &self.options.setting.limits;
        if rounds > limits.rounds {
            return Err(CallError::TooManyRounds { limit: limits.rounds.into() });
        }
        let mut answers = Vec::new();
        let mut inquiries = Vec::new();
        for (at, Wish { key, method, params }) in wanted.wishes.into_iter().enumerate() {
            if method == mcp::ROOTS_LIST {
                answers.push((key, Some(mcp::roots_result(&self.options.setting.cwd))));
            } else {
                inquiries.push((at, self.readable(&method, params)?));
                answers.push((key, None));
            }
        }
        let limit = limits.inquiries_per_server;
        if self.inquiries_on(conn) + inquiries.len() > limit {
            return Err(unanswerable(format!("it asks for more than {limit} things at once")));
        }
        self.calls.gather(now, call, answers, wanted.state);
        for (at, what) in inquiries {
            self.inquired_in_round(server, (conn, call, at), what, out);
        }
        Ok(())
    }

    /// C-MRTR-10: what was not declared cannot be asked.
    fn readable(&self, method: &str, params: Option<Json>) -> Result<Inquiry, CallError> {
        let services = &self.options.setting.services;
        let declared = |service| mcp::declares(Revision::LATEST, services, service);
        let read = mcp::read_inquiry(method, params, declared);
        read.map_err(|error| unanswerable(error.quoted().message))
    }

    /// The host answered one thing that a server wants to be told.
    pub(super) fn round_answered(
        &mut self,
        (call, at): (CallId, usize),
        service: Service,
        reply: &Reply,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        match answer(service, reply) {
            Ok(answer) => {
                self.calls.told(call, at, answer);
                self.make_again(call, now, out);
            }
            // C-MRTR-09: there is no way to say no.
            Err(message) => self.calls.fail(call, unanswerable(message), out),
        }
    }

    /// Makes a call again if all is known that its server wants to be told.
    fn make_again(&mut self, call: CallId, now: Timestamp, out: &mut Outbox) {
        let Some((_, conn, job)) = self.calls.take_told(now, call) else { return };
        let mut request = None;
        self.with_server(conn, now, out, |server, out| {
            request = server.call(now, call, &job, false, out);
            Vec::new()
        });
        match request {
            Some(request) => {
                let sent = Sent { conn, request, kept: Some(job) };
                self.calls.was_sent_again(now, call, sent);
            }
            None => self.calls.fail(call, CallError::Closed, out),
        }
    }

    /// Makes the calls again whose servers want to be asked later, if it is.
    pub(super) fn make_due_again(&mut self, now: Timestamp, out: &mut Outbox) {
        for call in self.calls.due_rounds(now) {
            self.make_again(call, now, out);
        }
    }
}

/// What a server is told; why it cannot be told anything if that is so.
fn answer(service: Service, reply: &Reply) -> Result<String, String> {
    let person = matches!(service, Service::ElicitationForm | Service::ElicitationUrl);
    match reply {
        Reply::Done(done) if json::check(done.as_str(), NESTING_MAX) == Ok(Kind::Object) => {
            Ok(done.as_str().into())
        }
        Reply::Refused(Refusal::Declined) if person => Ok(DECLINE.into()),
        Reply::Done(_) | Reply::Refused(_) if person => Ok(CANCEL.into()),
        Reply::Done(_) => Err("the host's answer is not a JSON object".into()),
        Reply::Refused(Refusal::Declined) => Err("the host declined".into()),
        Reply::Refused(Refusal::Failed { message }) => Err(message.clone()),
    }
}

fn unanswerable(message: String) -> CallError {
    CallError::Unanswerable { message }
}
