//! One server's processes: the child that was started and the group it leads.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, kill_process_group, test_kill_process_group};
use tidegate_core::error::Exit;

use crate::mark::Mark;

pub(crate) use rustix::process::Signal;

/// A child and the group it leads. Dropped while one of them lives, it takes the group with it.
#[derive(Debug)]
pub(crate) struct Process {
    /// Until its end was seen.
    child: Option<Child>,
    group: Pid,
    group_gone: bool,
}

/// Our ends of a child's standard streams.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
}

impl Process {
    /// Starts a program that is to lead a group of its own and whose streams are to be pipes, and
    /// marks it.
    pub(crate) fn start(command: &mut Command, mark: &Mark) -> io::Result<(Self, Pipes)> {
        let mut child = command.spawn()?;
        mark.put_on(Pid::from_child(&child));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Pid::from_child(&child);
        let process = Self { child: Some(child), group, group_gone: false };
        match pipes {
            (Some(input), Some(output), Some(errors)) => {
                let (input, output, errors) = (input.into(), output.into(), errors.into());
                Ok((process, Pipes { input, output, errors }))
            }
            _ => Err(io::Error::other("a standard stream is not a pipe")),
        }
    }

    /// The number of the child, which is also the name of its group.
    pub(crate) fn group(&self) -> Pid {
        self.group
    }

    /// A descriptor that is readable once the child has ended, where the system has such.
    pub(crate) fn exit_fd(&self) -> io::Result<OwnedFd> {
        exit_fd(self.group)
    }

    /// How the child ended, if it has and it was not said before.
    pub(crate) fn reap(&mut self) -> Option<Exit> {
        let exit = match self.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => exit(status),
            // Somebody else in this program reaped our child.
            Err(_) => Exit::Unknown,
        };
        self.child = None;
        Some(exit)
    }

    /// Has `report` told how the child ends, from a thread of its own.
    pub(crate) fn reap_later(&mut self, report: impl FnOnce(Exit) + Send + 'static) {
        let Some(mut child) = self.child.take() else { return };
        let wait = move || report(child.wait().map_or(Exit::Unknown, exit));
        // Without a thread the end is never seen, and the stop ladder gives up on it.
        let _ = thread::Builder::new().name("tidegate-wait".into()).spawn(wait);
    }

    /// Sends a signal to every process of the group. Nothing happens if there is none.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.group_gone {
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Whether the group has members, ended ones that nobody reaped included. Once it had none
    /// its name may be another's, and it is not signalled again.
    pub(crate) fn group_exists(&mut self) -> bool {
        self.group_gone |= test_kill_process_group(self.group) == Err(Errno::SRCH);
        !self.group_gone
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.reap_later(drop);
    }
}

/// A descriptor that is readable once this child of ours, which was not reaped, has ended.
pub(crate) fn exit_fd(child: Pid) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty())?);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = child;
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
