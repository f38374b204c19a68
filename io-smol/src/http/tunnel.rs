//! The way through a proxy that passes bytes on unread: `CONNECT`.

use tidegate_core::error::{ConnectStep, ExchangeFault};

use super::origin::Origin;
use super::proxy::Proxy;
use super::socket::{Read, Socket, Written};

/// The longest answer of a proxy, in bytes.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// How many headers it may have.
const HEADERS_MAX: usize = 64;

/// A tunnel being asked for.
#[derive(Debug)]
pub(super) struct Tunnel {
    request: Vec<u8>,
    taken: usize,
    answer: Vec<u8>,
    proxy: String,
}

impl Tunnel {
    pub(super) fn new(origin: &Origin, proxy: &Proxy) -> Self {
        let to = origin.authority();
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some(authorization) = &proxy.authorization {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        let request = request.into_bytes();
        Self { request, taken: 0, answer: Vec::new(), proxy: proxy.to_string() }
    }

    /// Goes on; whether the way is open.
    pub(super) fn advance(&mut self, socket: &mut Socket) -> Result<bool, ExchangeFault> {
        if socket.write(&self.request, &mut self.taken) == Written::Broken {
            return Err(self.fault("it hung up"));
        }
        loop {
            match socket.read(&mut self.answer) {
                Read::Some => {}
                Read::Nothing => return Ok(false),
                Read::End | Read::Broken => return Err(self.fault("it hung up")),
            }
            while let Some((used, head)) = self.head()? {
                self.answer.drain(..used);
                match head {
                    100..200 => {}
                    200..300 if self.answer.is_empty() => return Ok(true),
                    200..300 => return Err(self.fault("it says more than was asked for")),
                    407 => return Err(self.fault("407: it wants to know who asks")),
                    status => return Err(self.fault(&status.to_string())),
                }
            }
            if self.answer.len() > ANSWER_BYTES_MAX {
                return Err(self.fault("its answer is too long"));
            }
        }
    }

    /// Whether there is something left to be written.
    pub(super) fn is_writing(&self) -> bool {
        self.taken < self.request.len()
    }

    fn head(&self) -> Result<Option<(usize, u16)>, ExchangeFault> {
        let parsed = ureq_proto::parser::try_parse_response::<HEADERS_MAX>(&self.answer);
        let parsed = parsed.map_err(|_| self.fault("it does not answer in HTTP"))?;
        Ok(parsed.map(|(used, head)| (used, head.status().as_u16())))
    }

    fn fault(&self, what: &str) -> ExchangeFault {
        let message = format!("{}: {what}", self.proxy);
        ExchangeFault::Connect { step: ConnectStep::Proxy, message }
    }
}
