//! `call`: one tool, and what a model would get to read.

mod arguments;
mod target;

use std::io::{self, IsTerminal as _, Read as _};
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future;
use tidegate_core::error::{CallError, Cause, Failure};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::id::ServerName;
use tidegate_core::limits::Limits;
use tidegate_core::tools::content;

use crate::args::{CallArgs, Global};
use crate::ending::Told;
use crate::exit::{Exit, Trouble};
use crate::output::json::{self, VERSION};
use crate::output::servers::{self, TAIL_LINES};
use crate::output::visible;
use crate::session::{self, Ended, Plan, Session};
use crate::watch::Activity;
use target::{Found, Wanted};

/// What came of a call.
#[derive(Debug)]
struct Called {
    found: Found,
    outcome: Outcome,
    /// Why it failed, for people, if it did.
    failure: Option<String>,
    elapsed_ms: u64,
}

/// Calls.
///
/// # Errors
/// If the arguments are not JSON, if there is no such tool, or if the flags cannot be used.
pub(crate) fn run(global: &Global, args: &CallArgs) -> Result<Exit, Trouble> {
    let (wanted, json) = target::split(&args.what).map_err(Trouble::Usage)?;
    let text = match json {
        // F-090: standard input is read only when asked for.
        Some("-") => Some(standard_input()?),
        Some(text) => Some(text.to_owned()),
        None => None,
    };
    let arguments = arguments::merge(text.as_deref(), &args.args).map_err(Trouble::Usage)?;
    let only = wanted.servers(global);
    let only: Vec<&str> = only.iter().map(String::as_str).collect();
    let began = Instant::now();
    let work = async |session: &Session| {
        let found = match target::find(session, &wanted).await {
            Err(Trouble::Failed(why)) => return Ok(Called::unknown(&wanted, why, began)),
            found => found?,
        };
        let tool = visible::one_line(&found.label()).into_owned();
        *session.activity.borrow_mut() = Activity::Calling { tool, progress: String::new() };
        let began = Instant::now();
        let outcome = session.host.call(found.target(), arguments, global.timeout).await;
        let elapsed_ms = millis(began);
        let failure = failure(session, &found, &outcome).await;
        Ok(Called { found, outcome, failure, elapsed_ms })
    };
    session::run(Plan::new(global, &only)?, work, |_, ended| {
        let called = match ended {
            Ended::Done(called) => called,
            Ended::Signalled => Called::aborted(&wanted, began),
        };
        if global.json { as_json(&called) } else { as_text(called) }
    })
}

impl Called {
    fn unknown(wanted: &Wanted, why: String, began: Instant) -> Self {
        let found = wanted.as_typed();
        let error = match wanted.server() {
            // A tool named by its server is not looked for: it was the server that is missing.
            Some(server) => CallError::UnknownServer { server: ServerName::new(server) },
            None => CallError::UnknownTool { tool: found.label() },
        };
        let outcome = Outcome::Failed(error);
        Self { found, outcome, failure: Some(why), elapsed_ms: millis(began) }
    }

    fn aborted(wanted: &Wanted, began: Instant) -> Self {
        let (found, outcome) = (wanted.as_typed(), Outcome::Aborted);
        Self { found, outcome, failure: None, elapsed_ms: millis(began) }
    }
}

/// How long a server that ended in mid-call may take to be seen ended, for its last words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Why a call failed, with what helps: the names that are there, how to approve the server, or
/// the last it said. Safe for a terminal.
async fn failure(session: &Session, found: &Found, outcome: &Outcome) -> Option<String> {
    let Outcome::Failed(error) = outcome else { return None };
    if let CallError::UnknownTool { .. } = error {
        return Some(target::unknown_tool(session, found.wanted()).await);
    }
    let mut told = visible::block(&error.to_string()).into_owned();
    for line in advice(session, found, error).await {
        told.push_str(&format!("\n  {line}"));
    }
    Some(told)
}

/// What helps with a call that failed.
async fn advice(session: &Session, found: &Found, error: &CallError) -> Vec<String> {
    match (error, found.server()) {
        (CallError::NotConnected { server, .. }, _) => {
            let status = session.host.status().await;
            let server = status.servers.iter().find(|one| one.name == *server);
            server.map(unavailable).unwrap_or_default()
        }
        (CallError::Closed, Some(server)) => lost(session, server).await,
        (CallError::TimedOut { .. }, server) => {
            let owner = server.map(|name| format!(" of server \"{}\"", visible::one_line(name)));
            vec![format!(
                "\"{}\"{} did not answer; --timeout MS, or \"timeout\" in the server's entry, \
                 allows more",
                visible::one_line(found.tool()),
                owner.unwrap_or_default(),
            )]
        }
        (CallError::Http { .. } | CallError::Shape { .. }, Some(server)) => vec![format!(
            "\"{}\" of server \"{}\" gave no answer that can be used",
            visible::one_line(found.tool()),
            visible::one_line(server),
        )],
        _ => Vec::new(),
    }
}

/// What helps with a server that could not be called.
fn unavailable(server: &ServerStatus) -> Vec<String> {
    if matches!(server.state, ServerState::NeedsApproval) {
        return vec![servers::how_to_approve(&[server.name.as_str()])];
    }
    servers::tail(&server.stderr_tail, TAIL_LINES)
}

/// How a server ended during a call, and the last it said. Its output ends before it does, so
/// that is waited for; a failure that only says so is told if nothing more comes.
async fn lost(session: &Session, name: &str) -> Vec<String> {
    let mut events = session.host.events();
    let ended = async {
        let is_known = |failure: Failure| failure.cause != Cause::OutputClosed;
        while !failure_of(session, name).await.is_some_and(is_known) {
            events.next().await?;
        }
        Some(())
    };
    let late = async {
        Timer::after(LAST_WORDS).await;
        None
    };
    future::or(ended, late).await;
    match failure_of(session, name).await {
        Some(failure) => {
            let server = ServerName::new(name);
            let why = visible::one_line(&failure.describe(&server)).into_owned();
            [vec![why], servers::tail(&failure.stderr_tail, TAIL_LINES)].concat()
        }
        None => vec![format!("server \"{}\" closed its output", visible::one_line(name))],
    }
}

async fn failure_of(session: &Session, name: &str) -> Option<Failure> {
    let status = session.host.status().await;
    let server = status.servers.iter().find(|one| one.name.as_str() == name)?;
    server.state.failure().cloned()
}

/// What came of a call, read once: an answer may have many megabytes.
struct Reading {
    outcome: &'static str,
    text: Option<String>,
}

impl Reading {
    fn of(outcome: &Outcome) -> Self {
        let (word, text) = match outcome {
            Outcome::Answered(result) => match content::flatten(result) {
                Ok(flat) if flat.is_error => ("tool_error", Some(flat.for_model())),
                Ok(flat) => ("ok", Some(flat.for_model())),
                Err(_) => ("error", content::text_for_model(outcome).ok()),
            },
            Outcome::Failed(_) => ("error", content::text_for_model(outcome).ok()),
            Outcome::Aborted => ("aborted", None),
        };
        Self { outcome: word, text }
    }

    fn exit(&self) -> Exit {
        if self.outcome == "ok" { Exit::Done } else { Exit::Failed }
    }
}

fn as_text(called: Called) -> Result<Told, Trouble> {
    if let Some(failure) = called.failure {
        return Err(Trouble::Failed(failure));
    }
    let reading = Reading::of(&called.outcome);
    let exit = reading.exit();
    let Some(mut text) = reading.text else { return Ok(Told::nothing(exit)) };
    if io::stdout().is_terminal() {
        text = visible::block(&text).into_owned();
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Told::data(text, exit))
}

fn as_json(called: &Called) -> Result<Told, Trouble> {
    let result = match &called.outcome {
        Outcome::Answered(result) => Some(result),
        Outcome::Failed(_) | Outcome::Aborted => None,
    };
    let reading = Reading::of(&called.outcome);
    let line = json::line(&json::Call {
        version: VERSION,
        server: called.found.server(),
        tool: called.found.tool(),
        outcome: reading.outcome,
        text: reading.text.as_deref(),
        error: called.failure.as_deref(),
        content: result.and_then(content::content_json),
        structured: result.and_then(content::structured_json),
        elapsed_ms: called.elapsed_ms,
    })?;
    Ok(Told::data(line, reading.exit()))
}

/// All of standard input; no longer than a message may be.
fn standard_input() -> Result<String, Trouble> {
    let limit = Limits::default().message_bytes;
    let mut text = String::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    io::stdin()
        .lock()
        .take(bound)
        .read_to_string(&mut text)
        .map_err(|error| Trouble::Usage(format!("standard input: {error}")))?;
    if text.len() > limit {
        return Err(Trouble::Usage(format!("standard input is longer than {limit} bytes")));
    }
    Ok(text)
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
