//! A runtime, a clock and a driver: one simulated run.
//!
//! The clock moves in two ways only: to the next thing that is due, which is the earlier of the
//! driver's next fact and the machine's own deadline, or by [`World::oversleep`], which is what
//! a suspended host does. It never ticks by itself, so a deadline that the machine forgets is a
//! deadline that never comes.

mod explored;
mod running;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tidegate_core::bytes::Json;
use tidegate_core::command::Command;
use tidegate_core::error::Exit;
use tidegate_core::event::Event;
use tidegate_core::id::{CallId, OpId};
use tidegate_core::input::{Fact, Input, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::{Deadline, Timestamp};
use tidegate_core::trace::{TRACE_VERSION, TraceLine};

use crate::driver::{Driver, Lane};
use crate::laws::{Breach, Law, Laws, Seen};
use crate::machine::Machine;
use crate::model::Model;
use crate::replay;
use crate::scene::{CONFIG, Entry};
use crate::violation::Violation;

/// One simulated run.
#[derive(Clone, Debug)]
pub struct World<M: Machine = Runtime> {
    machine: M,
    /// The machine as it was made.
    origin: Arc<M>,
    pub(crate) options: Arc<Options>,
    /// Files, cache, scripts and processes.
    pub driver: Driver,
    now: Timestamp,
    /// When the machine wants to be woken.
    deadline: Option<Deadline>,
    laws: Laws,
    /// What the run must have come to when it is quiet.
    pub model: Model,
    trace: Vec<TraceLine>,
    events: Vec<Event>,
    last: Last,
    next_call: u64,
    next_op: u64,
    effort: Effort,
}

/// The last step.
#[derive(Clone, Debug, Default)]
struct Last {
    input: Option<Input>,
    commands: Vec<Command>,
    events: Vec<Event>,
}

/// How much of a run is checked and kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effort {
    /// Every law after every step, and the trace.
    Full,
    /// The laws that need no copy of the machine, and no trace: for the explorer, which probes
    /// each world once and can walk the same path again, and for long runs.
    Light,
}

impl<M: Machine> World<M> {
    /// A world at time zero. `machine` was made with `options`.
    #[must_use]
    pub fn new(machine: M, options: &Options, driver: Driver, model: Model) -> Self {
        let head = TraceLine::Head { version: TRACE_VERSION, options: Box::new(options.clone()) };
        Self {
            origin: Arc::new(machine.clone()),
            deadline: machine.poll_timeout(),
            machine,
            options: Arc::new(options.clone()),
            driver,
            now: Timestamp::ZERO,
            laws: Laws::new(options),
            model,
            trace: vec![head],
            events: Vec::new(),
            last: Last::default(),
            next_call: 0,
            next_op: 0,
            effort: Effort::Full,
        }
    }

    /// The same world, checked and kept as told.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        if effort == Effort::Light {
            self.trace = Vec::new();
        }
        self
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// When the machine wants to be woken.
    pub(crate) const fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The run so far.
    #[must_use]
    pub fn trace(&self) -> &[TraceLine] {
        &self.trace
    }

    /// The news of the run so far, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What was put in last; `None` for a tick.
    #[must_use]
    pub fn last_input(&self) -> Option<&Input> {
        self.last.input.as_ref()
    }

    /// What the machine ordered in the last step.
    #[must_use]
    pub fn last_commands(&self) -> &[Command] {
        &self.last.commands
    }

    /// What the machine had to say in the last step.
    #[must_use]
    pub fn last_events(&self) -> &[Event] {
        &self.last.events
    }

    /// How many calls were made.
    #[must_use]
    pub fn calls_made(&self) -> u64 {
        self.next_call
    }

    /// How many operations were asked for.
    #[must_use]
    pub fn operations_made(&self) -> u64 {
        self.next_op
    }

    /// Asks for a start.
    ///
    /// # Errors
    /// The law that was broken; so for every method that lets something happen.
    pub fn start(&mut self) -> Result<OpId, Violation> {
        self.operation(|op| Request::Start { op })
    }

    /// Asks for a reload.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn reload(&mut self) -> Result<OpId, Violation> {
        self.operation(|op| Request::Reload { op })
    }

    /// Calls a tool by its server and its own name. The arguments are the number of the call,
    /// which the scripted servers answer with.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn call(&mut self, server: &str, tool: &str) -> Result<CallId, Violation> {
        self.call_target(Target::Tool { server: server.into(), tool: tool.into() }, None)
    }

    /// Calls a tool by the name it is exposed under, or by both names, with a limit of its own.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn call_target(
        &mut self,
        target: Target,
        timeout_ms: Option<u64>,
    ) -> Result<CallId, Violation> {
        let call = CallId::new(self.next_call);
        self.next_call += 1;
        let arguments = Json::new(format!("{{\"n\":{}}}", call.number()));
        self.request(Request::Call(NewCall { call, target, arguments, timeout_ms, max_ms: None }))?;
        Ok(call)
    }

    /// Gives a call up.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn cancel(&mut self, call: CallId) -> Result<(), Violation> {
        self.request(Request::Cancel { call })
    }

    /// Asks for the end.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn shutdown(&mut self) -> Result<(), Violation> {
        self.request(Request::Shutdown)
    }

    /// Writes the configuration file.
    pub fn set_config(&mut self, entries: Vec<Entry>) {
        self.driver.set_config(&entries);
        self.model.set_file(entries);
    }

    /// Writes the configuration file, and whoever watches it hears of that.
    ///
    /// # Errors
    /// If a law is broken.
    ///
    /// # Panics
    /// If it is not watched.
    pub fn save_config(&mut self, entries: Vec<Entry>) -> Result<(), Violation> {
        assert!(self.driver.watches(CONFIG), "nobody watches the file");
        self.set_config(entries);
        self.feed(Some(Input::Io(Fact::FilesChanged)))
    }

    /// Ends a server's process, if it runs. The news of it is due at once.
    pub fn crash(&mut self, server: &str, exit: Exit) -> bool {
        self.driver.crash(&server.into(), exit, true, self.now)
    }

    /// The host asks for something.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn request(&mut self, request: Request) -> Result<(), Violation> {
        self.feed(Some(Input::Host(request)))
    }

    /// Sleeps exactly until the next thing is due and lets it happen; `false` if nothing is.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn step(&mut self) -> Result<bool, Violation> {
        let fact = self.driver.due();
        let deadline = self.deadline.map(|deadline| deadline.at);
        match (fact, deadline) {
            (Some((due, lane)), deadline) if deadline.is_none_or(|at| due <= at) => {
                self.now = self.now.max(due);
                self.deliver(lane)?;
            }
            (_, Some(at)) => {
                self.now = self.now.max(at);
                self.feed(None)?;
            }
            (_, None) => return Ok(false),
        }
        Ok(true)
    }

    /// Lets the next thing on a lane happen, whenever it is due.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn deliver(&mut self, lane: Lane) -> Result<(), Violation> {
        match self.driver.deliver(lane, self.now) {
            Some(fact) => self.feed(Some(Input::Io(fact))),
            None => Ok(()),
        }
    }

    /// Lets time pass until the machine's deadline although something else may be due before;
    /// `false` if it has none.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn tick(&mut self) -> Result<bool, Violation> {
        let Some(deadline) = self.deadline else { return Ok(false) };
        self.now = self.now.max(deadline.at);
        self.feed(None)?;
        Ok(true)
    }

    /// The host sleeps: nothing happens for so long, and then everything is late.
    pub fn oversleep(&mut self, ms: u64) {
        self.now = self.now.plus(ms);
        self.laws.overslept = true;
    }

    /// Checks a moment at which nothing is due.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn quiet(&self) -> Result<(), Violation> {
        self.broken(self.laws.check_quiet())?;
        self.broken(self.driver.check_answered(|conn| self.laws.inquiries_on(conn)))
    }

    /// Tells the run so far again, in the same and in other ways.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn tell_again(&self) -> Result<(), Violation> {
        self.broken(replay::check(&*self.origin, &self.trace))
    }

    /// Asks for the end, waits for it, and checks that nothing is left.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn finish(&mut self) -> Result<(), Violation> {
        self.shutdown()?;
        self.run_until_quiet()?;
        let stopped = self.machine.is_stopped();
        self.broken(Law::NoOrphan.demands(stopped, || "Shutdown never ended".into()))
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let fact = self.driver.due().map(|(due, _)| due);
        let deadline = self.deadline.map(|deadline| deadline.at);
        [fact, deadline].into_iter().flatten().min()
    }

    /// Puts one thing in, carries out what comes out, and checks every law.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn feed(&mut self, input: Option<Input>) -> Result<(), Violation> {
        let at = self.now;
        if self.effort == Effort::Full {
            self.trace.push(match &input {
                Some(input) => TraceLine::Input { at, input: input.clone() },
                None => TraceLine::Tick { at },
            });
        }
        let fired = self.deadline.is_some_and(|deadline| deadline.at <= at);
        let machine = &mut self.machine;
        let fed = input.clone();
        let told = catch_unwind(AssertUnwindSafe(|| match fed {
            Some(input) => machine.handle(at, input),
            None => machine.handle_timeout(at),
        }));
        if let Err(panic) = told {
            return self.broken(Law::Total.broken(format!("it panicked: {}", text_of(&*panic))));
        }
        let checked = self.drain_and_check(input, fired);
        self.broken(checked)
    }

    /// Turns a breach into a violation in this run.
    pub(crate) fn broken<T>(&self, checked: Result<T, Breach>) -> Result<T, Violation> {
        checked.map_err(|breach| Violation::new(breach, &self.trace))
    }

    pub(crate) fn operation(
        &mut self,
        request: impl FnOnce(OpId) -> Request,
    ) -> Result<OpId, Violation> {
        let op = OpId::new(self.next_op);
        self.next_op += 1;
        self.request(request(op))?;
        Ok(op)
    }

    fn drain_and_check(&mut self, input: Option<Input>, fired: bool) -> Result<(), Breach> {
        self.deadline = self.machine.poll_timeout();
        let mut commands = Vec::new();
        while let Some(command) = self.machine.poll_command() {
            commands.push(command);
        }
        let mut events = Vec::new();
        while let Some(event) = self.machine.poll_event() {
            events.push(event);
        }
        if self.effort == Effort::Full {
            let at = self.now;
            let ordered = commands.iter().cloned();
            self.trace.extend(ordered.map(|command| TraceLine::Command { at, command }));
            self.trace.extend(events.iter().cloned().map(|event| TraceLine::Event { at, event }));
            self.events.extend(events.iter().cloned());
        }
        let status = self.machine.status();
        let seen = Seen {
            now: self.now,
            input: input.as_ref(),
            commands: &commands,
            events: &events,
            status: &status,
            catalog: self.machine.catalog(),
            resources: self.machine.resources(),
            prompts: self.machine.prompts(),
            deadline: self.deadline,
            stopped: self.machine.is_stopped(),
            fired,
        };
        self.laws.check(&seen, &mut self.driver)?;
        self.model.note(input.as_ref(), &commands, &self.driver);
        for command in &commands {
            self.driver.execute(command, self.now);
        }
        self.laws.check_wire(&mut self.driver)?;
        if self.effort == Effort::Full {
            self.probe(self.machine.fingerprint(self.now))?;
        }
        self.last = Last { input, commands, events };
        Ok(())
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("something that is no text")
}
