//! Resources and prompts of all servers, and what the host follows of them.
//!
//! Floor 4.

use crate::id::ServerName;
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::Hub;

impl Hub {
    /// A server is ready and its calls were sent: whatever else it has is asked for.
    pub(super) fn load_extras(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(server) = self.slots.get_mut(name).and_then(|slot| slot.server.as_mut()) else {
            return;
        };
        let (conn, before) = (server.conn(), server.deadline());
        server.load_extras(now, out);
        let after = server.deadline();
        self.set_alarm(conn, before, after);
    }
}
