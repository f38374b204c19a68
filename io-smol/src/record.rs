//! Records a run as lines of JSON while it happens; see [`tidegate_core::trace`].
//!
//! The loop words the lines, a thread of its own writes them: a slow disk holds nothing back.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use tidegate_core::bytes::{Bytes, Json};
use tidegate_core::command::{Command, HttpRequest};
use tidegate_core::config::Source;
use tidegate_core::config::disguise::Disguise;
use tidegate_core::event::Event;
use tidegate_core::id::ReadId;
use tidegate_core::input::{Fact, Found, Input, Request};
use tidegate_core::inquiry::Reply;
use tidegate_core::options::Options;
use tidegate_core::time::Timestamp;
use tidegate_core::trace::{TRACE_VERSION, TraceLine};
use tidegate_core::wire::mcp;

use crate::files::NONBLOCK;
use crate::inbox::{Inbox, Message};
use crate::signals;

/// How much may wait to be written. A disk that falls this far behind ends the record: one with
/// a hole could not be replayed.
const WAITING_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The record of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    disguise: Disguise,
    /// The files of the configuration, by their paths.
    sources: BTreeMap<String, Source>,
    /// And its folders.
    folders: Vec<Source>,
    /// The rules of the organisation, which are no secret.
    organisation: Option<String>,
    /// Which of them a read will tell of.
    reads: BTreeMap<ReadId, String>,
    /// The lines since the last flush.
    lines: Vec<u8>,
    /// `None` once the record has ended early.
    thread: Option<Sender<Vec<u8>>>,
    waiting: Arc<AtomicUsize>,
    end: Arc<EarlyEnd>,
}

/// That a record ended before its run, and why.
#[derive(Debug)]
pub(crate) struct EarlyEnd {
    why: OnceLock<String>,
    inbox: Arc<Inbox>,
}

impl EarlyEnd {
    pub(crate) const fn new(inbox: Arc<Inbox>) -> Self {
        Self { why: OnceLock::new(), inbox }
    }

    pub(crate) fn why(&self) -> Option<&str> {
        self.why.get().map(String::as_str)
    }

    fn report(&self, error: io::Error) {
        let _ = self.why.set(error.to_string());
        self.inbox.report(Message::Broken("the trace", error));
    }
}

impl Recorder {
    /// Begins a record in a file that only its owner may read.
    pub(crate) fn create(path: &Path, options: &Options, end: Arc<EarlyEnd>) -> io::Result<Self> {
        signals::bear_file_limit()?;
        let mut create = OpenOptions::new();
        create.write(true).create(true).truncate(true).mode(0o600);
        // Opening a pipe that nobody reads would wait for a reader, deaf to signals.
        let file = create.custom_flags(NONBLOCK).open(path)?;
        rustix::io::ioctl_fionbio(&file, false)?;
        let (sender, receiver) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let (reports, left) = (Arc::clone(&end), Arc::clone(&waiting));
        thread::Builder::new()
            .name("tidegate-trace".into())
            .spawn(move || write(file, &receiver, &left, &reports))?;
        let mut recorder = Self {
            disguise: Disguise::new(
                options.surroundings(),
                options.policy.unresolved,
                options.policy.empty,
            ),
            sources: sources(options),
            folders: options.sources.iter().filter(|it| it.entries.is_some()).cloned().collect(),
            organisation: options.organisation.clone(),
            reads: BTreeMap::new(),
            lines: Vec::new(),
            thread: Some(sender),
            waiting,
            end,
        };
        recorder.head(options);
        Ok(recorder)
    }

    /// Records what goes in.
    pub(crate) fn input(&mut self, at: Timestamp, input: &Input) {
        let mut input = input.clone();
        match &mut input {
            Input::Io(Fact::ConfigRead { read, origin, found }) => {
                let path = self.reads.remove(read);
                let source = path.as_ref().and_then(|path| self.sources.get(path));
                if let Found::Content(content) = found
                    && (path.is_none() || path != self.organisation)
                {
                    let further = path.as_ref().and_then(|path| self.disguise.source(path));
                    let source = source.or(further).cloned();
                    let source = source.unwrap_or_else(|| Source::inline("", ""));
                    *content = Bytes(self.disguise.file(&source, origin.as_deref(), content));
                }
            }
            Input::Io(Fact::FolderListed { read, listed }) => {
                let path = self.reads.remove(read);
                let here = self.folders.iter().filter(|source| path.as_ref() == Some(&source.path));
                here.for_each(|source| self.disguise.folder(source, listed));
            }
            Input::Io(Fact::ApprovalsRead { approved, .. }) => {
                *approved = self.disguise.approvals(approved);
            }
            Input::Io(Fact::Answered { ask, result }) => self.disguise.answered(*ask, result),
            Input::Host(Request::Reply { reply: Reply::Done(answer), .. }) => {
                *answer = Json::new(mcp::hidden(answer.as_str()));
            }
            Input::Io(_) | Input::Host(_) => {}
        }
        self.line(&TraceLine::Input { at, input });
    }

    /// Records that time passed.
    pub(crate) fn tick(&mut self, at: Timestamp) {
        self.line(&TraceLine::Tick { at });
    }

    /// Records an order that came out.
    pub(crate) fn command(&mut self, at: Timestamp, command: &Command) {
        let mut command = command.clone();
        if let Command::Open { server, launch, .. } = &mut command {
            *launch = self.disguise.launch(server, launch);
        } else if let Command::Connect { server, remote, .. } = &mut command {
            *remote = self.disguise.remote(server, remote);
        } else if let Command::Ask { ask, what } = &mut command {
            *what = self.disguise.ask(*ask, what);
        } else if let Command::ReadConfig { read, path, .. }
        | Command::ListFolder { read, path, .. } = &command
        {
            self.reads.insert(*read, path.clone());
        } else if let Command::Send { bytes, .. }
        | Command::Exchange { request: HttpRequest { body: bytes, .. }, .. } =
            &mut command
            && let Some(shown) = mcp::hidden_in(bytes)
        {
            *bytes = Bytes(shown);
        }
        self.line(&TraceLine::Command { at, command });
    }

    /// Records news that came out.
    pub(crate) fn event(&mut self, at: Timestamp, event: &Event) {
        self.line(&TraceLine::Event { at, event: event.clone() });
    }

    /// Has everything written that was recorded since the last time.
    pub(crate) fn flush(&mut self) {
        let Some(thread) = self.thread.as_ref().filter(|_| !self.lines.is_empty()) else { return };
        let lines = std::mem::take(&mut self.lines);
        let waiting = self.waiting.fetch_add(lines.len(), Ordering::Relaxed);
        if waiting > WAITING_BYTES_MAX {
            self.thread = None;
            let error = io::Error::other("the disk is too slow; the record ends early");
            self.end.report(error);
        } else if thread.send(lines).is_err() {
            // The thread has said why.
            self.thread = None;
        }
    }

    fn head(&mut self, options: &Options) {
        let mut options = Box::new(options.clone());
        for source in &mut options.sources {
            if let Some(text) = source.text.take() {
                source.text = Some(Bytes(self.disguise.file(source, None, &text)));
            }
        }
        self.line(&TraceLine::Head { version: TRACE_VERSION, options });
        self.flush();
    }

    fn line(&mut self, line: &TraceLine) {
        if self.thread.is_none() {
            return;
        }
        let begun = self.lines.len();
        match serde_json::to_writer(&mut self.lines, line) {
            Ok(()) => self.lines.push(b'\n'),
            Err(error) => {
                self.lines.truncate(begun);
                self.flush();
                self.thread = None;
                self.end.report(error.into());
            }
        }
    }
}

fn sources(options: &Options) -> BTreeMap<String, Source> {
    options.sources.iter().map(|source| (source.path.clone(), source.clone())).collect()
}

/// Writes until the record ends or the file fails, which is said once.
fn write(mut file: File, lines: &Receiver<Vec<u8>>, waiting: &AtomicUsize, end: &EarlyEnd) {
    while let Ok(lines) = lines.recv() {
        if let Err(error) = file.write_all(&lines) {
            end.report(error);
            break;
        }
        waiting.fetch_sub(lines.len(), Ordering::Relaxed);
    }
    end.inbox.report(Message::Ended);
}
