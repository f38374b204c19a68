//! What the command prints: data on standard output, messages on standard error.

pub(crate) mod columns;
pub(crate) mod json;
pub(crate) mod paint;
pub(crate) mod places;
pub(crate) mod problems;
pub(crate) mod servers;
pub(crate) mod tools;
pub(crate) mod visible;
pub(crate) mod voice;

use std::io::{self, IsTerminal, Write as _};

use paint::{Paint, Tone};

/// Whom the data is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// People: text.
    People,
    /// Programs (`--json`): exactly one JSON value, whatever happens.
    Programs,
}

/// How much room and colour a stream has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Whether there are colours.
    pub(crate) paint: Paint,
    /// How many columns there are, if it is a terminal.
    pub(crate) width: Option<usize>,
}

impl Screen {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        let out = io::stdout();
        Self { paint: Paint::of(&out), width: width(&out) }
    }

    /// Standard error.
    pub(crate) fn stderr() -> Self {
        let err = io::stderr();
        Self { paint: Paint::of(&err), width: width(&err) }
    }
}

fn width(stream: &(impl IsTerminal + rustix::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A terminal that does not know its width says 0.
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Writes data to standard output, at once. A reader that has gone is no error: `… | head`.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Writes a message to standard error; there is nobody to tell if that fails.
pub(crate) fn message(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Writes an error to standard error.
pub(crate) fn error(text: &str) {
    message(&worded_error(text));
}

/// An error as it is written to standard error.
pub(crate) fn worded_error(text: &str) -> String {
    format!("{} {text}", Screen::stderr().paint.text(Tone::Bad, "error:"))
}
