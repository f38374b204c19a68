//! Processes as the system sees them, found by a mark in their environment (Linux).

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The variable that marks the processes of one test. Children inherit it, so it finds a
/// grandchild in another process group or session too.
pub const MARK: &str = "TIDEGATE_TEST_MARK";

/// A program of this package, as cargo built it for the test that runs.
///
/// # Panics
/// If the test was not started by cargo.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let folder = test.ancestors().nth(2).expect("target/PROFILE");
    folder.join(name)
}

/// The live processes with this mark, zombies left out: their environment is gone.
#[must_use]
pub fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    })
    .collect()
}

/// Waits until no process with this mark is left; what is left after the limit.
#[must_use]
pub fn marked_after(mark: &str, limit: Duration) -> Vec<u32> {
    let end = Instant::now() + limit;
    loop {
        let left = marked(mark);
        if left.is_empty() || Instant::now() > end {
            return left;
        }
        sleep(Duration::from_millis(10));
    }
}

/// Waits until there are this many processes with this mark, for ten seconds at most.
///
/// # Panics
/// Then.
pub fn await_marked(mark: &str, count: usize) {
    let end = Instant::now() + Duration::from_secs(10);
    while marked(mark).len() < count {
        assert!(Instant::now() < end, "{count} processes wanted: {:?}", marked(mark));
        sleep(Duration::from_millis(5));
    }
}

/// The processes this one has started and that were not waited for: living ones and zombies.
#[must_use]
pub fn children() -> Vec<u32> {
    let parent = std::process::id().to_string();
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name, which may hold anything: the state and the parent.
        let rest = stat.rsplit_once(") ").map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split(' ').nth(1)) == Some(&parent)
    })
    .collect()
}

/// The command lines of processes, for a message.
#[must_use]
pub fn describe(pids: &[u32]) -> String {
    let line = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("{pid}: {}", String::from_utf8_lossy(&words).replace('\0', " "))
    };
    pids.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Ends processes that a failed test left behind.
pub(crate) fn end(pids: &[u32]) {
    for pid in pids {
        let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
}
