//! A simulated driver: it obeys orders, answers reads once, and holds its processes.
//!
//! It keeps the driver's half of the contract by construction: per `Open` one `Opened` or
//! `OpenFailed`; after `Opened` one `Closed`; nothing after that; one answer a read.

mod acts;
mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tidegate_core::approval::Approval;
use tidegate_core::bytes::Bytes;
use tidegate_core::command::{CacheKey, Command, Question};
use tidegate_core::error::AskError;
use tidegate_core::held::Held;
use tidegate_core::id::{AnswerId, ConnId, ReadId, ServerName};
use tidegate_core::input::{Fact, Found, Listed};
use tidegate_core::time::Timestamp;

use crate::digest::{Present, hash_in_any_order};
use crate::hashed::Hashed;
use crate::laws::{Breach, Law};
use crate::lists::{Kind, Lists};
use crate::process::Process;
use crate::script::Script;
use crate::web::Web;

/// Where a fact can come from. Facts of one lane come in order; between lanes there is none.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Lane {
    /// The answer to a read.
    Read(ReadId),
    /// The answer to a question.
    Answer(AnswerId),
    /// A process.
    Process(ConnId),
}

/// A pipe of a process, as the process sees it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Pipe {
    /// Its standard input.
    Input,
    /// Its standard output.
    Output,
}

/// Files, cache and processes of the simulated machine.
#[derive(Clone, Debug, Default)]
pub struct Driver {
    /// What each command runs. A command that is not here cannot be started.
    scripts: Hashed<BTreeMap<String, Hashed<Script>>>,
    /// Configuration files by path.
    files: Hashed<BTreeMap<String, Found>>,
    /// Where files really are whose paths lead over symbolic links.
    origins: Hashed<BTreeMap<String, String>>,
    /// What the user approved.
    approved: Hashed<BTreeSet<Approval>>,
    cache: Hashed<BTreeMap<CacheKey, Found>>,
    /// How long reads take, in milliseconds.
    pub read_ms: u64,
    /// How old cache entries are, in milliseconds.
    pub cache_age_ms: u64,
    reads: Held<BTreeMap<ReadId, (Timestamp, Fact)>>,
    /// What comes of a question, and after how many milliseconds. What is not here is answered
    /// at once.
    replies: Hashed<BTreeMap<Question, Reply>>,
    asked: Held<BTreeMap<AnswerId, (Timestamp, Fact)>>,
    /// How many reads were asked for, if they are numbered one by one.
    reads_made: u64,
    /// The files that are watched.
    watched: Vec<String>,
    processes: BTreeMap<ConnId, Held<Running>>,
    /// The remote servers that were reached before: nothing goes wrong there again.
    reached: BTreeSet<String>,
    gone: Held<BTreeSet<ConnId>>,
    left: Vec<ServerName>,
    calls: Vec<u64>,
    breaches: Vec<String>,
}

/// What comes of a question, and when.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Reply {
    after_ms: u64,
    result: Result<(), AskError>,
}

#[derive(Clone, Debug)]
struct Running {
    server: ServerName,
    command: Arc<str>,
    process: Process,
    /// What stands before it, if it is reached over HTTP.
    web: Option<Web>,
}

impl Driver {
    /// What is in a folder: what the paths of the files say.
    fn list(&self, folder: &str, entries_max: u64) -> Listed {
        let below =
            self.files.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let names: BTreeSet<&str> = below.filter_map(|path| path.split('/').next()).collect();
        if names.is_empty() {
            return Listed::Nothing;
        }
        let most = usize::try_from(entries_max).unwrap_or(usize::MAX);
        let surplus = names.len().saturating_sub(most) as u64;
        let names = names.into_iter().take(most).map(Into::into).collect();
        Listed::Names { names, surplus }
    }

    /// Whether a file is watched.
    #[must_use]
    pub fn watches(&self, path: &str) -> bool {
        self.watched.iter().any(|watched| watched == path)
    }

    /// Obeys one order.
    pub fn execute(&mut self, command: &Command, now: Timestamp) {
        let answer_at = now.plus(self.read_ms);
        if let Command::ReadConfig { read, .. }
        | Command::ListFolder { read, .. }
        | Command::ReadApprovals { read }
        | Command::ReadCache { read, .. } = command
        {
            self.reads_made = read.number() + 1;
        }
        match command {
            Command::ReadConfig { read, path, bytes_max } => {
                let fact = self.read_config(*read, path, *bytes_max);
                self.reads.insert(*read, (answer_at, fact));
            }
            Command::ListFolder { read, path, entries_max } => {
                let (read, listed) = (*read, self.list(path, *entries_max));
                self.reads.insert(read, (answer_at, Fact::FolderListed { read, listed }));
            }
            Command::Watch { paths } => self.watched.clone_from(paths),
            Command::ReadApprovals { read } => {
                let read = *read;
                let approved = self.approved.iter().copied().collect();
                self.reads.insert(read, (answer_at, Fact::ApprovalsRead { read, approved }));
            }
            Command::ReadCache { read, key } => {
                let read = *read;
                let found = self.cache.get(key).cloned().unwrap_or(Found::Nothing);
                let age_ms = if found == Found::Nothing { 0 } else { self.cache_age_ms };
                self.reads.insert(read, (answer_at, Fact::CacheRead { read, found, age_ms }));
            }
            Command::WriteCache { key, content } => {
                self.set_cached(*key, Some(Found::Content(content.clone())));
            }
            Command::DropCache { key } => {
                self.set_cached(*key, None);
            }
            Command::Ask { ask, what } => {
                let ask = *ask;
                let at_once = Reply { after_ms: 0, result: Ok(()) };
                let Reply { after_ms, result } = self.replies.get(what).cloned().unwrap_or(at_once);
                self.asked.insert(ask, (now.plus(after_ms), Fact::Answered { ask, result }));
            }
            Command::StopAsking { ask } => drop(self.asked.remove(ask)),
            Command::Open { .. }
            | Command::Send { .. }
            | Command::CloseInput { .. }
            | Command::Terminate { .. }
            | Command::Kill { .. }
            | Command::Connect { .. }
            | Command::Exchange { .. }
            | Command::Abort { .. }
            | Command::Abandon { .. } => self.serve(command, now),
        }
    }

    fn read_config(&self, read: ReadId, path: &str, bytes_max: u64) -> Fact {
        let found = match self.files.get(path).cloned().unwrap_or(Found::Nothing) {
            Found::Content(bytes) if bytes.len() as u64 > bytes_max => {
                Found::Unreadable(format!("larger than {bytes_max} bytes"))
            }
            found => found,
        };
        let origin = Some(self.origins.get(path).cloned().unwrap_or_else(|| path.into()));
        Fact::ConfigRead { read, origin, found }
    }

    /// The lanes on which a fact is waiting, whenever it is due.
    #[must_use]
    pub fn lanes(&self) -> Vec<Lane> {
        let reads = self.reads.keys().map(|read| Lane::Read(*read));
        let asked = self.asked.keys().map(|ask| Lane::Answer(*ask));
        let running = self.processes.iter().filter(|(_, running)| running.due().is_some());
        reads.chain(asked).chain(running.map(|(conn, _)| Lane::Process(*conn))).collect()
    }

    /// When the next fact is due, and on which lane.
    #[must_use]
    pub fn due(&self) -> Option<(Timestamp, Lane)> {
        let reads = self.reads.iter().map(|(read, (at, _))| (*at, Lane::Read(*read)));
        let asked = self.asked.iter().map(|(ask, (at, _))| (*at, Lane::Answer(*ask)));
        let processes = self
            .processes
            .iter()
            .filter_map(|(conn, running)| running.due().map(|at| (at, Lane::Process(*conn))));
        reads.chain(asked).chain(processes).min()
    }

    /// Lets the next thing on a lane happen; `None` if nothing of it shows.
    pub fn deliver(&mut self, lane: Lane, now: Timestamp) -> Option<Fact> {
        match lane {
            Lane::Read(read) => self.reads.remove(&read).map(|(_, fact)| fact),
            Lane::Answer(ask) => self.asked.remove(&ask).map(|(_, fact)| fact),
            Lane::Process(conn) => {
                let Running { process, web, .. } = &mut **self.processes.get_mut(&conn)?;
                let fact = match web {
                    Some(web) => web.next_fact(process, now)?,
                    None => process.next_fact(now)?,
                };
                if matches!(fact, Fact::Closed { .. } | Fact::OpenFailed { .. }) {
                    self.bury(conn);
                }
                Some(fact)
            }
        }
    }

    /// Whether a process of this server is being started.
    #[must_use]
    pub fn is_starting(&self, server: &ServerName) -> bool {
        self.processes
            .values()
            .any(|running| running.server == *server && running.process.is_starting())
    }

    /// Whose process this is.
    #[must_use]
    pub fn server_of(&self, conn: ConnId) -> Option<&ServerName> {
        self.processes.get(&conn).map(|running| &running.server)
    }

    /// Whether a process has been asked for its tools and not answered.
    #[must_use]
    pub fn is_asked_for_tools(&self, conn: ConnId) -> bool {
        self.lists(conn).is_some_and(|lists| lists.is_asked(Kind::Tools))
    }

    /// From here on the command runs another script, and running processes follow it.
    pub fn set_script(&mut self, command: &str, script: Script) {
        let script = Hashed::new(script);
        for running in self.processes.values_mut().filter(|running| *running.command == *command) {
            running.process.set_script(script.clone());
        }
        self.scripts.change(|scripts| drop(scripts.insert(command.into(), script)));
    }

    /// What a command runs, if it can be started.
    #[must_use]
    pub fn script(&self, command: &str) -> Option<&Script> {
        self.scripts.get(command).map(|script| &**script)
    }

    /// Writes a configuration file.
    pub fn set_file(&mut self, path: &str, found: Found) {
        if self.files.get(path) != Some(&found) {
            self.files.change(|files| drop(files.insert(path.into(), found)));
        }
    }

    /// From here on the path of a file leads there, over a symbolic link.
    pub fn set_origin(&mut self, path: &str, origin: &str) {
        self.origins.change(|origins| drop(origins.insert(path.into(), origin.into())));
    }

    /// From here on this comes of a question, after so many milliseconds.
    pub fn set_reply(&mut self, what: Question, after_ms: u64, result: Result<(), AskError>) {
        self.replies.change(|replies| drop(replies.insert(what, Reply { after_ms, result })));
    }

    /// The user approves this.
    pub fn approve(&mut self, approval: Approval) {
        self.approved.change(|approved| approved.extend([approval]));
    }

    /// The user takes an approval back.
    pub fn revoke(&mut self, approval: Approval) {
        self.approved.change(|approved| approved.retain(|it| *it != approval));
    }

    /// The user takes every approval back.
    pub fn revoke_all(&mut self) {
        self.approved = Hashed::default();
    }

    /// Whether the user approved anything.
    pub(crate) fn has_approvals(&self) -> bool {
        !self.approved.is_empty()
    }

    /// Any question that waits for its answer.
    pub(crate) fn open_questions(&self) -> impl Iterator<Item = AnswerId> {
        self.asked.keys().copied()
    }

    /// What is being found out turns out to be nothing.
    pub(crate) fn fail_answer(&mut self, ask: AnswerId, now: Timestamp) {
        self.asked.insert(ask, (now, Fact::Answered { ask, result: Err(AskError::Empty) }));
    }

    /// Fills the cache with what another driver's holds.
    pub fn set_cache(&mut self, other: &Self) {
        self.cache = other.cache.clone();
    }

    /// Replaces every cache entry.
    pub fn spoil_cache(&mut self, with: &Found) {
        self.cache.change(|cache| cache.values_mut().for_each(|entry| *entry = with.clone()));
    }

    /// Attempts that are over.
    #[must_use]
    pub fn gone(&self) -> &BTreeSet<ConnId> {
        &self.gone
    }

    /// How many reads were asked for.
    pub(crate) const fn reads_made(&self) -> u64 {
        self.reads_made
    }

    /// How many processes there are, being started or running.
    #[must_use]
    pub fn process_count(&self) -> usize {
        self.processes.len()
    }

    /// Servers whose processes were abandoned: nothing could end them.
    #[must_use]
    pub fn left(&self) -> &[ServerName] {
        &self.left
    }

    /// Whether a server has a running process.
    #[must_use]
    pub fn runs(&self, server: &ServerName) -> bool {
        self.processes
            .values()
            .any(|running| running.server == *server && running.process.is_running())
    }

    /// What a process has told of its lists.
    pub(crate) fn lists(&self, conn: ConnId) -> Option<&Lists> {
        let heard = self.processes.get(&conn).filter(|running| running.is_heard());
        heard.map(|running| &running.process.peer.lists)
    }

    /// The addresses a process was asked to tell of, and not to stop telling of.
    pub(crate) fn watched(&self, conn: ConnId) -> Option<&BTreeSet<String>> {
        let heard = self.processes.get(&conn).filter(|running| running.is_heard());
        heard.map(|running| &running.process.peer.watched)
    }

    /// Whether everything that running servers asked was answered (G49), but for what `open`
    /// says the host has not answered.
    ///
    /// # Errors
    /// What was not.
    pub(crate) fn check_answered(&self, open: impl Fn(ConnId) -> usize) -> Result<(), Breach> {
        let heard = |running: &Running| running.process.is_running() && running.is_heard();
        self.processes.iter().filter(|(_, running)| heard(running)).try_for_each(
            |(conn, running)| {
                let unanswered = || running.process.peer.unanswered();
                let waiting: usize = unanswered().map(|(_, times)| times).sum();
                let ids: Vec<&String> = unanswered().map(|(id, _)| id).collect();
                Law::Wire.demands(waiting == open(*conn), || {
                    format!(
                        "{conn} ({}) waits for {waiting} answers, to {ids:?}, and the host for {} \
                         (G49)",
                        running.server,
                        open(*conn)
                    )
                })
            },
        )
    }

    /// What clients did against the protocol since this was last asked, and the marks of the
    /// calls that arrived at servers.
    pub fn observations(&mut self) -> (Vec<String>, Vec<u64>) {
        let talked = |running: &Running| !running.process.peer.is_silent();
        for (conn, running) in self.processes.iter_mut().filter(|(_, running)| talked(running)) {
            let heard = running.is_heard();
            let Running { server, process, .. } = &mut **running;
            // What something in between answered for the server looks to it like a breach.
            for breach in process.peer.breaches.drain(..).filter(|_| heard) {
                self.breaches.push(format!("{conn} ({server}): {breach}"));
            }
            self.calls.append(&mut process.peer.calls);
        }
        (std::mem::take(&mut self.breaches), std::mem::take(&mut self.calls))
    }

    /// What distinguishes this state from another one.
    pub(crate) fn digest(&self, present: Present, state: &mut impl Hasher) {
        (&self.scripts, &self.files, &self.cache, self.reads.len()).hash(state);
        self.reached.hash(state);
        (&self.origins, &self.approved, &self.replies, self.asked.len()).hash(state);
        for (at, fact) in self.asked.values() {
            at.since(present.now).hash(state);
            if let Fact::Answered { result, .. } = fact {
                result.hash(state);
            }
        }
        for (read, (at, fact)) in self.reads.iter() {
            (self.reads_made.saturating_sub(read.number()), at.since(present.now)).hash(state);
            match fact {
                Fact::ConfigRead { found, .. } => (0, found, 0).hash(state),
                Fact::FolderListed { listed, .. } => (3, listed).hash(state),
                Fact::ApprovalsRead { approved, .. } => (2, approved).hash(state),
                Fact::CacheRead { found, age_ms, .. } => (1, found, *age_ms).hash(state),
                _ => {}
            }
        }
        // At most one process a server (G5), so whose it is tells them apart.
        hash_in_any_order(self.processes.values(), state, |running, state| {
            running.server.hash(state);
            running.process.digest(present, state);
            running.web.iter().for_each(|web| web.digest(state));
        });
    }

    fn set_cached(&mut self, key: CacheKey, entry: Option<Found>) {
        if self.cache.get(&key) != entry.as_ref() {
            self.cache.change(|cache| match entry {
                Some(entry) => drop(cache.insert(key, entry)),
                None => drop(cache.remove(&key)),
            });
        }
    }

    fn processes_of(&mut self, server: &ServerName) -> impl Iterator<Item = &mut Held<Running>> {
        self.processes.values_mut().filter(move |running| running.server == *server)
    }

    fn each(&mut self, conn: ConnId, act: impl FnOnce(&mut Process)) {
        match self.processes.get_mut(&conn) {
            Some(running) => act(&mut running.process),
            // A driver learns of an end before the machine does.
            None if self.gone.contains(&conn) => {}
            None => self.breaches.push(format!("an order for {conn}, which is no process")),
        }
    }

    fn abandon(&mut self, conn: ConnId) {
        if let Some(running) = self.processes.get(&conn) {
            self.left.push(running.server.clone());
        }
        self.bury(conn);
    }

    fn bury(&mut self, conn: ConnId) {
        let (breaches, calls) = self.observations();
        self.breaches.extend(breaches);
        self.calls.extend(calls);
        self.processes.remove(&conn);
        self.gone.insert(conn);
    }
}

/// A cache entry's or a file's content.
#[must_use]
pub fn content(text: &str) -> Found {
    Found::Content(Bytes::from(text))
}
