//! What a host asks of servers in a simulated run, besides calls.

use tidegate_core::id::{ConnId, OpId};
use tidegate_core::input::Request;

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

    /// Stops waiting for an operation.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn stop_waiting(&mut self, op: OpId) -> Result<(), Violation> {
        self.request(Request::StopWaiting { op })
    }
}
