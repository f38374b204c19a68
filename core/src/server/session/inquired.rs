//! What the server asks of us: answered at once, or by the host (G49).
//!
//! Floor 3.

use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::RpcError;
use crate::inquiry::{Inquiry, Reply, Service};
use crate::wire::mcp;
use crate::wire::rpc::{self, Id};

use super::super::channel::{Kind, Step};
use super::{Asked, Heard, Session};

impl Session {
    /// The server asks, by the stream of the request `of` or by none of one.
    pub(super) fn inquired(
        &mut self,
        id: Id,
        method: &str,
        params: Option<Json>,
        of: Option<u64>,
        heard: &mut Vec<Heard>,
        step: &mut Step<'_>,
    ) {
        let line = match method {
            mcp::PING => rpc::result(&id, "{}"),
            mcp::ROOTS_LIST => rpc::result(&id, &mcp::roots_result(&step.setting.cwd)),
            _ => match self.admit(&id, method, params, step) {
                Ok(inquiry) => {
                    let call = match of.and_then(|of| self.asked.get(&of)) {
                        Some(Asked::Call(call)) => Some(*call),
                        _ => None,
                    };
                    self.inquiries.insert(id.clone());
                    return heard.push(Heard::Inquired { id, inquiry, call });
                }
                // C-RPC-18: every request is answered.
                Err(error) => rpc::error(&id, error.code, &error.message),
            },
        };
        if self.channel.is_crowded(&step.setting.limits) {
            let what = "it asks faster than it takes the answers; some get none";
            return self.odd(what.into(), heard);
        }
        self.send(line, Vec::new(), Kind::Aside, step);
    }

    /// What the host is to be asked, if it can be.
    fn admit(
        &self,
        id: &Id,
        method: &str,
        params: Option<Json>,
        step: &Step<'_>,
    ) -> Result<Inquiry, RpcError> {
        let declared = |service| mcp::declares(self.declared, &step.setting.services, service);
        let inquiry = mcp::read_inquiry(method, params, declared)?;
        let refused =
            |code, message: &str| Err(RpcError { code, message: message.into(), data: None });
        if self.inquiries.contains(id) {
            return refused(mcp::INVALID_REQUEST, "A request with this id waits for its answer");
        }
        if self.inquiries.len() >= step.setting.limits.inquiries_per_server {
            return refused(mcp::INTERNAL_ERROR, "Too many requests wait for their answers");
        }
        Ok(inquiry)
    }

    /// The server takes back what it asked: then it gets no answer (C-CANC-06, C-CANC-07).
    pub(super) fn withdrawn(&mut self, params: &Json) -> Option<Heard> {
        let id = mcp::read_cancelled(params)?;
        self.inquiries.remove(&id).then_some(Heard::Withdrawn(id))
    }

    /// What the server asked and gets no answer to: where there turns out to be no handshake,
    /// nothing that it asks is answered (C-RPC-17).
    pub(in crate::server) fn take_inquiries(&mut self) -> impl Iterator<Item = Id> + use<> {
        core::mem::take(&mut self.inquiries).into_iter()
    }

    /// The host answers what the server asked.
    pub(in crate::server) fn reply(
        &mut self,
        id: &Id,
        service: Service,
        reply: &Reply,
        step: &mut Step<'_>,
    ) {
        if self.inquiries.remove(id) {
            self.send(mcp::reply(id, service, reply), Vec::new(), Kind::Aside, step);
        }
    }
}
