//! The signals that ask a program to end, as values (F-011).

use std::io;

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
