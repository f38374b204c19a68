//! Many files → one definition per name.
//!
//! Floor 2. May import floors 0 and 1.

mod fate;
mod told;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Definition;
use super::filter::{self, Filter, Filters};
use super::organisation::Organisation;
use super::parse::Reading;
use super::switched::Switched;
use crate::error::Problem;
use crate::id::ServerName;

pub use fate::{Fate, Told};

/// What all files together say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resolved {
    /// The definitions that count, one per name: files in the order of precedence, each file in
    /// its own order.
    pub definitions: Vec<Definition>,
    /// The problems of all files, then those of their combination.
    pub problems: Vec<Problem>,
    /// The definitions that do not count because another one of the same name does.
    pub shadowed: Vec<Definition>,
    /// What became of every definition of every file, in the order of precedence.
    pub fates: Vec<Told>,
    /// The servers among `definitions` that the organisation forbids, and why.
    pub forbidden: BTreeMap<ServerName, String>,
    /// The keys in definitions of the Exa search that were left out: secrets.
    pub exa_keys: Vec<String>,
}

/// What decides besides the files themselves.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// What is left out.
    pub filters: &'a Filters,
    /// What is forbidden.
    pub organisation: &'a Organisation,
    /// How many definitions count at most.
    pub servers_max: usize,
}

/// As [`resolve_with`], with nothing left out or forbidden.
#[must_use]
pub fn resolve(readings: Vec<Reading>, servers_max: usize) -> Resolved {
    let (filters, organisation) = (&Filters::default(), &Organisation::default());
    resolve_with(readings, Rules { filters, organisation, servers_max })
}

/// A definition that may count.
#[derive(Debug)]
struct Candidate {
    definition: Definition,
    barred: Option<Barred>,
}

/// Why a definition does not count if there is another one that may.
#[derive(Debug)]
enum Barred {
    Filtered(Filter),
    Forbidden(Problem),
    /// It is about the one at this place.
    Overlay(usize),
}

/// Lets the first file win each name; `readings` come with the strongest first. A definition
/// that is left out, forbidden or not valid hides no valid one (G54), one that is switched off
/// does (that is how a project switches a user's server off), and nothing is merged (F-030) but
/// that a tool which merges its own files can switch a server in another one of them. What the
/// user sets in their own file counts as what the host sets.
#[must_use]
pub fn resolve_with(readings: Vec<Reading>, rules: Rules<'_>) -> Resolved {
    let mut filters = rules.filters.clone();
    readings.iter().for_each(|reading| reading.settings.apply(&mut filters));
    let mut resolved = Resolved::default();
    let mut switched = Switched::default();
    let mut all: Vec<Candidate> = Vec::new();
    for reading in readings {
        switched.take_in(&reading);
        resolved.problems.extend(reading.problems);
        all.extend(reading.definitions.into_iter().map(|definition| {
            let filtered = filters.verdict(&definition).map(Barred::Filtered);
            let forbidden = || rules.organisation.refusal(&definition).map(Barred::Forbidden);
            Candidate { barred: filtered.or_else(forbidden), definition }
        }));
    }
    resolved.problems.extend(rules.organisation.problem());
    let definitions: Vec<&Definition> = all.iter().map(|candidate| &candidate.definition).collect();
    let overlays = switched.overlay(&definitions, |at| {
        !matches!(all.get(at), Some(Candidate { barred: Some(Barred::Filtered(_)), .. }))
    });
    for (overlay, on) in overlays {
        if let Some(candidate) = all.get_mut(overlay) {
            candidate.barred = Some(Barred::Overlay(on));
        }
    }
    let mut verdicts =
        Verdicts { resolved, switched, servers_max: rules.servers_max, counted: 0, dropped: 0 };
    let judge = |(at, winner)| verdicts.judge(at, winner, &all);
    let lots: Vec<Lot> = winners(&all).into_iter().enumerate().map(judge).collect();
    verdicts.conclude(all, lots)
}

/// The verdicts so far.
struct Verdicts {
    resolved: Resolved,
    switched: Switched,
    servers_max: usize,
    /// How many definitions count.
    counted: usize,
    dropped: usize,
}

/// What is kept of a definition.
enum Lot {
    /// It counts; whether its server is on.
    Counts(bool),
    /// It is shown as one that does not count.
    Shadowed(bool),
    /// Nothing.
    Gone,
}

impl Verdicts {
    /// Decides what becomes of one definition; `winner` is the place of the one that counts.
    fn judge(&mut self, at: usize, winner: Option<usize>, all: &[Candidate]) -> Lot {
        let Some(Candidate { definition, barred }) = all.get(at) else { return Lot::Gone };
        let at_place = |place: usize| all.get(place).map(|candidate| &candidate.definition);
        let other = winner.filter(|winner| *winner != at).and_then(at_place);
        // The one that counts for its name may be forbidden itself.
        let used = other.filter(|_| {
            let winner = winner.and_then(|winner| all.get(winner));
            winner.is_some_and(|winner| winner.barred.is_none())
        });
        let off = self.switched.off_by(at, definition);
        let is_on = off.is_none();
        let (server, source) = (definition.name.clone(), definition.source.clone());
        let problems = &mut self.resolved.problems;
        let mut lot = Lot::Gone;
        let fate = match (barred, other) {
            (Some(Barred::Filtered(by)), _) => {
                problems.push(told::filtered(definition, *by, used));
                if *by == Filter::Exa {
                    self.resolved.exa_keys.extend(filter::exa_key(definition));
                }
                Fate::Filtered { by: *by }
            }
            (Some(Barred::Overlay(on)), _) => match at_place(*on) {
                Some(on) => Fate::Overlay { on: on.source.clone() },
                None => Fate::Surplus,
            },
            (Some(Barred::Forbidden(refusal)), Some(_)) => {
                problems.extend(used.map(|used| told::forbidden(refusal, definition, used)));
                Fate::Forbidden { message: refusal.message.clone() }
            }
            (None, Some(other)) => {
                problems.push(told::shadowed(definition, other));
                lot = Lot::Shadowed(is_on);
                match &definition.transport {
                    Ok(_) => Fate::Shadowed { by: other.source.clone() },
                    Err(message) => Fate::Invalid { message: message.clone() },
                }
            }
            (barred, None) if self.counted < self.servers_max => {
                lot = Lot::Counts(is_on);
                self.count(definition, barred.as_ref(), off)
            }
            (_, None) => {
                self.dropped += 1;
                Fate::Surplus
            }
        };
        self.resolved.fates.push(Told { server, source, fate });
        lot
    }

    /// Lets a definition count.
    fn count(
        &mut self,
        definition: &Definition,
        barred: Option<&Barred>,
        off: Option<String>,
    ) -> Fate {
        self.counted += 1;
        let problems = &mut self.resolved.problems;
        match (barred, &definition.transport, off) {
            (Some(Barred::Forbidden(refusal)), ..) => {
                let message = refusal.message.clone();
                self.resolved.forbidden.insert(definition.name.clone(), message.clone());
                problems.push(refusal.clone());
                Fate::Forbidden { message }
            }
            (_, Err(message), _) => {
                if definition.overlay {
                    problems.push(told::nothing_under(definition, message));
                }
                Fate::Invalid { message: message.clone() }
            }
            (_, Ok(_), Some(by)) => Fate::Disabled { by },
            (_, Ok(_), None) => Fate::Active,
        }
    }

    fn conclude(mut self, all: Vec<Candidate>, lots: Vec<Lot>) -> Resolved {
        for (Candidate { mut definition, .. }, lot) in all.into_iter().zip(lots) {
            let (kept, is_on) = match lot {
                Lot::Counts(is_on) => (&mut self.resolved.definitions, is_on),
                Lot::Shadowed(is_on) => (&mut self.resolved.shadowed, is_on),
                Lot::Gone => continue,
            };
            definition.enabled = is_on;
            kept.push(definition);
        }
        if self.dropped > 0 {
            let last = self.resolved.definitions.last().map(|kept| &kept.source);
            let problem = told::too_many(self.dropped, self.servers_max, last);
            self.resolved.problems.push(problem);
        }
        self.resolved
    }
}

/// For each definition the place of the one that counts for its name: the first valid one that
/// is not forbidden, or the first if there is none; `None` if all are left out.
fn winners(all: &[Candidate]) -> Vec<Option<usize>> {
    let mut winner: BTreeMap<&ServerName, (usize, bool)> = BTreeMap::new();
    for (at, Candidate { definition, barred }) in all.iter().enumerate() {
        if matches!(barred, Some(Barred::Filtered(_) | Barred::Overlay(_))) {
            continue;
        }
        let good = definition.transport.is_ok() && barred.is_none();
        let held = winner.entry(&definition.name).or_insert((at, good));
        if good && !held.1 {
            *held = (at, true);
        }
    }
    let place = |candidate: &Candidate| winner.get(&candidate.definition.name).map(|held| held.0);
    all.iter().map(place).collect()
}

#[cfg(test)]
#[path = "resolve/resolve_tests.rs"]
mod tests;
