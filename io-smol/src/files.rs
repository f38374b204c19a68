//! Configuration files and the tool cache. Blocking; called off the loop.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tidegate_core::bytes::Bytes;
use tidegate_core::command::CacheKey;
use tidegate_core::config::Level;
use tidegate_core::input::{Found, Listed};

use crate::settings::unique;

/// Neither opening nor reading waits.
pub(crate) const NONBLOCK: i32 = OFlags::NONBLOCK.bits() as i32;

/// How large a cache entry may be: far beyond 10,000 tools.
const CACHE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How long a pipe or a terminal in place of a file may give nothing: `--config <(…)` may ask
/// somebody for a password first, and a pipe without a writer must not hold up a start for good.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// What may lie where something is to be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lies {
    /// Whatever can be read to its end: the user chose it.
    Anything,
    /// A file. A project may have put a pipe there, for everybody to wait at, or the name of the
    /// terminal or the standard input, whose content is meant for somebody else.
    File,
}

impl Lies {
    /// What may lie where somebody says that a configuration is.
    pub(crate) const fn at(level: Level) -> Self {
        if matches!(level, Level::Project) { Self::File } else { Self::Anything }
    }

    fn check(self, found: &Metadata) -> io::Result<()> {
        match self {
            // A folder says of itself that it is one.
            Self::File if !found.is_file() && !found.is_dir() => {
                Err(io::Error::other("it is no regular file"))
            }
            Self::File | Self::Anything => Ok(()),
        }
    }
}

/// Reads a configuration of at most `bytes_max` bytes, and says where it really lies.
pub(crate) fn read_config(path: &Path, lies: Lies, bytes_max: u64) -> (Option<String>, Found) {
    // What is read is what lies there, wherever the path leads a moment later.
    let origin = path.canonicalize().ok();
    let origin = origin.as_deref().and_then(Path::to_str);
    let found = read_within(origin.map_or(path, Path::new), lies, bytes_max, SILENCE_MAX);
    (origin.map(String::from), found)
}

/// Reads a whole file of at most `bytes_max` bytes.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Found {
    read_within(path, Lies::Anything, bytes_max, SILENCE_MAX)
}

/// What is in a folder, at most so many entries, the first ones by name.
pub(crate) fn list(folder: &Path, entries_max: u64) -> Listed {
    let listed = || {
        let mut names = BTreeSet::new();
        let mut surplus = 0;
        for entry in fs::read_dir(folder)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            names.insert(name);
            if names.len() as u64 > entries_max {
                names.pop_last();
                surplus += 1;
            }
        }
        Ok((names, surplus))
    };
    match listed() {
        Ok((names, surplus)) => Listed::Names { names: names.into_iter().collect(), surplus },
        Err(error) if is_nowhere(&error) => Listed::Nothing,
        Err(error) => Listed::Unreadable(error.to_string()),
    }
}

/// Whether there is nothing at a path; one through something that is no folder leads nowhere.
fn is_nowhere(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn read_within(path: &Path, lies: Lies, bytes_max: u64, silence_max: Duration) -> Found {
    let mut open = OpenOptions::new();
    // Opening a pipe would wait for its writer.
    let open = open.read(true).custom_flags(NONBLOCK);
    let opened = || {
        // Opening alone does something to some devices.
        lies.check(&fs::metadata(path)?)?;
        let file = open.open(path)?;
        lies.check(&file.metadata()?)?;
        read_all(&file, bytes_max, silence_max)
    };
    match opened() {
        Ok(Some(bytes)) => Found::Content(Bytes(bytes)),
        Ok(None) => Found::Unreadable(format!("larger than {bytes_max} bytes")),
        Err(error) if is_nowhere(&error) => Found::Nothing,
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

fn read_all(file: &File, bytes_max: u64, silence_max: Duration) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let mut rest = file.take(bytes_max.saturating_add(1));
    loop {
        await_readable(file, silence_max)?;
        match rest.read_to_end(&mut bytes) {
            Ok(_) => return Ok((bytes.len() as u64 <= bytes_max).then_some(bytes)),
            // What came before is in `bytes`.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

fn await_readable(file: &File, silence_max: Duration) -> io::Result<()> {
    let timeout = silence_max.try_into().map_err(io::Error::other)?;
    let mut wanted = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut wanted, Some(&timeout)) {
        Ok(0) => Err(io::Error::other(format!("nothing came within {silence_max:?}"))),
        // Interrupted: the read says whether something is there.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a directory, and those above it, that only its owner may look into.
pub(crate) fn create_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces a file as a whole: who reads it sees the old one or the new one, and only its owner
/// sees either.
pub(crate) fn replace(
    file: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let draft = file.with_file_name(format!(".{name}.{}.tmp", unique()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut draft| write(&mut draft))
        .and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Where tool lists are cached: one file for each, replaced as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The cache in `tools/` below a directory, neither of which need exist.
    pub(crate) fn below(dir: &Path) -> Self {
        Self { dir: dir.join("tools") }
    }

    /// An entry, and how many milliseconds ago it was written.
    pub(crate) fn read(&self, key: CacheKey) -> (Found, u64) {
        let file = self.file(key);
        let found = read(&file, CACHE_BYTES_MAX);
        let written = file.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        let age = age.and_then(|age| u64::try_from(age.as_millis()).ok());
        (found, age.unwrap_or(0))
    }

    /// Writes an entry so that a reader sees the old one or the new one, and only its owner
    /// sees either: descriptions of tools may tell what a user works on.
    pub(crate) fn write(&self, key: CacheKey, content: &[u8]) -> io::Result<()> {
        create_private(&self.dir)?;
        replace(&self.file(key), |draft| draft.write_all(content))
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, key: CacheKey) -> io::Result<()> {
        fs::remove_file(self.file(key))
    }

    fn file(&self, key: CacheKey) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tidegate_core::canon::Fingerprint;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        assert_eq!(read(&file, 3), Found::Nothing);
        assert_eq!(read(&file.join("x"), 3), Found::Nothing);
        fs::write(&file, "{ }").unwrap();
        assert_eq!(read(&file, 3), Found::Content("{ }".into()));
        assert_eq!(read(&file.join("x"), 3), Found::Nothing);
        assert_eq!(read(&file, 2), Found::Unreadable("larger than 2 bytes".into()));
        assert!(matches!(read(dir.path(), 3), Found::Unreadable(_)));
    }

    #[test]
    fn a_folder_is_listed_in_order_up_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(list(&dir.path().join("none"), 3), Listed::Nothing);
        for name in ["c.json", "a.json", "d.json", "b"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names = ["a.json", "b", "c.json"].map(String::from).into();
        assert_eq!(list(dir.path(), 3), Listed::Names { names, surplus: 1 });
        assert_eq!(list(&dir.path().join("b"), 3), Listed::Nothing);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_one_without_a_writer_does_not_hold_up_anything() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let silent = read_within(&pipe, Lies::Anything, 100_000, Duration::from_millis(10));
        assert_eq!(silent, Found::Unreadable("nothing came within 10ms".into()));
        let theirs = pipe.clone();
        let content = vec![b' '; 100_000];
        let wanted = Found::Content(Bytes(content.clone()));
        let writer = std::thread::spawn(move || fs::write(theirs, content));
        assert_eq!(read(&pipe, 100_000), wanted);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_project_has_nobody_wait_at_a_pipe_or_read_a_device() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&*pipe, &*link, Path::new("/dev/stdin"), Path::new("/dev/null")] {
            let (_, found) = read_config(path, Lies::at(Level::Project), 3);
            assert_eq!(found, Found::Unreadable("it is no regular file".into()), "{path:?}");
        }
        let null = read_config(Path::new("/dev/null"), Lies::at(Level::Explicit), 3);
        assert_eq!(null, (Some("/dev/null".into()), Found::Content("".into())));
    }

    #[test]
    fn a_cache_entry_is_replaced_and_removed_and_only_its_owner_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::below(&dir.path().join("new/cache"));
        let key = CacheKey::new(Fingerprint::of(b"a"));
        assert_eq!(cache.read(key), (Found::Nothing, 0));
        cache.write(key, b"one").unwrap();
        cache.write(key, b"two").unwrap();
        let (found, age) = cache.read(key);
        assert_eq!(found, Found::Content("two".into()));
        assert!(age < 60_000);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.file(key)), 0o600);
        assert_eq!(mode(&cache.dir), 0o700);
        assert_eq!(fs::read_dir(&cache.dir).unwrap().count(), 1, "no draft is left");
        cache.remove(key).unwrap();
        assert_eq!(cache.read(key).0, Found::Nothing);
    }
}
