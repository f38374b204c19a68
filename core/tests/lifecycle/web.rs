//! A runtime with one remote server, whose part is played by hand.

use tidegate_core::command::{Command, HttpRequest, Method};
use tidegate_core::config::Source;
use tidegate_core::error::{ConnectStep, ExchangeError, ExchangeFault, Sent};
use tidegate_core::id::{ConnId, ExchangeId};
use tidegate_core::input::{Fact, HttpHead};
use tidegate_core::inquiry::Services;
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play};

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

/// What the machine ordered of HTTP, in short: `x0 POST initialize`, `abort x0`.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) exchange: u64,
    pub(crate) request: Option<HttpRequest>,
}

const LEGACY: &str = r#""protocol":"legacy""#;

impl Play {
    pub(crate) fn web() -> Self {
        Self::remote("http")
    }

    /// One of the era with a handshake.
    pub(crate) fn remote(kind: &str) -> Self {
        Self::remote_with(kind, LEGACY, Services::default())
    }

    /// The same for a host that does something for servers.
    pub(crate) fn remote_for(kind: &str, services: Services) -> Self {
        Self::remote_with(kind, LEGACY, services)
    }

    /// One with this in its definition.
    pub(crate) fn web_with(more: &str) -> Self {
        Self::remote_with("http", more, Services::default())
    }

    fn remote_with(kind: &str, more: &str, services: Services) -> Self {
        let url = "https://a.test/mcp";
        let config =
            format!(r#"{{"mcpServers":{{"a":{{"type":"{kind}","url":"{url}",{more}}}}}}}"#);
        let mut options = Options::new("/project", vec![Source::inline("test", &config)]);
        options.services = services;
        let mut play = Self::with(options);
        play.start().reached(0);
        play
    }

    pub(crate) fn reached(&mut self, conn: u64) -> &mut Self {
        self.io(Fact::Opened { conn: ConnId::new(conn), pid: None })
    }

    /// The exchanges ordered and broken off since the last look.
    pub(crate) fn orders(&mut self) -> Vec<Order> {
        let order = |command| match command {
            Command::Exchange { exchange, request, .. } => {
                Some(Order { exchange: exchange.number(), request: Some(request) })
            }
            Command::Abort { exchange, .. } => {
                Some(Order { exchange: exchange.number(), request: None })
            }
            _ => None,
        };
        self.take_commands().into_iter().filter_map(order).collect()
    }

    pub(crate) fn ordered(&mut self) -> Vec<String> {
        self.orders().iter().map(Order::short).collect()
    }

    pub(crate) fn head_on(
        &mut self,
        conn: u64,
        exchange: u64,
        status: u16,
        headers: &[(&str, &str)],
        session: bool,
    ) -> &mut Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let head = HttpHead { status, headers: headers.collect(), session };
        self.io(Fact::Head { conn: ConnId::new(conn), exchange: ExchangeId::new(exchange), head })
    }

    pub(crate) fn head(&mut self, exchange: u64, status: u16, content: &str) -> &mut Self {
        self.head_on(0, exchange, status, &[("content-type", content)], false)
    }

    pub(crate) fn body_on(&mut self, conn: u64, exchange: u64, text: &str) -> &mut Self {
        let (conn, exchange) = (ConnId::new(conn), ExchangeId::new(exchange));
        self.io(Fact::Body { conn, exchange, bytes: text.into() })
    }

    pub(crate) fn body(&mut self, exchange: u64, text: &str) -> &mut Self {
        self.body_on(0, exchange, text)
    }

    pub(crate) fn end_on(
        &mut self,
        conn: u64,
        exchange: u64,
        end: Result<(), ExchangeError>,
    ) -> &mut Self {
        let (conn, exchange) = (ConnId::new(conn), ExchangeId::new(exchange));
        self.io(Fact::ExchangeEnded { conn, exchange, end })
    }

    pub(crate) fn end(&mut self, exchange: u64) -> &mut Self {
        self.end_on(0, exchange, Ok(()))
    }

    /// A whole answer.
    pub(crate) fn whole(&mut self, exchange: u64, status: u16, text: &str) -> &mut Self {
        self.head(exchange, status, JSON).body(exchange, text).end(exchange)
    }

    pub(crate) fn result(&mut self, exchange: u64, id: u64, result: &str) -> &mut Self {
        self.result_on(0, exchange, id, result, false)
    }

    pub(crate) fn result_on(
        &mut self,
        conn: u64,
        exchange: u64,
        id: u64,
        result: &str,
        session: bool,
    ) -> &mut Self {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.head_on(conn, exchange, 200, &[("content-type", JSON)], session);
        self.body_on(conn, exchange, &text).end_on(conn, exchange, Ok(()))
    }

    /// From `Connect` to ready, with one tool and a session: x0, x1 and x3, and x2 is the stream,
    /// which is not answered.
    pub(crate) fn greet(&mut self, conn: u64) -> &mut Self {
        self.result_on(conn, 0, 1, HELLO, true);
        self.head_on(conn, 1, 202, &[], false).end_on(conn, 1, Ok(()));
        self.result_on(conn, 3, 2, ECHO, false)
    }
}

impl Order {
    pub(crate) fn short(&self) -> String {
        let exchange = self.exchange;
        let Some(HttpRequest { method, target, body, .. }) = &self.request else {
            return format!("abort x{exchange}");
        };
        let mut text = format!("x{exchange} {method}");
        target.iter().for_each(|target| text += &format!(" {target}"));
        if *method == Method::Post {
            let body: serde_json::Value = serde_json::from_slice(body).unwrap();
            text += &format!(" {}", body["method"].as_str().unwrap_or("answer"));
        }
        text
    }

    pub(crate) fn params(&self) -> serde_json::Value {
        let body = &self.request.as_ref().unwrap().body;
        let message: serde_json::Value = serde_json::from_slice(body).unwrap();
        message["params"].clone()
    }

    pub(crate) fn meta(&self) -> serde_json::Value {
        self.params()["_meta"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = &self.request.as_ref()?.headers;
        let found = headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

pub(crate) fn refused() -> Result<(), ExchangeError> {
    let fault = ExchangeFault::Connect { step: ConnectStep::Refused, message: String::new() };
    Err(ExchangeError { fault, sent: Sent::Nothing })
}

pub(crate) fn cut() -> Result<(), ExchangeError> {
    Err(ExchangeError { fault: ExchangeFault::CutBody, sent: Sent::Perhaps })
}

pub(crate) fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

pub(crate) fn result_event(id: u64) -> String {
    event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#))
}
