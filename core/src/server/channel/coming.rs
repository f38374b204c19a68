//! What comes in over HTTP: heads, parts of bodies, and time.
//!
//! Floor 3. What the end of an exchange leads to is in [`ending`](super::ending).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::error::HttpFailure;
use crate::id::ExchangeId;
use crate::input::HttpHead;
use crate::wire::http::{Answer, Content, read};
use crate::wire::lines::Frame;
use crate::wire::sse::{Event, Events, Name};

use super::exchange::{Exchange, Role, Stage, later};
use super::http::{Http, Way, due};
use super::{Came, Kind, Step};

impl Http {
    /// A server began to answer.
    pub(crate) fn head(
        &mut self,
        id: ExchangeId,
        head: &HttpHead,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let Some(exchange) = self.exchanges.get(&id) else { return Vec::new() };
        if !matches!(exchange.stage, Stage::Asked { .. }) {
            return Vec::new();
        }
        match (&exchange.role, read(head)) {
            (Role::Goodbye, _) => Vec::new(),
            (_, Answer::Moved { to }) => self.moved(id, to, head.status == 308, step),
            (Role::Post { kind, .. }, answer) => self.post_answered(id, *kind, answer, head, step),
            (Role::Listen { .. } | Role::Resume { .. } | Role::Stream, answer) => {
                self.stream_answered(id, answer, head, step)
            }
        }
    }

    fn post_answered(
        &mut self,
        id: ExchangeId,
        kind: Kind,
        answer: Answer,
        head: &HttpHead,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let (begins, done) =
            (matches!(kind, Kind::Initialize(_)), matches!(answer, Answer::Done(_)));
        if begins {
            self.session = done && head.session && self.way == Way::Streamable;
        } else if head.status == 404 && self.session {
            return self.session_lost(id, step);
        }
        if let Answer::Busy { retry_after_ms } = answer
            && !matches!(kind, Kind::Call(..))
            && self.repeat(id, retry_after_ms, step)
        {
            return Vec::new();
        }
        if kind == Kind::Initialized {
            self.release(step);
        }
        // C-VER-16: a server in trouble says nothing of its era, and is asked once more.
        let probes = matches!(kind, Kind::Discover(_));
        let troubled = matches!(head.status, 408 | 500 | 502 | 504..=599);
        let fresh = self.exchanges.get(&id).is_some_and(|exchange| exchange.thread.failed == 0);
        if probes && troubled && fresh && self.repeat(id, None, step) {
            return Vec::new();
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else { return Vec::new() };
        let content = match answer {
            Answer::Done(content) => content,
            Answer::Moved { .. } | Answer::Busy { .. } | Answer::Refused => {
                if (300..=399).contains(&head.status) {
                    return self.fail(id, elsewhere(head), false, step);
                }
                Content::Other(None)
            }
        };
        if let (true, Role::Post { text, .. }) = (done, &mut exchange.role) {
            *text = Vec::new().into();
        }
        exchange.stage = if content == Content::Events {
            let events = Box::new(Events::new(step.setting.limits.message_bytes));
            let until = probes.then(|| step.now.plus(self.patience.probe_ms));
            Stage::Events { events, until, answered: kind.request().is_none() }
        } else {
            let until = step.now.plus(step.setting.limits.http_idle_ms);
            Stage::Text { status: head.status, content, bytes: Vec::new(), until }
        };
        self.linger(step);
        Vec::new()
    }

    fn stream_answered(
        &mut self,
        id: ExchangeId,
        answer: Answer,
        head: &HttpHead,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return Vec::new() };
        if answer == Answer::Done(Content::Events) {
            if let Role::Listen { opened } = &mut exchange.role {
                *opened = true;
            }
            (exchange.thread.failed, exchange.thread.waited_ms) = (0, 0);
            let events = Box::new(Events::new(step.setting.limits.message_bytes));
            exchange.stage = Stage::Events { events, until: exchange.until(), answered: false };
            return Vec::new();
        }
        let again = match head.status {
            // It was asked for with the end of the handshake, and some know no session before.
            400 => exchange.role == Role::Listen { opened: false } && exchange.thread.failed == 0,
            status => status != 501 && (500..=599).contains(&status),
        };
        // A stream that there was once can only be gone with its session.
        let known = match &exchange.role {
            Role::Listen { opened } => *opened,
            Role::Resume { .. } => true,
            Role::Post { .. } | Role::Stream | Role::Goodbye => false,
        };
        if known && head.status == 404 && self.session {
            return self.session_lost(id, step);
        }
        let failure = match answer {
            Answer::Busy { retry_after_ms } if self.repeat(id, retry_after_ms, step) => {
                return Vec::new();
            }
            Answer::Refused if again && self.repeat(id, None, step) => return Vec::new(),
            Answer::Done(Content::Other(found)) => {
                HttpFailure::ContentType { found: found.unwrap_or_default() }
            }
            Answer::Done(_) => HttpFailure::ContentType { found: "application/json".into() },
            Answer::Refused if (300..=399).contains(&head.status) => elsewhere(head),
            Answer::Moved { .. } | Answer::Busy { .. } | Answer::Refused => {
                HttpFailure::status(head.status, "")
            }
        };
        self.fail(id, failure, false, step)
    }

    /// C-HTTP-07, F-074: follows as often as is allowed; where it leads to, the driver looks at.
    /// Who moved for good is asked there from then on.
    fn moved(
        &mut self,
        id: ExchangeId,
        to: String,
        for_good: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let limit = step.setting.limits.http_redirects;
        let hops = self.exchanges.get(&id).map_or(0, |exchange| exchange.hops.len());
        if hops >= limit {
            let failure = HttpFailure::TooManyRedirects { limit: limit as u64 };
            return self.fail(id, failure, false, step);
        }
        if let Some(mut exchange) = self.abort(id, step) {
            if for_good && !self.is_older() && exchange.hops == self.moved {
                self.moved.push(to.clone());
            }
            exchange.hops.push(to);
            self.schedule(exchange, step.now, step);
        }
        Vec::new()
    }

    /// Asks again later, unless it was asked too often in a row or would have to wait too long.
    fn repeat(&mut self, id: ExchangeId, wait_ms: Option<u64>, step: &mut Step<'_>) -> bool {
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let failed = exchange.thread.failed;
        let until = later(step.now, wait_ms, failed);
        let wait_ms = until.since(step.now);
        let waited_ms = exchange.thread.waited_ms.saturating_add(wait_ms);
        // Whoever waits for it longer than a server may take to start hears why it failed too late.
        let waits_ms = if exchange.request().is_some() { waited_ms } else { wait_ms };
        if failed >= step.setting.limits.http_repeats || waits_ms > self.patience.start_ms {
            return false;
        }
        if let Some(mut exchange) = self.abort(id, step) {
            exchange.thread.failed += 1;
            exchange.thread.waited_ms = waited_ms;
            self.schedule(exchange, until, step);
        }
        true
    }

    /// C-LHTTP-03: what the server refused for that reason it did not do.
    fn session_lost(&mut self, id: ExchangeId, step: &mut Step<'_>) -> Vec<Came> {
        self.session = false;
        let mut came = self.fail(id, HttpFailure::SessionLost, true, step);
        came.push(Came::Broken(HttpFailure::SessionLost));
        came
    }

    /// A part of an answer came. Takes from `bytes` what holds one message, or all of it.
    pub(crate) fn body(
        &mut self,
        id: ExchangeId,
        bytes: &mut &[u8],
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            *bytes = &[];
            return Vec::new();
        };
        let request = exchange.request();
        let Stage::Events { events, until, .. } = &mut exchange.stage else {
            return self.text(id, core::mem::take(bytes), step);
        };
        loop {
            let mut pushed = events.push(bytes);
            let event = pushed.next();
            let left = pushed.left();
            *bytes = bytes.get(bytes.len() - left..).unwrap_or_default();
            exchange.thread.follow(events);
            let Some(Event { name, data }) = event else { return Vec::new() };
            exchange.thread.brought();
            match (name, &mut self.way, data) {
                (Name::Message, _, frame) => {
                    return vec![Came::Message { frame, by: id, request }];
                }
                (Name::Endpoint, Way::Events { endpoint, .. }, Frame::Line(text))
                    if exchange.role == Role::Stream && endpoint.is_none() =>
                {
                    *endpoint = Some(text.trim().into());
                    *until = None;
                    self.release(step);
                    return Vec::new();
                }
                (Name::Endpoint | Name::Other, _, _) => {}
            }
        }
    }

    fn text(&mut self, id: ExchangeId, more: &[u8], step: &mut Step<'_>) -> Vec<Came> {
        let limits = &step.setting.limits;
        let Some(exchange) = self.exchanges.get_mut(&id) else { return Vec::new() };
        let request = exchange.request();
        let Stage::Text { status, bytes, until, .. } = &mut exchange.stage else {
            return Vec::new();
        };
        if request.is_some() {
            *until = step.now.plus(limits.http_idle_ms);
        }
        let done = is_done(*status);
        let beside = self.way.answers_beside();
        let bytes_max = if done { limits.message_bytes } else { limits.http_refusal_bytes };
        let room = bytes_max.saturating_sub(bytes.len());
        if more.len() <= room {
            bytes.extend_from_slice(more);
            return Vec::new();
        }
        if done && !beside {
            bytes.extend(more.iter().take(room));
            let frame = Frame::oversized(bytes, bytes_max);
            self.abort(id, step);
            let mut came = vec![Came::Message { frame, by: id, request }];
            let failure = HttpFailure::NoAnswer;
            came.extend(request.map(|request| Came::Over { request, failure, unsent: false }));
            return came;
        }
        bytes.extend(more.iter().take(room));
        let Some(exchange) = self.abort(id, step) else { return Vec::new() };
        self.ended_in(id, exchange, Ok(()), false, step)
    }

    /// Lets time pass.
    pub(crate) fn fire(&mut self, step: &mut Step<'_>) -> Vec<Came> {
        let limits = &step.setting.limits;
        let (head_ms, idle_ms) = (limits.http_head_ms, limits.http_idle_ms);
        let endpoint_ms = limits.http_endpoint_ms;
        let mut came = Vec::new();
        for id in due(&self.exchanges, step.now) {
            let failure = match self.exchanges.get(&id) {
                Some(Exchange { stage: Stage::Waiting { .. }, .. }) => {
                    self.order(id, step);
                    continue;
                }
                Some(Exchange { role: Role::Stream, .. }) => {
                    HttpFailure::NoEndpoint { limit_ms: endpoint_ms }
                }
                Some(Exchange { stage: Stage::Text { status, .. }, .. })
                    if !is_done(*status) || self.way.answers_beside() =>
                {
                    let Some(exchange) = self.abort(id, step) else { continue };
                    came.extend(self.ended_in(id, exchange, Ok(()), false, step));
                    continue;
                }
                Some(Exchange { stage: Stage::Text { .. }, .. }) => {
                    HttpFailure::Stalled { limit_ms: idle_ms }
                }
                Some(_) => HttpFailure::NoHead { limit_ms: head_ms },
                None => continue,
            };
            came.extend(self.fail(id, failure, false, step));
        }
        came
    }
}

pub(super) const fn is_done(status: u16) -> bool {
    matches!(status, 200..=299)
}

fn elsewhere(head: &HttpHead) -> HttpFailure {
    let location = head.header("location").unwrap_or_default().into();
    HttpFailure::Elsewhere { status: head.status, location }
}
