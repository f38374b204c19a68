//! Editing configuration files where they are: locked, read, edited and replaced as a whole.
//!
//! Blocking; what a file says before and after is the core's
//! ([`tidegate_core::config::edit`]).

use std::fmt;
use std::path::Path;
use std::slice;

use tidegate_core::config::edit::{self, Edit, EditError};
use tidegate_core::config::organisation::Organisation;
use tidegate_core::config::parse::{self, Reading};
use tidegate_core::config::source::Surroundings;
use tidegate_core::config::{Environment, Level, Places, Provider, Source, folder};
use tidegate_core::input::Found;
use tidegate_core::limits::Limits;

use crate::files::{self, Lies};
use crate::places::{ORGANISATION, environment};
use crate::whole_file::{FileError, update};

/// Why a configuration file was not edited. It is as it was.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigFileError {
    /// What was asked for cannot be done with what is in the file.
    Edit(EditError),
    /// The file cannot be read or written.
    File(FileError),
}

impl fmt::Display for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConfigFileError {}

impl From<FileError> for ConfigFileError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// What each of some files says, read like a run in these places reads it; each is followed by
/// the files that it leads to.
#[must_use]
pub fn read_all(places: &Places, sources: &[Source]) -> Vec<(Source, Reading)> {
    let environment = environment();
    let around = around(places, &environment);
    let bytes_max = Limits::default().config_bytes as u64;
    let entries_max = Limits::default().folder_entries as u64;
    let read = |source: &Source| match &source.text {
        Some(text) => parse::read_in(source, text, around),
        None if source.entries.is_some() => {
            folder::read(source, &files::list(Path::new(&source.path), entries_max))
        }
        None => {
            let lies = Lies::at(source.level);
            let (origin, found) = files::read_config(Path::new(&source.path), lies, bytes_max);
            parse::found_in(source, origin.as_deref(), &found, around)
        }
    };
    let mut all = Vec::new();
    // What comes next is the last.
    let mut next: Vec<Source> = sources.iter().rev().cloned().collect();
    while let Some(source) = next.pop() {
        let reading = read(&source);
        next.extend(reading.further.iter().rev().cloned());
        all.push((source, reading));
    }
    all
}

fn around<'a>(places: &'a Places, environment: &'a Environment) -> Surroundings<'a> {
    Surroundings { environment, project: &places.cwd, home: places.home.as_deref() }
}

/// What a file would say, read like a run in these places reads it, after a change to it as a
/// file that the user named; `None` if it cannot be changed so. Nothing is written.
#[must_use]
pub fn preview(places: &Places, source: &Source, change: &Edit) -> Option<Reading> {
    let bytes_max = Limits::default().config_bytes as u64;
    let lies = Lies::at(source.level);
    let (_, found) = files::read_config(Path::new(&source.path), lies, bytes_max);
    let Found::Content(bytes) = found else { return None };
    let named = Source::file(Provider::Explicit, Level::Explicit, source.path.clone());
    let edited = edit::edit(&named, &bytes, change).ok()?;
    Some(parse::read_in(source, &edited, around(places, &environment())))
}

/// How a person makes a change to a file that is read and not edited: what to write on which
/// line; see [`edit::by_hand`].
#[must_use]
pub fn by_hand(source: &Source, change: &Edit) -> String {
    let bytes_max = Limits::default().config_bytes as u64;
    let (_, found) = files::read_config(Path::new(&source.path), Lies::at(source.level), bytes_max);
    let bytes = if let Found::Content(bytes) = found { bytes.0 } else { Vec::new() };
    edit::by_hand(source, &bytes, change)
}

/// What the organisation that runs this machine allows and forbids.
#[must_use]
pub fn organisation() -> Organisation {
    let bytes_max = Limits::default().config_bytes as u64;
    Organisation::read(ORGANISATION, &files::read(Path::new(ORGANISATION), bytes_max))
}

/// Makes one change to a file, which need not exist; whether it changed anything. When this
/// returns the change is on disk, after every earlier one of whichever process (G57).
///
/// # Errors
/// If the file cannot be changed so, or not at all.
pub fn edit(source: &Source, change: &Edit) -> Result<bool, ConfigFileError> {
    edit_all(source, slice::from_ref(change))
}

/// Makes changes to a file one after the other, all of them or none, as [`edit()`] makes one.
///
/// # Errors
/// If the file cannot be changed so, or not at all; none of the changes is made then.
pub fn edit_all(source: &Source, changes: &[Edit]) -> Result<bool, ConfigFileError> {
    let bytes_max = Limits::default().config_bytes as u64;
    let edited = |bytes: &[u8]| {
        let next = |bytes: Vec<u8>, change| edit::edit(source, &bytes, change);
        changes.iter().try_fold(bytes.to_vec(), next).map_err(ConfigFileError::Edit)
    };
    update(Path::new(&source.path), bytes_max, edited)
}
