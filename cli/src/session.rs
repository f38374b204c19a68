//! One run of a runtime for one command: opened, watched, ended within its bounds whatever
//! happens.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use futures_lite::future;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::error::{Problem, Severity};
use tidegate_core::event::StartReport;
use tidegate_core::hub::policy::Trust;
use tidegate_core::hub::status::{ServerStatus, Status};
use tidegate_core::id::ServerName;
use tidegate_core::options::Options;
use tidegate_smol::signals::Signals;
use tidegate_smol::{Approvals, Driver, Host, News, Settings, block_on, open};

use crate::args::Global;
use crate::ask::Turn;
use crate::consent;
use crate::ending::{self, Told};
use crate::exit::{Exit, Trouble};
use crate::nearest::nearest;
use crate::output::columns::cut;
use crate::output::{self, Form, places::Places as Short, problems, visible, voice::Voice};
use crate::progress::Progress;
use crate::watch::{self, Activity};

/// What a command has to do with while its servers run.
#[derive(Debug)]
pub(crate) struct Session {
    /// The runtime.
    pub(crate) host: Host,
    /// What the line of progress says.
    pub(crate) activity: RefCell<Activity>,
    /// How paths are shortened for people.
    pub(crate) places: Short,
    /// The line of progress.
    pub(crate) progress: Progress,
    /// Passes on what servers say as they say it (`-v`).
    pub(crate) voice: RefCell<Option<Voice>>,
    /// Whom the data is for.
    pub(crate) form: Form,
    /// The servers that were asked for; empty if all are wanted.
    pub(crate) only: BTreeSet<ServerName>,
    /// Who may be asked, and where what they approve is kept.
    asks: Option<(Turn, Approvals)>,
    named: Vec<String>,
    began: Instant,
}

/// What a runtime is opened with for a command.
#[derive(Debug)]
pub(crate) struct Plan {
    settings: Settings,
    quiet: bool,
    form: Form,
    /// Who may be asked.
    turn: Option<Turn>,
}

impl Plan {
    /// What the flags say; `only` are the servers the command itself needs, all if none.
    ///
    /// # Errors
    /// If the project's directory or a path cannot be used.
    pub(crate) fn new(global: &Global, only: &[&str]) -> Result<Self, Trouble> {
        let directories = Global::directories()?;
        let places = global.places(&directories)?;
        let mut options = Options::new(&places.cwd, places.sources());
        options.home = places.home;
        options.only = global
            .server
            .iter()
            .map(String::as_str)
            .chain(only.iter().copied())
            .map(ServerName::new)
            .collect();
        options.forward_stderr = global.verbose;
        let policy = &mut options.policy;
        policy.filters = global.filters();
        policy.gate_ms = global.gate_ms();
        if let Some(ms) = global.timeout {
            policy.connect_ms = ms;
            policy.list_ms = ms;
            policy.call_ms = ms;
        }
        if global.trust_project {
            policy.trust = Trust::All;
        }
        let mut settings = Settings::new(options);
        settings.cache_dir = directories.cache;
        settings.state_dir = directories.state;
        settings.trace.clone_from(&global.trace);
        if let Some(file) = &global.ca_file {
            // Before any server is met with less trust than was meant.
            File::open(file).map_err(|error| {
                Trouble::Usage(format!("--ca-file {}: {error}", file.display()))
            })?;
            settings.network = settings.network.with_ca_file(file);
        }
        let form = global.form();
        let turn = Turn::at_terminal().filter(|_| !global.quiet && form == Form::People);
        settings.prompt = turn.as_ref().map(Turn::prompt);
        Ok(Self { settings, quiet: global.quiet, form, turn })
    }

    /// The files that are asked for servers, the strongest first; those of other tools apart.
    pub(crate) fn files(&self) -> (Vec<String>, Vec<String>) {
        let own = [Provider::Explicit, Provider::Tidegate, Provider::Shared];
        let sources = self.settings.options.sources.iter();
        let (own, other): (Vec<_>, Vec<_>) =
            sources.partition(|source| own.contains(&source.provider));
        let paths =
            |sources: Vec<&Source>| sources.into_iter().map(|source| source.path.clone()).collect();
        (paths(own), paths(other))
    }

    /// A plan with settings of its own and no line of progress.
    pub(crate) const fn silent(settings: Settings) -> Self {
        Self { settings, quiet: true, form: Form::People, turn: None }
    }
}

/// How the work of a command ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    /// It was done.
    Done(T),
    /// A signal came first; the work was dropped, its calls cancelled.
    Signalled,
}

/// Opens a runtime, does the work, lets `conclude` say what came of it, prints that at once and
/// ends the runtime. A signal ends the work at any moment; a second one does not wait for
/// anybody.
///
/// # Errors
/// If the runtime cannot be opened.
pub(crate) fn run<T>(
    plan: Plan,
    work: impl AsyncFnOnce(&Session) -> Result<T, Trouble>,
    conclude: impl FnOnce(&Session, Ended<T>) -> Result<Told, Trouble>,
) -> Result<Exit, Trouble> {
    let mut signals = Signals::new()?;
    let (session, driver) = Session::open(plan)?;
    let exit = block_on(driver, async {
        let working = async { work(&session).await.map(Ended::Done) };
        let watching = async { Err(watch::watch(&session).await) };
        let mut signal = None;
        let ended = future::or(future::or(watching, working), async {
            signal = Some(signals.next().await);
            Ok(Ended::Signalled)
        })
        .await;
        session.progress.erase();
        let told = ended
            .and_then(|ended| conclude(&session, ended))
            .unwrap_or_else(|trouble| Told::trouble(&trouble, session.form));
        ending::end(&session, &mut signals, signal, told).await
    })?;
    Ok(match session.host.trace_fault() {
        None => exit,
        Some(why) => {
            output::error(&format!("the trace is not complete: {why}"));
            if exit == Exit::Done { Exit::Failed } else { exit }
        }
    })
}

impl Session {
    fn open(plan: Plan) -> Result<(Self, Driver), Trouble> {
        let options = &plan.settings.options;
        let voice = options.forward_stderr.then(Voice::new).transpose()?;
        let explicit = options.sources.iter().filter(|source| source.level == Level::Explicit);
        let named = explicit.map(|source| source.path.clone()).collect();
        let places = Short::new(Path::new(&options.cwd));
        let only = options.only.clone();
        let trace = plan.settings.trace.clone();
        let state = plan.settings.state_dir.as_ref().map(Approvals::below);
        let (host, driver) = open(plan.settings).map_err(|error| match trace {
            Some(file) => Trouble::Usage(format!("--trace {}: {error}", file.display())),
            None => error.into(),
        })?;
        let session = Self {
            host,
            activity: RefCell::new(Activity::Starting),
            places,
            progress: Progress::new(plan.quiet, plan.turn.clone()),
            asks: plan.turn.zip(state),
            voice: RefCell::new(voice),
            form: plan.form,
            only,
            named,
            began: Instant::now(),
        };
        Ok((session, driver))
    }

    /// Starts the servers and waits for the gate.
    ///
    /// # Errors
    /// If a server that was asked for is not configured.
    pub(crate) async fn start(&self) -> Result<StartReport, Trouble> {
        let report = self.host.start().await;
        let status = self.host.status().await;
        if let Some(trouble) = status.problems.iter().find_map(|problem| self.unreadable(problem)) {
            return Err(trouble);
        }
        self.known(&status)?;
        if self.approve(status).await? { Ok(self.host.start().await) } else { Ok(report) }
    }

    /// Asks about what waits for an approval, if there is somebody to ask; whether any was given.
    async fn approve(&self, status: Status) -> Result<bool, Trouble> {
        let waits = status.servers.iter().any(|server| server.consent.is_some());
        let Some((turn, approvals)) = self.asks.clone().filter(|_| waits) else {
            return Ok(false);
        };
        self.progress.erase();
        let (places, servers) = (self.places.clone(), status.servers);
        let ask = move || consent::ask(&servers, &turn, &approvals, &places);
        let granted = blocking::unblock(ask).await?;
        self.progress.restart();
        Ok(granted)
    }

    /// Waits until no server is starting any more: each is bounded by its own connect limit.
    pub(crate) async fn settle(&self) {
        let mut events = self.host.events();
        while self.host.status().await.servers.iter().any(is_starting) {
            match events.next().await {
                Some(News::Event(_) | News::Missed(_)) => {}
                None => return,
            }
        }
    }

    /// Milliseconds since the runtime was opened.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// What to do about a problem if it is that a file the user named cannot be read.
    pub(crate) fn unreadable(&self, problem: &Problem) -> Option<Trouble> {
        let whole_file = problem.category.is_of_whole_file();
        let named = problem.file.as_ref().is_some_and(|file| self.named.contains(file));
        (whole_file && named && problem.severity == Severity::Error)
            .then(|| Trouble::Usage(problems::one_line(problem, &self.places)))
    }

    /// The files that cannot be used, a line each: what is missing is probably in one of them.
    pub(crate) async fn obstacles(&self) -> String {
        self.told(&self.host.status().await.problems)
    }

    fn told(&self, problems: &[Problem]) -> String {
        let grave =
            |problem: &&Problem| problem.severity == Severity::Error && problem.server.is_none();
        let line = |problem| format!("\n  {}", problems::one_line(problem, &self.places));
        problems.iter().filter(grave).take(PROBLEMS_TOLD).map(line).collect()
    }

    /// Checks that the servers that were asked for are configured.
    fn known(&self, status: &Status) -> Result<(), Trouble> {
        let names = || status.servers.iter().map(|server| server.name.as_str());
        for wanted in &self.only {
            if !names().any(|name| name == wanted.as_str()) {
                let told = unknown("server", wanted.as_str(), names());
                return Err(Trouble::Failed(format!("{told}{}", self.told(&status.problems))));
            }
        }
        Ok(())
    }
}

fn is_starting(server: &ServerStatus) -> bool {
    server.state.is_connecting()
}

/// How many problems are told beside an error; `list` has all of them.
const PROBLEMS_TOLD: usize = 5;
/// How many names are told where none is near.
const NAMES_TOLD: usize = 8;
/// How much of a name is told: servers choose how long the names of their tools are.
const NAME_CHARS: usize = 80;

/// That there is no such thing, and what there is. Safe for a terminal.
pub(crate) fn unknown<'a>(
    thing: &str,
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let quoted = |name: &str| format!("\"{}\"", cut(&visible::one_line(name), NAME_CHARS));
    let near: Vec<String> = nearest(wanted, names.clone()).into_iter().map(quoted).collect();
    let hint = if !near.is_empty() {
        format!("did you mean {}?", near.join(" or "))
    } else {
        let total = names.clone().count();
        let told: Vec<String> = names.take(NAMES_TOLD).map(quoted).collect();
        match total {
            0 => format!("there are no {thing}s"),
            1 => format!("there is {}", told.join(", ")),
            _ if total > told.len() => {
                let more = total - told.len();
                format!("there are {} and {more} more; `tidegate list` has all", told.join(", "))
            }
            _ => format!("there are {}", told.join(", ")),
        }
    };
    format!("no {thing} named {}; {hint}", quoted(wanted))
}
