//! The public machine: routes inputs, settles what follows from them, answers polls.
//!
//! Roof. May import everything. No decision about a server, a call or a tool is made here.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;

use crate::command::Command;
use crate::config::resolve::Told;
use crate::error::CallError;
use crate::event::Event;
use crate::held::Held;
use crate::hub::asks::Ask;
use crate::hub::calls::CallLimits;
use crate::hub::live::{Prompts, Resources};
use crate::hub::status::Status;
use crate::hub::{Hub, HubOptions};
use crate::id::ServerName;
use crate::input::{Input, NewCall, Request, Target};
use crate::options::Options;
use crate::outbox::Outbox;
use crate::server::Setting;
use crate::time::{Deadline, Timestamp};
use crate::tools::catalog::Catalog;
use crate::tools::shelf::{Change, Shelf};
use crate::wire::dialect::{Era, Revision};
use crate::wire::mcp::Aim;

/// The lifecycle of many MCP servers.
///
/// Drive it like this: give it inputs with [`handle`](Self::handle), carry out what
/// [`poll_command`](Self::poll_command) says, tell the host what
/// [`poll_event`](Self::poll_event) says, and call
/// [`handle_timeout`](Self::handle_timeout) when the time of
/// [`poll_timeout`](Self::poll_timeout) has come.
#[derive(Clone, Debug)]
pub struct Runtime {
    clock: Timestamp,
    hub: Hub,
    shelf: Held<Shelf>,
    out: Outbox,
    catalog: Arc<Catalog>,
    /// Made when the first call by an exposed name needs it.
    exposed: Option<BTreeMap<String, usize>>,
    stopped: bool,
}

impl Runtime {
    /// A runtime that has done nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let setting = Setting {
            client_name: options.client_name,
            client_version: options.client_version,
            offered: offered(options.offered),
            log_level: options.log_level,
            cwd: options.cwd,
            services: options.services,
            limits: options.limits,
            ladder: options.policy.stop.clone(),
            connect_ms: options.policy.connect_ms,
            list_ms: options.policy.list_ms,
            list_changed: options.policy.list_changed.clone(),
            extras: options.policy.extras,
        };
        Self {
            clock: Timestamp::ZERO,
            shelf: Held::new(Shelf::new(options.policy.names)),
            hub: Hub::new(HubOptions {
                setting: Arc::new(setting),
                policy: options.policy,
                sources: options.sources,
                environment: options.environment,
                organisation: options.organisation,
                home: options.home,
                only: options.only,
                forward_stderr: options.forward_stderr,
                entropy: options.entropy,
            }),
            out: Outbox::default(),
            catalog: Arc::default(),
            exposed: None,
            stopped: false,
        }
    }

    /// Lets one thing happen.
    ///
    /// - L1 *total*: any input in any state; nothing panics, nothing is returned.
    /// - L2 *pure*: equal options and equal inputs give equal commands and events, byte for byte.
    /// - L5 *calm clock*: a time before an earlier one counts as that one; what is due at `now`
    ///   happens before the input that carries `now`.
    /// - L6 *stale is silent*: a fact about an attempt that is over changes only a counter.
    /// - L7 *exactly once*: one `CallFinished` a call, one `GateOpened` a start, one `Done` any
    ///   other operation and a start that is one too many, one `Stopped` a run; a number that is
    ///   in use is refused with an event of its own.
    /// - L8 *prompt*: when this returns, no call waits on a server that can no longer answer.
    /// - L9 *no orphan*: every `Open` leads to a `Closed` fact or through the bounded ladder.
    /// - L10 *bounded*: whatever exceeds a [limit](crate::limits::Limits) fails by itself.
    pub fn handle(&mut self, now: Timestamp, input: Input) {
        if self.stopped {
            return;
        }
        self.clock = self.clock.max(now);
        self.fire();
        match input {
            Input::Host(request) => self.handle_request(request),
            Input::Io(fact) => self.hub.handle_fact(self.clock, fact, &mut self.out),
        }
        self.settle();
    }

    /// Lets time pass. A call that comes early does nothing, one that comes late is fine (L5).
    pub fn handle_timeout(&mut self, now: Timestamp) {
        if self.stopped {
            return;
        }
        self.clock = self.clock.max(now);
        self.settle();
    }

    /// The oldest order to the driver, if any. May be drained in any order with events, late,
    /// or after several inputs (L3).
    #[must_use]
    pub fn poll_command(&mut self) -> Option<Command> {
        self.out.next_command()
    }

    /// The oldest piece of news for the host, if any; see [`poll_command`](Self::poll_command).
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.out.next_event()
    }

    /// When the machine wants to be woken at the latest. After any input it is later than that
    /// input's time or absent, and everything the machine waits for in time is behind it: a
    /// driver that sleeps exactly until then is correct (L4). Orders and news that wait to be
    /// fetched are no deadline: drain both first, and again if handling news led to an input.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        if self.stopped { None } else { self.hub.deadline() }
    }

    /// What the agent may call, right now.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The resources of all connected servers, right now.
    #[must_use]
    pub const fn resources(&self) -> &Arc<Resources> {
        self.hub.resources()
    }

    /// The prompts of all connected servers, right now.
    #[must_use]
    pub const fn prompts(&self) -> &Arc<Prompts> {
        self.hub.prompts()
    }

    /// What became of every definition of every file when the configuration was last read, in
    /// the order of precedence: which count, which do not and why.
    #[must_use]
    pub fn sources(&self) -> &[Told] {
        self.hub.fates()
    }

    /// The keys in definitions of the Exa search that [`Filters::exa`] leaves out, one for each
    /// that has one, in the order of precedence: what a host with that search built in takes for
    /// `EXA_API_KEY` if that is not set (seed runtime 1.8). Secrets, as the files have them:
    /// neither a variable nor a command in their place is filled in.
    ///
    /// [`Filters::exa`]: crate::config::Filters::exa
    #[must_use]
    pub fn exa_keys(&self) -> &[String] {
        self.hub.exa_keys()
    }

    /// What the runtime knows about its servers.
    #[must_use]
    pub fn status(&self) -> Status {
        self.hub.status()
    }

    /// Whether `Stopped` was said: nothing more comes, whatever is put in (G9).
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    fn handle_request(&mut self, request: Request) {
        let (now, out) = (self.clock, &mut self.out);
        match request {
            Request::Start { op } => self.hub.start(now, op, out),
            Request::Reload { op } => self.hub.reload(now, op, out),
            Request::DisconnectAll { op } => self.hub.disconnect_all(now, op, out),
            Request::Connect { op, server } => self.hub.ask(now, op, &server, Ask::Connect, out),
            Request::Disconnect { op, server } => {
                self.hub.ask(now, op, &server, Ask::Disconnect, out);
            }
            Request::Reconnect { op, server, failed } => {
                self.hub.ask(now, op, &server, Ask::Reconnect(failed), out);
            }
            Request::Restart { op, server } => self.hub.ask(now, op, &server, Ask::Restart, out),
            Request::Enable { op, server } => self.hub.ask(now, op, &server, Ask::Enable, out),
            Request::Disable { op, server } => self.hub.ask(now, op, &server, Ask::Disable, out),
            Request::AwaitConnected { op, server, timeout_ms } => {
                self.hub.await_connected(now, op, &server, timeout_ms, out);
            }
            Request::StopWaiting { op } => self.hub.stop_waiting(op, out),
            Request::Call(NewCall { call, target, arguments, timeout_ms, max_ms }) => {
                let target = self.resolve(target);
                let out = &mut self.out;
                let limits = CallLimits { timeout_ms, max_ms };
                self.hub.call(now, call, target, arguments, limits, out);
            }
            Request::Cancel { call } => self.hub.cancel(now, call, out),
            Request::Reply { inquiry, reply } => self.hub.reply(now, inquiry, &reply, out),
            Request::Watch { on } => self.hub.watch(now, on, out),
            Request::Shutdown => self.hub.shut_down(now, out),
        }
    }

    fn resolve(&mut self, target: Target) -> Result<(ServerName, Aim), CallError> {
        Ok(match target {
            Target::Tool { server, tool } => (server, Aim::Tool(tool)),
            Target::Resource { server, uri } => (server, Aim::Resource(uri)),
            Target::Prompt { server, prompt } => (server, Aim::Prompt(prompt)),
            Target::Completion { server, of } => (server, Aim::Completion(of)),
            Target::Exposed(name) => {
                let by_name = self.exposed.get_or_insert_with(|| {
                    let tools = self.catalog.tools.iter().enumerate();
                    tools.map(|(at, tool)| (tool.exposed.clone(), at)).collect()
                });
                let tool = by_name.get(&name).and_then(|at| self.catalog.tools.get(*at));
                let unknown = || {
                    self.shelf.left_out(&name).map_or_else(
                        || CallError::UnknownTool { tool: name.clone() },
                        |(server, tool)| CallError::ExcludedTool {
                            server: server.clone(),
                            tool: tool.into(),
                        },
                    )
                };
                let tool = tool.ok_or_else(unknown)?;
                (tool.server.clone(), Aim::Tool(tool.tool.clone()))
            }
        })
    }

    /// Lets everything happen that is due. Ends because each round moves every due timer on or
    /// drops it.
    fn fire(&mut self) {
        while self.hub.deadline().is_some_and(|deadline| deadline.at <= self.clock) {
            self.hub.handle_timeout(self.clock, &mut self.out);
            self.conclude();
        }
    }

    fn settle(&mut self) {
        self.fire();
        self.conclude();
        if self.hub.is_down() {
            self.stopped = true;
            self.out.event(Event::Stopped);
        }
    }

    fn conclude(&mut self) {
        self.hub.publish(self.clock, &mut self.out);
        self.derive_catalog();
        self.hub.conclude(self.clock, &mut self.out);
    }

    /// Derives the catalogue and says so if it is another one (G25).
    fn derive_catalog(&mut self) {
        let touched = self.hub.take_touched();
        if touched.is_empty() {
            return;
        }
        let offers = touched.iter().map(|name| (name, self.hub.offer(name)));
        let (change, problems) = self.shelf.put(self.hub.order(), offers);
        for problem in problems {
            self.hub.found(problem, &mut self.out);
        }
        match change {
            Some(Change::Part(place, tools)) => {
                Arc::make_mut(&mut self.catalog).tools.splice(place, tools);
            }
            Some(Change::Whole(tools)) if tools != self.catalog.tools => {
                Arc::make_mut(&mut self.catalog).tools = tools;
            }
            Some(Change::Whole(_)) | None => return,
        }
        let catalog = Arc::make_mut(&mut self.catalog);
        catalog.revision += 1;
        self.exposed = None;
        self.out.event(Event::ToolsChanged { revision: catalog.revision });
    }
}

#[cfg(feature = "_explore")]
mod explore {
    use core::hash::Hasher as _;

    use super::Runtime;
    use crate::id::ServerName;
    use crate::time::Timestamp;
    use crate::wide::Wide;

    impl Runtime {
        /// A number that is equal for runtimes that will behave alike from here on, times and
        /// numbers of things taken relative to the present. Outputs must be drained.
        #[must_use]
        pub fn fingerprint(&self, now: Timestamp) -> u128 {
            let mut wide = Wide::default();
            wide.write_u8(u8::from(self.stopped));
            self.hub.digest(now, &mut wide);
            wide.value()
        }

        /// The name of a server's phase: `absent`, `idle`, `opening`, `greeting`, `listing`,
        /// `ready`, `stopping`.
        #[must_use]
        pub fn phase_of(&self, server: &ServerName) -> &'static str {
            self.hub.phase_of(server)
        }
    }
}

/// What a handshake offers first: the newest revision that has one, unless another one is wanted
/// that does (C-VER-22).
fn offered(wanted: Option<Revision>) -> Revision {
    wanted.filter(|revision| revision.era() == Era::Legacy).unwrap_or(Revision::LATEST_LEGACY)
}
