//! What the user approved of what projects brought along: a file in the state directory.
//!
//! Blocking; called off the loop. Two processes that grant at once both have their way: a lock
//! is held from reading the file to replacing it.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::approval::Approval;
use tidegate_core::input::Found;

use crate::files::read;
use crate::whole_file::update;

/// The form of the file. Another one is not read, and never overwritten.
const VERSION: u32 = 1;

/// How large the file may be: far beyond 10,000 approvals.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The user's approvals, in `approvals.json` in a directory that need not exist.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Approvals {
    dir: PathBuf,
}

/// One approval, with what it was given for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Granted {
    /// What was approved; the rest is for people.
    pub approval: Approval,
    /// The name of the server. Untrusted text.
    pub server: String,
    /// The file that it was defined in. Untrusted text.
    pub file: String,
    /// What it would do as it was shown when it was approved, to tell later what changed; empty
    /// where that may hold a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct Content {
    version: u32,
    approvals: Vec<Granted>,
}

impl Approvals {
    /// The approvals below a state directory.
    #[must_use]
    pub fn below(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The file they are in.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.dir.join("approvals.json")
    }

    /// All of them, the oldest first; none if there is no file or nothing in it.
    ///
    /// # Errors
    ///
    /// If the file is there and is not one of this version that can be read.
    pub fn list(&self) -> io::Result<Vec<Granted>> {
        match read(&self.file(), BYTES_MAX) {
            Found::Nothing => Ok(Vec::new()),
            Found::Unreadable(why) => {
                Err(io::Error::other(format!("{}: {why}", self.file().display())))
            }
            Found::Content(content) => self.parse(&content),
        }
    }

    /// Approves these too. A running runtime heeds it at its next reload.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or replaced, or another process holds its lock for seconds.
    pub fn grant(&self, granted: Vec<Granted>) -> io::Result<()> {
        self.change(|approvals| {
            for new in &granted {
                approvals.retain(|old| old.approval != new.approval);
                approvals.push(new.clone());
            }
        })
    }

    /// Takes back every approval that `which` holds for, and says which those were. What runs
    /// goes on until the next reload.
    ///
    /// # Errors
    ///
    /// As for [`grant`](Self::grant).
    pub fn revoke(&self, which: impl Fn(&Granted) -> bool) -> io::Result<Vec<Granted>> {
        self.change(|approvals| approvals.extract_if(.., |old| which(old)).collect())
    }

    /// Changes them all at once; what `change` gives for the approvals that are there.
    fn change<T>(&self, change: impl Fn(&mut Vec<Granted>) -> T) -> io::Result<T> {
        let given = Cell::new(None);
        update(&self.file(), BYTES_MAX, |bytes| {
            let mut approvals = self.parse(bytes)?;
            // Somebody may have written meanwhile; then the next time counts.
            given.set(Some(change(&mut approvals)));
            Ok::<_, io::Error>(serde_json::to_vec_pretty(&Content { version: VERSION, approvals })?)
        })?;
        let none = || io::Error::other("the approvals were not changed");
        given.into_inner().ok_or_else(none)
    }

    fn parse(&self, bytes: &[u8]) -> io::Result<Vec<Granted>> {
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let said = |why: String| io::Error::other(format!("{}: {why}", self.file().display()));
        let content: Content =
            serde_json::from_slice(bytes).map_err(|error| said(error.to_string()))?;
        if content.version != VERSION {
            return Err(said(format!("version {}; only {VERSION} is known", content.version)));
        }
        Ok(content.approvals)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::thread;

    use super::*;

    fn granted(name: &str) -> Granted {
        let approval = Approval::of(name.as_bytes());
        Granted { approval, server: name.into(), file: "/p/.mcp.json".into(), shown: Vec::new() }
    }

    #[test]
    fn what_is_granted_is_listed_until_it_is_revoked_and_only_its_owner_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let approvals = Approvals::below(dir.path().join("new/state"));
        assert_eq!(approvals.list().unwrap(), []);
        approvals.grant(vec![granted("a"), granted("b")]).unwrap();
        approvals.grant(vec![granted("a")]).unwrap();
        assert_eq!(approvals.list().unwrap(), [granted("b"), granted("a")]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&approvals.file()), 0o600);
        assert_eq!(mode(&approvals.dir), 0o700);
        let revoked = approvals.revoke(|granted| granted.server == "b").unwrap();
        assert_eq!(revoked, [granted("b")]);
        assert_eq!(approvals.list().unwrap(), [granted("a")]);
    }

    #[test]
    fn a_file_that_is_not_understood_approves_nothing_and_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let approvals = Approvals::below(dir.path());
        for text in ["[]", "{\"version\":2,\"approvals\":[]}", "{\"version\":1}"] {
            fs::write(approvals.file(), text).unwrap();
            assert!(approvals.list().is_err(), "{text}");
            assert!(approvals.grant(vec![granted("a")]).is_err(), "{text}");
            assert_eq!(fs::read_to_string(approvals.file()).unwrap(), text);
        }
    }

    /// G57.
    #[test]
    fn grants_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let approvals = &Approvals::below(dir.path());
        thread::scope(|scope| {
            for who in 0..4 {
                scope.spawn(move || {
                    for n in 0..25 {
                        approvals.grant(vec![granted(&format!("{who}-{n}"))]).unwrap();
                    }
                });
            }
        });
        assert_eq!(approvals.list().unwrap().len(), 100);
    }
}
