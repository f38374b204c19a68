//! The signals that would end the program: those that ask it to, as values (F-011), and the one
//! that should not.

use std::io;
use std::sync::OnceLock;

use async_signal::{Signal, Signals as Stream};
use futures_lite::StreamExt;

/// A signal that asks the program to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// SIGINT: Ctrl+C at the terminal.
    Interrupt,
    /// SIGTERM: asked by another program.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

impl Ending {
    /// The exit code of a program that a shell sees ended by this signal: 128 and its number.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::Hangup => 129,
        }
    }
}

/// Has a write beyond the limit on the size of files (`ulimit -f`) fail like one on a full disk,
/// with [`io::ErrorKind::FileTooLarge`], instead of ending this process (SIGXFSZ): for all of it
/// and for good. Programs that it starts are ended as before.
///
/// # Errors
///
/// If the operating system refuses.
pub fn bear_file_limit() -> io::Result<()> {
    static HEARD: OnceLock<Stream> = OnceLock::new();
    if HEARD.get().is_none() {
        // Whoever hears of the signal is not ended by it; nobody has to listen.
        let _ = HEARD.set(Stream::new([Signal::Xfsz])?);
    }
    Ok(())
}

/// The signals, from when this was made; they no longer end the program by themselves.
#[derive(Debug)]
pub struct Signals {
    stream: Stream,
}

impl Signals {
    /// Takes the signals over.
    ///
    /// # Errors
    ///
    /// If the operating system refuses.
    pub fn new() -> io::Result<Self> {
        let stream = Stream::new([Signal::Int, Signal::Term, Signal::Hup])?;
        Ok(Self { stream })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Ending {
        loop {
            match self.stream.next().await {
                Some(Ok(Signal::Int)) => return Ending::Interrupt,
                Some(Ok(Signal::Term)) => return Ending::Terminate,
                Some(Ok(Signal::Hup)) => return Ending::Hangup,
                Some(_) => {}
                // The stream does not end; should it, no signal comes.
                None => std::future::pending().await,
            }
        }
    }
}
