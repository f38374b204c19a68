//! Files that change while the runtime runs, and files that cannot be read just then.
//!
//! Floor 4. The driver says that something changed and not what: everything is read again once
//! nothing more was said for a while, and what differs is followed. So 50 changes in a second, or
//! a file that was written anew with what it said before, come to nothing. What changes while it is
//! read is read again after that: every reading ends, however often files change, and the last
//! change wins.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::parse::Reading;
use crate::config::{Entries, Source};
use crate::error::{Category, Problem, Severity};
use crate::held::Held;
use crate::id::ServerName;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};

use super::Hub;
use super::policy::Watch;
use super::reload::Why;
use super::slot::LetGo;
use crate::command::Command;

/// Changes that are waited out.
#[derive(Clone, Copy, Debug)]
struct Storm {
    first: Timestamp,
    last: Timestamp,
}

/// What is watched and what was said of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Watching {
    /// What the driver was told to watch, once it was.
    ordered: Option<BTreeSet<String>>,
    storm: Option<Storm>,
}

/// What each source said when it could be read last.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "_explore", derive(Hash))]
pub(super) struct LastGood(BTreeMap<(String, Option<Entries>), Held<Reading>>);

impl LastGood {
    /// What counts of a source that was just read: what it says, or, while it cannot be read or
    /// is half-written and so not whole, what it said before.
    pub(super) fn settle(&mut self, source: &Source, whole: bool, reading: Reading) -> Reading {
        let key = (source.path.clone(), source.entries.clone());
        if whole {
            self.0.insert(key, Held::new(reading.clone()));
            return reading;
        }
        let Some(good) = self.0.get(&key) else { return reading };
        let mut counts = Reading::clone(good);
        counts.problems = reading.problems;
        let says = |it: &Reading| {
            !it.definitions.is_empty() || !it.disabled.is_empty() || !it.further.is_empty()
        };
        if says(&counts) {
            counts.problems.push(still_counts(source));
        }
        counts
    }
}

fn still_counts(source: &Source) -> Problem {
    Problem {
        severity: Severity::Warning,
        category: Category::UnreadableFile,
        file: Some(source.path.clone()),
        line: None,
        column: None,
        key: None,
        server: None,
        message: format!("what {} said when it could be read last still counts", source.path),
    }
}

impl Watching {
    /// When the files are to be read again.
    fn deadline(&self, policy: &Watch) -> Option<Deadline> {
        let (Some(storm), Watch::Follow { quiet_ms, most_ms }) = (self.storm, policy) else {
            return None;
        };
        let at = storm.last.plus(*quiet_ms).min(storm.first.plus(*most_ms));
        Some(Deadline { at, why: "files changed" })
    }

    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.ordered.hash(state);
        self.storm.map(|storm| (storm.first.since(now), storm.last.since(now))).hash(state);
    }
}

impl Hub {
    /// Has the files watched, before they are read the first time: no change is missed.
    pub(super) fn watch_files(&mut self, out: &mut Outbox) {
        if self.watching.ordered.is_none() {
            self.order_watch(self.named_files(), out);
        }
    }

    /// Has files watched that some lead to, before they are read.
    pub(super) fn watch_too(&mut self, led: &[Source], out: &mut Outbox) {
        let Some(ordered) = &self.watching.ordered else { return };
        let paths = led.iter().map(|source| &source.path);
        let new: Vec<String> = paths.filter(|path| !ordered.contains(*path)).cloned().collect();
        if !new.is_empty() {
            let all = ordered.iter().cloned().chain(new).collect();
            self.order_watch(all, out);
        }
    }

    /// Has what nothing leads to any more watched no more.
    pub(super) fn watch_only(&mut self, led: impl Iterator<Item = String>, out: &mut Outbox) {
        let Some(ordered) = &self.watching.ordered else { return };
        let mut all = self.named_files();
        all.extend(led);
        if *ordered != all {
            self.order_watch(all, out);
        }
    }

    fn named_files(&self) -> BTreeSet<String> {
        let files = self.options.sources.iter().filter(|source| source.text.is_none());
        let paths = files.map(|source| &source.path).chain(&self.options.organisation);
        paths.cloned().collect()
    }

    fn order_watch(&mut self, paths: BTreeSet<String>, out: &mut Outbox) {
        if self.options.policy.watch == Watch::Off {
            return;
        }
        out.command(Command::Watch { paths: paths.iter().cloned().collect() });
        self.watching.ordered = Some(paths);
    }

    /// Something of the files that are watched changed.
    pub(super) fn handle_files_changed(&mut self, now: Timestamp) {
        if self.watching.ordered.is_none() || self.stopping {
            self.stale_facts += 1;
            return;
        }
        let first = self.watching.storm.map_or(now, |storm| storm.first);
        self.watching.storm = Some(Storm { first, last: now });
    }

    /// When the files are to be read again; not before the present reading has ended.
    pub(super) fn files_due(&self) -> Option<Deadline> {
        let policy = &self.options.policy.watch;
        if self.reading.is_none() { self.watching.deadline(policy) } else { None }
    }

    /// Reads the files again if they have been left alone for long enough.
    pub(super) fn read_changed(&mut self, now: Timestamp, out: &mut Outbox) {
        let due = self.files_due();
        if due.is_some_and(|due| due.at <= now) {
            self.watching.storm = None;
            if !self.stopping {
                self.read_config(now, Why::Changed, out);
            }
        }
    }

    /// A file that changed starts nothing while every server is disconnected: nobody has asked for
    /// anything since (G10, G14).
    pub(super) fn let_rest(&mut self, new: &[ServerName], now: Timestamp, out: &mut Outbox) {
        for name in if self.resting { new } else { &[] } {
            self.let_go(name, LetGo::WithAll, now, out);
        }
    }

    /// What changed so far is about to be read, or nothing is read any more.
    pub(super) const fn calm(&mut self) {
        self.watching.storm = None;
    }
}
