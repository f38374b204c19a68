//! Which processes of a recorded run are left.

use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process, test_kill_process_group};
use tidegate_core::input::{Fact, Input};
use tidegate_core::trace::TraceLine;

use crate::exit::Trouble;
use crate::trace_file;

/// The processes that were started in a run and of which anything is left: the process itself
/// or another one of its group.
///
/// # Errors
/// If the record cannot be read.
pub(crate) fn left(trace: &Path) -> Result<Left, Trouble> {
    let started: Vec<u32> = trace_file::read(trace)?.iter().filter_map(started).collect();
    let alive = started.iter().copied().filter(|pid| is_left(*pid)).collect();
    Ok(Left { started: started.len(), alive })
}

/// How many processes were started, and which are left.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// How many were started.
    pub(crate) started: usize,
    /// Those of which anything is left.
    pub(crate) alive: Vec<u32>,
}

fn started(line: &TraceLine) -> Option<u32> {
    match line {
        TraceLine::Input { input: Input::Io(Fact::Opened { pid, .. }), .. } => *pid,
        TraceLine::Head { .. }
        | TraceLine::Input { .. }
        | TraceLine::Tick { .. }
        | TraceLine::Command { .. }
        | TraceLine::Event { .. } => None,
    }
}

fn is_left(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // Only "no such process" proves that nothing is there.
    test_kill_process(pid) != Err(Errno::SRCH) || test_kill_process_group(pid) != Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_process_is_left() {
        assert!(is_left(std::process::id()));
    }
}
