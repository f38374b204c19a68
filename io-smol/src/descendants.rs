//! What still runs of our servers and of what they started, as `/proc` tells.
//!
//! Blocking, and off the loop. Where there is no `/proc`, nothing is found.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::mark::Mark;

/// How long a stray has after SIGTERM, and how long it may take to go after SIGKILL.
const STRAY_GRACE: Duration = Duration::from_millis(500);

/// How often a stray is looked for again.
const STRAY_PAUSE: Duration = Duration::from_millis(20);

/// The process groups that have a member that is not just waiting to be reaped; `None` if
/// nobody knows. In a container without a reaping init, ended orphans stay for good.
pub(crate) fn living_groups() -> Option<BTreeSet<i32>> {
    let mut groups = BTreeSet::new();
    groups.extend(processes()?.into_iter().filter_map(living_group));
    Some(groups)
}

/// The group of a process that is not just waiting to be reaped.
pub(crate) fn living_group(process: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    let (state, group) = state_and_group(&stat)?;
    (!matches!(state, b'Z' | b'X')).then_some(group)
}

/// Ends what carries the mark and is no child of ours any more: what left its server's process
/// group. First politely, then not, within a second.
pub(crate) fn sweep(mark: &Mark) {
    for signal in [Signal::TERM, Signal::KILL] {
        let mut strays = marked(mark);
        for stray in &strays {
            let _ = kill_process(*stray, signal);
        }
        let begun = Instant::now();
        while !strays.is_empty() && begun.elapsed() < STRAY_GRACE {
            thread::sleep(STRAY_PAUSE);
            strays = marked(mark);
        }
        if strays.is_empty() {
            return;
        }
    }
}

/// The living processes that carry the mark.
fn marked(mark: &Mark) -> Vec<Pid> {
    let lives = |process: &i32| mark.is_on(*process) && living_group(*process).is_some();
    let all = processes().unwrap_or_default().into_iter().filter(lives);
    all.filter_map(Pid::from_raw).collect()
}

fn processes() -> Option<Vec<i32>> {
    let entries = fs::read_dir("/proc").ok()?;
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Some(entries.filter_map(Result::ok).filter_map(number).collect())
}

/// From `pid (comm) state ppid pgrp …`, where `comm` is any text.
fn state_and_group(stat: &[u8]) -> Option<(u8, i32)> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_call_itself_anything() {
        assert_eq!(state_and_group(b"7 (a) Z 1 2) S 5 42 42 0"), Some((b'S', 42)));
        assert_eq!(state_and_group(b"7 (a"), None);
        assert_eq!(state_and_group(b""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn our_own_group_lives() {
        let own = rustix::process::getpgrp().as_raw_pid();
        assert!(living_groups().unwrap().contains(&own));
    }
}
