//! The reference model: what every story must have come to when nothing is due any more.
//!
//! It knows the configuration as it was read, which servers are wanted, and which of them are in
//! a state to work. It knows no phases, no frames and no timers, and it is asked at quiet points
//! only.

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tidegate_core::command::Command;
use tidegate_core::event::ServerState;
use tidegate_core::held::Held;
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::policy::{Extras, Policy, Protocol, Reconnect, Watch};
use tidegate_core::hub::status::Status;
use tidegate_core::id::{ReadId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::limits::Limits;
use tidegate_core::tools::catalog::{Catalog, ToolState};

use crate::driver::Driver;
use crate::hashed::Hashed;
use crate::laws::{Breach, Law};
use crate::machine::Machine;
use crate::scene::Entry;
use crate::script::{Nature, Offered, Script};
use crate::violation::Violation;
use crate::world::World;

use server::{Approved, Must, Reach, Server, Waiting};

/// What must be true of every server when nothing is due any more.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The configuration file as it is.
    file: Hashed<Vec<Entry>>,
    reads: Held<BTreeMap<ReadId, Hashed<Vec<Entry>>>>,
    /// The configuration as it was read last, in its order.
    known: Hashed<Vec<Entry>>,
    servers: Held<BTreeMap<String, Server>>,
    /// Whether a server that is lost comes back by itself.
    reconnects: bool,
    /// Which eras of the protocol are spoken.
    protocol: Protocol,
    watching: bool,
    /// Whether the file is read again when it is saved.
    follows: bool,
    /// How far the reading that is under way goes.
    reach: Reach,
    /// The host disconnected every server and started nothing since: so a file that is saved
    /// starts nothing.
    resting: bool,
    /// What the user approved: which version of which server.
    approved: Held<BTreeSet<Approved>>,
    /// What was read and waits for what was approved when that was asked for.
    waiting: Option<Waiting>,
    /// What was asked and only the reading that is under way can decide.
    early: Vec<Request>,
    over: bool,
}

impl Model {
    /// A model of a host with this configuration file.
    #[must_use]
    pub fn new(file: Vec<Entry>, policy: &Policy) -> Self {
        let reconnects = policy.reconnect != Reconnect::Off;
        let follows = policy.watch != Watch::Off;
        let protocol = policy.protocol;
        Self { file: Hashed::new(file), reconnects, protocol, follows, ..Self::default() }
    }

    /// The configuration file as it is.
    #[must_use]
    pub fn file(&self) -> &[Entry] {
        &self.file
    }

    /// The configuration file changes.
    pub(crate) fn set_file(&mut self, file: Vec<Entry>) {
        self.file = Hashed::new(file);
    }

    /// Takes in one input and what it led to.
    pub(crate) fn note(&mut self, input: Option<&Input>, commands: &[Command], driver: &Driver) {
        match input {
            Some(Input::Host(request)) => self.asked(request),
            Some(Input::Io(fact)) => {
                let asks = commands.iter().find_map(|command| match command {
                    Command::ReadApprovals { read } => Some(*read),
                    _ => None,
                });
                self.told(fact, asks);
            }
            None => {}
        }
        for command in commands {
            match command {
                Command::ReadConfig { read, .. } => {
                    self.waiting = None;
                    self.reads.insert(*read, self.file.clone());
                }
                Command::Open { conn, server, launch } => {
                    let script = driver.script(&launch.command.to_string());
                    let nature = script.map_or(Nature::Broken, |script| {
                        script.nature_in(self.protocol, script.nature())
                    });
                    let offers = script.map(|script| script.offers.clone()).unwrap_or_default();
                    if let Some(server) = self.servers.get_mut(server.as_str()) {
                        server.subscribe = script.is_some_and(Script::subscribes);
                        server.attempt = Some((*conn, nature, Hashed::new(offers)));
                        server.runs = launch.args.first().map(ToString::to_string);
                        server.lost = false;
                    }
                }
                Command::Connect { conn, server, remote } => {
                    let script = driver.script(server.as_str());
                    let nature = script.map_or(Nature::Broken, |script| {
                        script.nature_in(self.protocol, script.remote_nature())
                    });
                    let offers = script.map(|script| script.offers.clone()).unwrap_or_default();
                    if let Some(server) = self.servers.get_mut(server.as_str()) {
                        server.subscribe = script.is_some_and(Script::subscribes);
                        server.attempt = Some((*conn, nature, Hashed::new(offers)));
                        let version = remote.url.to_string();
                        server.runs = version.rsplit('/').next().map(Into::into);
                        server.lost = false;
                    }
                }
                _ => {}
            }
        }
    }

    /// Something happened to a server, or to time, after which nobody can say what becomes of
    /// an attempt that is under way.
    pub fn doubt(&mut self, name: Option<&str>) {
        for (server, state) in self.servers.iter_mut() {
            if let Some((_, nature, _)) = &mut state.attempt
                && name.is_none_or(|name| name == server)
            {
                *nature = Nature::Fickle;
            }
        }
    }

    /// The user approves a server as it is configured.
    pub(crate) fn approve(&mut self, name: &str) {
        let entry = self.known.iter().find(|entry| entry.name == name);
        let approved = entry.map(|entry| Approved { server: name.into(), version: entry.version });
        self.approved.extend(approved);
    }

    /// The user takes back whatever was approved.
    pub(crate) fn revoke_all(&mut self) {
        self.approved = Held::default();
    }

    /// A server offers something else from here on, and its host will get to know.
    pub(crate) fn changed(&mut self, name: &str, offers: Offered) {
        if let Some((_, _, has)) = self.servers.get_mut(name).and_then(|s| s.attempt.as_mut()) {
            *has = Hashed::new(offers);
        }
    }

    /// What tells this expectation from another one.
    pub(crate) fn digest(&self, state: &mut impl Hasher) {
        let flags = (self.watching, self.reach, self.resting, self.over);
        (&self.file, &self.known, flags, self.reads.len(), self.servers.len()).hash(state);
        self.reads.values().for_each(|read| read.hash(state));
        let waiting = self.waiting.as_ref().map(|it| (&it.entries, &it.approved));
        (&self.approved, waiting).hash(state);
        for request in &self.early {
            (std::mem::discriminant(request), target(request)).hash(state);
        }
        for (name, server) in self.servers.iter() {
            let attempt = server.attempt.as_ref().map(|(_, nature, tools)| (*nature, tools));
            (name, server.wanted, server.rests, attempt, &server.runs, server.lost).hash(state);
            (server.switch, server.subscribe, server.approved).hash(state);
        }
    }

    /// Compares what is with what must be.
    pub(crate) fn check(&self, status: &Status, catalog: &Catalog) -> Result<(), Breach> {
        if self.over {
            return Ok(());
        }
        let names: Vec<&str> = self.known.iter().map(|entry| entry.name.as_str()).collect();
        let are: Vec<&str> = status.servers.iter().map(|server| server.name.as_str()).collect();
        Law::Model.demands(names == are, || format!("{names:?} are configured, not {are:?}"))?;
        let (mut live, mut sound) = (Vec::new(), Vec::new());
        for (entry, is) in self.known.iter().zip(&status.servers) {
            let Some(server) = self.servers.get(&entry.name) else { continue };
            let state = is.state.name();
            let must = server.must_be(entry, self.reconnects);
            let fits = match (&is.state, must) {
                (ServerState::Disabled, Must::BeOff)
                | (ServerState::NeedsApproval, Must::NeedApproval)
                | (ServerState::Disconnected, Must::BeDisconnected)
                | (
                    ServerState::Failed { .. } | ServerState::Suspended { .. },
                    Must::HaveFailed | Must::HaveSettled,
                ) => true,
                (ServerState::Connected, Must::HaveSettled) => true,
                (ServerState::Connected, Must::BeConnected) => {
                    sound.push(entry.name.as_str());
                    let tools = server.attempt.iter().flat_map(|(_, _, has)| &has.tools);
                    live.extend(tools.map(|tool| (entry.name.clone(), tool.clone())));
                    true
                }
                (_, _) => false,
            };
            let version = format!("v{}", entry.version);
            let current = server.runs.as_ref().is_none_or(|runs| *runs == version);
            Law::Model.demands(is.state != ServerState::Connected || current, || {
                format!("{} runs {:?} and its definition is {version}", entry.name, server.runs)
            })?;
            Law::Model.demands(fits, || format!("{} must {must:?} and is {state}", entry.name))?;
        }
        let offered: Vec<(String, String)> = catalog
            .tools
            .iter()
            .filter(|tool| tool.state == ToolState::Live)
            .filter(|tool| sound.contains(&tool.server.as_str()))
            .map(|tool| (tool.server.as_str().to_owned(), tool.tool.clone()))
            .collect();
        Law::Model.demands(live == offered, || format!("{live:?} must be live, not {offered:?}"))
    }

    /// Compares resources, prompts and subscriptions of sound servers with what must be.
    pub(crate) fn check_extras(
        &self,
        status: &Status,
        (resources, prompts): (&Resources, &Prompts),
        policy: &Policy,
        limits: &Limits,
    ) -> Result<(), Breach> {
        for (entry, is) in self.known.iter().zip(&status.servers) {
            let server = self.servers.get(&entry.name);
            let Some(server) = server.filter(|server| {
                !self.over && matches!(server.must_be(entry, self.reconnects), Must::BeConnected)
            }) else {
                continue;
            };
            let mut must = server.attempt.as_ref().map(|(_, _, has)| (**has).clone());
            let must = must.take().filter(|_| policy.extras == Extras::Load).unwrap_or_default();
            let of = resources.servers.iter().find(|of| of.server == is.name);
            let found = of.iter().flat_map(|of| of.resources.iter());
            let uris: Vec<String> = found.map(|resource| resource.uri.to_string()).collect();
            Law::Model.demands(uris == must.resources, || {
                format!("{} must have {:?}, not {uris:?}", is.name, must.resources)
            })?;
            let found = of.iter().flat_map(|of| of.templates.iter());
            let templates: Vec<String> = found.map(|one| one.uri_template.clone()).collect();
            Law::Model.demands(templates == must.templates, || {
                format!("{} must have {:?}, not {templates:?}", is.name, must.templates)
            })?;
            let of = prompts.servers.iter().find(|of| of.server == is.name);
            let found = of.iter().flat_map(|of| of.prompts.iter());
            let names: Vec<String> = found.map(|prompt| prompt.name.clone()).collect();
            Law::Model.demands(names == must.prompts, || {
                format!("{} must have {:?}, not {names:?}", is.name, must.prompts)
            })?;
            let follows = self.watching && server.subscribe;
            let most = if follows { limits.subscriptions_per_server } else { 0 };
            let mut watched: Vec<String> = must.resources.into_iter().take(most).collect();
            watched.sort();
            Law::Model.demands(is.subscriptions == watched, || {
                format!(
                    "{} must be watched at {watched:?}, not {:?} (G51)",
                    is.name, is.subscriptions
                )
            })?;
        }
        Ok(())
    }

    fn asked(&mut self, request: &Request) {
        if self.is_early(request) {
            return;
        }
        match request {
            Request::Connect { server, .. }
            | Request::Reconnect { server, .. }
            | Request::Restart { server, .. } => self.want(server),
            Request::Enable { server, .. } => {
                self.switch(server, true);
                self.want(server);
            }
            Request::Disable { server, .. } => self.switch(server, false),
            Request::Disconnect { server, .. } => {
                if let Some(server) = self.servers.get_mut(server.as_str()) {
                    (server.wanted, server.rests) = (false, false);
                }
            }
            Request::Start { .. } => (self.reach, self.resting) = (Reach::Wakes, false),
            Request::Reload { .. } => self.reach = self.reach.max(Reach::Retries),
            Request::DisconnectAll { .. } => {
                (self.reach, self.resting) = (self.reach.min(Reach::Retries), self.follows);
                self.rest(|_| true);
            }
            Request::Watch { on } => self.watching = *on,
            Request::Shutdown => self.over = true,
            _ => {}
        }
    }

    /// The host disconnects every server, of which these are concerned.
    fn rest(&mut self, concerned: impl Fn(&str) -> bool) {
        let concerned = self.servers.iter_mut().filter(|(name, _)| concerned(name));
        concerned.for_each(|(_, server)| server.rest());
    }

    /// The servers that are known and switched on.
    fn on(&self) -> BTreeSet<String> {
        let known = self.known.iter().map(|entry| (entry, self.servers.get(&entry.name)));
        let on = known.filter(|(entry, server)| server.is_some_and(|server| server.is_on(entry)));
        on.map(|(entry, _)| entry.name.clone()).collect()
    }

    /// Whether only the reading that is under way, if there is one, can decide about it (G16):
    /// then it is kept.
    fn is_early(&mut self, request: &Request) -> bool {
        if self.reads.is_empty() && self.waiting.is_none() {
            return false;
        }
        if let Request::Start { .. } = request {
            self.early.retain(|other| !matches!(other, Request::DisconnectAll { .. }));
        }
        let Some(target) = target(request) else { return false };
        let decided = target.is_some_and(|server| self.on().contains(server.as_str()));
        if !decided {
            self.early.push(request.clone());
        }
        // Of all, those that are known are let go at once.
        !decided && target.is_some()
    }

    /// The host wants it to run. One that is off is refused, and nothing comes of that.
    fn want(&mut self, name: &ServerName) {
        let entry = self.known.iter().find(|entry| entry.name == name.as_str());
        if let (Some(server), Some(entry)) = (self.servers.get_mut(name.as_str()), entry)
            && server.is_on(entry)
        {
            (server.wanted, server.rests, server.lost) = (true, false, false);
        }
    }

    fn switch(&mut self, name: &ServerName, on: bool) {
        if let Some(server) = self.servers.get_mut(name.as_str()) {
            server.switch = Some(on);
            server.wanted |= on;
            server.rests &= !on;
        }
    }

    /// `asks`: the read that will say what is approved, if that is asked for.
    fn told(&mut self, fact: &Fact, asks: Option<ReadId>) {
        match fact {
            Fact::ConfigRead { read, .. } => {
                let newest = self.reads.last_key_value().is_some_and(|(newest, _)| newest == read);
                if let Some(entries) = self.reads.remove(read)
                    && newest
                {
                    self.reads.clear();
                    match asks {
                        Some(read) => {
                            let approved = self.approved.clone();
                            self.waiting = Some(Waiting { read, entries, approved });
                        }
                        None => self.apply(entries, |_| true),
                    }
                }
            }
            Fact::ApprovalsRead { read, .. } => {
                let waiting = self.waiting.take_if(|waiting| waiting.read == *read);
                if let Some(Waiting { entries, approved, .. }) = waiting {
                    self.apply(entries, |entry| {
                        let Entry { name, version, .. } = entry;
                        let approved = approved.iter();
                        { approved }.any(|it| it.server == *name && it.version == *version)
                    });
                }
            }
            Fact::OpenFailed { conn, .. }
            | Fact::OutputEnded { conn }
            | Fact::InputFailed { conn }
            | Fact::Closed { conn, .. } => {
                let is_on = |server: &Server| {
                    let own = server.attempt.as_ref();
                    !server.lost && own.is_some_and(|(own, ..)| own == conn)
                };
                if self.servers.values().any(is_on) {
                    let lost = self.servers.values_mut().filter(|server| is_on(server));
                    lost.for_each(|server| server.lost = true);
                }
            }
            _ => {}
        }
    }

    fn apply(&mut self, entries: Hashed<Vec<Entry>>, approved: impl Fn(&Entry) -> bool) {
        let mut servers = BTreeMap::new();
        let was_on = self.on();
        for entry in entries.iter() {
            let before = self.servers.remove(&entry.name);
            let known = self.known.iter().find(|known| known.name == entry.name);
            let mut server = before.unwrap_or_default();
            server.configure(entry, known, (self.reach, self.resting), approved(entry));
            servers.insert(entry.name.clone(), server);
        }
        self.servers = Held::new(servers);
        self.reach = Reach::Changes;
        self.known = entries;
        for request in std::mem::take(&mut self.early) {
            if let Request::DisconnectAll { .. } = request {
                self.rest(|name| !was_on.contains(name));
            } else {
                self.asked(&request);
            }
        }
    }
}

/// Which server is asked for something; `Some(None)` are all of them.
const fn target(request: &Request) -> Option<Option<&ServerName>> {
    match request {
        Request::Connect { server, .. }
        | Request::Reconnect { server, .. }
        | Request::Restart { server, .. }
        | Request::Enable { server, .. }
        | Request::Disable { server, .. }
        | Request::Disconnect { server, .. } => Some(Some(server)),
        Request::DisconnectAll { .. } => Some(None),
        _ => None,
    }
}

impl<M: Machine> World<M> {
    /// Compares a quiet moment with the reference model.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn check_model(&self) -> Result<(), Violation> {
        let machine = &self.machine();
        let status = machine.status();
        self.broken(self.model.check(&status, machine.catalog()))?;
        let policy = &self.options.policy;
        let extras = (machine.resources(), machine.prompts());
        self.broken(self.model.check_extras(&status, extras, policy, &self.options.limits))
    }
}
