//! Changing a file as a whole: one process at a time, old or new at every instant (G57).
//!
//! The lock is on the folder, so it leaves nothing behind and is the same one for everybody,
//! whatever their environment says. Blocking.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::settings::unique;
use crate::signals::bear_file_limit;

/// How long another process may keep the lock.
const LOCK_MAX: Duration = Duration::from_secs(10);
/// How long is waited between two looks at a lock that somebody has.
const LOCK_PAUSE: Duration = Duration::from_millis(2);
/// How many symbolic links may lead to the file, as on Linux.
const LINKS_MAX: usize = 40;
/// How often a change is made anew because somebody without the lock wrote meanwhile.
const ATTEMPTS_MAX: usize = 16;
/// How a name of a file that is being written ends.
const DRAFT: &str = ".tidegate-draft";

/// Why a file could not be changed. It is as it was.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The system did not let us.
    System {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done with it.
        doing: Doing,
        /// What the system said.
        error: io::Error,
    },
    /// It is larger than this many bytes.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        bytes_max: u64,
    },
    /// It is no file.
    NoFile {
        /// What is there.
        path: PathBuf,
    },
    /// Its owner may not write it.
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// Another process changes files in that folder and does not get done, or keeps writing.
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// What was to be done with a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Doing {
    /// Finding, opening or reading it.
    Reading,
    /// Locking its folder.
    Locking,
    /// Making or replacing it.
    Writing,
}

impl FileError {
    /// What the system said, if it was the system.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::System { error, .. } => Some(error.kind()),
            Self::TooLarge { .. } | Self::NoFile { .. } | Self::Protected { .. } => None,
            Self::Busy { .. } => None,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { path, doing, error } => {
                let done = match doing {
                    Doing::Reading => "read",
                    Doing::Locking => "locked",
                    Doing::Writing => "written",
                };
                write!(f, "{} cannot be {done}: {error}", path.display())
            }
            Self::TooLarge { path, bytes_max } => {
                write!(f, "{} is larger than {bytes_max} bytes", path.display())
            }
            Self::NoFile { path } => write!(f, "{} is no file", path.display()),
            Self::Protected { path } => {
                write!(f, "{} is write-protected; allow its owner to write it", path.display())
            }
            Self::Busy { path } => {
                write!(f, "{} is being changed by another process; try again", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let busy = matches!(error, FileError::Busy { .. });
        let other = if busy { ErrorKind::WouldBlock } else { ErrorKind::Other };
        Self::new(error.kind().unwrap_or(other), error)
    }
}

/// Changes a file under a lock: `change` gets its bytes, none if it does not exist, and gives its
/// new ones. Symbolic links are followed to what they name. A folder that does not exist is made
/// for its owner alone, and so is the file; a file that exists loses what others may do with it.
/// Whether anything was written: the same bytes are not.
///
/// # Errors
/// What `change` says, or [`FileError`]; the file is as it was then.
pub fn update<E: From<FileError>>(
    path: &Path,
    bytes_max: u64,
    change: impl Fn(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<bool, E> {
    let file = followed(path)?;
    bear_file_limit().map_err(|error| system(&file, Doing::Writing, error))?;
    let folder = file.parent().unwrap_or_else(|| Path::new("/"));
    if !folder.exists() {
        // What is refused makes no folder either.
        change(&[])?;
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| system(folder, Doing::Writing, error))?;
    // Dropping it unlocks.
    let locked = lock(folder, &file)?;
    sweep(folder, &file);
    for _ in 0..ATTEMPTS_MAX {
        let old = Old::read(&file, bytes_max)?;
        let new = change(&old.bytes)?;
        if new == old.bytes && old.metadata.is_some() {
            return Ok(false);
        }
        if replace(&file, &old, &new)? {
            // The name is safe once its folder is.
            let _ = locked.sync_all();
            return Ok(true);
        }
    }
    Err(FileError::Busy { path: file }.into())
}

fn system(path: &Path, doing: Doing, error: io::Error) -> FileError {
    FileError::System { path: path.to_owned(), doing, error }
}

/// The file that a path names, which need not exist.
fn followed(path: &Path) -> Result<PathBuf, FileError> {
    let reading = |error| system(path, Doing::Reading, error);
    let mut at = std::path::absolute(path).map_err(reading)?;
    for _ in 0..LINKS_MAX {
        match fs::read_link(&at) {
            Ok(target) => {
                let folder = at.parent().unwrap_or_else(|| Path::new("/"));
                at = folder.join(target);
            }
            // It is no link, or there is nothing.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(at);
            }
            Err(error) => return Err(reading(error)),
        }
    }
    Err(reading(io::Error::other("too many symbolic links")))
}

fn lock(folder: &Path, file: &Path) -> Result<File, FileError> {
    let locking = |error| system(folder, Doing::Locking, error);
    let opened = File::open(folder).map_err(locking)?;
    match wait_for_lock(&opened, LOCK_MAX) {
        Ok(()) => Ok(opened),
        Err(TryLockError::Error(error)) => Err(locking(error)),
        Err(TryLockError::WouldBlock) => Err(FileError::Busy { path: file.to_owned() }),
    }
}

/// Takes the lock on an open file or folder, unless another process keeps it for `longest`.
fn wait_for_lock(opened: &File, longest: Duration) -> Result<(), TryLockError> {
    let end = Instant::now() + longest;
    loop {
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(LOCK_PAUSE),
            done => return done,
        }
    }
}

/// Removes what writers of this file left that were killed: whoever has the lock is alone.
fn sweep(folder: &Path, file: &Path) {
    let Some(name) = file.file_name() else { return };
    let begins = draft_begins(name);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let left = entry.file_name();
        let left = left.to_string_lossy();
        if left.starts_with(&begins) && left.ends_with(DRAFT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn draft_begins(name: &OsStr) -> String {
    format!(".{}.", name.to_string_lossy())
}

/// A file as it was found.
struct Old {
    bytes: Vec<u8>,
    /// `None` if there is none.
    metadata: Option<Metadata>,
}

impl Old {
    fn read(file: &Path, bytes_max: u64) -> Result<Self, FileError> {
        let reading = |error| system(file, Doing::Reading, error);
        // Opening something else may wait, so it is looked at first.
        let metadata = match fs::symlink_metadata(file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { bytes: Vec::new(), metadata: None });
            }
            Err(error) => return Err(reading(error)),
        };
        if !metadata.is_file() {
            return Err(FileError::NoFile { path: file.to_owned() });
        }
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(reading)?;
        opened.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(reading)?;
        if bytes.len() as u64 > bytes_max {
            return Err(FileError::TooLarge { path: file.to_owned(), bytes_max });
        }
        Ok(Self { bytes, metadata: Some(metadata) })
    }

    /// Whether the file is still the one that was found, as far as its metadata tells.
    fn is_current(&self, file: &Path) -> bool {
        let seen = |metadata: &Metadata| {
            (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
        };
        fs::symlink_metadata(file).ok().as_ref().map(seen) == self.metadata.as_ref().map(seen)
    }
}

/// Replaces a file; `false` if it is not the old one any more.
fn replace(file: &Path, old: &Old, new: &[u8]) -> Result<bool, FileError> {
    let writing = |error| system(file, Doing::Writing, error);
    let mode = old.metadata.as_ref().map_or(0o600, |metadata| metadata.mode() & 0o600);
    if mode & 0o200 == 0 {
        return Err(FileError::Protected { path: file.to_owned() });
    }
    let name = draft_begins(file.file_name().unwrap_or_default());
    let draft = file.with_file_name(format!("{name}{}{DRAFT}", unique()));
    let written = write_draft(&draft, old, mode, new).and_then(|()| {
        let current = old.is_current(file);
        if current { fs::rename(&draft, file).map(|()| true) } else { Ok(false) }
    });
    if !matches!(written, Ok(true)) {
        let _ = fs::remove_file(&draft);
    }
    written.map_err(writing)
}

fn write_draft(draft: &Path, old: &Old, mode: u32, new: &[u8]) -> io::Result<()> {
    let mut open = OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(new)?;
    if let Some(was) = &old.metadata {
        let is = file.metadata()?;
        // `sudo` must not take a file away from its owner.
        if (is.uid(), is.gid()) != (was.uid(), was.gid()) {
            fchown(&file, Some(was.uid()), Some(was.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

#[cfg(test)]
#[path = "whole_file_tests.rs"]
mod tests;
