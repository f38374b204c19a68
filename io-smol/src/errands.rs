//! What the machine wants of files, done off the loop.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_core::bytes::Bytes;
use tidegate_core::command::CacheKey;
use tidegate_core::config::Source;
use tidegate_core::id::ReadId;
use tidegate_core::input::{Fact, Found};

use crate::approvals::Approvals;
use crate::files::{self, Cache, Lies};
use crate::inbox::{Inbox, Message};

/// Reads configuration and keeps the cache.
#[derive(Debug)]
pub(crate) struct Errands {
    /// The files that no project chose.
    chosen: BTreeSet<String>,
    approvals: Option<Approvals>,
    cache: Option<Arc<CacheErrands>>,
    inbox: Arc<Inbox>,
}

/// What is to be done with the cache, one thing after the other: an entry that is dropped and
/// written again must not be dropped last.
#[derive(Debug)]
struct CacheErrands {
    cache: Cache,
    inbox: Arc<Inbox>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    errands: VecDeque<Errand>,
    /// Whether a thread is at it.
    running: bool,
}

#[derive(Debug)]
enum Errand {
    Read(ReadId, CacheKey),
    Write(CacheKey, Bytes),
    Drop(CacheKey),
    /// Says that everything before is done.
    End,
}

impl Errands {
    pub(crate) fn new(
        sources: &[Source],
        cache_dir: Option<&Path>,
        approvals: Option<Approvals>,
        inbox: Arc<Inbox>,
    ) -> Self {
        let cache = cache_dir.map(|dir| {
            let (cache, inbox) = (Cache::below(dir), Arc::clone(&inbox));
            Arc::new(CacheErrands { cache, inbox, queue: Mutex::default() })
        });
        let anything = |source: &&Source| Lies::at(source.level) == Lies::Anything;
        let chosen = sources.iter().filter(anything).map(|source| source.path.clone());
        Self { chosen: chosen.collect(), approvals, cache, inbox }
    }

    /// Reads a file, by itself: one that takes long holds back no other.
    pub(crate) fn read_config(&self, read: ReadId, path: String, bytes_max: u64) {
        let inbox = Arc::clone(&self.inbox);
        let lies = if self.chosen.contains(&path) { Lies::Anything } else { Lies::File };
        let errand = move || {
            let (origin, found) = files::read_config(Path::new(&path), lies, bytes_max);
            inbox.report(Message::Fact(Fact::ConfigRead { read, origin, found }));
        };
        blocking::unblock(errand).detach();
    }

    /// Lists a folder, by itself.
    pub(crate) fn list_folder(&self, read: ReadId, path: String, entries_max: u64) {
        let inbox = Arc::clone(&self.inbox);
        let errand = move || {
            let listed = files::list(Path::new(&path), entries_max);
            inbox.report(Message::Fact(Fact::FolderListed { read, listed }));
        };
        blocking::unblock(errand).detach();
    }

    /// Reads what the user approved: nothing, if that cannot be read.
    pub(crate) fn read_approvals(&self, read: ReadId) {
        let (inbox, approvals) = (Arc::clone(&self.inbox), self.approvals.clone());
        let errand = move || {
            let approved = match approvals.map_or_else(|| Ok(vec![]), |it| it.list()) {
                Ok(granted) => granted.into_iter().map(|granted| granted.approval).collect(),
                Err(error) => {
                    inbox.report(Message::Broken("the file of approvals", error));
                    BTreeSet::new()
                }
            };
            inbox.report(Message::Fact(Fact::ApprovalsRead { read, approved }));
        };
        blocking::unblock(errand).detach();
    }

    pub(crate) fn read_cache(&self, read: ReadId, key: CacheKey) {
        match &self.cache {
            Some(cache) => cache.put(Errand::Read(read, key)),
            None => {
                let found = Found::Nothing;
                self.inbox.report(Message::Fact(Fact::CacheRead { read, found, age_ms: 0 }));
            }
        }
    }

    pub(crate) fn write_cache(&self, key: CacheKey, content: Bytes) {
        if let Some(cache) = &self.cache {
            cache.put(Errand::Write(key, content));
        }
    }

    pub(crate) fn drop_cache(&self, key: CacheKey) {
        if let Some(cache) = &self.cache {
            cache.put(Errand::Drop(key));
        }
    }

    /// Whether something is still to be written; then [`Message::Ended`] follows once it is.
    pub(crate) fn end(&self) -> bool {
        let Some(cache) = &self.cache else { return false };
        let running = cache.queue.lock().unwrap_or_else(PoisonError::into_inner).running;
        if running {
            cache.put(Errand::End);
        }
        running
    }
}

impl CacheErrands {
    fn put(self: &Arc<Self>, errand: Errand) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.errands.push_back(errand);
        if !std::mem::replace(&mut queue.running, true) {
            let errands = Arc::clone(self);
            blocking::unblock(move || errands.run()).detach();
        }
    }

    fn run(&self) {
        while let Some(errand) = self.next() {
            match errand {
                Errand::Read(read, key) => {
                    let (found, age_ms) = self.cache.read(key);
                    self.inbox.report(Message::Fact(Fact::CacheRead { read, found, age_ms }));
                }
                // Best effort: what cannot be cached is asked for again.
                Errand::Write(key, content) => drop(self.cache.write(key, &content)),
                Errand::Drop(key) => drop(self.cache.remove(key)),
                Errand::End => self.inbox.report(Message::Ended),
            }
        }
    }

    fn next(&self) -> Option<Errand> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let errand = queue.errands.pop_front();
        queue.running = errand.is_some();
        errand
    }
}
