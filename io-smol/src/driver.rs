//! The loop that owns the machine.
//!
//! Hands it what happened, does what it orders, passes on its news. It knows nothing of the
//! protocol: an `if` about a phase belongs in the core.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::command::{Command, Remote};
use tidegate_core::error::{Category, Problem, Severity};
use tidegate_core::event::{Event, Outcome};
use tidegate_core::id::{ConnId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::inquiry::Services;
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::tools::registry::Offering;

use crate::answers::Answers;
use crate::approvals::Approvals;
use crate::connections::Connections;
use crate::desk::Desk;
use crate::errands::Errands;
use crate::host::Host;
use crate::http::Http;
use crate::inbox::{Inbox, Last, Message, Stamped};
use crate::launch::Surroundings;
use crate::mark::Mark;
use crate::pollset::{Bell, PollSet, Source};
use crate::process::Signal;
use crate::record::{EarlyEnd, Recorder};
use crate::settings::Settings;
use crate::spawn::Spawner;
use crate::watcher::Watcher;

/// How long the driver takes at most, once every server is gone, to look for what they left
/// behind, to end its guard and to write its cache and its trace.
const ENDING_MAX: Duration = Duration::from_secs(2);

/// How long is gathered what servers say while many of them start: less than three of them take
/// to start.
const GATHERING: Duration = Duration::from_millis(2);

/// The half of a runtime that does the work; see [`Driver::run`].
#[must_use = "nothing happens unless the driver is run"]
pub struct Driver {
    runtime: Runtime,
    inbox: Arc<Inbox>,
    desk: Desk,
    answers: Answers,
    connections: Connections,
    http: Http,
    errands: Errands,
    recorder: Option<Recorder>,
    watcher: Option<Watcher>,
    phase: Phase,
    /// What was taken out of the inbox and not handled yet.
    batch: VecDeque<Stamped>,
    problems: Vec<Problem>,
    /// How many of the driver's own things have ended, some perhaps before their time.
    ended: usize,
}

#[derive(Debug)]
enum Phase {
    /// The machine goes on.
    Running,
    /// The machine has stopped; so many of the driver's own things are being ended.
    Ending { until: Instant, all: usize },
    /// Nothing is left to do.
    Ended,
}

/// A runtime with these settings: a handle to ask it, and the driver that must be run for
/// anything to happen.
///
/// # Errors
///
/// If the trace file cannot be created, or the process may not open the few descriptors that
/// waiting takes.
pub fn open(settings: Settings) -> io::Result<(Host, Driver)> {
    let Settings { mut options, cache_dir, state_dir, trace, guard, prompt, network, inquirer } =
        settings;
    if inquirer.is_none() {
        options.services = Services::default();
    }
    if cache_dir.is_none() {
        options.limits.cache_ms = 0;
    }
    let inbox = Arc::new(Inbox::new());
    let early_end = Arc::new(EarlyEnd::new(Arc::clone(&inbox)));
    let recorder = trace.map(|path| Recorder::create(&path, &options, Arc::clone(&early_end)));
    let surroundings = Surroundings::of_process(&options.cwd, Mark::new());
    let shell_limit = Duration::from_millis(options.limits.shell_ms);
    let answers = Answers::new(surroundings.clone(), shell_limit, prompt, Arc::clone(&inbox));
    let spawner = Spawner::new(surroundings, guard, Arc::clone(&inbox));
    let errands = Errands::new(
        &options.sources,
        cache_dir.as_deref(),
        state_dir.map(Approvals::below),
        Arc::clone(&inbox),
    );
    let driver = Driver {
        runtime: Runtime::new(options),
        desk: Desk::new(inquirer, Arc::clone(&inbox)),
        answers,
        connections: Connections::new(spawner, Arc::clone(&inbox))?,
        http: Http::new(network, Arc::clone(&inbox)),
        errands,
        recorder: recorder.transpose()?,
        watcher: None,
        phase: Phase::Running,
        batch: VecDeque::new(),
        problems: Vec::new(),
        ended: 0,
        inbox: Arc::clone(&inbox),
    };
    Ok((Host::new(inbox, early_end), driver))
}

impl Driver {
    pub(crate) fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    /// What ends a wait from another thread.
    pub(crate) fn bell(&mut self) -> Bell {
        self.poll_set().bell()
    }

    /// Where the driver waits.
    pub(crate) fn poll_set(&mut self) -> &mut PollSet {
        &mut self.connections.shared().poll
    }

    /// Whether anybody was told anything since this was asked last.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for smol's reactor"))]
    pub(crate) fn has_published(&mut self) -> bool {
        self.desk.has_published()
    }

    /// Whether the host waits for the outcome of a call.
    pub(crate) fn awaits_calls(&self) -> bool {
        self.desk.awaits_calls()
    }

    /// How long what happens is gathered before it is handled, if at all. While many servers
    /// start, one of them says something every moment, and waking up for it costs more than
    /// handling it. The last of them are served at once, and so is everybody while a call is
    /// under way.
    pub(crate) fn gathering(&self) -> Option<Duration> {
        let gathers = !self.awaits_calls() && self.connections.is_crowded();
        gathers.then(|| GATHERING.min(self.patience().unwrap_or(GATHERING)))
    }

    /// Whether there is nothing left to do.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// Handles everything that waits and is ready, then what time demands, and only then lets
    /// bytes go, so that everything for one server goes in one write.
    pub(crate) fn turn(&mut self, ready: &mut Vec<Source>) {
        let mut batch = std::mem::take(&mut self.batch);
        self.inbox.take(&mut batch);
        for Stamped { at, message } in batch.drain(..) {
            self.hear(at, message);
        }
        self.batch = batch;
        if !ready.is_empty() {
            let at = self.now();
            for source in ready.drain(..) {
                match source {
                    Source::Process { conn, end } => self.connections.ready(conn, end),
                    Source::Socket(id) => self.http.ready(id, self.connections.shared()),
                    Source::Guard => self.connections.guard_ended(),
                }
                self.settle(at);
            }
        }
        self.pass_time();
        self.connections.flush();
        self.settle(self.now());
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
        self.advance();
    }

    /// How long nothing has to be done unless something happens; `None` for ever.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let now = Instant::now();
        let due = self.runtime.poll_timeout();
        let due = due.and_then(|deadline| self.inbox.clock().instant(deadline.at));
        let ending = match self.phase {
            Phase::Ending { until, .. } => Some(until),
            Phase::Running | Phase::Ended => None,
        };
        let next = [due, self.connections.next_look(), self.http.next_due(), ending];
        let next = next.into_iter().flatten().min();
        next.map(|next| next.saturating_duration_since(now))
    }

    fn now(&self) -> Timestamp {
        self.inbox.clock().now()
    }

    fn pass_time(&mut self) {
        let now = self.now();
        if self.connections.next_look().is_some() {
            self.connections.look(Instant::now());
            self.settle(now);
        }
        if self.http.next_due().is_some() {
            self.http.pass(Instant::now(), self.connections.shared());
            self.settle(now);
        }
        self.fire(now);
        self.settle(now);
    }

    /// Lets everything happen that is due.
    fn fire(&mut self, now: Timestamp) {
        if self.runtime.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            if let Some(recorder) = &mut self.recorder {
                recorder.tick(now);
            }
            self.runtime.handle_timeout(now);
            self.drain(now);
        }
    }

    fn hear(&mut self, at: Timestamp, message: Message) {
        match message {
            Message::Tell(request) => self.handle(at, Input::Host(request)),
            Message::Start(op, reply) => {
                self.desk.await_start(op, reply);
                self.handle(at, Input::Host(Request::Start { op }));
            }
            Message::Operate(op, request, reply) => {
                self.desk.await_operation(op, reply);
                self.handle(at, Input::Host(request));
            }
            Message::Shutdown(reply) => {
                self.desk.await_stopped(reply);
                self.handle(at, Input::Host(Request::Shutdown));
            }
            Message::Call(new, scope, reply) => {
                if scope.is_some() {
                    // What is due first may give a name to another tool: a scope is checked with
                    // the catalogue by which the call is made.
                    self.fire(at);
                }
                let refused = scope.map(|it| it.check(self.runtime.catalog(), &new.target));
                if let Some(Err(error)) = refused {
                    reply.give(Outcome::Failed(error));
                } else {
                    self.desk.await_call(new.call, reply);
                    self.handle(at, Input::Host(Request::Call(new)));
                }
            }
            Message::Reply(inquiry, reply) => {
                self.desk.replied(inquiry);
                self.handle(at, Input::Host(Request::Reply { inquiry, reply }));
            }
            Message::Status(reply) => {
                let mut status = self.runtime.status();
                status.problems.extend(self.problems.iter().cloned());
                reply.give(status);
            }
            Message::Catalog(reply) => reply.give(Arc::clone(self.runtime.catalog())),
            Message::Resources(reply) => reply.give(Arc::clone(self.runtime.resources())),
            Message::Prompts(reply) => reply.give(Arc::clone(self.runtime.prompts())),
            Message::ExaKeys(reply) => reply.give(self.runtime.exa_keys().to_vec()),
            Message::Offering(reply) => {
                reply.give(Offering::new(self.runtime.catalog(), &self.runtime.status()));
            }
            Message::Observe(observer) => {
                self.desk.observe(observer, present(&self.runtime));
            }
            Message::Answered(ask, result) => {
                if matches!(self.phase, Phase::Ending { .. }) {
                    self.ended += 1;
                }
                let result = self.answers.answered(ask, result);
                self.handle(at, Input::Io(Fact::Answered { ask, result }));
            }
            Message::Fact(fact) => self.handle(at, Input::Io(fact)),
            Message::Started(conn, result) => self.connections.started(conn, result),
            Message::Exited(conn, exit) => self.connections.exited(conn, exit),
            Message::Guarded(exit) => self.connections.watch_guard(exit),
            Message::LookedUp(place, found) => {
                self.http.looked_up(&place, &found, self.connections.shared());
            }
            Message::Scanned(living) => self.connections.scanned(living.as_ref()),
            Message::Broken(what, error) => self.complain(what, &error),
            Message::Ended => self.ended += 1,
        }
        self.settle(at);
    }

    /// Hands the machine the facts the connections have.
    fn settle(&mut self, at: Timestamp) {
        while let Some(fact) = self.connections.next_fact() {
            self.handle(at, Input::Io(fact));
        }
    }

    fn handle(&mut self, at: Timestamp, input: Input) {
        if let Some(recorder) = &mut self.recorder {
            recorder.input(at, &input);
        }
        self.runtime.handle(at, input);
        self.drain(at);
    }

    fn drain(&mut self, at: Timestamp) {
        while let Some(command) = self.runtime.poll_command() {
            if let Some(recorder) = &mut self.recorder {
                recorder.command(at, &command);
            }
            self.execute(command);
        }
        while let Some(event) = self.runtime.poll_event() {
            if let Some(recorder) = &mut self.recorder {
                recorder.event(at, &event);
            }
            self.desk.publish(event);
        }
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::ReadConfig { read, path, bytes_max } => {
                self.errands.read_config(read, path, bytes_max);
            }
            Command::ListFolder { read, path, entries_max } => {
                self.errands.list_folder(read, path, entries_max);
            }
            Command::Watch { paths } => self.watcher = Watcher::start(paths, &self.inbox),
            Command::ReadApprovals { read } => self.errands.read_approvals(read),
            Command::ReadCache { read, key } => self.errands.read_cache(read, key),
            Command::WriteCache { key, content } => self.errands.write_cache(key, content),
            Command::DropCache { key } => self.errands.drop_cache(key),
            Command::Ask { ask, what } => {
                if let Some(run) = self.answers.ask(ask, what) {
                    self.connections.guarded(run);
                }
            }
            Command::StopAsking { ask } => self.answers.stop(ask),
            Command::Open { conn, server: _, launch } => {
                self.connections.open(conn, self.answers.fill(launch));
            }
            Command::Send { conn, bytes } => self.connections.send(conn, bytes),
            Command::CloseInput { conn } => self.connections.close_input(conn),
            Command::Terminate { conn } => self.connections.signal(conn, Signal::TERM),
            Command::Kill { conn } if self.http.has(conn) => {
                self.http.kill(conn, self.connections.shared());
            }
            Command::Kill { conn } => self.connections.signal(conn, Signal::KILL),
            Command::Connect { conn, server, remote } => self.connect(conn, server, &remote),
            Command::Exchange { conn, exchange, request } => {
                self.http.exchange(conn, exchange, &request, self.connections.shared());
            }
            Command::Abort { conn, exchange } => {
                self.http.abort(conn, exchange, self.connections.shared());
            }
            Command::Abandon { conn } if self.http.has(conn) => {
                self.http.abandon(conn, self.connections.shared());
            }
            Command::Abandon { conn } => self.connections.abandon(conn),
        }
    }

    fn connect(&mut self, conn: ConnId, server: ServerName, remote: &Remote) {
        let filled = self.answers.fill_remote(remote);
        let ignored = self.http.connect(conn, &filled, self.connections.shared());
        if !ignored.is_empty() {
            let names = ignored.join(", ");
            let message = format!("headers that are the protocol's own are not sent: {names}");
            self.warn(Some(server), message);
        }
    }

    fn complain(&mut self, what: &str, error: &io::Error) {
        self.warn(None, format!("{what} does not work: {error}"));
    }

    fn warn(&mut self, server: Option<ServerName>, message: String) {
        let problem = Problem {
            severity: Severity::Warning,
            category: Category::Driver,
            file: None,
            line: None,
            column: None,
            key: None,
            server,
            message,
        };
        // Each reload finds the same file in the same state.
        if self.problems.contains(&problem) {
            return;
        }
        self.problems.push(problem.clone());
        self.desk.publish(Event::ProblemFound(problem));
    }

    /// Ends the driver's own things once the machine has stopped.
    fn advance(&mut self) {
        match self.phase {
            Phase::Running if self.runtime.is_stopped() => {
                let until = Instant::now() + ENDING_MAX;
                self.phase = Phase::Ending { until, all: self.end() };
                self.advance();
            }
            Phase::Ending { until, all } if self.ended >= all || Instant::now() >= until => {
                self.phase = Phase::Ended;
            }
            Phase::Running | Phase::Ending { .. } | Phase::Ended => {}
        }
    }

    /// Has everything ended that is the driver's own; how many [`Message::Ended`] will come.
    fn end(&mut self) -> usize {
        self.watcher = None;
        self.http.end(self.connections.shared());
        let spawned = self.connections.retire();
        let recorded = self.recorder.take().is_some();
        let caching = self.errands.end();
        self.answers.end() + [spawned, recorded, caching].into_iter().filter(|it| *it).count()
    }
}

/// The revisions of all that has changed so far.
fn present(runtime: &Runtime) -> impl Iterator<Item = Event> {
    let [tools, resources, prompts] =
        [runtime.catalog().revision, runtime.resources().revision, runtime.prompts().revision];
    let all = [
        (tools, Event::ToolsChanged { revision: tools }),
        (resources, Event::ResourcesChanged { revision: resources }),
        (prompts, Event::PromptsChanged { revision: prompts }),
    ];
    all.into_iter().filter(|it| it.0 > 0).map(|it| it.1)
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A machine that panicked is not asked again.
        if std::thread::panicking() {
            self.runtime = Runtime::new(Options::default());
        }
        self.inbox.close(Last {
            status: self.runtime.status(),
            catalog: Arc::clone(self.runtime.catalog()),
            resources: Arc::clone(self.runtime.resources()),
            prompts: Arc::clone(self.runtime.prompts()),
            exa_keys: self.runtime.exa_keys().to_vec(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tidegate_core::bytes::Json;
    use tidegate_core::config::Source as Configured;
    use tidegate_core::error::CallError;
    use tidegate_core::id::{CallId, OpId};
    use tidegate_core::input::{NewCall, Target};
    use tidegate_core::tools::proxy::Scope;

    use super::*;
    use crate::reply::reply;

    fn turn(driver: &mut Driver) {
        driver.turn(&mut Vec::new());
        std::thread::yield_now();
    }

    /// G6: what ended early is not waited for.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_trace_that_broke_off_holds_up_no_end() {
        let settings = Settings::new(Options::new("/", vec![])).with_trace("/dev/full");
        let (host, mut driver) = open(settings).unwrap();
        while driver.ended == 0 {
            turn(&mut driver);
        }
        assert_eq!(driver.problems.len(), 1);
        drop(host);
        turn(&mut driver);
        assert!(driver.is_ended());
    }

    /// L10: what does not work is said once.
    #[test]
    fn the_same_problem_again_is_no_further_one() {
        let (_host, mut driver) = open(Settings::new(Options::new("/", vec![]))).unwrap();
        for _ in 0..3 {
            driver.inbox.report(Message::Broken("it", io::Error::other("no")));
        }
        let (given, status) = reply();
        driver.inbox.ask(Message::Status(given));
        turn(&mut driver);
        assert_eq!(async_io::block_on(status).unwrap().problems.len(), 1);
    }

    /// G73, L5: by the catalogue that the call is made by.
    #[test]
    fn what_is_due_happens_before_the_scope_of_a_call_is_checked() {
        let source = Configured::inline("test", r#"{"mcpServers":{"s":{"command":"cat"}}}"#);
        let (_host, mut driver) = open(Settings::new(Options::new("/", vec![source]))).unwrap();
        driver.hear(Timestamp::ZERO, Message::Start(OpId::new(0), reply().0));
        let due = driver.runtime.poll_timeout().unwrap().at;
        let target = Target::Tool { server: "s".into(), tool: "outside".into() };
        let arguments = Json::new("{}");
        let call =
            NewCall { call: CallId::new(0), target, arguments, timeout_ms: None, max_ms: None };
        let (given, outcome) = reply();
        let scope = Scope::Tools(BTreeSet::new());
        driver.hear(due, Message::Call(call, Some(Arc::new(scope)), given));
        let next = driver.runtime.poll_timeout();
        assert!(next.is_none_or(|next| next.at > due), "{next:?}");
        let refused = async_io::block_on(outcome);
        let unknown = CallError::UnknownTool { tool: "outside".into() };
        assert_eq!(refused, Some(Outcome::Failed(unknown)));
    }
}
