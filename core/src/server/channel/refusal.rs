//! What a server says with a status that means no.
//!
//! Floor 3.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::error::{HttpFailure, RpcError};
use crate::id::ExchangeId;
use crate::wire::json::NESTING_MAX;
use crate::wire::lines::Frame;
use crate::wire::rpc::{self, Id, Incoming, Message};

use super::exchange::{Exchange, Role};
use super::http::{Http, Way};
use super::{Came, Kind, Outgoing, Step};

/// The errors that only a server of the era without a handshake answers with (C-VER-14).
const MODERN: core::ops::RangeInclusive<i64> = -32022..=-32020;

impl Http {
    /// A whole refusal. An error of the protocol in it is used as such (C-HTTP-06).
    pub(super) fn refused(
        &mut self,
        id: ExchangeId,
        exchange: Exchange,
        status: u16,
        bytes: Vec<u8>,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let request = exchange.request();
        if let (Role::Post { kind: Kind::Discover(_), .. }, 401 | 403, Some(request)) =
            (&exchange.role, status, request)
        {
            // C-VER-16: whatever it says with that, it is not about what was asked.
            let failure = HttpFailure::status(status, &text);
            return vec![Came::Over { request, failure, unsent: false }];
        }
        let complaint = match rpc::read(&text, NESTING_MAX.min(step.setting.limits.nesting)) {
            Ok(Incoming::One(Message::Answer { id: Id::Number(own), .. }))
                if request.is_some_and(|request| i64::try_from(request) == Ok(own)) =>
            {
                let frame = Frame::Line(Cow::Owned(text));
                return vec![Came::Message { frame, by: id, request }];
            }
            Ok(Incoming::One(Message::Complaint { error })) => Some(error),
            _ => None,
        };
        let failure = complaint.as_ref().map_or_else(
            || HttpFailure::status(status, &text),
            |error| HttpFailure::refused(status, error),
        );
        match exchange.role {
            Role::Post { kind: kind @ Kind::Initialize(_), text, labels }
                if self.falls_back(status, complaint.as_ref()) =>
            {
                self.fall_back(failure, Outgoing { line: text.0, labels, kind }, step)
            }
            // F-071: some servers have no 404 for a session they do not know. That the refusal
            // speaks of it decides no more than to try another one, once.
            Role::Post { kind, .. }
                if status == 400
                    && self.session
                    && !matches!(kind, Kind::Initialize(_) | Kind::Call(_, true))
                    && text.to_ascii_lowercase().contains("session") =>
            {
                self.session = false;
                let over = |request| {
                    let failure = HttpFailure::SessionLost;
                    Came::Over { request, failure, unsent: true }
                };
                let broken = Came::Broken(HttpFailure::SessionLost);
                request.map(over).into_iter().chain([broken]).collect()
            }
            Role::Post { .. }
            | Role::Listen { .. }
            | Role::Resume { .. }
            | Role::Stream
            | Role::Goodbye => match (request, complaint) {
                (Some(request), Some(error)) => vec![Came::Complaint { request, error }],
                (Some(request), None) => vec![Came::Over { request, failure, unsent: false }],
                (None, _) => vec![Came::Untaken(failure)],
            },
        }
    }

    /// C-VER-17, F-075: whether a refused handshake leads to the transport before this one.
    fn falls_back(&self, status: u16, complaint: Option<&RpcError>) -> bool {
        self.way == Way::Streamable
            && matches!(status, 400 | 404 | 405)
            && complaint.is_none_or(|error| !MODERN.contains(&error.code))
    }

    fn fall_back(
        &mut self,
        failure: HttpFailure,
        message: Outgoing,
        step: &mut Step<'_>,
    ) -> Vec<Came> {
        self.way = Way::Events { endpoint: None, instead: Some(failure) };
        self.session = false;
        self.send(message, step);
        Vec::new()
    }
}
