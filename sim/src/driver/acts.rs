//! What servers do by themselves because a story wants it.

use tidegate_core::error::Exit;
use tidegate_core::id::ServerName;
use tidegate_core::time::Timestamp;

use super::{Driver, Pipe};

impl Driver {
    /// A server's process ends by itself, if it runs. With `eof` the end of its output is
    /// noticed first. Returns whether there was one.
    pub fn crash(&mut self, server: &ServerName, exit: Exit, eof: bool, now: Timestamp) -> bool {
        let running = self
            .processes
            .values_mut()
            .find(|running| running.server == *server && running.process.is_running());
        let Some(running) = running else { return false };
        running.process.crash(exit, eof, now);
        true
    }

    /// A server that is being started turns out not to start.
    pub fn fail_start(&mut self, server: &ServerName, now: Timestamp) {
        for running in self.processes_of(server) {
            running.process.fail_start(now);
        }
    }

    /// A server closes a pipe and goes on running, if it runs.
    pub fn close_pipe(&mut self, server: &ServerName, pipe: Pipe, now: Timestamp) {
        for running in self.processes_of(server) {
            running.process.close_pipe(pipe, now);
        }
    }

    /// A server writes to its standard error, if it runs.
    pub fn complain(&mut self, server: &ServerName, bytes: &[u8], now: Timestamp) {
        for running in self.processes_of(server) {
            running.process.complain(bytes, now);
        }
    }

    /// A server writes something nobody expects, if it runs.
    pub fn say(&mut self, server: &ServerName, bytes: &[u8], now: Timestamp) {
        for running in self.processes_of(server) {
            running.process.blurt(bytes, now);
        }
    }
}
