//! Questions to the person at the terminal: on standard error, answered on standard input.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tidegate_core::command::Question;
use tidegate_smol::Prompt;

use crate::output::visible;

/// How often somebody is asked to choose one of several answers.
const ATTEMPTS: usize = 3;

/// Whoever has it may ask; nothing else is drawn meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn(Arc<Mutex<()>>);

impl Turn {
    /// A person to ask, if there is one: both ends of the conversation are a terminal.
    pub(crate) fn at_terminal() -> Option<Self> {
        (io::stdin().is_terminal() && io::stderr().is_terminal()).then(Self::default)
    }

    /// Whether somebody is being asked.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self.0.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Asks (text that is safe for a terminal) and waits for a line; `None` if none comes.
    pub(crate) fn line(&self, question: &str) -> Option<String> {
        let _turn = self.take();
        line(question)
    }

    /// The same for what nobody should see being typed.
    fn hidden_line(&self, question: &str) -> Option<String> {
        // Before anything: who else is being asked would not see what they type, and would have
        // this shown when they are done.
        let _turn = self.take();
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &silent).ok()?;
        let line = line(question);
        // If this fails, so will every later attempt.
        let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
        say("\n");
        line
    }

    fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for what a configuration leaves to be asked.
    pub(crate) fn prompt(&self) -> Prompt {
        let turn = self.clone();
        Prompt::new(move |what| match what {
            Question::Input { file, id, description, password, default, options } => {
                let about = description.as_deref().unwrap_or(id);
                let (about, file) = (visible::one_line(about), visible::one_line(file));
                let id = visible::one_line(id);
                let mut question = format!("{about} (input \"{id}\" of {file}");
                for (option, number) in options.iter().zip(1..) {
                    question.push_str(&format!("; {number}: {}", visible::one_line(option)));
                }
                match default {
                    Some(_) if *password => question.push_str("; Enter for its default"),
                    Some(text) => {
                        question.push_str(&format!("; Enter for {:?}", visible::one_line(text)));
                    }
                    None => {}
                }
                question.push_str("): ");
                (0..ATTEMPTS).find_map(|_| {
                    let line =
                        if *password { turn.hidden_line(&question) } else { turn.line(&question) };
                    answer(&line?, default.as_deref(), options)
                })
            }
            Question::Shell { .. } => None,
        })
    }
}

/// What a line means as an answer; `None` if it is none of the options.
fn answer(line: &str, default: Option<&str>, options: &[String]) -> Option<String> {
    if line.is_empty() {
        return default.map(String::from).or_else(|| options.is_empty().then(String::new));
    }
    let numbered = || options.get(line.parse::<usize>().ok()?.checked_sub(1)?);
    let option = options.iter().find(|option| *option == line).or_else(numbered);
    option.cloned().or_else(|| options.is_empty().then(|| line.to_owned()))
}

fn line(question: &str) -> Option<String> {
    say(question);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}

/// There is nobody to ask if this fails.
fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_was_typed_or_chosen_or_the_default() {
        let options = ["eu".to_owned(), "us".to_owned()];
        for (line, default, options, wanted) in [
            ("x", None, &[][..], Some("x")),
            ("", None, &[], Some("")),
            ("", Some("d"), &[], Some("d")),
            ("2", None, &options, Some("us")),
            ("eu", None, &options, Some("eu")),
            ("3", Some("eu"), &options, None),
            ("", Some("eu"), &options, Some("eu")),
            ("", None, &options, None),
        ] {
            assert_eq!(answer(line, default, options).as_deref(), wanted, "{line:?}");
        }
    }
}
