//! The mark of a run: what every process has that descends from its servers, wherever it went.
//!
//! It is inherited twice. A variable of the environment carries the name of the run. And, on
//! Linux, a limit carries a number that is made from that name: the soft limit of real-time
//! processor time, whose unit is the microsecond and whose numbers here are centuries, so that
//! nothing ever meets it. A daemon that leaves its group, its session and its parents and empties
//! its environment still has its limits. It takes no privilege to set them or to read them, and a
//! process that is given one of them by somebody else keeps the variable.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustix::process::Pid;

use crate::settings::unique;

/// The environment variable that carries the marks of the runs a process descends from, joined
/// with `:` like a path: a server may be a runtime itself.
pub(crate) const MARK_VARIABLE: &str = "TIDEGATE_RUN";

/// Limits from here on are marks, or no limit: 146,000 years in microseconds.
const LIMIT_MIN: u64 = 1 << 62;

/// The mark of one run.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    name: String,
    limit: u64,
    /// The name after those of the runs that this process descends from.
    marks: String,
}

impl Mark {
    /// One that no other run has.
    pub(crate) fn new() -> Self {
        Self::named(unique())
    }

    fn named(name: String) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let limit = LIMIT_MIN | (hasher.finish() >> 2);
        let marks = match env::var(MARK_VARIABLE) {
            Ok(outer) if !outer.is_empty() => format!("{outer}:{name}"),
            _ => name.clone(),
        };
        Self { name, limit, marks }
    }

    /// What stands in the environment of this run's processes and of no other's.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The limit that this run's processes have and no other's.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// The variable for the environment of a process, and its value.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARK_VARIABLE, &self.marks)
    }

    /// Puts the limit on a process that has just been started, and so on all that it starts.
    /// Where that is not possible the variable has to do.
    pub(crate) fn put_on(&self, process: Pid) {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
            let Rlimit { current, maximum } = getrlimit(Resource::Rttime);
            // A limit that means something stays. The mark of an outer run gives way.
            if current.is_none_or(|current| current >= LIMIT_MIN)
                && maximum.is_none_or(|maximum| maximum >= self.limit)
            {
                let limit = Rlimit { current: Some(self.limit), maximum };
                let _ = prlimit(Some(process), Resource::Rttime, limit);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = process;
    }

    /// Whether a process carries it, as `/proc` tells. One that has ended and waits to be reaped
    /// still has its limits.
    pub(crate) fn is_on(&self, process: i32) -> bool {
        let read = |file: &str| fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
        self.is_in_environment(&read("environ")) || self.is_in_limits(&read("limits"))
    }

    fn is_in_environment(&self, environment: &[u8]) -> bool {
        let is_own = |mark: &[u8]| mark == self.name.as_bytes();
        let ours = |variable: &[u8]| {
            let value = variable.strip_prefix(MARK_VARIABLE.as_bytes());
            let marks = value.and_then(|rest| rest.strip_prefix(b"="));
            marks.is_some_and(|marks| marks.split(|byte| *byte == b':').any(is_own))
        };
        environment.split(|byte| *byte == 0).any(ours)
    }

    fn is_in_limits(&self, limits: &[u8]) -> bool {
        let limit = self.limit.to_string();
        limits.split(u8::is_ascii_whitespace).any(|word| word == limit.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_among_those_of_outer_runs_and_nowhere_else() {
        let is_in = |environment: &[u8], name: &str| {
            Mark::named(name.into()).is_in_environment(environment)
        };
        assert!(is_in(b"A=1\0TIDEGATE_RUN=outer:inner\0B=2\0", "inner"));
        assert!(is_in(b"A=1\0TIDEGATE_RUN=outer:inner\0B=2\0", "outer"));
        assert!(!is_in(b"A=inner\0TIDEGATE_RUN=outer\0", "inner"));
        assert!(!is_in(b"", "inner"));
    }

    #[test]
    fn a_limit_is_one_of_its_own_and_never_met() {
        let (one, other) = (Mark::new(), Mark::new());
        assert_ne!(one.limit(), other.limit());
        assert!(one.limit() >= LIMIT_MIN && one.limit() < u64::MAX / 2);
        let limits = format!("Max realtime timeout      {} unlimited us \n", one.limit());
        assert!(one.is_in_limits(limits.as_bytes()) && !other.is_in_limits(limits.as_bytes()));
    }

    /// F-010: also by one that has emptied its environment.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_limit_is_inherited_by_whoever_leaves_everything_else_behind() {
        use std::io::Read;
        use std::process::{Command, Stdio};

        use crate::descendants::{living_group, sweep};

        let mark = Mark::new();
        let mut shell = Command::new("sh")
            .args(["-c", "read -r go; env -i setsid sh -c 'echo $$; sleep 60' & exit"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        mark.put_on(Pid::from_child(&shell));
        drop(shell.stdin.take());
        let mut said = shell.stdout.take().unwrap();
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            said.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        shell.wait().unwrap();
        let daemon: i32 = String::from_utf8(line).unwrap().trim().parse().unwrap();
        assert!(mark.is_on(daemon) && !Mark::new().is_on(daemon));
        sweep(&mark);
        assert_eq!(living_group(daemon), None);
    }
}
