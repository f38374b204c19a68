//! What a host asks of servers in a simulated run, besides calls.

use tidegate_core::approval::Approval;
use tidegate_core::id::{ConnId, InquiryId, OpId};
use tidegate_core::input::Request;
use tidegate_core::inquiry::Reply;

use crate::machine::Machine;
use crate::violation::Violation;
use crate::world::World;

impl<M: Machine> World<M> {
    /// Asks to connect a server.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn connect(&mut self, server: &str) -> Result<OpId, Violation> {
        self.operation(|op| Request::Connect { op, server: server.into() })
    }

    /// Asks to disconnect a server.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn disconnect(&mut self, server: &str) -> Result<OpId, Violation> {
        self.operation(|op| Request::Disconnect { op, server: server.into() })
    }

    /// Asks to disconnect every server.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn disconnect_all(&mut self) -> Result<OpId, Violation> {
        self.operation(|op| Request::DisconnectAll { op })
    }

    /// Asks to connect a server again, unless another attempt took the place of `failed`.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn reconnect(&mut self, server: &str, failed: Option<ConnId>) -> Result<OpId, Violation> {
        self.operation(|op| Request::Reconnect { op, server: server.into(), failed })
    }

    /// Asks to restart a server.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn restart(&mut self, server: &str) -> Result<OpId, Violation> {
        self.operation(|op| Request::Restart { op, server: server.into() })
    }

    /// Asks to switch a server on.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn enable(&mut self, server: &str) -> Result<OpId, Violation> {
        self.operation(|op| Request::Enable { op, server: server.into() })
    }

    /// Asks to switch a server off.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn disable(&mut self, server: &str) -> Result<OpId, Violation> {
        self.operation(|op| Request::Disable { op, server: server.into() })
    }

    /// Waits for a server to be connected, for so many milliseconds at most.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn await_connected(
        &mut self,
        server: &str,
        timeout_ms: Option<u64>,
    ) -> Result<OpId, Violation> {
        self.operation(|op| Request::AwaitConnected { op, server: server.into(), timeout_ms })
    }

    /// The user approves a server that waits for that, and the host asks for a reload; `None` if
    /// it does not wait.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn approve(&mut self, server: &str) -> Result<Option<OpId>, Violation> {
        let Some(approval) = self.approval_wanted(server) else { return Ok(None) };
        self.driver.approve(approval);
        self.model.approve(server);
        self.reload().map(Some)
    }

    /// The user takes back whatever was approved, and the host asks for a reload.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn revoke_all(&mut self) -> Result<OpId, Violation> {
        self.driver.revoke_all();
        self.model.revoke_all();
        self.reload()
    }

    /// What has to be approved before a server may run, if it waits for that.
    #[must_use]
    pub fn approval_wanted(&self, server: &str) -> Option<Approval> {
        let status = self.machine().status();
        let waiting = status.servers.into_iter().find(|one| one.name.as_str() == server)?;
        waiting.consent.map(|consent| consent.approval)
    }

    /// Answers what a server asked.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn reply(&mut self, inquiry: InquiryId, reply: Reply) -> Result<(), Violation> {
        self.request(Request::Reply { inquiry, reply })
    }

    /// Stops waiting for an operation.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn stop_waiting(&mut self, op: OpId) -> Result<(), Violation> {
        self.request(Request::StopWaiting { op })
    }
}
