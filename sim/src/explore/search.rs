//! The search itself: breadth first, so that every story that is told is a shortest one, and
//! level by level, so that what is found does not depend on which thread was faster.
//!
//! All threads take worlds from one level and put what follows into the next; what was seen on
//! earlier levels is only read meanwhile. Where two ways lead to one world on the same level,
//! the one that comes first in the order of the level and of what happened counts.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::machine::Machine;
use crate::sometimes;

use super::Met;
use super::act::Act;
use super::circle::{Circles, Place};
use super::half::ByHalf;
use super::node::{Left, Node};

const SHARDS: usize = 64;
/// How many worlds a thread takes at once.
const CHUNK: usize = 32;
/// Instead of something that happens: the world itself.
const ITSELF: u32 = u32::MAX;

/// Where a world or a step stands: the place of the world before it in its level, and which of
/// the things that could happen there happened.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Order(u32, u32);

/// A world, and the fingerprint of its machine.
struct Known<M: Machine> {
    machine: u128,
    node: Box<Node<M>>,
}

/// A world that was met on the level that is being searched.
struct Arrival<M: Machine> {
    order: Order,
    known: Known<M>,
}

/// Worlds that are equal up to what may still happen in them.
struct Seen {
    place: Place,
    /// What may happen in them, none of which covers another: mostly one thing.
    last: Left,
    others: Vec<Left>,
}

impl Seen {
    fn new(place: Place, left: Left) -> Self {
        Self { place, last: left, others: Vec::new() }
    }

    /// Whether one of them was searched in which as much may happen.
    fn covers(&self, left: &Left) -> bool {
        self.last.covers(left) || self.others.iter().any(|other| other.covers(left))
    }

    /// One more, which none of them covers.
    fn add(&mut self, left: Left) {
        self.others.retain(|other| !left.covers(other));
        if !left.covers(&self.last) {
            self.others.push(self.last);
        }
        self.last = left;
    }
}

/// What one thread found on one level.
#[derive(Default)]
struct Found {
    met: Met,
    witnesses: BTreeMap<&'static str, Order>,
    failed: Option<Order>,
    /// Steps that happened by themselves, from a place to a world.
    drift: Vec<(Place, u128)>,
    /// The machines that were probed.
    probed: Vec<u128>,
}

/// Arrivals at one world, none of which may do all that another may.
type Shard<M> = HashMap<u128, Vec<Arrival<M>>, ByHalf>;

/// A search in progress.
pub(super) struct Search<M: Machine> {
    seen: Vec<HashMap<u128, Seen, ByHalf>>,
    /// The worlds of the present level, each with its place.
    level: Vec<(Place, Known<M>)>,
    /// Steps of the level before that happened by themselves.
    drift: Vec<(Place, u128)>,
    /// For every world that was searched: the one before it, and what happened there.
    steps: Vec<Order>,
    /// Where the present level begins in `steps`.
    base: u32,
    circles: Circles,
    /// The machines that were probed on earlier levels.
    probed: HashSet<u128, ByHalf>,
    pub(super) met: Met,
    witnesses: BTreeMap<&'static str, Order>,
}

/// How a search ended that found a broken law.
pub(super) struct Failed {
    /// Which of the things that could happen did, one after the other.
    pub(super) path: Vec<u32>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Machine + Send + Sync> Search<M> {
    pub(super) fn new(start: Node<M>) -> Self {
        let mut seen: Vec<HashMap<u128, Seen, ByHalf>> =
            std::iter::repeat_with(HashMap::default).take(SHARDS).collect();
        let machine = start.world.machine().fingerprint(start.world.now());
        let fingerprint = start.fingerprint(machine);
        seen[shard(fingerprint)].insert(fingerprint, Seen::new(0, start.left));
        let start = Known { machine, node: Box::new(start) };
        Self {
            seen,
            level: vec![(0, start)],
            drift: Vec::new(),
            steps: vec![Order(0, 0)],
            base: 0,
            circles: Circles::new(),
            probed: HashSet::default(),
            met: Met { worlds: 1, ..Met::default() },
            witnesses: BTreeMap::new(),
        }
    }

    /// Searches level after level until there is nothing new.
    pub(super) fn run(&mut self, threads: usize) -> Result<(), Failed> {
        while !self.level.is_empty() {
            let next = self.search_level(threads)?;
            self.begin_level(next);
        }
        match self.circles.find() {
            Some(index) => Err(Failed { path: self.path_to(index) }),
            None => Ok(()),
        }
    }

    /// The first story that came to each of the things that were looked for.
    pub(super) fn witnesses(&self) -> impl Iterator<Item = (&'static str, Vec<u32>)> {
        self.witnesses.iter().map(|(what, order)| (*what, self.path_of(*order)))
    }

    fn search_level(&mut self, threads: usize) -> Result<Vec<Shard<M>>, Failed> {
        let next: Vec<Mutex<Shard<M>>> =
            std::iter::repeat_with(Mutex::default).take(SHARDS).collect();
        let mut level = std::mem::take(&mut self.level).into_iter();
        let mut chunks = Vec::new();
        while level.len() > 0 {
            chunks.push(level.by_ref().take(CHUNK).collect::<Vec<_>>());
        }
        let work = Mutex::new(chunks.into_iter().zip((0..).step_by(CHUNK)));
        let found = Mutex::new(Found::default());
        let (part, seen) = (Part { seen: &self.seen, probed: &self.probed, next: &next }, &found);
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    let mut own = Found::default();
                    let chunk = || lock(&work).next();
                    while let Some((chunk, first)) = chunk() {
                        for ((place, known), at) in chunk.into_iter().zip(first..) {
                            part.search(place, &known, at, &mut own);
                        }
                    }
                    lock(seen).add(own);
                });
            }
        });
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.met.add_level(found.met);
        for (what, Order(at, act)) in found.witnesses {
            self.witnesses.entry(what).or_insert(Order(self.base + at, act));
        }
        if let Some(Order(at, act)) = found.failed {
            return Err(Failed { path: self.path_of(Order(self.base + at, act)) });
        }
        let next: Vec<Shard<M>> = next
            .into_iter()
            .map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        self.drift = found.drift;
        self.probed.extend(found.probed);
        Ok(next)
    }

    /// Takes in what follows from a level, in its order.
    fn begin_level(&mut self, next: Vec<Shard<M>>) {
        let base = self.base;
        self.base = index(self.steps.len());
        let mut arrivals: Vec<(Arrival<M>, u128)> = Vec::new();
        for shard in next {
            let worlds = shard.into_iter();
            arrivals.extend(worlds.flat_map(|(fingerprint, arrivals)| {
                arrivals.into_iter().map(move |arrival| (arrival, fingerprint))
            }));
        }
        arrivals.sort_unstable_by_key(|(arrival, _)| arrival.order);
        for (Arrival { order: Order(at, act), known }, fingerprint) in arrivals {
            let left = known.node.left;
            let place = match self.seen[shard(fingerprint)].entry(fingerprint) {
                hash_map::Entry::Occupied(entry) => {
                    let seen = entry.into_mut();
                    seen.add(left);
                    seen.place
                }
                hash_map::Entry::Vacant(entry) => {
                    let place = self.circles.place(index(self.steps.len()));
                    entry.insert(Seen::new(place, left));
                    self.met.worlds += 1;
                    place
                }
            };
            self.steps.push(Order(base + at, act));
            self.level.push((place, known));
        }
        for (from, to) in std::mem::take(&mut self.drift) {
            if let Some(seen) = self.seen[shard(to)].get(&to) {
                self.circles.step(from, seen.place);
            }
        }
    }

    /// What happened up to a step.
    fn path_of(&self, Order(at, act): Order) -> Vec<u32> {
        let mut path = self.path_to(at);
        path.extend((act != ITSELF).then_some(act));
        path
    }

    /// What happened up to a world.
    fn path_to(&self, mut at: u32) -> Vec<u32> {
        let mut path = Vec::new();
        while at != 0 {
            let Order(before, act) = self.steps[at as usize];
            path.push(act);
            at = before;
        }
        path.reverse();
        path
    }
}

/// What a thread works with on one level.
struct Part<'a, M: Machine> {
    seen: &'a [HashMap<u128, Seen, ByHalf>],
    probed: &'a HashSet<u128, ByHalf>,
    next: &'a [Mutex<Shard<M>>],
}

impl<M: Machine> Part<'_, M> {
    /// Lets everything happen that can happen in one world.
    fn search(&self, place: Place, known: &Known<M>, at: u32, found: &mut Found) {
        let Known { machine, node } = known;
        found.met.searched += 1;
        // What is probed is the machine: one that many worlds have is probed once.
        let to_probe = node.world.to_probe(*machine);
        if !self.probed.contains(&to_probe) {
            found.probed.push(to_probe);
            if node.world.probe(*machine).is_err() {
                return found.fail(Order(at, ITSELF));
            }
        }
        if !node.goes_on() {
            found.met.ends += 1;
            if node.world.quiet().and_then(|()| node.world.check_model()).is_err() {
                return found.fail(Order(at, ITSELF));
            }
        }
        for (act, number) in node.acts().into_iter().zip(0..) {
            let order = Order(at, number);
            match step(node, act, order, found) {
                Some(next) => self.arrive(place, node.left, next, order, found),
                None => return found.fail(order),
            }
        }
    }

    /// Leaves a world to the next level, unless it is nothing new.
    fn arrive(&self, from: Place, left: Left, node: Box<Node<M>>, order: Order, found: &mut Found) {
        let machine = node.world.machine().fingerprint(node.world.now());
        let fingerprint = node.fingerprint(machine);
        if left == node.left {
            found.drift.push((from, fingerprint));
        }
        let seen = self.seen[shard(fingerprint)].get(&fingerprint);
        if seen.is_some_and(|seen| seen.covers(&node.left)) {
            return;
        }
        let mut next = lock(&self.next[shard(fingerprint)]);
        let arrivals = next.entry(fingerprint).or_default();
        let earlier =
            |other: &Arrival<M>| other.known.node.left != node.left || other.order < order;
        let covers = |other: &Arrival<M>| other.known.node.left.covers(&node.left);
        if arrivals.iter().any(|other| covers(other) && earlier(other)) {
            return;
        }
        arrivals.retain(|other| !node.left.covers(&other.known.node.left));
        arrivals.push(Arrival { order, known: Known { machine, node } });
    }
}

/// Lets one thing happen in a copy of a world; nothing if it breaks a law.
fn step<M: Machine>(
    node: &Node<M>,
    act: Act,
    order: Order,
    found: &mut Found,
) -> Option<Box<Node<M>>> {
    let mut next = Box::new(node.clone());
    let about = node.about(act);
    let told = next.perform(act);
    found.met.steps += 1;
    let what = act.name(next.world.last_input());
    for server in &about {
        let phase = node.world.machine().phase_of(server);
        *found.met.table.entry((what, phase)).or_insert(0) += 1;
    }
    sometimes::note(&node.world, &next.world, |what| {
        let first = found.witnesses.entry(what).or_insert(order);
        *first = order.min(*first);
    });
    next.world.forget_last();
    told.is_ok().then_some(next)
}

impl Found {
    fn fail(&mut self, order: Order) {
        self.failed = Some(self.failed.map_or(order, |other| other.min(order)));
    }

    fn add(&mut self, other: Self) {
        self.met.add_level(other.met);
        for (what, order) in other.witnesses {
            let first = self.witnesses.entry(what).or_insert(order);
            *first = order.min(*first);
        }
        if let Some(order) = other.failed {
            self.fail(order);
        }
        self.drift.extend(other.drift);
        self.probed.extend(other.probed);
    }
}

fn shard(fingerprint: u128) -> usize {
    (fingerprint % SHARDS as u128) as usize
}

/// Four thousand million worlds are more than any memory holds.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
