//! Opening and stopping servers, and heeding what they say.
//!
//! Floor 4.

use crate::command::Command;
use crate::config::Transport;
use crate::error::{CallError, Stage};
use crate::event::Event;
use crate::id::{ConnId, ServerName};
use crate::outbox::Outbox;
use crate::server::{Approach, Server, Signal, Speech};
use crate::time::Timestamp;

use super::cache::Identity;
use super::slot::{Cached, Standing};
use super::{Hub, cache};

impl Hub {
    /// Starts a wanted server that has no attempt. Nothing is ever opened once a shutdown has
    /// begun (F-013).
    pub(super) fn open(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        if self.stopping || slot.server.is_some() {
            return;
        }
        slot.standing = Standing::Wanted;
        self.touched.insert(name.clone());
        let speech = match &slot.definition().transport {
            Ok(Transport::Stdio(_)) => Speech::Lines,
            Ok(Transport::Http(_) | Transport::Auto(_)) => Speech::Http,
            Ok(Transport::Sse(_)) => Speech::Events,
            Err(message) => {
                let message = message.clone();
                slot.set_invalid(&message);
                return self.fail_waiting(name, out);
            }
        };
        let conn = ConnId::new(self.next_conn.next());
        self.by_conn.insert(conn, name.clone());
        let approach = Approach {
            speech,
            protocol: slot.definition().protocol.unwrap_or(self.options.policy.protocol),
            remembered: slot.era,
            timeout_ms: slot.attempt_ms(),
        };
        slot.failure = None;
        let server = Server::new(name, conn, approach, &self.options.setting, now);
        let alarm = server.deadline();
        slot.server = Some(server);
        self.set_alarm(conn, None, alarm);
        self.resolve(name, now, out);
    }

    /// Makes a server run that does not, somebody having asked or its time having come. G5: the
    /// new attempt waits until the old one is gone.
    pub(super) fn bring_up(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        self.want(name);
        self.open_wanted(name, now, out);
    }

    /// A server is to run from here on.
    pub(super) fn want(&mut self, name: &ServerName) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let runs = slot.server.is_some();
        slot.standing = if runs { Standing::Again } else { Standing::Wanted };
        slot.let_go = None;
        self.touched.insert(name.clone());
    }

    /// Starts a server if it is to run and nothing is in its way.
    pub(super) fn open_wanted(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        if self.slots.get(name).is_some_and(|slot| slot.standing == Standing::Wanted) {
            self.open(name, now, out);
        }
    }

    /// Stops the attempt of a server, if it has one; calls under way on it end at once (G4).
    pub(super) fn stop(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        self.touched.insert(name.clone());
        if let Some(server) = &mut slot.server {
            let (conn, before) = (server.conn(), server.deadline());
            server.stop(now, out);
            let (after, never_ran) = (server.deadline(), server.is_gone());
            self.set_alarm(conn, before, after);
            self.lose(conn, now, out);
            if never_ran {
                self.gone(name, conn, now, out);
            }
        }
    }

    /// Ends whatever is under way on a connection (L8).
    fn lose(&mut self, conn: ConnId, now: Timestamp, out: &mut Outbox) {
        self.end_inquiries_on(conn, now, out);
        self.calls.fail_on(conn, &CallError::Closed, out);
    }

    /// Ends the calls that wait for a server nobody is waiting for any more (L8).
    pub(super) fn fail_waiting(&mut self, name: &ServerName, out: &mut Outbox) {
        let reason = self.why_not_connected(name);
        let error = CallError::NotConnected { server: name.clone(), reason };
        self.calls.fail_waiting(name, &error, out);
    }

    /// Heeds one signal of an attempt.
    pub(super) fn heed(
        &mut self,
        name: &ServerName,
        conn: ConnId,
        signal: Signal,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        match signal {
            Signal::Answered { call, reply: Err(error) }
                if error.is_lost() && self.calls.may_repeat(call, conn) =>
            {
                self.calls.unsent(call, conn, error, now, out);
                self.resume(name, now, out);
            }
            Signal::Answered { call, reply } => self.calls.answered(call, conn, reply, out),
            Signal::Wants { call, result } => self.wants(name, conn, call, &result, now, out),
            Signal::Unsent { call, error } => self.calls.unsent(call, conn, error, now, out),
            Signal::Resumed => self.resume(name, now, out),
            Signal::Progressed { call, progress } => {
                self.calls.progressed(call, conn, progress, now, out);
            }
            Signal::Inquired { id, inquiry, call } => {
                self.inquired(name, conn, id, inquiry, call, out);
            }
            Signal::Withdrawn(id) => self.withdrawn(conn, &id, now, out),
            Signal::Logged(message) => {
                out.event(Event::Logged { server: name.clone(), message });
            }
            Signal::Found(problem) => self.found(problem, out),
            Signal::Greeted => {
                self.touched.insert(name.clone());
                if let Some(slot) = self.slots.get_mut(name) {
                    slot.era = slot.server.as_ref().and_then(Server::era);
                }
            }
            Signal::Again(era) => {
                if let Some(slot) = self.slots.get_mut(name)
                    && slot.standing == Standing::Wanted
                {
                    (slot.standing, slot.era) = (Standing::Again, Some(era));
                }
            }
            Signal::Ready => self.ready(name, now, out),
            Signal::ToolsListed => self.tools_listed(name, out),
            Signal::ResourcesListed | Signal::PromptsListed => {
                self.touched.insert(name.clone());
            }
            Signal::Updated(uri) => {
                out.event(Event::ResourceUpdated { server: name.clone(), uri });
            }
            Signal::Notified { method, params } => {
                out.event(Event::Notified { server: name.clone(), method, params });
            }
            Signal::Deaf => {
                self.touched.insert(name.clone());
                self.lose(conn, now, out);
            }
            Signal::Failed => self.failed(name, now, out),
            Signal::Gone => self.gone(name, conn, now, out),
        }
    }

    fn ready(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        if slot.server.as_ref().is_none_or(|server| server.tools().is_none()) {
            // Its last words were its list: it was lost before anything could be made of it.
            return;
        }
        // A live list takes the place of a cached one, also of one that is still being read.
        slot.cached = Cached::Unknown;
        slot.losses.note_ready(now);
        self.tools_listed(name, out);
        self.send_waiting(name, now, out);
        self.load_extras(name, now, out);
    }

    /// A list of tools came: it is offered and stored.
    fn tools_listed(&mut self, name: &ServerName, out: &mut Outbox) {
        let has_cache = self.has_cache();
        let Some(slot) = self.slots.get_mut(name) else { return };
        let Some(tools) = slot.server.as_ref().and_then(Server::tools).cloned() else { return };
        self.touched.insert(name.clone());
        if has_cache {
            let Identity { fingerprint, key } = slot.identity(&self.options.setting.cwd);
            let content = cache::encode(name, fingerprint, &tools).into_bytes().into();
            out.command(Command::WriteCache { key, content });
        }
        slot.live = Some(tools);
    }

    fn failed(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        self.touched.insert(name.clone());
        slot.failure = slot.server.as_ref().and_then(|server| server.failure().cloned());
        let stage = slot.failure.as_ref().map(|failure| failure.stage);
        if matches!(stage, Some(Stage::Initialize | Stage::Discover)) {
            // What was remembered did not help.
            slot.era = None;
        }
        self.recover(name, now);
        if self.slots.get(name).is_some_and(|slot| !slot.is_connecting()) {
            self.fail_waiting(name, out);
        }
    }

    pub(super) fn gone(
        &mut self,
        name: &ServerName,
        conn: ConnId,
        now: Timestamp,
        out: &mut Outbox,
    ) {
        self.by_conn.remove(&conn);
        self.stop_resolving(name);
        let Some(slot) = self.slots.get_mut(name) else { return };
        self.touched.insert(name.clone());
        slot.server = None;
        match slot.standing {
            Standing::Removed => {
                self.forget(name);
            }
            Standing::Again => self.open(name, now, out),
            Standing::Wanted
            | Standing::Later(_)
            | Standing::Suspended
            | Standing::Off(_)
            | Standing::Disconnected => {}
        }
    }
}
