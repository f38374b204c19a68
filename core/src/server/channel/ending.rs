//! What follows from the end of an exchange.
//!
//! Floor 3. Each ends in one of few ways, and each of those ends exactly the request it was for,
//! if it was for one.

use alloc::vec;
use alloc::vec::Vec;

use crate::error::{ExchangeError, ExchangeFault, HttpFailure, Sent};
use crate::id::ExchangeId;
use crate::wire::http::Content;
use crate::wire::lines::Frame;

use super::coming::is_done;
use super::exchange::{Exchange, Role, Stage, later};
use super::http::{Http, Way};
use super::{Came, Kind, Step};

impl Http {
    /// An exchange is over; `open`: the request it was for still waits for its answer.
    pub(crate) fn ended(
        &mut self,
        id: ExchangeId,
        end: Result<(), ExchangeError>,
        open: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let ordered = self.exchanges.get(&id).is_some_and(Exchange::is_ordered);
        let Some(exchange) = ordered.then(|| self.exchanges.remove(&id)).flatten() else {
            return Vec::new();
        };
        self.ended_in(id, exchange, end, open, step)
    }

    pub(super) fn ended_in(
        &mut self,
        id: ExchangeId,
        mut exchange: Exchange,
        end: Result<(), ExchangeError>,
        open: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let stage = core::mem::replace(&mut exchange.stage, Stage::Asked { until: None });
        match (stage, end) {
            (Stage::Text { status, content, bytes, .. }, Ok(())) if is_done(status) => {
                self.done(id, &exchange, &content, bytes)
            }
            (Stage::Text { status, bytes, .. }, end) if end.is_ok() || !is_done(status) => {
                self.refused(id, exchange, status, bytes, step)
            }
            (Stage::Events { .. }, end) => self.stream_ended(exchange, end, open, step),
            (Stage::Asked { .. }, Err(error)) => self.unanswered(exchange, error, step),
            (Stage::Text { .. }, Err(_)) if self.way.answers_beside() => Vec::new(),
            (Stage::Text { .. }, Err(error)) => {
                self.failed(exchange, HttpFailure::Exchange(error), false, step)
            }
            (Stage::Text { .. } | Stage::Asked { .. } | Stage::Waiting { .. }, Ok(())) => {
                self.failed(exchange, HttpFailure::NoAnswer, false, step)
            }
            (Stage::Waiting { .. }, Err(_)) => Vec::new(),
        }
    }

    /// A stream ended. With it the request that it was for, unless the rest can be had; or what
    /// the server says by itself comes by the next one (G47).
    fn stream_ended(
        &mut self,
        mut exchange: Exchange,
        end: Result<(), ExchangeError>,
        open: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let request = exchange.request();
        match (&exchange.role, request) {
            (Role::Stream, _) => {
                let failure = end.err().map_or(HttpFailure::StreamEnded, HttpFailure::Exchange);
                return self.failed(exchange, failure, false, step);
            }
            (Role::Listen { .. }, _) => {}
            // C-MHTTP-09: without a handshake an event's id means nothing.
            (_, Some(request))
                if open && exchange.thread.last_id.is_some() && self.way != Way::Modern =>
            {
                exchange.role = Role::Resume { request };
                exchange.hops.clone_from(&self.moved);
            }
            (_, Some(request)) if open => {
                // C-LHTTP-11.
                let failure = end.err().map_or(HttpFailure::NoAnswer, HttpFailure::Exchange);
                return vec![Came::Over { request, failure, unsent: false }];
            }
            _ => return Vec::new(),
        }
        let until = exchange.thread.again(step.now);
        self.schedule(exchange, until, step);
        Vec::new()
    }

    /// No answer began. What provably did not reach the server may be asked again; where the
    /// server cannot be reached at all, nothing more can be said to it.
    fn unanswered(
        &mut self,
        mut exchange: Exchange,
        error: ExchangeError,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let unsent = error.sent == Sent::Nothing;
        let unreachable =
            matches!(error.fault, ExchangeFault::Connect { .. } | ExchangeFault::TimedOut { .. });
        let foreign = matches!(error.fault, ExchangeFault::ForeignOrigin { .. });
        let cut = error.fault == ExchangeFault::CutHead;
        let repeats = step.setting.limits.http_repeats;
        match &exchange.role {
            Role::Listen { .. } | Role::Resume { .. }
                if !foreign && exchange.thread.failed < repeats =>
            {
                let until = later(step.now, None, exchange.thread.failed);
                exchange.thread.failed += 1;
                self.schedule(exchange, until, step);
                return Vec::new();
            }
            // Some servers hang up after they refused the first question and do not say so. To ask
            // for a handshake twice does no harm, and no number of this session was used.
            Role::Post { kind, .. }
                if (unsent || (matches!(kind, Kind::Initialize(_)) && cut))
                    && !unreachable
                    && !foreign
                    && exchange.thread.failed == 0 =>
            {
                exchange.thread.failed = 1;
                self.schedule(exchange, step.now, step);
                return Vec::new();
            }
            Role::Post { .. }
            | Role::Listen { .. }
            | Role::Resume { .. }
            | Role::Stream
            | Role::Goodbye => {}
        }
        let nowhere = foreign && matches!(self.way, Way::Events { .. });
        let over = unreachable || nowhere || (unsent && !foreign);
        let over = over && !matches!(exchange.role, Role::Goodbye | Role::Stream);
        let failure = HttpFailure::Exchange(error);
        let broken = over.then(|| Came::Broken(failure.clone()));
        let mut came = self.failed(exchange, failure, unsent && !foreign, step);
        came.extend(broken);
        came
    }

    /// Breaks an exchange off that came to nothing.
    pub(super) fn fail(
        &mut self,
        id: ExchangeId,
        failure: HttpFailure,
        unsent: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        match self.abort(id, step) {
            Some(exchange) => self.failed(exchange, failure, unsent, step),
            None => Vec::new(),
        }
    }

    /// What follows for whom an exchange was made.
    pub(super) fn failed(
        &mut self,
        exchange: Exchange,
        failure: HttpFailure,
        unsent: bool,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        match (&exchange.role, exchange.request()) {
            (_, Some(request)) => vec![Came::Over { request, failure, unsent }],
            (Role::Post { kind: Kind::Initialized, .. }, _) => {
                self.release(step);
                vec![Came::Untaken(failure)]
            }
            (Role::Post { .. }, None) => vec![Came::Untaken(failure)],
            (Role::Stream, _) => vec![Came::Broken(self.also(failure))],
            (Role::Listen { .. } | Role::Resume { .. } | Role::Goodbye, _) => Vec::new(),
        }
    }

    /// A failure of the older transport, after that of the newer one if that was tried (F-075).
    fn also(&self, second: HttpFailure) -> HttpFailure {
        match &self.way {
            Way::Events { instead: Some(first), .. } => {
                HttpFailure::Neither { first: first.clone().into(), second: second.into() }
            }
            Way::Events { instead: None, .. } | Way::Streamable | Way::Modern => second,
        }
    }

    /// A whole answer that is no stream and no refusal.
    fn done(
        &self,
        id: ExchangeId,
        exchange: &Exchange,
        content: &Content,
        bytes: Vec<u8>,
    ) -> Vec<Came> {
        let request = exchange.request();
        let blank = bytes.iter().all(u8::is_ascii_whitespace);
        // F-073: what needs no answer may be answered with anything.
        if self.way.answers_beside() || (request.is_none() && (blank || *content != Content::Json))
        {
            return Vec::new();
        }
        let failure = match content {
            Content::Other(found) if !blank => {
                HttpFailure::ContentType { found: found.clone().unwrap_or_default() }
            }
            Content::Other(_) | Content::Json | Content::Events => HttpFailure::NoAnswer,
        };
        let frame = Frame::whole(bytes);
        // What is of no type of ours may still be a message, and is nothing to complain of else.
        let said = !blank && (*content == Content::Json || is_object(&frame));
        let mut came = Vec::new();
        came.extend(said.then_some(Came::Message { frame, by: id, request }));
        came.extend(request.map(|request| Came::Over { request, failure, unsent: false }));
        came
    }
}

fn is_object(frame: &Frame<'_>) -> bool {
    matches!(frame, Frame::Line(text) if text.trim_start().starts_with(['{', '[']))
}
