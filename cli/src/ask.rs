//! Questions to the person at the terminal: on standard error, answered on standard input.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tidegate_core::command::Question;
use tidegate_smol::Prompt;

use crate::output::visible;

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
        let _turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        say(question);
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The same for what nobody should see being typed.
    fn hidden_line(&self, question: &str) -> Option<String> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &silent).ok()?;
        let line = self.line(question);
        // If this fails, so will every later attempt.
        let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
        say("\n");
        line
    }

    /// Asks for what a configuration leaves to be asked.
    pub(crate) fn prompt(&self) -> Prompt {
        let turn = self.clone();
        Prompt::new(move |what| match what {
            Question::Input { file, id, description, password } => {
                let about = description.as_deref().unwrap_or(id);
                let (about, file) = (visible::one_line(about), visible::one_line(file));
                let question = format!("{about} (input \"{}\" of {file}): ", visible::one_line(id));
                if *password { turn.hidden_line(&question) } else { turn.line(&question) }
            }
            Question::Shell { .. } => None,
        })
    }
}

/// There is nobody to ask if this fails.
fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
