//! HTTP exchanges as a timeline words them.
//!
//! Roof.

use core::fmt::{self, Display, Formatter};

use super::{Body, Cut, Text};
use crate::command::{HttpRequest, Remote, SessionId};
use crate::error::{ExchangeError, Sent};
use crate::input::HttpHead;

impl Display for Text<'_, Remote> {
    /// Without the headers, whose values may be secrets.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.url)
    }
}

impl Display for Text<'_, HttpRequest> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let HttpRequest { method, target, headers, session, body } = self.0;
        write!(f, "{method}")?;
        target.iter().try_for_each(|reference| write!(f, " {}", Cut(reference)))?;
        let resumed = headers.iter().find(|(name, _)| name == "Last-Event-ID");
        resumed.iter().try_for_each(|(_, id)| write!(f, " after {}", Cut(id)))?;
        match session {
            SessionId::Ignore => {}
            SessionId::Keep => f.write_str(" new session")?,
            SessionId::Send => f.write_str(" in session")?,
        }
        if body.is_empty() { Ok(()) } else { write!(f, " {}", Body(body)) }
    }
}

impl Display for Text<'_, HttpHead> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let HttpHead { status, headers, session } = self.0;
        write!(f, "{status}")?;
        headers.iter().try_for_each(|(name, value)| match name.as_str() {
            "content-type" => write!(f, " {}", Cut(value)),
            _ => write!(f, " {name}={}", Cut(value)),
        })?;
        if *session { f.write_str(" session") } else { Ok(()) }
    }
}

impl Display for Text<'_, ExchangeError> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        f.write_str(match self.0.sent {
            Sent::Nothing => "; nothing was sent",
            Sent::Perhaps => "",
        })
    }
}
