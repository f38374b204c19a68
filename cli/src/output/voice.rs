//! What servers say, passed on by a thread of its own: a reader of standard error who does not
//! read holds up neither the servers nor a signal.

use std::cell::Cell;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many lines may wait to be read. What comes beyond is left out, and how much that was is
/// said.
const LINES_MAX: usize = 4_096;

/// The way to the thread.
#[derive(Debug)]
pub(crate) struct Voice {
    lines: SyncSender<String>,
    left_out: Cell<u64>,
    thread: JoinHandle<()>,
}

impl Voice {
    /// A thread that writes to standard error.
    pub(crate) fn new() -> io::Result<Self> {
        Self::with(super::message)
    }

    fn with(write: impl Fn(&str) + Send + 'static) -> io::Result<Self> {
        let (lines, heard): (_, Receiver<String>) = sync_channel(LINES_MAX);
        let speak = move || heard.iter().for_each(|line| write(&line));
        let thread = thread::Builder::new().name("tidegate-voice".into()).spawn(speak)?;
        Ok(Self { lines, left_out: Cell::new(0), thread })
    }

    /// Passes a line on, unless far too many wait.
    pub(crate) fn say(&self, line: String) {
        if let 1.. = self.left_out.get()
            && self.lines.try_send(self.gap()).is_ok()
        {
            self.left_out.set(0);
        }
        if self.lines.try_send(line).is_err() {
            self.left_out.set(self.left_out.get() + 1);
        }
    }

    /// Waits until everything is written.
    pub(crate) fn end(self) {
        if self.left_out.get() > 0 {
            // Nobody listens if the thread is gone.
            let _ = self.lines.send(self.gap());
        }
        drop(self.lines);
        let _ = self.thread.join();
    }

    fn gap(&self) -> String {
        format!("… {} lines left out: nobody read them in time", self.left_out.get())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier, Mutex};

    use super::*;

    #[test]
    fn a_reader_who_does_not_read_holds_up_nobody_and_hears_how_much_is_left_out() {
        let (written, gate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Barrier::new(2)));
        let (theirs, closed) = (Arc::clone(&written), Arc::clone(&gate));
        let voice = Voice::with(move |line| {
            if line == "first" {
                closed.wait();
            }
            theirs.lock().unwrap().push(line.to_owned());
        });
        let voice = voice.unwrap();
        voice.say("first".into());
        (0..2 * LINES_MAX).for_each(|_| voice.say("more".into()));
        gate.wait();
        voice.end();
        let written = written.lock().unwrap();
        let kept = written.iter().filter(|line| *line == "more").count();
        assert!((LINES_MAX - 1..=LINES_MAX).contains(&kept), "{kept}");
        let gap = format!("… {} lines left out: nobody read them in time", 2 * LINES_MAX - kept);
        assert_eq!(written.last(), Some(&gap));
    }
}
