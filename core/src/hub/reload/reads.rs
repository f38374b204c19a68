//! The reads of a reading: what is ordered, and what comes of it.
//!
//! Floor 4.

use alloc::string::String;
use alloc::sync::Arc;

use crate::command::Command;
use crate::config::organisation::Organisation;
use crate::config::parse;
use crate::config::{Source, folder};
use crate::hub::Hub;
use crate::id::ReadId;
use crate::input::{Found, Listed};
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::time::Timestamp;

/// The order that tells what a source says.
pub(super) fn order(read: ReadId, source: &Source, limits: &Limits) -> Command {
    let path = source.path.clone();
    match source.entries {
        None => order_file(read, path, limits),
        Some(_) => Command::ListFolder { read, path, entries_max: limits.folder_entries as u64 },
    }
}

/// The order that tells what is in a file.
pub(super) fn order_file(read: ReadId, path: String, limits: &Limits) -> Command {
    Command::ReadConfig { read, path, bytes_max: limits.config_bytes as u64 }
}

impl Hub {
    pub(in crate::hub) fn handle_config_read(
        &mut self,
        now: Timestamp,
        read: ReadId,
        origin: Option<String>,
        found: Found,
        out: &mut Outbox,
    ) {
        let rules = self.reading.as_mut().filter(|reading| reading.rules == Some(read));
        if let (Some(reading), Some(path)) = (rules, &self.options.organisation) {
            reading.rules = None;
            reading.organisation = Organisation::read(path, &found);
            return self.apply_if_complete(now, out);
        }
        let Some((at, source)) = self.awaited(read) else { return };
        let said = parse::found_in(&source, origin.as_deref(), &found, self.options.surroundings());
        let whole = match &found {
            Found::Content(_) => {
                self.count_legible();
                said.is_whole()
            }
            Found::Unreadable(why) => self.note_unreadable(&source, why),
            Found::Nothing => true,
        };
        let said = self.last_good.settle(&source, whole, said);
        self.take_in(at, said, now, out);
    }

    pub(in crate::hub) fn handle_folder_listed(
        &mut self,
        now: Timestamp,
        read: ReadId,
        listed: &Listed,
        out: &mut Outbox,
    ) {
        let Some((at, source)) = self.awaited(read) else { return };
        let whole = match listed {
            Listed::Names { .. } | Listed::Nothing => true,
            Listed::Unreadable(why) => self.note_unreadable(&source, why),
        };
        let said = self.last_good.settle(&source, whole, folder::read(&source, listed));
        self.take_in(at, said, now, out);
    }

    /// The place of the source that a read tells of, if it is still waited for.
    fn awaited(&mut self, read: ReadId) -> Option<(usize, Source)> {
        let found = self.reading.as_mut().and_then(|reading| {
            let at = reading.missing.remove(&read)?;
            Some((at, reading.source(at, &self.options.sources)?))
        });
        if found.is_none() {
            self.stale_facts += 1;
        }
        found
    }

    fn count_legible(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.legible += 1;
        }
    }

    /// Remembers the first one that cannot be read; it says nothing as a whole.
    fn note_unreadable(&mut self, source: &Source, why: &str) -> bool {
        if let Some(reading) = &mut self.reading {
            let why = || alloc::format!("{}: {why}", source.path);
            reading.unreadable.get_or_insert_with(why);
        }
        false
    }

    /// Takes in what a source says, and goes after the files that it leads to.
    fn take_in(&mut self, at: usize, said: parse::Reading, now: Timestamp, out: &mut Outbox) {
        let options = Arc::clone(&self.options);
        let led = said.further.clone();
        self.watch_too(&led, out);
        if let Some(reading) = &mut self.reading {
            let first = reading.parts.len();
            if let Some(part) = reading.parts.get_mut(at) {
                *part = Some(said);
            }
            for (read, source) in reading.lead(at, first, led, &mut self.next_read) {
                out.command(order(read, &source, &options.setting.limits));
            }
        }
        self.apply_if_complete(now, out);
    }
}
