//! A command that is run for what it prints.
//!
//! Blocking; called off the loop. The command leads a process group of its own and has no input.
//! Whatever comes of it, its group is killed in the end.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use tidegate_core::error::{AskError, Exit};

use crate::mark::Mark;
use crate::process::Process;

/// How much a command may print: far more than any token.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// How much of its standard error is kept, the end of it.
const ERRORS_BYTES_MAX: usize = 1024;

/// How soon it is noticed that nobody wants the answer any more.
const LOOK: Duration = Duration::from_millis(50);

/// How long a descendant that holds the output may say nothing once the command has ended.
const IDLE_MAX: Duration = Duration::from_millis(250);

/// What a command printed, without white space around it.
///
/// # Errors
/// Why there is nothing to be had. Holds the end of its standard error as it is: who shows it
/// leaves out what is secret in it.
pub(crate) fn output(
    command: &mut Command,
    mark: &Mark,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<String, AskError> {
    let other = |error: io::Error| AskError::Other { message: error.to_string() };
    let (mut process, pipes) = Process::start(command, mark).map_err(other)?;
    drop(pipes.input);
    let mut output = Stream::new(pipes.output).map_err(other)?;
    let mut errors = Stream::new(pipes.errors).map_err(other)?;
    let until = Instant::now() + limit;
    let mut ended: Option<(Exit, Instant)> = None;
    loop {
        let heard = wait(&mut [&mut output, &mut errors]).map_err(other)?;
        if output.bytes.len() > OUTPUT_BYTES_MAX {
            return Err(AskError::TooLong { limit: OUTPUT_BYTES_MAX as u64 });
        }
        errors.keep_last(ERRORS_BYTES_MAX);
        let now = Instant::now();
        ended = match ended {
            Some((exit, since)) => Some((exit, if heard { now } else { since })),
            None => process.reap().map(|exit| (exit, now)),
        };
        match ended {
            Some((exit, since)) if output.pipe.is_none() || now - since >= IDLE_MAX => {
                return if exit == Exit::Code(0) {
                    text(output.bytes)
                } else {
                    let stderr = String::from_utf8_lossy(&errors.bytes).trim().into();
                    Err(AskError::Failed { exit, stderr })
                };
            }
            _ if now >= until || stop.load(Ordering::Relaxed) => {
                let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                return Err(AskError::TimedOut { limit_ms });
            }
            _ => {}
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String, AskError> {
    let text = String::from_utf8(bytes).map_err(|_| AskError::NoText)?;
    match text.trim() {
        "" => Err(AskError::Empty),
        text if text.contains('\0') => Err(AskError::NoText),
        text => Ok(text.into()),
    }
}

/// What comes out of a pipe, until it ends.
struct Stream {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe), bytes: Vec::new() })
    }

    /// Takes in what is there; whether anything was.
    fn read(&mut self) -> io::Result<bool> {
        let Some(pipe) = &self.pipe else { return Ok(false) };
        let mut buffer = [0; 4096];
        match rustix::io::read(pipe, &mut buffer).map_err(io::Error::from) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                self.bytes.extend(buffer.iter().take(length));
                return Ok(true);
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(false)
    }

    fn keep_last(&mut self, most: usize) {
        let excess = self.bytes.len().saturating_sub(most);
        self.bytes.drain(..excess);
    }
}

/// Waits a moment for something to come, and takes it in; whether anything did.
fn wait(streams: &mut [&mut Stream]) -> io::Result<bool> {
    let open: Vec<_> = streams.iter().filter_map(|stream| stream.pipe.as_ref()).collect();
    let mut wanted: Vec<_> =
        open.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
    // With no pipe left there is only its end to wait for, which comes soon.
    let look = if wanted.is_empty() { LOOK / 10 } else { LOOK };
    let look = look.try_into().map_err(io::Error::other)?;
    match poll(&mut wanted, Some(&look)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut heard = false;
    for stream in streams {
        heard |= stream.read()?;
    }
    Ok(heard)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Stdio;

    use super::*;

    fn shell(line: &str) -> Result<String, AskError> {
        shell_within(line, Duration::from_secs(10))
    }

    fn shell_within(line: &str, limit: Duration) -> Result<String, AskError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        output(&mut command, &Mark::new(), limit, &AtomicBool::new(false))
    }

    #[test]
    fn only_the_output_counts_and_white_space_around_it_does_not() {
        assert_eq!(shell("echo no >&2; printf '\\n a\\nb \\n'"), Ok("a\nb".into()));
        assert_eq!(shell("cat"), Err(AskError::Empty));
        assert_eq!(shell("printf 'a\\0b'"), Err(AskError::NoText));
        assert_eq!(shell("printf '\\377'"), Err(AskError::NoText));
    }

    #[test]
    fn a_command_that_fails_is_quoted_by_its_standard_error_alone() {
        let failed = Err(AskError::Failed { exit: Exit::Code(3), stderr: "why".into() });
        assert_eq!(shell("echo out; echo why >&2; exit 3"), failed);
    }

    /// L10.
    #[test]
    fn what_never_ends_is_ended_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("alive");
        let line = format!("(sleep 1; echo x > {}) & sleep 60", file.display());
        let limit = Duration::from_millis(100);
        assert_eq!(shell_within(&line, limit), Err(AskError::TimedOut { limit_ms: 100 }));
        assert_eq!(shell("yes"), Err(AskError::TooLong { limit: 65_536 }));
        std::thread::sleep(Duration::from_millis(1_200));
        assert!(!file.exists(), "the whole group is gone");
    }

    #[test]
    fn a_descendant_that_holds_the_output_does_not_hold_up_the_answer() {
        assert_eq!(shell("echo a; sleep 60 &"), Ok("a".into()));
    }
}
