//! Calls that a server refused for how they were put, and did nothing about.
//!
//! Floor 3. Only where there is no handshake. What the headers of a call have to say stands in the
//! list of tools, so that is read again first (C-XHDR-09); the call itself is the hub's.

use alloc::vec::Vec;

use crate::error::{CallError, RpcError};
use crate::id::CallId;
use crate::outbox::Outbox;
use crate::time::Timestamp;
use crate::wire::mcp::HEADER_MISMATCH;

use super::{Server, Signal};

impl Server {
    /// A call was put wrongly.
    pub(super) fn misput(
        &mut self,
        now: Timestamp,
        call: CallId,
        error: RpcError,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let relists = error.code == HEADER_MISMATCH;
        signals.push(Signal::Unsent { call, error: CallError::Rpc { error } });
        if !(relists && self.read_tools_again(now, signals, out)) {
            signals.push(Signal::Resumed);
        }
    }
}
