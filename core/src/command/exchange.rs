//! One HTTP exchange: where a remote server is, and what it is asked.
//!
//! Floor 0. No secret is in here: the headers of a definition and the id of a session are filled
//! in by the driver, which keeps both under the attempt's number (G67).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Fill, Text};
use crate::bytes::Bytes;

/// Where a remote server is.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Remote {
    /// Its address, `http` or `https`.
    pub url: Text,
    /// What its definition sends with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Text>,
    /// How long a connection to it may take to be made, names and encryption included, in
    /// milliseconds.
    pub connect_ms: u64,
}

/// A [`Remote`] with every gap filled. Holds secrets: never to be logged.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct FilledRemote {
    /// Its address.
    pub url: String,
    /// What its definition sends with every request.
    pub headers: BTreeMap<String, String>,
    /// How long a connection to it may take to be made, in milliseconds.
    pub connect_ms: u64,
}

impl Remote {
    /// Fills every gap with what `find` finds for it: the value of a variable, or an answer.
    #[must_use]
    pub fn filled(&self, find: impl Fn(&Fill) -> Option<String>) -> FilledRemote {
        let headers = self.headers.iter();
        FilledRemote {
            url: self.url.filled(&find),
            headers: headers.map(|(name, text)| (name.clone(), text.filled(&find))).collect(),
            connect_ms: self.connect_ms,
        }
    }
}

impl fmt::Debug for FilledRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FilledRemote")
    }
}

/// What a server is asked in one exchange.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// Where to, as references (RFC 3986) that are resolved one after the other, the first one
    /// against the server's own address; none for that address itself. One that leads to another
    /// origin is refused with
    /// [`ExchangeFault::ForeignOrigin`](crate::error::ExchangeFault::ForeignOrigin).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,
    /// The protocol's own headers. The driver adds `Host`, `User-Agent`, what frames the body,
    /// and the definition's, none of which takes the place of one of these.
    pub headers: Vec<(String, String)>,
    /// What is done about `Mcp-Session-Id`.
    #[serde(default, skip_serializing_if = "SessionId::is_ignored")]
    pub session: SessionId,
    /// The body; empty for none.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub body: Bytes,
}

/// How a server is asked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `POST`, with a body.
    Post,
    /// `GET`, without.
    Get,
    /// `DELETE`, without.
    Delete,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Delete => "DELETE",
        })
    }
}

/// What is done about the header `Mcp-Session-Id`, whose value stays with the driver.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionId {
    /// None is sent, and one that comes is not looked at.
    #[default]
    Ignore,
    /// None is sent, and the one that comes takes the place of the one that was kept; if none
    /// comes, or one with a byte outside 0x21 to 0x7E, none is kept.
    Keep,
    /// The one that is kept is sent, if there is one.
    Send,
}

impl SessionId {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    const fn is_ignored(&self) -> bool {
        matches!(self, Self::Ignore)
    }
}

fn is_empty(body: &Bytes) -> bool {
    body.is_empty()
}
