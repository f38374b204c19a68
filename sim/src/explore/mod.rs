//! Every order in which the events of a small story can come.
//!
//! A search over what happens next: any waiting fact (in order on each lane), the machine's own
//! deadline, and whatever the host and the servers may still do within a [`Scope`]. *Always*
//! conditions are the laws, checked after every step; *sometimes* conditions
//! ([`sometimes`](crate::sometimes)) say what the search must have met to be worth its name, and
//! each comes with a shortest story; and instead of *eventually* the search demands that no story
//! runs in a circle and that every one that has ended is quiet and agrees with the model.
//!
//! # Why a search ends
//!
//! Two worlds count as one where nobody can tell them apart from here on:
//!
//! - Times are taken relative to the present, and numbers of reads, requests and calls are
//!   counted from the newest. Numbers of attempts and operations are left out: at most one
//!   attempt a server is not over (G5), and which of two open operations of one kind has which
//!   number changes nothing. All of these come from counters and are used once, which is a law
//!   of its own and checked on every step.
//! - What only a person reads (tails, problems, how long a failed attempt had taken) and what a
//!   scripted server remembers only to catch its client stay out.
//! - A world in which more may still happen stands for the same world in which less may: every
//!   story of the poorer one is a story of the richer one, because nothing is taken from a
//!   budget but by what it allows. Only worlds that no other covers are searched.
//!
//! Each of these drops histories, never futures. A bug that depends on a dropped history (the
//! hundredth operation is wrong) is for random stories to find, as ever. Tests search small
//! scopes with and without the reduction and compare what was met, how soon, and which planted
//! bugs were caught.
//!
//! What a law needs a copy of the machine for (early ticks, facts about what is gone) is tried
//! once for each machine, not for each world that has it: nothing else takes part in it.
//!
//! Not done, because it would lose worlds or gain little: the two servers are no mirror images
//! (one of them has cached tools, and their order is the catalogue's). Nor is one order of
//! independent facts chosen. They come to the same in either order only while nothing waits for
//! both servers (a gate, a reload, the end: whether it is over can depend on who was first), and
//! one can be put off only where no request that touches every server and no deadline may come
//! between. What was left was measured on two servers, a start and any four things: one order
//! only of the last thing and of the facts after it leaves out 6 % of the worlds and 10 % of the
//! steps; sets of steps that sleep (Godefroid) leave out 10 % of the steps, too, and even add
//! some where nobody is slow, because what sleeps differs from one way to a world to the next,
//! and the world is searched again.
//!
//! # Adding something that can happen
//!
//! See `act.rs`: a variant and an arm for each question about it. A fact that the machine hears
//! needs a row name in the same file, and the state that a new feature adds to the machine has to
//! be fed to its `digest`, or worlds that differ in it are taken for one.

mod act;
mod circle;
mod half;
mod met;
mod node;
mod search;

use std::sync::Arc;

use crate::laws::{Breach, Law};
use crate::machine::Machine;
use crate::scene::Entry;
use crate::violation::Violation;
use crate::world::{Effort, World};

pub use act::Kind;
pub use met::{Met, Witness};
use node::{Left, Node};
use search::Search;

/// What may happen in a story, and how often.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    left: Left,
    configs: Vec<Vec<Entry>>,
    saved: Vec<Vec<Entry>>,
    reduction: Reduction,
}

/// Which worlds count as one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Reduction {
    /// Those that will go on alike, the richer in what may still happen standing for the poorer.
    #[default]
    Full,
    /// Those in which the same may still happen and as much has happened.
    None,
}

impl Scope {
    /// Nothing but what follows by itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Something may happen at most so many times; [`u8::MAX`] is without end.
    #[must_use]
    pub const fn with(mut self, kind: Kind, times: u8) -> Self {
        self.left.set(kind, times);
        self
    }

    /// All kinds together may happen at most so many times.
    #[must_use]
    pub const fn at_most(mut self, times: u8) -> Self {
        self.left.set_all(times);
        self
    }

    /// The same without any reduction: only worlds that agree in what may still happen and in
    /// how many things of each kind there were count as one. For checking the reduction.
    #[must_use]
    pub const fn unreduced(mut self) -> Self {
        self.reduction = Reduction::None;
        self
    }

    /// One more reload, this configuration being written before.
    #[must_use]
    pub fn reload(mut self, config: Vec<Entry>) -> Self {
        self.configs.push(config);
        let times = u8::try_from(self.configs.len()).unwrap_or(u8::MAX);
        self.with(Kind::Reload, times)
    }

    /// Once more the file is saved with this configuration, if it is watched.
    #[must_use]
    pub fn save(mut self, config: Vec<Entry>) -> Self {
        self.saved.push(config);
        let times = u8::try_from(self.saved.len()).unwrap_or(u8::MAX);
        self.with(Kind::Save, times)
    }
}

/// Searches every story that begins in `world` and stays within `scope`, on `threads` threads.
///
/// # Errors
/// The first law that was broken, and the shortest story in which it was.
pub fn explore(world: &World, scope: &Scope, threads: usize) -> Result<Met, Violation> {
    explore_any(world, scope, threads)
}

/// The same for any machine.
///
/// # Errors
/// The first law that was broken, and the shortest story in which it was.
pub fn explore_any<M: Machine + Send + Sync>(
    world: &World<M>,
    scope: &Scope,
    threads: usize,
) -> Result<Met, Violation> {
    let start = node(world, scope, Effort::Light);
    let mut search = Search::new(start);
    if let Err(failed) = search.run(threads) {
        return Err(retrace(world, scope, &failed.path));
    }
    let witnesses: Vec<_> = search.witnesses().collect();
    let mut met = search.met;
    for (what, path) in witnesses {
        met.witnesses.insert(what, Witness::new(path.len(), &walk(world, scope, &path)?));
    }
    Ok(met)
}

fn node<M: Machine>(world: &World<M>, scope: &Scope, effort: Effort) -> Node<M> {
    Node {
        world: world.clone().with_effort(effort),
        left: scope.left,
        reduction: scope.reduction,
        servers: world.model.file().iter().map(|entry| entry.name.as_str().into()).collect(),
        configs: Arc::from(scope.configs.as_slice()),
        saved: Arc::from(scope.saved.as_slice()),
    }
}

/// Walks a path again, this time writing it down.
fn walk<M: Machine>(world: &World<M>, scope: &Scope, path: &[u32]) -> Result<Node<M>, Violation> {
    let mut node = node(world, scope, Effort::Full);
    let mut story = Vec::new();
    for number in path {
        let Some(act) = node.acts().into_iter().nth(*number as usize) else { break };
        story.push(act);
        node.perform(act).map_err(|violation| violation.in_story(format!("{story:?}")))?;
    }
    Ok(node)
}

/// What is wrong with a story that led to a broken law.
fn retrace<M: Machine>(world: &World<M>, scope: &Scope, path: &[u32]) -> Violation {
    let node = match walk(world, scope, path) {
        Ok(node) => node,
        Err(violation) => return violation,
    };
    let ended = node.world.quiet().and_then(|()| node.world.check_model());
    let breach = Breach { law: Law::HonestDeadline, how: "the story runs in a circle".into() };
    let circle = Violation::new(breach, node.world.trace());
    ended.err().filter(|_| !node.goes_on()).unwrap_or(circle)
}
