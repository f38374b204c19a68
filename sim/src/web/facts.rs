//! What the server does with an exchange, as the driver's facts.

use tidegate_core::error::ExchangeError;
use tidegate_core::id::ExchangeId;
use tidegate_core::input::{Fact, HttpHead};

use super::{EVENTS, Web};

impl Web {
    pub(super) fn begin(&mut self, exchange: ExchangeId) {
        self.head(exchange, 200, Some(("content-type", EVENTS)), self.session);
    }

    pub(super) fn event(&mut self, exchange: ExchangeId, of: Option<&str>, line: &str) {
        let mut text = String::new();
        if let (Some(of), Some(retry)) = (of, self.front.retry_ms) {
            self.events += 1;
            text = format!("id: {of}.{}\nretry: {retry}\n", self.events);
        }
        text += &format!("data: {line}\n\n");
        self.body(exchange, &text);
    }

    pub(super) fn head(
        &mut self,
        exchange: ExchangeId,
        status: u16,
        header: Option<(&str, &str)>,
        session: bool,
    ) {
        let headers = header.map(|(name, value)| (name.into(), value.into()));
        let head = HttpHead { status, headers: headers.into_iter().collect(), session };
        self.ready.push_back(Fact::Head { conn: self.conn, exchange, head });
    }

    pub(super) fn body(&mut self, exchange: ExchangeId, text: &str) {
        let chunk = if self.chunk_bytes == 0 { usize::MAX } else { self.chunk_bytes };
        for part in text.as_bytes().chunks(chunk) {
            let bytes = part.to_vec().into();
            self.ready.push_back(Fact::Body { conn: self.conn, exchange, bytes });
        }
    }

    pub(super) fn end(&mut self, exchange: ExchangeId, end: Result<(), ExchangeError>) {
        self.ready.push_back(Fact::ExchangeEnded { conn: self.conn, exchange, end });
    }
}

/// The exchange that a fact is about.
pub(super) const fn about(fact: &Fact) -> Option<ExchangeId> {
    match fact {
        Fact::Head { exchange, .. }
        | Fact::Body { exchange, .. }
        | Fact::ExchangeEnded { exchange, .. } => Some(*exchange),
        _ => None,
    }
}
