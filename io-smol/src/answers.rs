//! What commands and people answered: kept here and nowhere else (G67).

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_core::command::{Fill, FilledRemote, Launch, Question, Remote};
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

/// What will be reported, once, whatever becomes of the one who has it.
struct Report {
    ask: AnswerId,
    inbox: Arc<Inbox>,
    result: Result<Secret, AskError>,
}

impl Report {
    fn new(ask: AnswerId, inbox: Arc<Inbox>) -> Self {
        let message = "it was not run to its end".into();
        Self { ask, inbox, result: Err(AskError::Other { message }) }
    }

    fn give(mut self, result: Result<String, AskError>) {
        self.result = result.map(Secret);
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let result = std::mem::replace(&mut self.result, Err(AskError::NobodyToAsk));
        self.inbox.report(Message::Answered(self.ask, result));
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
    /// What was asked and is not known; an answer to anything else is of no use.
    asked: BTreeSet<AnswerId>,
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
        let (known, asked, running) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { surroundings, limit, prompt, inbox, known, asked, running }
    }

    /// Has something found out; answered by [`Message::Answered`]. What comes back runs a command
    /// and is to be done, or dropped, on a thread that may block: with a guard, because a command
    /// may be all that runs when this process is killed (F-010).
    pub(crate) fn ask(
        &mut self,
        ask: AnswerId,
        what: Question,
    ) -> Option<impl FnOnce() + Send + 'static> {
        let report = Report::new(ask, Arc::clone(&self.inbox));
        self.asked.insert(ask);
        match (&what, &self.prompt) {
            (Question::Shell { line }, _) => {
                let stop = Arc::new(AtomicBool::new(false));
                self.running.insert(ask, Arc::clone(&stop));
                let (mut command, limit) = (self.surroundings.shell(line), self.limit);
                let mark = self.surroundings.mark.clone();
                return Some(move || {
                    let output = shell::output(&mut command, &mark, limit, &stop);
                    report.give(output.map_err(hushed));
                });
            }
            (Question::Input { .. }, Some(prompt)) => {
                let prompt = prompt.clone();
                blocking::unblock(move || report.give(prompt.ask(&what))).detach();
            }
            (Question::Input { .. }, None) => report.give(Err(AskError::NobodyToAsk)),
        }
        None
    }

    /// Ends a command, whose answer comes and counts no more, and forgets what is known.
    pub(crate) fn stop(&mut self, ask: AnswerId) {
        self.asked.remove(&ask);
        self.known.remove(&ask);
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
        let wanted = self.asked.remove(&ask);
        result.map(|answer| {
            if wanted {
                self.known.insert(ask, answer);
            }
        })
    }

    /// Ends every command that runs; how many [`Message::Answered`] will come of that.
    pub(crate) fn end(&self) -> usize {
        self.running.values().for_each(|stop| stop.store(true, Ordering::Relaxed));
        self.running.len()
    }

    /// What is to be run, with every gap filled.
    pub(crate) fn fill(&self, launch: Launch) -> Program {
        let filled = launch.filled(|gap| self.find(gap));
        Program { written: launch, filled }
    }

    /// Where a remote server is, with every gap filled.
    pub(crate) fn fill_remote(&self, remote: &Remote) -> FilledRemote {
        remote.filled(|gap| self.find(gap))
    }

    fn find(&self, gap: &Fill) -> Option<String> {
        match gap {
            Fill::Variable(name) => env::var(name).ok(),
            Fill::Answer(ask) => self.known.get(ask).map(|Secret(answer)| answer.clone()),
            Fill::Plain(text) => Some(text.clone()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::Mark;

    /// L7: also if a host's own code panics, or nobody gets to run a command.
    #[test]
    fn every_question_is_answered_once_whatever_becomes_of_it() {
        let inbox = Arc::new(Inbox::new());
        let report = Report::new(AnswerId::new(0), Arc::clone(&inbox));
        report.give(Ok("yes".into()));
        drop(Report::new(AnswerId::new(1), Arc::clone(&inbox)));
        let mut said = std::collections::VecDeque::new();
        inbox.take(&mut said);
        let given = |at: usize, wanted: bool| matches!(&said[at].message, Message::Answered(_, result) if result.is_ok() == wanted);
        assert!(said.len() == 2 && given(0, true) && given(1, false), "{said:?}");
    }

    /// G67: not even one that comes late.
    #[test]
    fn an_answer_that_is_of_no_use_any_more_is_not_kept() {
        let inbox = Arc::new(Inbox::new());
        let surroundings = Surroundings::of_process("/", Mark::new());
        let mut answers = Answers::new(surroundings, Duration::ZERO, None, inbox);
        let what = Question::Shell { line: "true".into() };
        let [kept, late, forgotten] = [0, 1, 2].map(AnswerId::new);
        for ask in [kept, late, forgotten] {
            drop(answers.ask(ask, what.clone()));
        }
        answers.stop(late);
        for ask in [kept, late, forgotten] {
            answers.answered(ask, Ok(Secret("text".into()))).unwrap();
        }
        answers.stop(forgotten);
        let known = |ask: &AnswerId| answers.find(&Fill::Answer(*ask)).is_some();
        assert_eq!([kept, late, forgotten].each_ref().map(known), [true, false, false]);
    }
}
