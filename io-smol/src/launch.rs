//! From a launch as configured to a program that can be started: which file, where, with which
//! environment.
//!
//! The program is looked up here and not by the operating system, so that a failure can say
//! what was searched (F-016) and so that the entry's own `PATH` counts.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Access, access};
use tidegate_core::command::Launch;
use tidegate_core::error::{OpenError, WhosePath};

/// The `PATH` of a host that has none, as POSIX systems have it.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a launch is resolved against.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The runtime's working directory, absolute.
    pub(crate) cwd: PathBuf,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
    /// The host's `PATH`.
    pub(crate) path: Option<OsString>,
    /// Set in the environment of every server, to find what descends from it.
    pub(crate) mark: (&'static str, String),
}

impl Surroundings {
    /// Those of this process, with servers starting in `cwd`.
    pub(crate) fn of_process(cwd: &str, mark: (&'static str, String)) -> Self {
        let cwd = std::path::absolute(cwd).or_else(|_| env::current_dir());
        Self {
            cwd: cwd.unwrap_or_else(|_| PathBuf::from("/")),
            home: crate::places::home(),
            path: env::var_os("PATH"),
            mark,
        }
    }

    /// The program to start, with everything but its standard streams' other ends. Whether it
    /// and its directory are there is found out by starting it; if that fails,
    /// [`fault`](Self::fault) says why.
    pub(crate) fn command(&self, launch: &Launch) -> Result<Command, OpenError> {
        let cwd = self.directory(launch);
        let program = match self.path_of(launch, &cwd) {
            Some(program) => program,
            None => self.look_up(launch, &cwd)?,
        };
        let mut command = Command::new(program);
        command
            .args(&launch.args)
            .current_dir(cwd)
            .envs(&launch.env)
            .env(self.mark.0, &self.mark.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        Ok(command)
    }

    /// What is wrong with a launch, as far as the files tell.
    pub(crate) fn fault(&self, launch: &Launch) -> Option<OpenError> {
        let cwd = self.directory(launch);
        if !cwd.is_dir() {
            return Some(OpenError::NoDirectory { cwd: cwd.display().to_string() });
        }
        let Some(program) = self.path_of(launch, &cwd) else {
            return self.look_up(launch, &cwd).err();
        };
        let command = &launch.command;
        match is_program(&program) {
            Found::Program => None,
            Found::Other => Some(OpenError::NotExecutable { command: command.clone() }),
            Found::Nothing if self.expand_home(command).is_absolute() => {
                Some(not_found(command, OsStr::new(""), WhosePath::Host))
            }
            Found::Nothing => Some(not_found(command, cwd.as_os_str(), WhosePath::Directory)),
        }
    }

    /// The server's working directory: relative to the runtime's, which is also the default
    /// (F-018, F-019).
    fn directory(&self, launch: &Launch) -> PathBuf {
        match &launch.cwd {
            Some(cwd) => self.cwd.join(self.expand_home(cwd)),
            None => self.cwd.clone(),
        }
    }

    /// A command that is a path, relative to the server's working directory.
    fn path_of(&self, launch: &Launch, cwd: &Path) -> Option<PathBuf> {
        let named = self.expand_home(&launch.command);
        let is_path = named.as_os_str().as_encoded_bytes().contains(&b'/');
        is_path.then(|| cwd.join(named))
    }

    /// A command that is a name, in `PATH`.
    fn look_up(&self, launch: &Launch, cwd: &Path) -> Result<PathBuf, OpenError> {
        let command = &launch.command;
        let own = launch.env.get("PATH").map(OsStr::new);
        let path = own.or(self.path.as_deref()).unwrap_or_else(|| OsStr::new(PATH_DEFAULT));
        let mut blocked = false;
        for dir in env::split_paths(path) {
            let program = cwd.join(dir).join(command);
            match is_program(&program) {
                Found::Program => return Ok(program),
                Found::Other => blocked = true,
                Found::Nothing => {}
            }
        }
        if blocked && !command.is_empty() {
            Err(OpenError::NotExecutable { command: command.clone() })
        } else {
            let whose = if own.is_some() { WhosePath::Entry } else { WhosePath::Host };
            Err(not_found(command, path, whose))
        }
    }

    /// `~` and `~/…` are the home directory; other users' homes are not looked up.
    fn expand_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(path),
        }
    }
}

/// The error for a program that was found and still could not be started.
pub(crate) fn refused(program: &Path, error: &std::io::Error) -> OpenError {
    let program = program.display();
    let message = if error.kind() == ErrorKind::NotFound {
        // The file was there a moment ago: what is missing is what its first line names, or
        // the loader of a program for another system.
        format!("{program}: its interpreter is missing")
    } else {
        format!("{program}: {error}")
    };
    OpenError::Other { message }
}

fn not_found(command: &str, path: &OsStr, whose: WhosePath) -> OpenError {
    let searched = path.to_string_lossy().into_owned();
    OpenError::CommandNotFound { command: without_arguments(command), searched, whose }
}

/// A command that was written with its arguments in it (F-023), cut before the first thing that
/// could be a secret: errors are shown, logged and recorded (G67).
fn without_arguments(command: &str) -> String {
    let is_argument = |word: &&str| word.starts_with('-') || word.contains('=');
    match command.split_whitespace().find(is_argument).and_then(|word| command.split_once(word)) {
        Some((kept, _)) => format!("{kept}…"),
        None => command.to_owned(),
    }
}

enum Found {
    Program,
    Other,
    Nothing,
}

fn is_program(file: &Path) -> Found {
    match file.metadata() {
        Ok(metadata) if metadata.is_file() && access(file, Access::EXEC_OK).is_ok() => {
            Found::Program
        }
        Ok(_) => Found::Other,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Found::Other,
        Err(_) => Found::Nothing,
    }
}

#[cfg(test)]
#[path = "launch/tests.rs"]
mod tests;
