//! The part of the simulated driver that holds servers, processes and remote ones.

use tidegate_core::command::{Command, Remote};
use tidegate_core::held::Held;
use tidegate_core::id::{ConnId, ServerName};
use tidegate_core::time::Timestamp;

use super::{Driver, Running};
use crate::hashed::Hashed;
use crate::process::Process;
use crate::script::{Script, Spawn};
use crate::web::Web;

impl Running {
    /// Whether everything it says arrives.
    pub(super) fn is_heard(&self) -> bool {
        self.web.as_ref().is_none_or(Web::is_heard)
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        match &self.web {
            Some(web) => web.due(&self.process),
            None => self.process.due(),
        }
    }
}

impl Driver {
    /// Obeys an order about one server.
    pub(super) fn serve(&mut self, command: &Command, now: Timestamp) {
        match command {
            Command::Open { conn, server, launch } => {
                let command = launch.command.to_string();
                let script = self.scripts.get(&command).cloned();
                let script = script.unwrap_or_else(|| Hashed::new(Script::missing(0)));
                let process = Process::spawn(*conn, script, now);
                let server = server.clone();
                let running = Running { server, command: command.into(), process, web: None };
                self.processes.insert(*conn, Held::new(running));
            }
            Command::Send { conn, bytes } => {
                self.each(*conn, |process| process.handle_input(bytes, now));
            }
            Command::CloseInput { conn } => {
                self.each(*conn, |process| process.handle_close_input(now));
            }
            Command::Terminate { conn } => {
                self.each(*conn, |process| process.handle_terminate(now));
            }
            Command::Kill { conn } if self.is_remote(*conn) => {
                self.with_web(*conn, |web, _| web.kill(now));
            }
            Command::Kill { conn } => self.each(*conn, |process| process.handle_kill(now)),
            Command::Connect { conn, server, remote } => {
                self.connect(*conn, server.clone(), remote, now);
            }
            Command::Exchange { conn, exchange, request } => {
                self.with_web(*conn, |web, process| web.exchange(*exchange, request, process, now));
            }
            Command::Abort { conn, exchange } => {
                self.with_web(*conn, |web, _| web.abort(*exchange));
            }
            Command::Abandon { conn } => self.abandon(*conn),
            _ => {}
        }
    }

    /// A remote server runs already, whatever its script says of its start; without a script there
    /// is none.
    pub(super) fn connect(
        &mut self,
        conn: ConnId,
        server: ServerName,
        remote: &Remote,
        now: Timestamp,
    ) {
        let url = remote.url.to_string();
        let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
        let command = host.unwrap_or(&url).to_owned();
        let script = self.scripts.get(&command).map(|script| (**script).clone());
        let known = script.is_some();
        let script = script.unwrap_or_else(|| Script::missing(0));
        let mut front = script.front.clone().unwrap_or_default();
        if !self.reached.insert(command.clone()) {
            front.faults.clear();
        }
        let mut web = Web::new(conn, &front, &script, now);
        if !known {
            web.unplug();
        }
        let script = Script { spawn: Spawn::Runs(0), chunk_bytes: 0, ..script };
        let process = Process::spawn(conn, Hashed::new(script), now);
        let running = Running { server, command: command.into(), process, web: Some(web) };
        self.processes.insert(conn, Held::new(running));
    }

    pub(super) fn is_remote(&self, conn: ConnId) -> bool {
        self.processes.get(&conn).is_some_and(|running| running.web.is_some())
    }

    pub(super) fn with_web(&mut self, conn: ConnId, act: impl FnOnce(&mut Web, &mut Process)) {
        let running = self.processes.get_mut(&conn).map(|running| &mut **running);
        match running {
            Some(Running { process, web: Some(web), .. }) => act(web, process),
            Some(_) => self.breaches.push(format!("an exchange with {conn}, which is a process")),
            None if self.gone.contains(&conn) => {}
            None => self.breaches.push(format!("an exchange with {conn}, which is nothing")),
        }
    }
}
