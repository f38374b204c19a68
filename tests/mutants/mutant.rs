//! The machine with a bug planted in front of it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_core::command::{Command, Launch};
use tidegate_core::event::Event;
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::status::Status;
use tidegate_core::id::{ConnId, ServerName};
use tidegate_core::input::{Fact, Found, Input};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::{Deadline, Timestamp};
use tidegate_core::tools::catalog::Catalog;
use tidegate_sim::machine::Machine;

/// Where a bug is planted, and what it does there.
#[derive(Clone, Copy)]
pub(crate) enum Plant {
    /// In what it was told to keep to.
    Options(fn(&mut Options)),
    /// In what the machine hears; `None` for what it does not hear.
    Input(fn(&mut Memory, Input) -> Option<Input>),
    /// In what comes out of one step.
    Output(fn(&mut Step<'_>)),
    /// In what nobody has fetched when the next step begins.
    Unfetched(fn(&mut VecDeque<Command>, &mut VecDeque<Event>)),
    /// In its deadline.
    Deadline(fn(&Memory, Deadline) -> Option<Deadline>),
    /// In what it offers.
    Catalog(fn(&mut Catalog)),
    /// In what it says of itself.
    Status(fn(&Memory, &mut Status)),
}

/// One step, and what came out of it.
pub(crate) struct Step<'a> {
    pub(crate) memory: &'a mut Memory,
    /// `None` for a tick.
    pub(crate) input: Option<&'a Input>,
    pub(crate) commands: &'a mut Vec<Command>,
    pub(crate) events: &'a mut Vec<Event>,
}

/// What a bug may need to know of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// How many steps every machine of this origin has taken together.
    pub(crate) steps: Arc<AtomicUsize>,
    /// Every start of a process so far.
    pub(crate) opened: Vec<(ConnId, ServerName, Launch)>,
    /// Attempts that are over.
    pub(crate) over: BTreeSet<ConnId>,
    /// The configuration as it was read first.
    pub(crate) first_config: Option<Found>,
    /// How many calls ended and nobody was told.
    pub(crate) lost_calls: usize,
    /// Whether a gate opened and nobody was told.
    pub(crate) lost_gate: bool,
    /// Whether it said that nothing more comes.
    pub(crate) stopped: bool,
    /// How often time passed.
    pub(crate) ticks: u64,
}

/// The runtime with bugs.
#[derive(Clone)]
pub(crate) struct Mutant {
    runtime: Runtime,
    plants: &'static [Plant],
    memory: Memory,
    commands: VecDeque<Command>,
    events: VecDeque<Event>,
    catalog: Arc<Catalog>,
}

impl Mutant {
    pub(crate) fn new(mut options: Options, plants: &'static [Plant]) -> Self {
        for plant in plants {
            if let Plant::Options(spoil) = plant {
                spoil(&mut options);
            }
        }
        let runtime = Runtime::new(options);
        let catalog = Arc::clone(runtime.catalog());
        let memory = Memory::default();
        let (commands, events) = (VecDeque::new(), VecDeque::new());
        Self { runtime, plants, memory, commands, events, catalog }
    }

    fn begin(&mut self) {
        for plant in self.plants {
            if let Plant::Unfetched(spoil) = plant {
                spoil(&mut self.commands, &mut self.events);
            }
        }
    }

    fn end(&mut self, input: Option<&Input>) {
        self.memory.steps.fetch_add(1, Ordering::Relaxed);
        let runtime = &mut self.runtime;
        let mut commands: Vec<Command> = std::iter::from_fn(|| runtime.poll_command()).collect();
        let mut events: Vec<Event> = std::iter::from_fn(|| runtime.poll_event()).collect();
        let orders = commands.clone();
        for plant in self.plants {
            if let Plant::Output(spoil) = plant {
                let memory = &mut self.memory;
                let (commands, events) = (&mut commands, &mut events);
                spoil(&mut Step { memory, input, commands, events });
            }
        }
        self.memory.stopped |= events.contains(&Event::Stopped);
        for order in orders {
            if let Command::Open { conn, server, launch } = order {
                self.memory.opened.push((conn, server, launch));
            }
        }
        self.commands.extend(commands);
        self.events.extend(events);
        self.catalog = Arc::clone(self.runtime.catalog());
        for plant in self.plants {
            if let Plant::Catalog(spoil) = plant {
                spoil(Arc::make_mut(&mut self.catalog));
            }
        }
    }
}

impl Memory {
    /// Whether this attempt was begun and is not over.
    pub(crate) fn runs(&self, conn: ConnId) -> bool {
        self.opened.iter().any(|(opened, ..)| *opened == conn) && !self.over.contains(&conn)
    }

    fn note(&mut self, input: &Input) {
        match input {
            Input::Io(Fact::Closed { conn, .. } | Fact::OpenFailed { conn, .. }) => {
                self.over.insert(*conn);
            }
            Input::Io(Fact::ConfigRead { found, .. }) => {
                self.first_config.get_or_insert_with(|| found.clone());
            }
            Input::Io(_) | Input::Host(_) => {}
        }
    }
}

impl Machine for Mutant {
    fn handle(&mut self, now: Timestamp, input: Input) {
        self.begin();
        let mut heard = Some(input.clone());
        for plant in self.plants {
            if let Plant::Input(spoil) = plant {
                heard = heard.and_then(|input| spoil(&mut self.memory, input));
            }
        }
        self.memory.note(&input);
        match heard {
            Some(heard) => self.runtime.handle(now, heard),
            None => self.runtime.handle_timeout(now),
        }
        self.end(Some(&input));
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.begin();
        self.memory.ticks += 1;
        self.runtime.handle_timeout(now);
        self.end(None);
    }

    fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.plants.iter().fold(self.runtime.poll_timeout(), |deadline, plant| match plant {
            Plant::Deadline(spoil) => spoil(&self.memory, deadline?),
            _ => deadline,
        })
    }

    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn resources(&self) -> &Resources {
        self.runtime.resources()
    }

    fn prompts(&self) -> &Prompts {
        self.runtime.prompts()
    }

    fn status(&self) -> Status {
        let mut status = self.runtime.status();
        for plant in self.plants {
            if let Plant::Status(spoil) = plant {
                spoil(&self.memory, &mut status);
            }
        }
        status
    }

    fn is_stopped(&self) -> bool {
        self.runtime.is_stopped() || self.memory.stopped
    }

    fn fingerprint(&self, now: Timestamp) -> u128 {
        self.runtime.fingerprint(now)
    }

    fn phase_of(&self, server: &ServerName) -> &'static str {
        self.runtime.phase_of(server)
    }
}
