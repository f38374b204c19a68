//! Stories: a host with servers, and steps that happen to it.
//!
//! Steps are total: an index is taken modulo what exists, and a step that does not apply does
//! nothing, so that a story can be cut and changed anywhere and stays a story. A story ends with
//! all faults off and the demand that everything converges.

mod cast;

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::error::Exit;
use tidegate_core::hub::policy::{Policy, Protocol};
use tidegate_core::id::{CallId, ConnId, InquiryId, OpId};
use tidegate_core::input::{Found, Target};
use tidegate_core::inquiry::{Refusal, Reply, Service};
use tidegate_core::limits::Limits;

use crate::choices::Choices;
use crate::front::Front;
use crate::laws::Law;
use crate::machine::Machine;
use crate::scene::{Entry, Scene};
use crate::script::{Script, Speaks};
use crate::violation::Violation;
use crate::world::World;

use cast::change;

pub use cast::script;

/// The names of servers. Without digits, so that the documented rule for names keeps them apart.
const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// The tools of a server, of which the first ones are offered.
const TOOLS: [&str; 6] = ["echo", "fail", "refuse", "hang", "again", "ask"];

/// The resources of a server, of which the first ones are offered.
const RESOURCES: [&str; 4] = ["file:///d", "file:///b", "file:///a", "file:///c"];

/// One thing that happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// Time passes and what is due happens, for so many milliseconds.
    Wait(u16),
    /// So many things that are due next happen.
    Deliver(u8),
    /// The host asks for a start.
    Start,
    /// The host calls this tool of this server.
    Call(u8, u8),
    /// The host calls what the catalogue offers in this place, with a limit of its own.
    CallOffered(u8, u16),
    /// The host gives the latest call but so many up.
    Cancel(u8),
    /// The host asks for a reload.
    Reload,
    /// The host connects this server.
    Connect(u8),
    /// The host disconnects this server.
    Disconnect(u8),
    /// The host disconnects every server.
    DisconnectAll,
    /// The host connects this server again; with `true`, because of the first attempt there was.
    Reconnect(u8, bool),
    /// The host restarts this server.
    Restart(u8),
    /// The host switches this server on.
    Enable(u8),
    /// The host switches this server off.
    Disable(u8),
    /// The host waits for this server, for so many milliseconds.
    Await(u8, u16),
    /// The host stops waiting for the latest operation but so many.
    StopWaiting(u8),
    /// This server's process ends by itself; with `true`, the end of its output is noticed first.
    Crash(u8, bool),
    /// This server writes something that nobody expects.
    Blurt(u8, u8),
    /// From here on this server plays another part.
    Recast(u8, u8),
    /// The definition of this server changes in the file.
    Edit(u8, u8),
    /// What is in the cache is garbage from here on.
    SpoilCache,
    /// This server offers something else and says so.
    Change(u8, u8),
    /// The host follows changes of resources from here on, or no more.
    Watch(bool),
    /// This server says that one of its resources changed.
    Update(u8, u8),
    /// The host asks this server for a resource or for a prompt.
    Fetch(u8, u8),
    /// The host answers the oldest open question but so many, in one way or another.
    Reply(u8, u8),
    /// The host sleeps for so many milliseconds.
    Oversleep(u16),
    /// The host asks for the end.
    Shutdown,
}

impl Step {
    /// A step.
    pub fn choose(choices: &mut impl Choices) -> Self {
        let kind = choices.choose(52);
        let mut small = || choices.choose(256).try_into().unwrap_or(0);
        match kind {
            0..4 => Self::Wait([1, 20, 250, 3_000][kind as usize] + u16::from(small()) * 3),
            4..8 => Self::Deliver(small() % 8 + 1),
            8..10 => Self::Start,
            10..14 => Self::Call(small(), small()),
            14..16 => Self::CallOffered(small(), u16::from(small()) * 16 + 1),
            16..18 => Self::Cancel(small() % 4),
            18..20 => Self::Reload,
            20 => Self::Connect(small()),
            21 => Self::Disconnect(small()),
            22 => Self::DisconnectAll,
            23..25 => Self::Crash(small(), small() % 2 == 0),
            25..27 => Self::Blurt(small(), small()),
            27 => Self::Recast(small(), small()),
            28 => Self::Edit(small(), small()),
            29 => Self::SpoilCache,
            30 => Self::Oversleep(u16::from(small()) * 200),
            31 | 32 => Self::Reconnect(small(), small() % 2 == 0),
            33 | 34 => Self::Restart(small()),
            35 => Self::Enable(small()),
            36 => Self::Disable(small()),
            37 => Self::Await(small(), u16::from(small()) * 16),
            38 => Self::StopWaiting(small() % 4),
            39..43 => Self::Change(small(), small()),
            43 | 44 => Self::Watch(small() % 2 == 0),
            45 => Self::Update(small(), small()),
            46 => Self::Shutdown,
            50 | 51 => Self::Fetch(small(), small()),
            _ => Self::Reply(small() % 4, small()),
        }
    }
}

/// The beginning of a story: how many servers, what they do, what is cached.
pub fn scene(choices: &mut impl Choices, policy: Policy) -> Scene {
    let mut scene = Scene::new(policy).limits(limits());
    if !choices.once_in(4) {
        scene.options.services =
            [Service::SamplingTools, Service::ElicitationForm].into_iter().collect();
    }
    if choices.once_in(4) {
        scene = scene.reads_taking(u64::from(choices.choose(300)));
    }
    let servers = 1 + choices.choose(NAMES.len() as u32) as usize;
    for name in NAMES.iter().take(servers) {
        let mut entry = Entry::new(name);
        entry.enabled = !choices.once_in(8);
        entry.timeout_ms = choices.once_in(6).then_some(2_000);
        scene = scene.entry(entry, script(choices));
        if choices.once_in(3) {
            scene = scene.cached();
        }
    }
    scene
}

/// Bounds that a short story can reach.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.message_bytes = 4_096;
    limits.stderr_tail_bytes = 256;
    limits.pages = TOOLS.len();
    limits.tools_per_server = 16;
    limits.subscriptions_per_server = 3;
    limits.subscribing_at_once = 2;
    limits.open_calls = 3;
    limits.inquiries_per_server = 2;
    limits.problems = 2;
    limits
}

/// What a host may answer.
fn reply(how: u8) -> Reply {
    match how % 4 {
        0 => Reply::Done(Json::new(r#"{"action":"accept","content":{"name":"me"}}"#)),
        1 => Reply::Done(Json::new("no JSON")),
        2 => Reply::Refused(Refusal::Declined),
        _ => Reply::Refused(Refusal::Failed { message: "no".into() }),
    }
}

/// What a server may blurt out.
const BLURTS: [&str; 6] = [
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n",
    "DEBUG: here\r\n\n",
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n",
    "\u{feff}\u{1f600} half a line",
];

impl<M: Machine> World<M> {
    /// Lets one step of a story happen.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn apply(&mut self, step: Step) -> Result<(), Violation> {
        let count = self.model.file().len();
        let name = |at: u8| NAMES[usize::from(at) % count.clamp(1, NAMES.len())];
        match step {
            Step::Wait(ms) => self.run_for(u64::from(ms))?,
            Step::Deliver(n) => {
                for _ in 0..n {
                    self.step()?;
                }
            }
            Step::Start => drop(self.start()?),
            Step::Call(at, tool) => {
                let tool = TOOLS[usize::from(tool) % TOOLS.len()];
                self.call(name(at), tool)?;
            }
            Step::CallOffered(at, limit) => self.call_offered(at, limit)?,
            Step::Cancel(back) => self.cancel_latest(back)?,
            Step::Reload => drop(self.reload()?),
            Step::Connect(at) => drop(self.connect(name(at))?),
            Step::Disconnect(at) => drop(self.disconnect(name(at))?),
            Step::DisconnectAll => drop(self.disconnect_all()?),
            Step::Reconnect(at, first) => {
                self.reconnect(name(at), first.then_some(ConnId::new(0)))?;
            }
            Step::Restart(at) => drop(self.restart(name(at))?),
            Step::Enable(at) => drop(self.enable(name(at))?),
            Step::Disable(at) => drop(self.disable(name(at))?),
            Step::Await(at, limit) => drop(self.await_connected(name(at), Some(limit.into()))?),
            Step::StopWaiting(back) => {
                if let Some(op) = self.operations_made().checked_sub(1 + u64::from(back)) {
                    self.stop_waiting(OpId::new(op))?;
                }
            }
            Step::Crash(at, eof) => self.hurt(name(at), eof),
            Step::Blurt(at, what) => {
                let text = BLURTS[usize::from(what) % BLURTS.len()];
                self.driver.say(&name(at).into(), text.as_bytes(), self.now());
                self.model.doubt(Some(name(at)));
            }
            Step::Recast(at, seed) => {
                let mut seeded = crate::choices::Seeded::new(u64::from(seed));
                let script = script(&mut seeded);
                self.recast(name(at), script);
            }
            Step::Edit(at, how) => self.edit(usize::from(at) % count.max(1), how),
            Step::Change(at, how) => self.change(name(at), |offers| change(offers, how)),
            Step::Watch(on) => self.watch(on)?,
            Step::Update(at, which) => {
                self.update(name(at), RESOURCES[usize::from(which) % RESOURCES.len()]);
            }
            Step::Fetch(at, which) => self.fetch(name(at), which)?,
            Step::Reply(back, how) => self.reply_to(back, how)?,
            Step::SpoilCache => {
                let garbage = Found::Content("{\"version\":1,\"tools\":[]}".into());
                self.driver.spoil_cache(&garbage);
            }
            Step::Oversleep(ms) => {
                self.oversleep(u64::from(ms));
                self.model.doubt(None);
            }
            Step::Shutdown => self.shutdown()?,
        }
        Ok(())
    }

    /// Ends a story: what is under way comes to rest and agrees with the model; then faults are
    /// off, and everything that is wanted gets ready, answers, and ends.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn settle(&mut self) -> Result<(), Violation> {
        self.run_until_quiet()?;
        self.check_model()?;
        for name in NAMES {
            let healthy = Script::default();
            let Script { offers, subscribe, front, speaks, .. } =
                self.driver.script(name).unwrap_or(&healthy).clone();
            let front = front.map(|front| Front { faults: Vec::new(), ..front });
            // One with which no era is left to speak would never get ready.
            let known = self.options.policy.protocol != Protocol::Legacy;
            let speaks = if known { speaks } else { speaks.min(Speaks::Legacy) };
            self.recast(name, Script { offers, subscribe, front, speaks, ..healthy });
        }
        if !self.machine().is_stopped() {
            for name in NAMES {
                // A server that lived through its faults is whole only after another start.
                self.disconnect(name)?;
                self.connect(name)?;
            }
            self.start()?;
            self.run_until_quiet()?;
            self.check_model()?;
            self.call_everything()?;
            self.reload_the_same()?;
        }
        self.finish()?;
        self.tell_again()?;
        let left = self.driver.process_count();
        self.broken(Law::NoOrphan.demands(left == 0, || format!("{left} processes are left")))
    }

    fn call_everything(&mut self) -> Result<(), Violation> {
        let tools: Vec<String> =
            self.machine().catalog().tools.iter().map(|tool| tool.exposed.clone()).collect();
        for tool in tools {
            self.call_target(Target::Exposed(tool), Some(1_000))?;
            self.run_for(500)?;
            let open: Vec<InquiryId> = self.open_inquiries().collect();
            open.into_iter().try_for_each(|inquiry| self.reply(inquiry, reply(0)))?;
            self.run_until_quiet()?;
        }
        Ok(())
    }

    /// F-033: a reload that finds what it knows touches no process.
    fn reload_the_same(&mut self) -> Result<(), Violation> {
        self.reload()?;
        self.run_until_quiet_with(|world| {
            let touched = world
                .last_commands()
                .iter()
                .find(|command| !matches!(command, Command::ReadConfig { .. }));
            let touched = touched.map(|command| format!("{command:?}"));
            world.broken(Law::Model.demands(touched.is_none(), || {
                format!("a reload without a change led to {touched:?}")
            }))
        })
    }

    fn fetch(&mut self, server: &str, which: u8) -> Result<(), Violation> {
        let server = server.into();
        let target = match which % 3 {
            0 => Target::Prompt { server, prompt: "greet".into() },
            _ => Target::Resource { server, uri: RESOURCES[0].into() },
        };
        self.call_target(target, which.is_multiple_of(2).then_some(u64::from(which) * 16)).map(drop)
    }

    fn reply_to(&mut self, back: u8, how: u8) -> Result<(), Violation> {
        let inquiry = self.open_inquiries().nth(usize::from(back));
        inquiry.map_or(Ok(()), |inquiry| self.reply(inquiry, reply(how)))
    }

    fn call_offered(&mut self, at: u8, limit: u16) -> Result<(), Violation> {
        let tools = &self.machine().catalog().tools;
        let offered = usize::from(at).checked_rem(tools.len()).and_then(|at| tools.get(at));
        if let Some(tool) = offered {
            let target = Target::Exposed(tool.exposed.clone());
            self.call_target(target, Some(u64::from(limit)))?;
        }
        Ok(())
    }

    fn cancel_latest(&mut self, back: u8) -> Result<(), Violation> {
        match self.calls_made().checked_sub(1 + u64::from(back)) {
            Some(call) => self.cancel(CallId::new(call)),
            None => Ok(()),
        }
    }

    fn hurt(&mut self, name: &str, eof: bool) {
        let is_remote = |script: &Script| script.front.is_some();
        if self.driver.script(name).is_some_and(is_remote) {
            // Nobody sees that a remote server is gone until it is asked something.
            self.model.doubt(Some(name));
        }
        self.driver.crash(&name.into(), Exit::Signal(11), eof, self.now());
    }

    fn recast(&mut self, name: &str, script: Script) {
        self.driver.set_script(name, script);
        self.model.doubt(Some(name));
    }

    fn edit(&mut self, at: usize, how: u8) {
        let mut file = self.model.file().to_vec();
        let Some(entry) = file.get_mut(at) else { return };
        match how % 4 {
            0 => entry.version += 1,
            1 => entry.enabled = !entry.enabled,
            2 => drop(file.remove(at)),
            _ => {
                let missing = NAMES.iter().find(|name| file.iter().all(|e| e.name != **name));
                file.extend(missing.map(|name| Entry::new(name)));
            }
        }
        self.set_config(file);
    }
}
