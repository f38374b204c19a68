//! Reading the configuration and following what changed.
//!
//! Floor 4. A reading that the host overtakes with a newer one is dropped, and whoever waited for
//! it waits for the newer one: two overlapping reloads end as the second alone (G16), and each
//! observes every change made before it was asked for (G53). A file that changes overtakes nothing.

mod further;
mod reads;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::command::Command;
use crate::config::organisation::Organisation;
use crate::config::resolve::{Resolved, Rules, resolve_with};
use crate::config::{self, Definition, Source, diff::Change};
use crate::error::{Category, Problem, Severity};
use crate::event::{Event, Skip};
use crate::held::Held;
use crate::id::{OpId, ReadId, ServerName};
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::Hub;
use super::early::Early;
use super::losses::Losses;
use super::ops::Report;
use super::slot::{Cached, LetGo, Slot, Standing};
use super::trust::needs_approval;

/// Why the configuration is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Why {
    /// To start what is configured.
    Start,
    /// The host wants it followed.
    Reload(OpId),
    /// Something changed in its files.
    Changed,
}

/// How far a reading goes: as far as anybody wanted who asked for it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Reach {
    /// What changed is followed.
    #[default]
    Changes,
    /// What failed is tried again too, also if who asked for it waits no more.
    Retries,
    /// And what rests is started.
    Wakes,
}

/// A configuration that is being read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    missing: BTreeMap<ReadId, usize>,
    /// One place per source; `None` until it was read.
    parts: Vec<Option<config::parse::Reading>>,
    /// The files that sources lead to, each with the place of that source; they come after all
    /// sources in `parts`.
    further: Vec<(usize, Source)>,
    pub(super) reloads: Vec<OpId>,
    /// How many sources had something to read.
    legible: usize,
    /// Why the first one that could not be read could not.
    unreadable: Option<String>,
    pub(super) reach: Reach,
    /// The read that will tell the rules of the organisation, and those rules.
    rules: Option<ReadId>,
    organisation: Organisation,
    /// What all sources together say, and the read that will tell what of it is approved.
    pub(super) resolved: Option<(ReadId, Resolved)>,
    /// What the host asked meanwhile and this reading decides about.
    pub(super) early: Early,
}

impl Reading {
    /// What tells this reading from another one.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, age: impl Fn(ReadId) -> u64, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.missing.iter().for_each(|(read, source)| (age(*read), source).hash(state));
        (self.reloads.len(), self.reach).hash(state);
        self.early.digest(state);
        self.further.hash(state);
        self.parts.iter().flatten().for_each(|part| part.hash(state));
        (self.rules.map(&age), &self.organisation).hash(state);
        let said = |(read, said): &(ReadId, Resolved)| {
            (age(*read), said.definitions.clone(), said.forbidden.clone())
        };
        self.resolved.as_ref().map(said).hash(state);
    }
}

impl Hub {
    /// Reads every source anew; a reload is answered when it is applied.
    pub(super) fn read_config(&mut self, now: Timestamp, why: Why, out: &mut Outbox) {
        self.watch_files(out);
        self.calm();
        let before =
            self.reading.take().map(|reading| (reading.reloads, reading.reach, reading.early));
        let (mut reloads, mut reach, mut early) = before.unwrap_or_default();
        match why {
            Why::Start => {
                reach = Reach::Wakes;
                early.wake();
            }
            Why::Reload(op) => {
                reach = reach.max(Reach::Retries);
                reloads.push(op);
            }
            Why::Changed => {}
        }
        let options = alloc::sync::Arc::clone(&self.options);
        let mut reading = Reading {
            missing: BTreeMap::new(),
            parts: Vec::new(),
            further: Vec::new(),
            reloads,
            reach,
            early,
            legible: options.sources.iter().filter(|source| source.text.is_some()).count(),
            unreadable: None,
            rules: None,
            organisation: Organisation::default(),
            resolved: None,
        };
        for (at, source) in options.sources.iter().enumerate() {
            let part = source
                .text
                .as_ref()
                .map(|text| config::parse::read_in(source, text, options.surroundings()));
            if part.is_none() {
                let read = ReadId::new(self.next_read.next());
                reading.missing.insert(read, at);
                out.command(reads::order(read, source, &options.setting.limits));
            }
            reading.parts.push(part);
        }
        if let Some(path) = options.organisation.clone() {
            let read = ReadId::new(self.next_read.next());
            reading.rules = Some(read);
            out.command(reads::order_file(read, path, &options.setting.limits));
        }
        self.reading = Some(reading);
        self.apply_if_complete(now, out);
    }

    fn apply_if_complete(&mut self, now: Timestamp, out: &mut Outbox) {
        if self.stopping {
            return;
        }
        let read_all = |reading: &Reading| {
            reading.missing.is_empty() && reading.rules.is_none() && reading.resolved.is_none()
        };
        let Some(reading) = self.reading.as_mut().filter(|reading| read_all(reading)) else {
            return;
        };
        let parts = reading.in_order(self.options.sources.len());
        let rules = Rules {
            filters: &self.options.policy.filters,
            organisation: &reading.organisation,
            servers_max: self.options.setting.limits.servers,
        };
        let mut resolved = resolve_with(parts, rules);
        if let Some(why) = reading.unreadable.take().filter(|_| reading.legible == 0) {
            resolved.problems.push(discovery_failed(&why));
        }
        let asks = |definition: &Definition| {
            needs_approval(definition, self.options.policy.trust)
                && !resolved.forbidden.contains_key(&definition.name)
        };
        if resolved.definitions.iter().any(asks) {
            let read = ReadId::new(self.next_read.next());
            reading.resolved = Some((read, resolved));
            return out.command(Command::ReadApprovals { read });
        }
        self.unapproved.clear();
        self.follow(resolved, now, out);
    }

    /// Ends a reading: what it says is followed.
    pub(super) fn follow(&mut self, resolved: Resolved, now: Timestamp, out: &mut Outbox) {
        let Some(Reading { reloads, reach, early, further, .. }) = self.reading.take() else {
            return;
        };
        self.watch_only(further.into_iter().map(|(_, source)| source.path), out);
        self.forbidden = resolved.forbidden.into_keys().collect();
        self.exa_keys = resolved.exa_keys;
        self.problems.set_configured(resolved.problems, out);
        self.fates = resolved.fates.into();
        if reach == Reach::Wakes {
            self.wake();
        }
        let names = resolved.definitions.iter().map(|definition| &definition.name);
        let decided: Vec<ServerName> =
            names.filter(|name| self.is_undecided(name)).cloned().collect();
        let retries = reach >= Reach::Retries;
        let (mut report, mut skipped) = self.apply(resolved.definitions, retries, now, out);
        if !retries {
            self.let_rest(&decided, now, out);
        }
        self.forget_answers(out);
        let asked = self.catch_up(early, &decided, now, out);
        skipped.extend(self.leave_out(&mut report));
        let started: Vec<ServerName> =
            report.started.iter().chain(&report.restarted).cloned().collect();
        for name in &started {
            self.open(name, now, out);
        }
        for name in &asked {
            self.open_wanted(name, now, out);
        }
        self.arm_gates(now, &started, &skipped);
        self.arm_reloads(reloads, report);
        self.read_changed(now, out);
    }

    /// A start wants again what was let go with all others.
    fn wake(&mut self) {
        let rests = |slot: &&mut Held<Slot>| slot.let_go == Some(LetGo::WithAll);
        for slot in self.slots.values_mut().filter(rests) {
            slot.let_go = None;
            if slot.standing == Standing::Disconnected {
                slot.standing = Standing::Wanted;
            }
        }
    }

    /// What the host let go while the configuration was read is left alone, and why.
    fn leave_out(&self, report: &mut Report) -> Vec<(ServerName, Skip)> {
        let let_go = |name: &ServerName| match self.slots.get(name)?.standing {
            Standing::Off(reason) => Some(reason),
            Standing::Disconnected => Some(Skip::Disconnected),
            Standing::Wanted
            | Standing::Again
            | Standing::Later(_)
            | Standing::Suspended
            | Standing::Removed => None,
        };
        let mut left = Vec::new();
        for list in [&mut report.started, &mut report.restarted] {
            list.retain(|name| {
                let reason = let_go(name);
                left.extend(reason.map(|reason| (name.clone(), reason)));
                reason.is_none()
            });
        }
        if !left.is_empty() {
            let names = left.iter().map(|(name, _)| name.clone());
            let kept: BTreeSet<ServerName> = report.kept.drain(..).chain(names).collect();
            report.kept = self.order.iter().filter(|name| kept.contains(*name)).cloned().collect();
        }
        left
    }

    /// Follows a set of definitions; what it did, and what is not to be started. What is to be
    /// started is not yet.
    fn apply(
        &mut self,
        mut definitions: Vec<Definition>,
        retries: bool,
        now: Timestamp,
        out: &mut Outbox,
    ) -> (Report, Vec<(ServerName, Skip)>) {
        for definition in &mut definitions {
            if let Some(slot) = self.slots.get_mut(&definition.name) {
                slot.overrule(definition);
            }
        }
        let present: Vec<Definition> = self
            .order
            .iter()
            .filter_map(|name| self.slots.get(name).map(|slot| slot.definition().clone()))
            .collect();
        let (mut report, mut skipped) = (Report::default(), Vec::new());
        self.order = definitions.iter().map(|definition| definition.name.clone()).collect();
        // Another order is another catalogue.
        self.touched.extend(self.order.iter().cloned());
        for change in config::diff::diff(&present, &definitions) {
            match change {
                Change::Keep(definition) if self.is_as_free(&definition) => {
                    self.keep(definition, retries, &mut report, &mut skipped);
                }
                Change::Start(definition) => {
                    self.replace(definition, &mut report, &mut skipped, now)
                }
                Change::Keep(definition) | Change::Restart(definition) => {
                    let name = definition.name.clone();
                    self.replace(definition, &mut report, &mut skipped, now);
                    self.stop(&name, now, out);
                    // Calls wait on for a server that follows at once, whatever it was before.
                    let follows = |slot: &Held<Slot>| {
                        matches!(slot.standing, Standing::Wanted | Standing::Again)
                    };
                    if !self.slots.get(&name).is_some_and(follows) {
                        self.fail_waiting(&name, out);
                    }
                }
                Change::Stop(name) => {
                    self.remove(&name, now, out);
                    report.stopped.push(name);
                }
            }
        }
        (report, skipped)
    }

    /// A definition that did not change: what runs goes on, what failed gets another try if it
    /// is time for one.
    fn keep(
        &mut self,
        definition: Definition,
        retries: bool,
        report: &mut Report,
        skipped: &mut Vec<(ServerName, Skip)>,
    ) {
        let name = definition.name.clone();
        let Some(slot) = self.slots.get_mut(&name) else { return };
        slot.define(definition);
        match slot.standing {
            Standing::Off(reason) => skipped.push((name.clone(), reason)),
            Standing::Disconnected | Standing::Removed => {
                skipped.push((name.clone(), Skip::Disconnected));
            }
            _ if slot.is_connecting() => skipped.push((name.clone(), Skip::AlreadyConnecting)),
            _ if slot.is_connected() => skipped.push((name.clone(), Skip::AlreadyConnected)),
            _ if !retries => {}
            Standing::Wanted | Standing::Again | Standing::Later(_) | Standing::Suspended => {
                slot.losses = Losses::default();
                if slot.server.is_some() {
                    slot.standing = Standing::Again;
                    self.touched.insert(name.clone());
                }
                return report.started.push(name);
            }
        }
        report.kept.push(name);
    }

    /// A definition that is new or changed.
    fn replace(
        &mut self,
        definition: Definition,
        report: &mut Report,
        skipped: &mut Vec<(ServerName, Skip)>,
        now: Timestamp,
    ) {
        let name = definition.name.clone();
        let skip = self.skip(&definition);
        let slot = self
            .slots
            .entry(name.clone())
            .or_insert_with(|| Held::new(Slot::new(definition.clone(), Standing::Wanted, now)));
        slot.define(definition);
        slot.failure = None;
        slot.cached = Cached::Unknown;
        slot.losses = Losses::default();
        slot.live = None;
        let runs = slot.server.is_some();
        slot.standing = match skip {
            Some(reason) => Standing::Off(reason),
            None if slot.let_go.is_some() => Standing::Disconnected,
            None if runs => Standing::Again,
            None => Standing::Wanted,
        };
        self.touched.insert(name.clone());
        match slot.standing {
            Standing::Off(reason) => {
                skipped.push((name.clone(), reason));
                if runs { report.stopped.push(name) } else { report.kept.push(name) }
            }
            Standing::Disconnected | Standing::Removed => {
                skipped.push((name.clone(), Skip::Disconnected));
                report.kept.push(name);
            }
            Standing::Again => report.restarted.push(name),
            Standing::Wanted | Standing::Later(_) | Standing::Suspended => {
                report.started.push(name);
            }
        }
    }

    fn remove(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        slot.standing = Standing::Removed;
        let gone = slot.server.is_none();
        if let Some(state) = slot.news(now) {
            out.event(Event::ServerChanged { server: name.clone(), state });
        }
        self.stop(name, now, out);
        self.fail_waiting(name, out);
        self.arm_retry(name);
        if gone {
            self.forget(name);
        }
    }

    /// Whether a definition may be run if and only if the present one of that name may: one that
    /// says the same elsewhere may need an approval, or need it no more (G15).
    fn is_as_free(&self, definition: &Definition) -> bool {
        let present = self.slots.get(&definition.name).map(|slot| slot.standing);
        let off = if let Some(Standing::Off(reason)) = present { Some(reason) } else { None };
        off == self.skip(definition)
    }

    /// Why a definition is not to be started, if it is not (G15).
    pub(super) fn skip(&self, definition: &Definition) -> Option<Skip> {
        if !definition.enabled {
            return Some(Skip::Disabled);
        }
        if !self.options.only.is_empty() && !self.options.only.contains(&definition.name) {
            return Some(Skip::Filtered);
        }
        if self.forbidden.contains(&definition.name) {
            return Some(Skip::Forbidden);
        }
        self.unapproved.contains(&definition.name).then_some(Skip::NeedsApproval)
    }
}

/// Seed runtime section 1.11: a discovery that failed as a whole is one problem, in the name of
/// the file a person would look for.
fn discovery_failed(why: &str) -> Problem {
    Problem {
        severity: Severity::Error,
        category: Category::DiscoveryFailed,
        file: Some(".mcp.json".into()),
        line: None,
        column: None,
        key: None,
        server: None,
        message: alloc::format!("none of the MCP configuration files can be read ({why})"),
    }
}
