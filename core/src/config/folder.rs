//! A folder → the files in it.
//!
//! Floor 2. May import floors 0 and 1. Some tools keep each server, or each extension, in a file
//! of its own. Such a folder leads to its files as a registry of plugins does.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::parse::Reading;
use super::report::{About, Report};
use super::source::Source;
use crate::error::Category;
use crate::input::Listed;

/// Which files a folder leads to. What begins with a dot is hidden and no such file.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Entries {
    /// The files in it whose names end like one of these: `.json`.
    Ending(Vec<String>),
    /// The file of this name in each folder in it.
    Each(String),
}

impl Entries {
    /// A path as it stands in the list of tools: the folder, and which files in it are meant if
    /// it is one. `/*.{yaml,json}` and `/*/file` stand for them at its end.
    pub(super) fn split(place: &str) -> (&str, Option<Self>) {
        let Some((folder, rest)) = place.split_once("/*") else { return (place, None) };
        let entries = rest.strip_prefix('/').map_or_else(
            || {
                let ends = rest.trim_start_matches('.').trim_matches(['{', '}']).split(',');
                Self::Ending(ends.map(|end| format!(".{end}")).collect())
            },
            |file| Self::Each(file.into()),
        );
        (folder, Some(entries))
    }

    /// Where in the path of a file the folder ends that leads to it.
    pub(super) fn folder_of(&self, path: &str) -> Option<usize> {
        let (above, name) = path.rsplit_once('/')?;
        match self {
            Self::Ending(_) => self.path(name).map(|_| above.len()),
            Self::Each(file) => {
                let (folder, _) = above.rsplit_once('/').filter(|_| name == file)?;
                Some(folder.len())
            }
        }
    }

    /// The path from the folder to the file that an entry of it stands for.
    fn path(&self, name: &str) -> Option<String> {
        if name.starts_with('.') || name.contains(['/', '\\']) {
            return None;
        }
        match self {
            Self::Ending(ends) => {
                ends.iter().any(|end| name.ends_with(end)).then(|| name.to_string())
            }
            Self::Each(file) => Some(format!("{name}/{file}")),
        }
    }
}

/// What a folder says: which files it leads to, in the order of their names, or that it cannot
/// be listed.
#[must_use]
pub fn read(source: &Source, listed: &Listed) -> Reading {
    let mut report = Report::of(&source.path);
    let mut further = Vec::new();
    match (listed, &source.entries) {
        (Listed::Nothing, _) | (_, None) => {}
        (Listed::Unreadable(why), Some(_)) => {
            let message = format!("{} cannot be listed: {why}", source.path);
            report.error(About::default(), Category::UnreadableFile, message);
        }
        (Listed::Names { names, surplus }, Some(entries)) => {
            let names: BTreeSet<&String> = names.iter().collect();
            further.extend(names.into_iter().filter_map(|name| file(source, entries, name)));
            if *surplus > 0 {
                let message = format!("there are too many files; {surplus} are not looked at");
                report.warning(About::default(), Category::TooManyFiles, message);
            }
        }
    }
    let (path, problems) = (source.path.clone(), report.conclude());
    Reading { path, further, problems, ..Reading::default() }
}

fn file(source: &Source, entries: &Entries, name: &str) -> Option<Source> {
    let folder = source.path.trim_end_matches('/');
    let path = format!("{folder}/{}", entries.path(name)?);
    let constant = source.provider.tool().dialect.folder;
    let constants: BTreeMap<String, String> = match (entries, constant) {
        (Entries::Each(_), Some(constant)) => {
            [(constant.into(), format!("{folder}/{name}"))].into()
        }
        (Entries::Each(_), None) | (Entries::Ending(_), _) => BTreeMap::new(),
    };
    Some(Source { constants, ..Source::file(source.provider, source.level, path) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::source::{Level, Provider};

    fn of(place: &str, names: &[&str]) -> Vec<Source> {
        let (path, entries) = Entries::split(place);
        let source = Source { entries, ..Source::file(Provider::Gemini, Level::Project, path) };
        let names = names.iter().map(ToString::to_string).collect();
        read(&source, &Listed::Names { names, surplus: 0 }).further
    }

    #[test]
    fn a_folder_leads_to_its_files_in_the_order_of_their_names() {
        let files =
            of("/p/blocks/*.{yaml,yml}", &["b.yml", "a.yaml", ".a.yaml", "x/a.yml", "a.json"]);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/p/blocks/a.yaml", "/p/blocks/b.yml"]);
        assert!(files.iter().all(|file| file.level == Level::Project && file.entries.is_none()));
        assert_eq!(of("/p/mcp.json", &["a.json"]), []);
    }

    #[test]
    fn a_folder_leads_to_a_file_in_each_folder_and_that_is_a_variable_there() {
        let files = of("/h/extensions/*/gemini-extension.json", &["one", "..", ".git"]);
        let [file] = &files[..] else { panic!("{files:?}") };
        assert_eq!(file.path, "/h/extensions/one/gemini-extension.json");
        assert_eq!(file.constants["extensionPath"], "/h/extensions/one");
    }

    /// L10.
    #[test]
    fn what_is_not_looked_at_in_a_folder_is_said() {
        let (path, entries) = Entries::split("/p/*.json");
        let source = Source { entries, ..Source::file(Provider::Gemini, Level::User, path) };
        let reading = read(&source, &Listed::Names { names: Vec::new(), surplus: 7 });
        assert_eq!(reading.problems.len(), 1);
        assert!(reading.problems[0].message.contains("7 are not"), "{:?}", reading.problems);
        let refused = read(&source, &Listed::Unreadable("no".into()));
        assert!(!refused.is_whole());
        assert_eq!(read(&source, &Listed::Nothing).problems, []);
    }
}
