//! Messages → requests of HTTP.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Bytes;
use crate::command::{HttpRequest, Method, SessionId};
use crate::wire::dialect::Revision;
use crate::wire::http::value::mirrored;

/// The media type of a stream of events.
pub const EVENTS: &str = "text/event-stream";

/// A message on its way (C-HTTP-01, C-HTTP-02); `revision` once it is agreed on (C-LHTTP-02).
#[must_use]
pub fn post(revision: Option<Revision>, session: SessionId, body: Bytes) -> HttpRequest {
    let own =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    request(Method::Post, &own, revision, session, body)
}

/// What the headers of a request say of it where there is no handshake: its method, and the tool,
/// prompt or address it is about (C-MHTTP-03, C-MHTTP-04).
#[must_use]
pub fn labels(method: &str, name: Option<&str>) -> Vec<(String, String)> {
    let name = name.map(|name| ("Mcp-Name".into(), mirrored(name)));
    core::iter::once(("Mcp-Method".into(), method.into())).chain(name).collect()
}

/// A stream of events is asked for, or for what came on one after an event (C-LHTTP-09).
#[must_use]
pub fn get(revision: Option<Revision>, session: SessionId, last_id: Option<&str>) -> HttpRequest {
    let mut request =
        request(Method::Get, &[("Accept", EVENTS)], revision, session, Bytes::default());
    request.headers.extend(last_id.map(|id| ("Last-Event-ID".into(), id.into())));
    request
}

/// The session is over (C-LHTTP-05).
#[must_use]
pub fn delete(revision: Option<Revision>) -> HttpRequest {
    request(Method::Delete, &[], revision, SessionId::Send, Bytes::default())
}

fn request(
    method: Method,
    own: &[(&str, &str)],
    revision: Option<Revision>,
    session: SessionId,
    body: Bytes,
) -> HttpRequest {
    let own = own.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
    let revision =
        revision.map(|revision| ("MCP-Protocol-Version".into(), revision.as_str().into()));
    let headers = own.chain(revision).collect();
    HttpRequest { method, target: Vec::new(), headers, session, body }
}
