//! The guard: a second process that ends the servers should this one be killed (F-010).
//!
//! A shell in a group of its own, so that a terminal's Ctrl+C passes it by, at the other end of
//! a pipe. Each line tells it of a group that came or went. The pipe ends when this process
//! does, however that happens; the guard then ends the groups it knows, and everything that
//! carries this run's mark in its environment: what left its group with `setsid`, or was
//! started so shortly before the end that the guard was not told.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Pid;

/// How many lines are collected while more servers are to be started.
const LINES_MAX: usize = 16;

/// What the guard runs. It looks more than once, whatever it finds: a server that was being
/// started when this process ended carries its mark only once it runs. `read` takes one byte at
/// a time, which for these few is cheaper than another process that reads more.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
groups=
while read -r line; do
    case $line in
    +*) groups="$groups ${line#+}" ;;
    -*)
        rest=
        for group in $groups; do
            [ "$group" = "${line#-}" ] || rest="$rest $group"
        done
        groups=$rest
        ;;
    esac
done
end() {
    for group in $groups; do
        kill -s "$1" -- "-$group"
    done
    for file in $(grep -slF -- "$mark" /proc/[0-9]*/environ); do
        process=${file#/proc/}
        kill -s "$1" "${process%/environ}"
    done
} 2>/dev/null
mark=$1
end TERM
for pause in 1 0.1 0.4 1; do
    sleep $pause
    end KILL
done
"#;

/// The driver's side of the guard.
#[derive(Debug)]
pub(crate) struct Watch {
    mark: String,
    guard: Option<(Child, ChildStdin)>,
    /// What the guard is still to be told.
    lines: String,
    waiting: usize,
}

impl Watch {
    /// A guard that is yet to be started. `mark` stands in the environment of every server of
    /// this run and of no other process.
    pub(crate) fn new(mark: String) -> Self {
        Self { mark, guard: None, lines: String::new(), waiting: 0 }
    }

    /// Starts the guard unless it runs.
    pub(crate) fn stand(&mut self) -> io::Result<()> {
        if self.guard.is_none() {
            self.guard = Some(start(&self.mark)?);
        }
        Ok(())
    }

    /// Has a group ended with this process.
    pub(crate) fn add(&mut self, group: Pid) -> io::Result<()> {
        self.note('+', group)
    }

    /// Lets go of a group.
    pub(crate) fn remove(&mut self, group: Pid) -> io::Result<()> {
        self.note('-', group)
    }

    fn note(&mut self, sign: char, group: Pid) -> io::Result<()> {
        use std::fmt::Write;
        let _ = writeln!(self.lines, "{sign}{}", group.as_raw_pid());
        self.waiting += 1;
        if self.waiting < LINES_MAX { Ok(()) } else { self.tell() }
    }

    /// Tells the guard what it does not know yet. Never blocks: a guard that does not listen is
    /// as good as none.
    pub(crate) fn tell(&mut self) -> io::Result<()> {
        let Some((_, pipe)) = self.guard.as_mut().filter(|_| self.waiting > 0) else {
            return Ok(());
        };
        // Below what a pipe takes as a whole or not at all.
        pipe.write_all(self.lines.as_bytes())?;
        self.lines.clear();
        self.waiting = 0;
        Ok(())
    }

    /// The guard's own process.
    #[cfg(test)]
    pub(crate) fn process(&self) -> Option<Pid> {
        self.guard.as_ref().map(|(guard, _)| Pid::from_child(guard))
    }

    /// Ends the guard: every group is gone, or it does not listen.
    pub(crate) fn retire(self) {
        if let Some((mut guard, pipe)) = self.guard {
            let _ = guard.kill();
            let _ = guard.wait();
            drop(pipe);
        }
    }

    /// Has the guard do what it is there for, and waits until it has.
    pub(crate) fn release(self) {
        if let Some((mut guard, pipe)) = self.guard {
            drop(pipe);
            let _ = guard.wait();
        }
    }
}

fn start(mark: &str) -> io::Result<(Child, ChildStdin)> {
    let mut guard = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "tidegate-guard", mark])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let pipe = guard.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok((guard, pipe))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::descendants::MARK_VARIABLE;
    use crate::settings::unique;

    #[test]
    fn a_server_that_runs_only_after_the_first_look_is_ended_too() {
        // F-010: a host killed while it starts a server, which is no program of its own yet.
        let mark = unique();
        let marked = || {
            let mut sleep = Command::new("sleep");
            sleep.arg("60").env(MARK_VARIABLE, &mark).spawn().unwrap()
        };
        let mut watch = Watch::new(mark.clone());
        watch.stand().unwrap();
        let mut first = marked();
        let (mut guard, pipe) = watch.guard.unwrap();
        drop(pipe);
        first.wait().unwrap();
        let mut late = marked();
        assert!(!late.wait().unwrap().success());
        guard.wait().unwrap();
    }
}
