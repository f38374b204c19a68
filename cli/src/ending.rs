//! The end of a command: what came of it is printed at once, the servers are stopped within their
//! bounds, and a signal is heard throughout, also while nobody reads what is printed.

use std::future::pending;
use std::io;
use std::pin::pin;

use blocking::unblock;
use futures_lite::future;
use tidegate_core::hub::status::Status;
use tidegate_smol::signals::{Ending, Signals};

use crate::exit::{Exit, Trouble};
use crate::output::{self, Form, json};
use crate::session::Session;

/// What a command has to say in the end.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Data, for standard output.
    pub(crate) data: String,
    /// A message for standard error, after the data; empty if there is none.
    pub(crate) message: String,
    /// How it ends.
    pub(crate) exit: Exit,
}

impl Told {
    /// Data and nothing else.
    pub(crate) const fn data(data: String, exit: Exit) -> Self {
        Self { data, message: String::new(), exit }
    }

    /// Nothing: all was said already.
    pub(crate) const fn nothing(exit: Exit) -> Self {
        Self::data(String::new(), exit)
    }

    /// What went wrong.
    pub(crate) fn trouble(trouble: &Trouble, form: Form) -> Self {
        let message = output::worded_error(trouble.message());
        let data = match form {
            Form::People => String::new(),
            Form::Programs => json::failure(trouble.message()),
        };
        Self { data, message, exit: trouble.exit() }
    }

    /// Prints, where there is nobody to tell if that fails.
    pub(crate) fn say(self) {
        let _ = self.print();
    }

    fn print(self) -> io::Result<()> {
        output::data(&self.data)?;
        if !self.message.is_empty() {
            output::message(&self.message);
        }
        Ok(())
    }
}

/// What happens meanwhile.
enum Step {
    Printed(io::Result<()>),
    Stopped,
    Signalled(Ending),
    Frame,
}

/// Prints and stops the servers side by side. A signal while the servers are being stopped ends
/// them at once; one that finds them gone does not wait for a reader who does not read.
pub(crate) async fn end(
    session: &Session,
    signals: &mut Signals,
    mut signal: Option<Ending>,
    mut told: Told,
) -> Exit {
    if session.form == Form::Programs && told.data.is_empty() {
        told.data = json::failure("ended by a signal");
    }
    let exit = told.exit;
    let voice = session.voice.take();
    let mut printing = pin!(unblock(move || {
        // What servers said comes before what came of it.
        if let Some(voice) = voice {
            voice.end();
        }
        told.print()
    }));
    let mut stopping = pin!(session.host.shutdown());
    let (mut printed, mut stopped) = (None, false);
    session.progress.restart();
    while !stopped || (printed.is_none() && signal.is_none()) {
        let print = async {
            match printed {
                None => Step::Printed(printing.as_mut().await),
                Some(_) => pending().await,
            }
        };
        let stop = async {
            if stopped {
                pending::<()>().await;
            }
            stopping.as_mut().await;
            Step::Stopped
        };
        let hear = async { Step::Signalled(signals.next().await) };
        let frame = async {
            session.progress.frame().await;
            Step::Frame
        };
        match future::or(future::or(print, stop), future::or(hear, frame)).await {
            Step::Printed(result) => printed = Some(result),
            Step::Stopped => stopped = true,
            Step::Signalled(another) => {
                signal.get_or_insert(another);
                kill(&session.host.status().await);
            }
            Step::Frame if printed.is_some() && !stopped => {
                session.progress.draw("stopping the servers, Ctrl+C kills them");
            }
            Step::Frame => {}
        }
    }
    session.progress.erase();
    match (signal, printed) {
        (Some(signal), _) => Exit::Signal(signal),
        (None, Some(Err(error))) => {
            output::error(&format!("standard output: {error}"));
            Exit::Failed
        }
        (None, Some(Ok(())) | None) => exit,
    }
}

/// Ends every process group at once; the driver hears of it as of any other end.
fn kill(status: &Status) {
    for pid in status.servers.iter().filter_map(|server| server.pid) {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // Gone already: what was wanted.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}
