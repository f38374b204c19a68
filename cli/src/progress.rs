//! The line on standard error that says what is being waited for; only on a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future;

use crate::ask::Turn;
use crate::output::Screen;
use crate::output::columns::cut;
use crate::output::paint::Tone;

/// How often the line moves.
const FRAME: Duration = Duration::from_millis(100);
/// Nothing is shown of what is over sooner: a line that flickers tells nobody anything.
const PATIENCE: Duration = Duration::from_millis(90);
/// What moves.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Back to the first column, and clear the line.
const ERASE: &str = "\r\x1b[2K";

/// The line.
#[derive(Debug)]
pub(crate) struct Progress {
    screen: Option<Screen>,
    /// Whoever has it asks a question, and is not drawn over.
    turn: Option<Turn>,
    since: Cell<Instant>,
    due: Cell<Instant>,
    frame: Cell<usize>,
    shown: Cell<bool>,
}

impl Progress {
    /// A line on standard error if that is a terminal and the user wants to see it.
    pub(crate) fn new(quiet: bool, turn: Option<Turn>) -> Self {
        let wanted = !quiet && io::stderr().is_terminal();
        Self {
            screen: wanted.then(Screen::stderr),
            turn,
            since: Cell::new(Instant::now()),
            due: Cell::new(Instant::now() + FRAME),
            frame: Cell::new(0),
            shown: Cell::new(false),
        }
    }

    /// Counts time from here on.
    pub(crate) fn restart(&self) {
        self.erase();
        self.since.set(Instant::now());
    }

    /// Waits until the line is to be drawn again, however often this is asked meanwhile: for
    /// ever if there is none.
    pub(crate) async fn frame(&self) {
        match self.screen {
            Some(_) => Timer::at(self.due.get()).await,
            None => future::pending().await,
        };
    }

    /// Draws the line: what is being waited for (safe for a terminal), and for how long.
    pub(crate) fn draw(&self, what: &str) {
        let Some(screen) = self.screen else { return };
        self.due.set(Instant::now() + FRAME);
        let elapsed = self.since.get().elapsed();
        if elapsed < PATIENCE || what.is_empty() || self.turn.as_ref().is_some_and(Turn::is_taken) {
            return;
        }
        let frame = self.frame.get();
        self.frame.set(frame.wrapping_add(1));
        let mark = FRAMES.get(frame % FRAMES.len()).copied().unwrap_or_default();
        let tenths = elapsed.as_millis() / 100;
        let time = format!("({}.{} s)", tenths / 10, tenths % 10);
        // One column stays free: a terminal may wrap at its very edge.
        let room = screen.width.unwrap_or(80).saturating_sub(time.len() + 4);
        let mark = screen.paint.text(Tone::Accent, mark);
        let time = screen.paint.text(Tone::Faint, &time);
        write(&format!("{ERASE}{mark} {} {time}", cut(what, room)));
        self.shown.set(true);
    }

    /// Erases the line if it stands there.
    pub(crate) fn erase(&self) {
        if self.shown.replace(false) {
            write(ERASE);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.erase();
    }
}

/// There is nobody to tell if this fails.
fn write(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
