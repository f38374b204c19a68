//! Accepting calls: each is sent, waits for its server, or ends at once.
//!
//! Floor 4. The table of open calls is in [`calls`](super::calls).

use alloc::string::String;

use crate::bytes::Json;
use crate::config::ToolFilter;
use crate::error::CallError;
use crate::event::{Event, Outcome};
use crate::id::{CallId, ServerName};
use crate::outbox::Outbox;
use crate::server::Server;
use crate::time::Timestamp;
use crate::wire::json::{self, Kind};
use crate::wire::mcp::{Aim, Job};

use super::Hub;
use super::calls::{CallLimits, Dropped, Ripe, Sent};
use super::slot::Standing;

impl Hub {
    /// Accepts a call: sends it, lets it wait for its server, or ends it at once.
    pub fn call(
        &mut self,
        now: Timestamp,
        call: CallId,
        target: Result<(ServerName, Aim), CallError>,
        arguments: Json,
        limits: CallLimits,
        out: &mut Outbox,
    ) {
        if !self.calls.admit(call) {
            return out.event(Event::CallRefused { call });
        }
        let accepted = target.and_then(|(server, aim)| {
            let arguments = self.check_call(arguments)?;
            self.place_call(now, call, &server, Job { aim, arguments, round: None }, limits, out)
        });
        if let Err(error) = accepted {
            out.event(Event::CallFinished { call, outcome: Outcome::Failed(error) });
        }
    }

    fn check_call(&self, arguments: Json) -> Result<Json, CallError> {
        if self.stopping {
            return Err(CallError::ShuttingDown);
        }
        if let Some(limit) = self.calls.full() {
            return Err(CallError::TooManyCalls { limit });
        }
        match json::check(arguments.as_str(), self.options.setting.limits.nesting) {
            Ok(Kind::Object) => Ok(one_line(arguments)),
            Ok(kind) => Err(CallError::BadArguments { message: alloc::format!("they are {kind}") }),
            Err(error) => Err(CallError::BadArguments { message: alloc::format!("{error}") }),
        }
    }

    fn place_call(
        &mut self,
        now: Timestamp,
        call: CallId,
        name: &ServerName,
        mut job: Job,
        limits: CallLimits,
        out: &mut Outbox,
    ) -> Result<(), CallError> {
        let Some(slot) = self.slots.get_mut(name).filter(|s| s.standing != Standing::Removed)
        else {
            return Err(CallError::UnknownServer { server: name.clone() });
        };
        wants(&slot.definition().tools, name, &job.aim)?;
        let timeout_ms = limits.timeout_ms.or_else(|| slot.definition().timeout_ms);
        let limits = CallLimits { timeout_ms, ..limits };
        if slot.is_connecting() {
            self.calls.wait(now, call, name, limits, job);
            return Ok(());
        }
        let ready = slot.is_connected();
        let Some(server) = slot.server.as_mut().filter(|_| ready) else {
            let reason = self.why_not_connected(name);
            return Err(CallError::NotConnected { server: name.clone(), reason });
        };
        server.offers(&job.aim)?;
        let conn = server.conn();
        // What may be lost on its way is kept, to be sent once more.
        let keeps = server.may_miss_calls();
        if keeps {
            job.arguments = job.arguments.shareable();
        }
        if let Some(request) = server.call(now, call, &job, false, out) {
            let kept = keeps.then_some(job);
            self.calls.sent(now, call, name, limits, Sent { conn, request, kept });
        }
        Ok(())
    }

    /// What did not reach its tool may be sent again, if its server is ready.
    pub(super) fn resume(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name).filter(|slot| slot.is_connected()) else {
            return;
        };
        let Some(server) = &slot.server else { return };
        let (conn, before) = (server.conn(), server.deadline());
        self.send_waiting(name, now, out);
        let server = self.slots.get(name).and_then(|slot| slot.server.as_ref());
        let after = server.and_then(Server::deadline);
        self.set_alarm(conn, before, after);
    }

    /// Sends the calls that waited for a server; a tool that is gone answers so.
    pub(super) fn send_waiting(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let filter = slot.definition().tools.clone();
        let Some(server) = slot.server.as_mut() else { return };
        let conn = server.conn();
        for Ripe { call, job, again } in self.calls.ripe(name) {
            let can = wants(&filter, name, &job.aim).and_then(|()| server.offers(&job.aim));
            let request = can
                .and_then(|()| server.call(now, call, &job, again, out).ok_or(CallError::Closed));
            match request {
                Ok(request) => {
                    let kept = server.may_miss_calls().then_some(job);
                    self.calls.was_sent(call, Sent { conn, request, kept });
                }
                Err(error) => self.calls.fail(call, error, out),
            }
        }
    }

    /// Gives a call up.
    pub fn cancel(&mut self, now: Timestamp, call: CallId, out: &mut Outbox) {
        if let Some(dropped) = self.calls.abort(call, out) {
            self.tell_cancelled(now, dropped, "the host cancelled the call", out);
        }
    }

    pub(super) fn tell_cancelled(
        &mut self,
        now: Timestamp,
        dropped: Dropped,
        reason: &str,
        out: &mut Outbox,
    ) {
        let Some(name) = self.by_conn.get(&dropped.conn) else { return };
        if let Some(server) = self.slots.get_mut(name).and_then(|slot| slot.server.as_mut()) {
            let (conn, before) = (server.conn(), server.deadline());
            server.cancel(now, dropped.request, reason, out);
            let after = server.deadline();
            self.set_alarm(conn, before, after);
        }
    }
}

/// The definition of a server may leave tools out.
fn wants(filter: &ToolFilter, server: &ServerName, aim: &Aim) -> Result<(), CallError> {
    match aim {
        Aim::Tool(tool) if !filter.wants(tool) => {
            Err(CallError::ExcludedTool { server: server.clone(), tool: tool.clone() })
        }
        Aim::Tool(_) | Aim::Resource(_) | Aim::Prompt(_) | Aim::Completion(_) => Ok(()),
    }
}

/// The wire has one message a line, and JSON has no line ends but as white space.
fn one_line(value: Json) -> Json {
    if json::line_end(value.as_str()).is_none() {
        return value;
    }
    let mut line = String::with_capacity(value.as_str().len());
    json::push_value(&mut line, value.as_str());
    Json::new(line)
}
