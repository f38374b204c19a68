//! The guard: a second process that ends the servers should this one be killed (F-010).
//!
//! A shell in a group of its own, so that a terminal's Ctrl+C passes it by, at the other end of
//! a pipe. Each line tells it of a group that came or went. The pipe ends when this process
//! does, however that happens; the guard then ends the groups it knows, and everything that
//! carries this run's mark: what left its group with `setsid`, or was started so shortly before
//! the end that the guard was not told. One that ends itself is replaced.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Pid;

use crate::mark::Mark;
use crate::process::exit_fd;

/// How many lines are collected while more servers are to be started.
const LINES_MAX: usize = 16;

/// How many guards one run may have: whatever ends them one after the other ends the next one, too.
const GUARDS_MAX: usize = 8;

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
    marked=$(
        grep -slF -- "$mark" /proc/[0-9]*/environ
        grep -slF -- "$limit" /proc/[0-9]*/limits
    )
    for file in $marked; do
        process=${file#/proc/}
        kill -s "$1" "${process%/*}"
    done
} 2>/dev/null
mark=$1 limit=$2
end TERM
for pause in 1 0.1 0.4 1; do
    sleep $pause
    end KILL
done
"#;

/// The driver's side of the guard.
#[derive(Debug)]
pub(crate) struct Watch {
    mark: Mark,
    guard: Option<(Child, ChildStdin)>,
    /// Whether nobody was told of it yet.
    is_new: bool,
    /// How many guards there were.
    guards: usize,
    /// What a guard is to end.
    groups: BTreeSet<i32>,
    /// What the guard is still to be told.
    lines: String,
    waiting: usize,
}

impl Watch {
    /// A guard that is yet to be started, for everything that has this mark.
    pub(crate) fn new(mark: Mark) -> Self {
        let (lines, groups) = (String::new(), BTreeSet::new());
        Self { mark, guard: None, is_new: false, guards: 0, groups, lines, waiting: 0 }
    }

    /// Starts the guard unless it runs.
    pub(crate) fn stand(&mut self) -> io::Result<()> {
        if self.guard.is_some() {
            return Ok(());
        }
        if self.guards >= GUARDS_MAX {
            return Err(io::Error::other("it was ended too often"));
        }
        self.guards += 1;
        self.guard = Some(start(&self.mark)?);
        self.is_new = true;
        Ok(())
    }

    /// Starts another guard in the place of one that ended or does not listen.
    pub(crate) fn replace(&mut self) -> io::Result<()> {
        self.dismiss();
        self.stand()?;
        self.lines.clear();
        self.waiting = self.groups.len();
        for group in &self.groups {
            line(&mut self.lines, '+', *group);
        }
        self.tell()
    }

    /// Starts another guard if this one has ended.
    pub(crate) fn stand_in(&mut self) -> io::Result<()> {
        let ended = |(guard, _): &mut (Child, ChildStdin)| !matches!(guard.try_wait(), Ok(None));
        if self.guard.as_mut().is_none_or(ended) { self.replace() } else { Ok(()) }
    }

    /// What is readable once the guard has ended, where the system has such: once for each guard.
    pub(crate) fn exit_of_new(&mut self) -> Option<OwnedFd> {
        let (guard, _) = self.guard.as_ref().filter(|_| self.is_new)?;
        self.is_new = false;
        exit_fd(Pid::from_child(guard)).ok()
    }

    /// Has a group ended with this process.
    pub(crate) fn add(&mut self, group: Pid) -> io::Result<()> {
        self.groups.insert(group.as_raw_pid());
        self.note('+', group)
    }

    /// Lets go of a group.
    pub(crate) fn remove(&mut self, group: Pid) -> io::Result<()> {
        self.groups.remove(&group.as_raw_pid());
        self.note('-', group)
    }

    fn note(&mut self, sign: char, group: Pid) -> io::Result<()> {
        line(&mut self.lines, sign, group.as_raw_pid());
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

    /// Ends the guard: every group is gone.
    pub(crate) fn retire(mut self) {
        self.dismiss();
    }

    /// Ends the guard. Only then its pipe: it would take that for the end of this process, and end
    /// the servers.
    fn dismiss(&mut self) {
        if let Some((mut guard, pipe)) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
            drop(pipe);
        }
    }

    /// Has the guard do what it is there for, and waits until it has.
    pub(crate) fn release(mut self) {
        if let Some((mut guard, pipe)) = self.guard.take() {
            drop(pipe);
            let _ = guard.wait();
        }
    }
}

fn line(lines: &mut String, sign: char, group: i32) {
    use std::fmt::Write;
    let _ = writeln!(lines, "{sign}{group}");
}

fn start(mark: &Mark) -> io::Result<(Child, ChildStdin)> {
    let mut guard = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "tidegate-guard", mark.name(), &mark.limit().to_string()])
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

    #[test]
    fn a_server_that_runs_only_after_the_first_look_is_ended_too() {
        // F-010: a host killed while it starts a server, which is no program of its own yet.
        let mark = Mark::new();
        let marked = || {
            let (name, value) = mark.variable();
            Command::new("sleep").arg("60").env(name, value).spawn().unwrap()
        };
        let mut watch = Watch::new(mark.clone());
        watch.stand().unwrap();
        let mut first = marked();
        let (mut guard, pipe) = watch.guard.take().unwrap();
        drop(pipe);
        first.wait().unwrap();
        let mut late = marked();
        assert!(!late.wait().unwrap().success());
        guard.wait().unwrap();
    }

    /// F-010: the one that takes the place of a killed guard knows all that it knew.
    #[test]
    fn a_guard_that_was_killed_is_replaced_by_one_that_knows_as_much() {
        let mut group = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let mut watch = Watch::new(Mark::new());
        watch.stand().unwrap();
        watch.add(Pid::from_child(&group)).unwrap();
        let (guard, _) = watch.guard.as_mut().unwrap();
        guard.kill().unwrap();
        watch.replace().unwrap();
        watch.release();
        assert!(!group.wait().unwrap().success());
    }

    /// L10
    #[test]
    fn guards_are_not_replaced_for_ever() {
        let mut watch = Watch::new(Mark::new());
        let replaced = (0..GUARDS_MAX * 2).map_while(|_| watch.replace().ok()).count();
        assert_eq!(replaced, GUARDS_MAX);
        watch.retire();
    }
}
