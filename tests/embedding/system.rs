//! What both drivers need of the system: programs, their groups, and files.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tidegate_core::command::{Fill, Launch};
use tidegate_core::error::{Exit, OpenError, WhosePath};
use tidegate_core::input::Found;

/// How much is read of a pipe at once.
pub(crate) const READ_BYTES: usize = 64 * 1024;
/// How often a process group is looked at whose leader has ended.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the rest in the pipes of a group that is gone is waited for: a process that left the
/// group may hold them open for ever.
pub(crate) const REST_MAX: Duration = Duration::from_millis(100);

/// A program that is to lead a process group of its own, with pipes for its streams.
pub(crate) fn program(launch: &Launch, cwd: &str) -> Command {
    let launch = launch.filled(|gap| match gap {
        Fill::Variable(name) => std::env::var(name).ok(),
        Fill::Plain(_) | Fill::Answer(_) => None,
    });
    let mut program = Command::new(&launch.command);
    program.args(&launch.args).envs(&launch.env).process_group(0);
    program.current_dir(launch.cwd.as_deref().unwrap_or(cwd));
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// Why a program could not be started. A driver for people would say what was searched.
pub(crate) fn refused(launch: &Launch, error: &io::Error) -> OpenError {
    let command = launch.command.to_string();
    if error.kind() == ErrorKind::NotFound {
        OpenError::CommandNotFound { command, searched: String::new(), whose: WhosePath::Host }
    } else if error.kind() == ErrorKind::PermissionDenied {
        OpenError::NotExecutable { command }
    } else {
        OpenError::Other { message: error.to_string() }
    }
}

/// How a program ended.
pub(crate) fn exit(status: io::Result<ExitStatus>) -> Exit {
    match status.map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => Exit::Code(code),
        Ok((None, Some(signal))) => Exit::Signal(signal),
        Ok((None, None)) | Err(_) => Exit::Unknown,
    }
}

/// A process group, named after the process that leads or led it.
#[derive(Clone, Copy)]
pub(crate) struct Group(Pid);

impl Group {
    /// The group of a child that was started and not waited for yet; `None` once it was.
    pub(crate) fn of(child: u32) -> Option<Self> {
        Pid::from_raw(child.try_into().ok()?).map(Self)
    }

    pub(crate) fn terminate(self) {
        let _ = kill_process_group(self.0, Signal::TERM);
    }

    pub(crate) fn kill(self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// Whether it has members. Ended ones that nobody reaps count: the ladder gives up on them.
    pub(crate) fn exists(self) -> bool {
        test_kill_process_group(self.0) != Err(Errno::SRCH)
    }
}

/// Reads a whole file, if it is not too long.
pub(crate) fn find(path: &str, bytes_max: u64) -> Found {
    let mut content = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(bytes_max.saturating_add(1)).read_to_end(&mut content));
    match read {
        Ok(bytes) if bytes as u64 > bytes_max => {
            Found::Unreadable(format!("it is longer than {bytes_max} bytes"))
        }
        Ok(_) => Found::Content(content.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
        Err(error) => Found::Unreadable(error.to_string()),
    }
}
