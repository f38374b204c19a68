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
use tidegate_core::command::{Filled, Launch};
use tidegate_core::error::{OpenError, WhosePath};
use tidegate_core::input::Found as Read;

use crate::files;
use crate::mark::Mark;

/// How large a file of variables may be.
const ENV_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The `PATH` of a host that has none, as POSIX systems have it.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is to be run: as it is filled, and as it is written, which is what may be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) written: Launch,
    pub(crate) filled: Filled,
}

impl Program {
    /// The command in words that may be shown.
    pub(crate) fn shown(&self) -> String {
        self.written.command.to_string()
    }

    /// The directory in words that may be shown.
    fn shown_directory(&self, cwd: &Path) -> String {
        match &self.written.cwd {
            Some(written) if written.plain().is_none() => written.to_string(),
            _ => cwd.display().to_string(),
        }
    }
}

/// What a launch is resolved against.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The runtime's working directory, absolute.
    pub(crate) cwd: PathBuf,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
    /// The host's `PATH`.
    pub(crate) path: Option<OsString>,
    /// Put on every server, to find what descends from it.
    pub(crate) mark: Mark,
}

impl Surroundings {
    /// Those of this process, with servers starting in `cwd`.
    pub(crate) fn of_process(cwd: &str, mark: Mark) -> Self {
        let cwd = std::path::absolute(cwd).or_else(|_| env::current_dir());
        Self {
            cwd: cwd.unwrap_or_else(|_| PathBuf::from("/")),
            home: crate::places::home(),
            path: env::var_os("PATH"),
            mark,
        }
    }

    /// A command that is run for its output.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        let (name, value) = self.mark.variable();
        command.args(["-c", line]).current_dir(&self.cwd).env(name, value);
        piped(&mut command);
        command
    }

    /// The program to start, with everything but its standard streams' other ends. Whether it
    /// and its directory are there is found out by starting it; if that fails,
    /// [`fault`](Self::fault) says why.
    pub(crate) fn command(&self, program: &Program) -> Result<Command, OpenError> {
        let cwd = self.directory(&program.filled);
        let found = match self.path_of(&program.filled, &cwd) {
            Some(path) => path,
            None => self.look_up(program, &cwd)?,
        };
        let mut command = Command::new(found);
        command.args(&program.filled.args).current_dir(cwd);
        for name in &program.filled.env_unset {
            command.env_remove(name);
        }
        command.envs(self.variables_of_file(program)?);
        let (name, value) = self.mark.variable();
        command.envs(&program.filled.env).env(name, value);
        piped(&mut command);
        Ok(command)
    }

    /// What is wrong with a launch, as far as the files tell.
    pub(crate) fn fault(&self, program: &Program) -> Option<OpenError> {
        let cwd = self.directory(&program.filled);
        if !cwd.is_dir() {
            return Some(OpenError::NoDirectory { cwd: program.shown_directory(&cwd) });
        }
        let Some(found) = self.path_of(&program.filled, &cwd) else {
            return self.look_up(program, &cwd).err();
        };
        match is_program(&found) {
            Found::Program => None,
            Found::Other => Some(OpenError::NotExecutable { command: program.shown() }),
            Found::Nothing if self.expand_home(&program.filled.command).is_absolute() => {
                Some(not_found(&program.shown(), "", WhosePath::Host))
            }
            Found::Nothing => {
                let cwd = program.shown_directory(&cwd);
                Some(not_found(&program.shown(), &cwd, WhosePath::Directory))
            }
        }
    }

    /// What stands in the server's file of variables, if it has one.
    fn variables_of_file(&self, program: &Program) -> Result<Vec<(String, String)>, OpenError> {
        let (Some(file), Some(written)) = (&program.filled.env_file, &program.written.env_file)
        else {
            return Ok(Vec::new());
        };
        let path = self.directory(&program.filled).join(self.expand_home(file));
        let why = match files::read(&path, ENV_FILE_BYTES_MAX) {
            Read::Content(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => return Ok(text.lines().filter_map(variable).collect()),
                Err(_) => "it is no text".into(),
            },
            Read::Nothing => "it is not there".into(),
            Read::Unreadable(why) => why,
        };
        Err(OpenError::Other { message: format!("the file of variables {written}: {why}") })
    }

    /// The server's working directory: relative to the runtime's, which is also the default
    /// (F-018, F-019).
    fn directory(&self, filled: &Filled) -> PathBuf {
        match &filled.cwd {
            Some(cwd) => self.cwd.join(self.expand_home(cwd)),
            None => self.cwd.clone(),
        }
    }

    /// A command that is a path, relative to the server's working directory.
    fn path_of(&self, filled: &Filled, cwd: &Path) -> Option<PathBuf> {
        let named = self.expand_home(&filled.command);
        let is_path = named.as_os_str().as_encoded_bytes().contains(&b'/');
        is_path.then(|| cwd.join(named))
    }

    /// A command that is a name, in `PATH`.
    fn look_up(&self, program: &Program, cwd: &Path) -> Result<PathBuf, OpenError> {
        let command = &program.filled.command;
        let own = program.filled.env.get("PATH").map(OsStr::new);
        let path = own.or(self.path.as_deref()).unwrap_or_else(|| OsStr::new(PATH_DEFAULT));
        let mut blocked = false;
        for dir in env::split_paths(path) {
            let file = cwd.join(dir).join(command);
            match is_program(&file) {
                Found::Program => return Ok(file),
                Found::Other => blocked = true,
                Found::Nothing => {}
            }
        }
        if blocked && !command.is_empty() {
            return Err(OpenError::NotExecutable { command: program.shown() });
        }
        Err(match program.written.env.get("PATH") {
            Some(own) => not_found(&program.shown(), &own.to_string(), WhosePath::Entry),
            None => not_found(&program.shown(), &path.to_string_lossy(), WhosePath::Host),
        })
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

/// A line `NAME=value` of a file of variables: `export` before it and quotes around the value do
/// not count, and neither do comments and lines without a name. Nothing in it is filled in.
fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim_end(), value.trim());
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) || value.contains('\0') {
        return None;
    }
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote)));
    Some((name.into(), quoted.unwrap_or(value).into()))
}

/// The error for a program that was found and still could not be started.
pub(crate) fn refused(program: &Program, found: &Path, error: &std::io::Error) -> OpenError {
    let program = match program.written.command.plain() {
        Some(_) => found.display().to_string(),
        None => program.shown(),
    };
    let message = if error.kind() == ErrorKind::NotFound {
        // The file was there a moment ago: what is missing is what its first line names, or
        // the loader of a program for another system.
        format!("{program}: its interpreter is missing")
    } else {
        format!("{program}: {error}")
    };
    OpenError::Other { message }
}

fn not_found(command: &str, searched: &str, whose: WhosePath) -> OpenError {
    let searched = searched.into();
    OpenError::CommandNotFound { command: without_arguments(command), searched, whose }
}

/// Gives a command pipes for its streams and a group of its own.
fn piped(command: &mut Command) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
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
