//! Watches the configuration's files, those that do not exist yet too.
//!
//! Folders are watched, because editors and we ourselves replace files instead of writing them:
//! of each file its folder, or the nearest one above it that exists, and a folder that is meant
//! itself. That a folder further up is
//! renamed or replaced is not noticed until the next reload. A thread of its own waits
//! for the system, so that nothing is done at rest.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use notify::event::AccessKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tidegate_core::input::Fact;

use crate::inbox::{Inbox, Message};

/// How many events may wait; the system keeps more, and says so when it lost some.
const EVENTS_MAX: usize = 1_024;
/// How often folders are looked up again because some appeared meanwhile.
const LOOKS_MAX: usize = 8;
/// What does not work if watching does not.
const WHAT: &str = "watching the configuration files";

/// Files that are being watched, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    news: SyncSender<News>,
}

#[derive(Debug)]
enum News {
    Event(notify::Result<notify::Event>),
    End,
}

impl Watcher {
    /// Watches from here on. What does not work is reported.
    pub(crate) fn start(paths: Vec<String>, inbox: &Arc<Inbox>) -> Option<Self> {
        let started = Self::try_start(paths, Arc::clone(inbox));
        started.map_err(|error| inbox.report(Message::Broken(WHAT, error))).ok()
    }

    fn try_start(paths: Vec<String>, inbox: Arc<Inbox>) -> io::Result<Self> {
        let (news, heard) = sync_channel(EVENTS_MAX);
        let tell = news.clone();
        let handler = move |event: notify::Result<notify::Event>| {
            // Every program that starts opens files in `/etc`; the library asks for that, too.
            let opened = |event: &notify::Event| {
                matches!(event.kind, EventKind::Access(AccessKind::Open(_)))
            };
            if !event.as_ref().is_ok_and(opened) {
                // Nobody listens any more once watching has ended.
                drop(tell.send(News::Event(event)));
            }
        };
        let system = notify::recommended_watcher(handler).map_err(io::Error::other)?;
        let mut folders = Folders {
            paths: paths.into_iter().map(PathBuf::from).collect(),
            files: BTreeSet::new(),
            folders: BTreeSet::new(),
            watched: BTreeSet::new(),
            system,
        };
        folders.arm(Look::Anew)?;
        thread::Builder::new()
            .name("tidegate-watch".into())
            .spawn(move || folders.listen(&heard, &inbox))?;
        Ok(Self { news })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // A full queue means that the thread is awake; it ends with the last sender then.
        let _ = self.news.try_send(News::End);
    }
}

/// How folders are looked up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// Only what is watched for other folders changes.
    Again,
    /// A folder may be another one of the same name.
    Anew,
}

/// What an event means for us.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Meaning {
    Nothing,
    /// A file may say something else.
    File,
    /// A folder on the way to a file came or went.
    Folder,
}

struct Folders {
    paths: Vec<PathBuf>,
    /// The files, and what they are if they are symbolic links.
    files: BTreeSet<PathBuf>,
    /// Those among them that are folders.
    folders: BTreeSet<PathBuf>,
    watched: BTreeSet<PathBuf>,
    system: RecommendedWatcher,
}

impl Folders {
    fn listen(mut self, heard: &Receiver<News>, inbox: &Inbox) {
        while let Ok(first) = heard.recv() {
            let (mut meaning, mut ended) = (Meaning::Nothing, false);
            for news in std::iter::once(first).chain(heard.try_iter()) {
                match news {
                    News::End => {
                        ended = true;
                        break;
                    }
                    News::Event(Ok(event)) => meaning = meaning.max(self.meaning(&event)),
                    // What was lost may have been anything.
                    News::Event(Err(_)) => meaning = Meaning::Folder,
                }
            }
            let look = match meaning {
                Meaning::Nothing if ended => return,
                Meaning::Nothing => continue,
                Meaning::File => Look::Again,
                Meaning::Folder => Look::Anew,
            };
            if !ended && let Err(error) = self.arm(look) {
                inbox.report(Message::Broken(WHAT, error));
            }
            // What was heard before another watcher took over counts.
            inbox.report(Message::Fact(Fact::FilesChanged));
            if ended {
                return;
            }
        }
    }

    fn meaning(&self, event: &notify::Event) -> Meaning {
        if event.need_rescan() {
            return Meaning::Folder;
        }
        // Reading is no change; we do it ourselves.
        if matches!(event.kind, EventKind::Access(_)) {
            return Meaning::Nothing;
        }
        let of = |path: &PathBuf| {
            let in_folder = || path.parent().is_some_and(|folder| self.folders.contains(folder));
            if self.folders.contains(path) {
                Meaning::Folder
            } else if self.files.contains(path) || in_folder() {
                Meaning::File
            } else if self.files.iter().any(|file| file.starts_with(path)) {
                Meaning::Folder
            } else {
                Meaning::Nothing
            }
        };
        event.paths.iter().map(of).max().unwrap_or(Meaning::Nothing)
    }

    /// Watches the folders that there are.
    fn arm(&mut self, look: Look) -> io::Result<()> {
        if look == Look::Anew {
            for folder in std::mem::take(&mut self.watched) {
                // One that is gone is not watched any more.
                let _ = self.system.unwatch(&folder);
            }
        }
        for _ in 0..LOOKS_MAX {
            let wanted = self.look();
            if wanted == self.watched {
                return Ok(());
            }
            for folder in self.watched.difference(&wanted) {
                let _ = self.system.unwatch(folder);
            }
            for folder in wanted.difference(&self.watched) {
                match self.system.watch(folder, RecursiveMode::NonRecursive) {
                    // It went meanwhile: the next look finds one above it.
                    Err(_) if !folder.exists() => {}
                    watched => watched.map_err(io::Error::other)?,
                }
            }
            self.watched = wanted;
        }
        Ok(())
    }

    /// The folders to watch, one for each file, and those that are meant themselves.
    fn look(&mut self) -> BTreeSet<PathBuf> {
        let real = self.paths.iter().filter_map(|path| path.canonicalize().ok());
        self.files = self.paths.iter().cloned().chain(real).collect();
        self.folders = self.files.iter().filter(|file| file.is_dir()).cloned().collect();
        let nearest = |file: &PathBuf| {
            file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
        };
        self.files.iter().filter_map(nearest).chain(self.folders.iter().cloned()).collect()
    }
}
