//! What commands and people answered: kept here and nowhere else (G67).

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_core::command::{Fill, Launch, Question};
use tidegate_core::error::AskError;
use tidegate_core::id::AnswerId;

use crate::inbox::{Inbox, Message};
use crate::launch::{Program, Surroundings};
use crate::shell;

/// The shortest value of a variable that is looked for in what a command complains of. Shorter
/// ones are words.
const SECRET_MIN: usize = 6;

/// Something that is not to be shown.
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// How a host asks a person; see [`Settings::with_prompt`](crate::Settings::with_prompt).
#[derive(Clone)]
pub struct Prompt(Arc<Mutex<dyn Ask>>);

trait Ask: Send {
    fn ask(&mut self, what: &Question) -> Option<String>;
}

impl<F: FnMut(&Question) -> Option<String> + Send> Ask for F {
    fn ask(&mut self, what: &Question) -> Option<String> {
        self(what)
    }
}

impl Prompt {
    /// Asks with this function, one question at a time, on a thread that may block. `None` is no
    /// answer. What the question says is untrusted text: control characters in it are to be made
    /// visible.
    #[must_use]
    pub fn new(ask: impl FnMut(&Question) -> Option<String> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(ask)))
    }

    fn ask(&self, what: &Question) -> Result<String, AskError> {
        let mut hook = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match hook.ask(what).ok_or(AskError::Declined)? {
            answer if answer.is_empty() => Err(AskError::Empty),
            answer if answer.contains('\0') => Err(AskError::NoText),
            answer => Ok(answer),
        }
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt")
    }
}

/// The answers so far, and what is being asked.
#[derive(Debug)]
pub(crate) struct Answers {
    surroundings: Surroundings,
    limit: Duration,
    prompt: Option<Prompt>,
    inbox: Arc<Inbox>,
    known: BTreeMap<AnswerId, Secret>,
    /// Commands that run, and what ends them.
    running: BTreeMap<AnswerId, Arc<AtomicBool>>,
}

impl Answers {
    pub(crate) fn new(
        surroundings: Surroundings,
        limit: Duration,
        prompt: Option<Prompt>,
        inbox: Arc<Inbox>,
    ) -> Self {
        let (known, running) = (BTreeMap::new(), BTreeMap::new());
        Self { surroundings, limit, prompt, inbox, known, running }
    }

    /// Has something found out; answered by [`Message::Answered`].
    pub(crate) fn ask(&mut self, ask: AnswerId, what: Question) {
        let inbox = Arc::clone(&self.inbox);
        let report = move |result: Result<String, AskError>| {
            inbox.report(Message::Answered(ask, result.map(Secret)));
        };
        match (&what, &self.prompt) {
            (Question::Shell { line }, _) => {
                let stop = Arc::new(AtomicBool::new(false));
                self.running.insert(ask, Arc::clone(&stop));
                let (mut command, limit) = (self.surroundings.shell(line), self.limit);
                let run = move || report(shell::output(&mut command, limit, &stop).map_err(hushed));
                blocking::unblock(run).detach();
            }
            (Question::Input { .. }, Some(prompt)) => {
                let prompt = prompt.clone();
                blocking::unblock(move || report(prompt.ask(&what))).detach();
            }
            (Question::Input { .. }, None) => report(Err(AskError::NobodyToAsk)),
        }
    }

    /// Ends a command; its answer comes and counts no more.
    pub(crate) fn stop(&self, ask: AnswerId) {
        if let Some(stop) = self.running.get(&ask) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Keeps an answer; what the machine is to know of it.
    pub(crate) fn answered(
        &mut self,
        ask: AnswerId,
        result: Result<Secret, AskError>,
    ) -> Result<(), AskError> {
        self.running.remove(&ask);
        result.map(|answer| drop(self.known.insert(ask, answer)))
    }

    /// Ends every command that runs; how many [`Message::Answered`] will come of that.
    pub(crate) fn end(&self) -> usize {
        self.running.values().for_each(|stop| stop.store(true, Ordering::Relaxed));
        self.running.len()
    }

    /// What is to be run, with every gap filled.
    pub(crate) fn fill(&self, launch: Launch) -> Program {
        let filled = launch.filled(|gap| match gap {
            Fill::Variable(name) => env::var(name).ok(),
            Fill::Answer(ask) => self.known.get(ask).map(|Secret(answer)| answer.clone()),
            Fill::Plain(text) => Some(text.clone()),
        });
        Program { written: launch, filled }
    }
}

/// An error without the values of this process's variables in it, which a command may well
/// complain of.
fn hushed(error: AskError) -> AskError {
    let AskError::Failed { exit, mut stderr } = error else { return error };
    let mut values: Vec<(String, String)> = env::vars_os()
        .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
        .collect();
    // A value may be a part of another.
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    for (name, value) in values.iter().filter(|(_, value)| value.len() >= SECRET_MIN) {
        stderr = stderr.replace(value, &format!("${{{name}}}"));
    }
    AskError::Failed { exit, stderr }
}
