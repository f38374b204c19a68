//! The thread that starts servers.
//!
//! One thread for all, as long as the driver: starting a program may take long (a slow disk, a
//! network mount) and must never hold back the loop, and while one server is started the loop
//! greets those before it.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::Pid;
use tidegate_core::error::OpenError;
use tidegate_core::id::ConnId;

use crate::descendants::sweep;
use crate::guard::Watch;
use crate::inbox::{Inbox, Message};
use crate::launch::{Program, Surroundings, refused};
use crate::process::{Pipes, Process};
use crate::settings::Guard;

/// Program not of a form the system can run: scripts without a first line that names a shell.
const EXEC_FORMAT: i32 = rustix::io::Errno::NOEXEC.raw_os_error();

/// How long groups that are gone are collected before the guard is told: many go at once.
const FORGET_PAUSE: Duration = Duration::from_millis(50);

/// Orders to the thread.
#[derive(Debug)]
pub(crate) struct Spawner {
    queue: Arc<Queue>,
    /// What the thread is started with, until it is.
    idle: Option<Box<Worker>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Whether the thread waits for more of what is not urgent.
    patient: bool,
    closed: Option<Close>,
}

/// How the driver ended.
#[derive(Clone, Copy, Debug)]
enum Close {
    /// Every server is gone.
    Orderly,
    /// It was dropped.
    Broken,
}

#[derive(Debug)]
enum Job {
    Start(ConnId, Box<Program>),
    /// The group is gone; its name may be another's soon.
    Forget(Pid),
    /// This is to be done with a guard standing.
    Guarded(Guarded),
    /// The guard has ended, or was already replaced.
    Replace,
}

/// Something that starts processes.
struct Guarded(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guarded")
    }
}

/// A server that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) pipes: Pipes,
}

impl Spawner {
    pub(crate) fn new(surroundings: Surroundings, guard: Guard, inbox: Arc<Inbox>) -> Self {
        let queue = Arc::new(Queue::default());
        let watch = (guard == Guard::On).then(|| Watch::new(surroundings.mark.clone()));
        let worker = Worker { queue: Arc::clone(&queue), surroundings, watch, inbox };
        Self { queue, idle: Some(Box::new(worker)) }
    }

    /// Has a server started; answered by [`Message::Started`].
    pub(crate) fn start(&mut self, conn: ConnId, program: Program) -> io::Result<()> {
        self.push(Job::Start(conn, Box::new(program)))
    }

    /// Gives an order; the first one starts the thread.
    fn push(&mut self, job: Job) -> io::Result<()> {
        if let Some(worker) = self.idle.take() {
            let builder = thread::Builder::new().name("tidegate-spawn".into());
            let thread = builder.spawn(move || worker.run());
            thread.inspect_err(|_| self.queue.close(Close::Broken))?;
        }
        self.queue.push(job)
    }

    /// Has something done that starts processes with this run's mark: not before they have a
    /// guard. Dropped undone if that comes too late.
    pub(crate) fn guarded(&mut self, act: impl FnOnce() + Send + 'static) {
        // An error drops it.
        let _ = self.push(Job::Guarded(Guarded(Box::new(act))));
    }

    /// Takes back an order that nobody has begun; `false` if it is too late.
    pub(crate) fn withdraw(&self, conn: ConnId) -> bool {
        let mut state = self.queue.lock();
        let before = state.jobs.len();
        state.jobs.retain(|job| !matches!(job, Job::Start(queued, _) if *queued == conn));
        state.jobs.len() < before
    }

    /// Has another guard stand in the place of one that has ended.
    pub(crate) fn replace_guard(&self) {
        // Refused if everything ends, the guard with it.
        let _ = self.queue.push(Job::Replace);
    }

    /// Lets go of a group that is gone.
    pub(crate) fn forget(&self, group: Pid) {
        // Refused if the thread is gone, and then nobody has to be told.
        let _ = self.queue.push(Job::Forget(group));
    }

    /// Ends what servers left behind, then the guard and the thread, once every server is gone.
    /// `false` if there is no thread; else [`Message::Ended`] follows.
    pub(crate) fn retire(&self) -> bool {
        self.queue.close(Close::Orderly);
        self.idle.is_none()
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        // After `retire` this changes nothing. Without it, the guard sees its pipe end and does
        // what it is there for.
        self.queue.close(Close::Broken);
    }
}

impl Queue {
    fn push(&self, job: Job) -> io::Result<()> {
        let mut state = self.lock();
        if state.closed.is_some() {
            return Err(io::Error::other("the thread that starts servers is gone"));
        }
        let patient = matches!(job, Job::Forget(_)) && state.patient;
        state.jobs.push_back(job);
        drop(state);
        if !patient {
            self.changed.notify_one();
        }
        Ok(())
    }

    fn close(&self, close: Close) {
        self.lock().closed.get_or_insert(close);
        self.changed.notify_one();
    }

    /// The next thing to do. With `patience`, `None` after that time.
    fn next(&self, patience: Option<Duration>) -> Option<Result<Job, Close>> {
        let mut state = self.lock();
        loop {
            if let Some(close) = state.closed {
                return Some(Err(close));
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(Ok(job));
            }
            state.patient = patience.is_some();
            let Some(patience) = patience else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let waited = self.changed.wait_timeout(state, patience);
            let (next, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.patient = false;
            if waited.timed_out() && state.closed.is_none() && state.jobs.is_empty() {
                return None;
            }
        }
    }

    /// Drops what nobody will do.
    fn clear(&self) {
        let jobs = std::mem::take(&mut self.lock().jobs);
        drop(jobs);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Worker {
    queue: Arc<Queue>,
    surroundings: Surroundings,
    watch: Option<Watch>,
    inbox: Arc<Inbox>,
}

impl Worker {
    fn run(mut self) {
        // Whether the guard is to be told something that is not urgent.
        let mut patience = None;
        loop {
            match self.queue.next(patience) {
                Some(Ok(Job::Start(conn, program))) => {
                    // Before the first server: one that no guard watches outlives a killed host.
                    self.watch(Watch::stand);
                    let result = start(&self.surroundings, &program);
                    let group = result.as_ref().ok().map(|started| started.process.group());
                    self.inbox.report(Message::Started(conn, result.map(Box::new)));
                    // After the report: the server is greeted while its guard is told.
                    if let Some(group) = group {
                        self.watch(|watch| watch.add(group));
                        patience = Some(Duration::ZERO);
                    }
                }
                Some(Ok(Job::Forget(group))) => {
                    self.watch(|watch| watch.remove(group));
                    patience = patience.or(Some(FORGET_PAUSE));
                }
                None => {
                    self.watch(Watch::tell);
                    patience = None;
                }
                Some(Ok(Job::Guarded(Guarded(act)))) => {
                    self.watch(Watch::stand);
                    act();
                }
                Some(Ok(Job::Replace)) => self.watch(Watch::stand_in),
                Some(Err(close)) => {
                    self.queue.clear();
                    if let Close::Orderly = close {
                        sweep(&self.surroundings.mark);
                    }
                    // Only then: the guard stands until nothing is left to end.
                    match (self.watch, close) {
                        (Some(watch), Close::Orderly) => watch.retire(),
                        (Some(watch), Close::Broken) => watch.release(),
                        (None, _) => {}
                    }
                    self.inbox.report(Message::Ended);
                    return;
                }
            }
        }
    }

    fn watch(&mut self, tell: impl FnOnce(&mut Watch) -> io::Result<()>) {
        let Some(watch) = &mut self.watch else { return };
        // Another one stands in for a guard that has ended or does not listen.
        if let Err(error) = tell(watch).or_else(|_| watch.replace()) {
            self.watch.take().into_iter().for_each(Watch::retire);
            return self.inbox.report(Message::Broken("the guard", error));
        }
        if let Some(exit) = watch.exit_of_new() {
            self.inbox.report(Message::Guarded(exit));
        }
    }
}

fn start(surroundings: &Surroundings, program: &Program) -> Result<Started, OpenError> {
    let mut command = surroundings.command(program)?;
    let found = Path::new(command.get_program()).to_owned();
    let started = match Process::start(&mut command, &surroundings.mark) {
        // What POSIX has a shell do, and so what people expect of a script without `#!`.
        Err(error) if error.raw_os_error() == Some(EXEC_FORMAT) => {
            Process::start(&mut through_shell(surroundings, program, &found)?, &surroundings.mark)
        }
        other => other,
    };
    let (process, pipes) = started.map_err(|error| {
        surroundings.fault(program).unwrap_or_else(|| refused(program, &found, &error))
    })?;
    Ok(Started { process, pipes })
}

fn through_shell(
    surroundings: &Surroundings,
    program: &Program,
    found: &Path,
) -> Result<Command, OpenError> {
    let Some(found) = found.to_str() else {
        return Err(OpenError::NotExecutable { command: program.shown() });
    };
    let mut program = program.clone();
    program.filled.args.insert(0, found.to_owned());
    program.filled.command = "/bin/sh".into();
    surroundings.command(&program)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{Signal, kill_process};

    use super::*;
    use crate::mark::Mark;

    fn worker(inbox: &Arc<Inbox>) -> Worker {
        let surroundings = Surroundings::of_process("/", Mark::new());
        let watch = Some(Watch::new(surroundings.mark.clone()));
        let (queue, inbox) = (Arc::default(), Arc::clone(inbox));
        Worker { queue, surroundings, watch, inbox }
    }

    fn guard(worker: &Worker) -> Option<Pid> {
        worker.watch.as_ref().and_then(Watch::process)
    }

    /// F-010: one that was stopped and goes on later must not find the end of its pipe and take
    /// the host for dead. Its pipe fills up meanwhile.
    #[test]
    fn a_guard_that_does_not_listen_is_ended_and_replaced() {
        let mut worker = worker(&Arc::new(Inbox::new()));
        worker.watch(Watch::stand);
        let first = guard(&worker).unwrap();
        kill_process(first, Signal::STOP).unwrap();
        while guard(&worker) == Some(first) {
            worker.watch(|watch| watch.add(first));
        }
        assert!(!Path::new(&format!("/proc/{}", first.as_raw_pid())).exists());
        assert!(guard(&worker).is_some());
    }

    /// L10: and then the host is told, and its servers go on.
    #[test]
    fn guards_that_are_ended_again_and_again_are_given_up() {
        let inbox = Arc::new(Inbox::new());
        let mut worker = worker(&inbox);
        worker.watch(Watch::stand);
        while let Some(guard) = guard(&worker) {
            kill_process(guard, Signal::KILL).unwrap();
            worker.watch(Watch::replace);
        }
        let mut said = VecDeque::new();
        inbox.take(&mut said);
        assert!(matches!(said.pop_back().unwrap().message, Message::Broken("the guard", _)));
        assert!(said.iter().all(|it| matches!(it.message, Message::Guarded(_))), "{said:?}");
    }
}
