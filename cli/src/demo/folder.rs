//! A folder for the demo's cache and record, gone when the demo is.

use std::env;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process;

/// How many names are tried: somebody else's folder may have the first ones.
const ATTEMPTS: u32 = 100;

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder that only the user can read.
    ///
    /// # Errors
    /// If none can be made.
    pub(crate) fn new() -> io::Result<Self> {
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..ATTEMPTS {
            let path = path::absolute(env::temp_dir())?
                .join(format!("tidegate-demo-{}-{attempt}", process::id()));
            match create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the temporary directory is the system's to clean up.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
