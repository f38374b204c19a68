//! Which files are asked, in which order.
//!
//! Floor 2. A pure function of places; nothing is read here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::folder::Entries;
pub use super::format::{Provider, table};
use crate::bytes::Bytes;

/// How many folders up from the project are looked into at most.
const UP_MAX: usize = 64;

/// Who vouches for a file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// The user named it, or the host gave it: counts as approved.
    Explicit,
    /// The project brought it along: runs nothing until the user approved it.
    Project,
    /// The user's own configuration: counts as approved.
    User,
    /// The user's own configuration for this project alone: counts as approved.
    Local,
}

/// One configuration to read.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Source {
    /// Whose file it is.
    pub provider: Provider,
    /// Who vouches for it.
    pub level: Level,
    /// The file, or the folder with [`entries`](Self::entries), or a name for a text that is
    /// neither.
    pub path: String,
    /// Which files of the folder are meant, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Entries>,
    /// The text itself, if it is not to be read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Bytes>,
    /// What stands for variables of the tool in this file alone: `CLAUDE_PLUGIN_ROOT`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, String>,
    /// The plugin it belongs to: it stands before the names of its servers, with a colon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
}

impl Source {
    /// A file.
    #[must_use]
    pub fn file(provider: Provider, level: Level, path: impl Into<String>) -> Self {
        let (entries, text, constants, plugin) = (None, None, BTreeMap::new(), None);
        Self { provider, level, path: path.into(), entries, text, constants, plugin }
    }

    /// A configuration given as text; `name` stands for it where a file would be named.
    #[must_use]
    pub fn inline(name: &str, text: &str) -> Self {
        let text = Some(text.into());
        Self { text, ..Self::file(Provider::Inline, Level::Explicit, name) }
    }
}

/// The places that decide which files are asked. What is not known is not looked into.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct Places {
    /// The project: the working directory, absolute.
    pub cwd: String,
    /// The folder above the project, or the project itself, that is a repository.
    pub repository: Option<String>,
    /// The user's home.
    pub home: Option<String>,
    /// Where programs keep what the user configures: `~/.config` or what `XDG_CONFIG_HOME` says
    /// on Linux, `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    pub config_root: Option<String>,
    /// Where programs that follow XDG everywhere do: `~/.config` or what `XDG_CONFIG_HOME` says,
    /// `%APPDATA%` on Windows.
    pub xdg_root: Option<String>,
    /// `%APPDATA%`, on Windows alone.
    pub app_data: Option<String>,
    /// The user's configuration directory for Tidegate, absolute, if there is one.
    pub config_dir: Option<String>,
    /// Those of [`Places::variables`] that are set, and not to nothing.
    pub moved: BTreeMap<String, String>,
    /// Files the user named: only these are asked, if there are any.
    pub explicit: Vec<String>,
}

impl Places {
    /// Tidegate's own file at a level, the same one that [`sources`](Self::sources) asks (G59);
    /// `None` if there is no place for it.
    #[must_use]
    pub fn own(&self, level: Level) -> Option<Source> {
        let places = Self { explicit: Vec::new(), ..self.clone() };
        let is_own =
            |source: &Source| source.provider == Provider::Tidegate && source.level == level;
        places.sources().into_iter().find(is_own)
    }

    /// The variables of the host that move a tool's files.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        let files = Provider::ALL.iter().flat_map(|provider| provider.tool().files);
        let parts = files.flat_map(|file| file.places).flat_map(|place| place.split('/'));
        let names: BTreeSet<&str> = parts.filter_map(|part| part.strip_prefix('$')).collect();
        names.into_iter()
    }

    /// The files to ask, the strongest first: what the user named and nothing else, or those of
    /// every tool. A file that is the user's and the project's, because the project is the
    /// user's home, is the user's.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        if !self.explicit.is_empty() {
            let named = |path| Source::file(Provider::Explicit, Level::Explicit, path);
            return self.explicit.iter().cloned().map(named).collect();
        }
        let mut providers: Vec<Provider> = Provider::ALL.to_vec();
        providers.sort_by_key(|provider| core::cmp::Reverse(provider.priority()));
        let mut sources: Vec<Source> = Vec::new();
        let mut known: BTreeMap<(String, Option<Entries>), usize> = BTreeMap::new();
        for provider in providers {
            for file in provider.tool().files {
                for (path, entries) in self.paths(file.places) {
                    let place = (path.clone(), entries.clone());
                    let source = Source { entries, ..Source::file(provider, file.level, path) };
                    match known.get(&place).and_then(|at| sources.get_mut(*at)) {
                        None => {
                            known.insert(place, sources.len());
                            sources.push(source);
                        }
                        Some(before) if before.level == Level::Project => *before = source,
                        Some(_) => {}
                    }
                }
            }
        }
        sources
    }

    /// Where a file is: at the first of its places whose start is known; `<up>` is the project
    /// and each folder above it up to the repository's, `<above>` the latter alone.
    fn paths(&self, places: &[&str]) -> Vec<(String, Option<Entries>)> {
        for place in places {
            let (place, entries) = Entries::split(place);
            let ups = [("<up>", 0), ("<above>", 1)];
            if let Some((rest, skipped)) =
                ups.iter().find_map(|(up, skipped)| Some((place.strip_prefix(up)?, *skipped)))
            {
                let path = |folder| (format!("{folder}{rest}"), entries.clone());
                return self.folders_up().skip(skipped).map(path).collect();
            }
            let parts: Option<Vec<&str>> = place.split('/').map(|part| self.part(part)).collect();
            // From a place that is not absolute a project's file could pass for the user's.
            if let Some(parts) = parts.filter(|parts| parts.first().is_some_and(is_absolute)) {
                let trimmed = parts.iter().enumerate().map(|(at, part)| match at {
                    0 => part.trim_end_matches('/'),
                    _ => part,
                });
                return Vec::from([(trimmed.collect::<Vec<_>>().join("/"), entries)]);
            }
        }
        Vec::new()
    }

    fn part<'a>(&'a self, part: &'a str) -> Option<&'a str> {
        match part {
            "~" => self.home.as_deref(),
            "<project>" => Some(&self.cwd),
            "<config>" => self.config_root.as_deref(),
            "<xdg>" => self.xdg_root.as_deref(),
            "<appdata>" => self.app_data.as_deref(),
            "<own>" => self.config_dir.as_deref(),
            _ => match part.strip_prefix('$') {
                Some(name) => self.moved.get(name).map(String::as_str),
                None => Some(part),
            },
        }
    }

    fn folders_up(&self) -> impl Iterator<Item = &str> {
        let top = self.repository.as_deref().unwrap_or(&self.cwd);
        let mut next = Some(self.cwd.trim_end_matches('/'));
        let folders = core::iter::from_fn(move || {
            let folder = next?;
            let above = folder.rfind('/').and_then(|at| folder.get(..at));
            next = above.filter(|above| above.len() >= top.trim_end_matches('/').len());
            Some(folder)
        });
        folders.take(UP_MAX)
    }
}

/// Whether a path says by itself where it leads, on any platform.
pub(super) fn is_absolute(path: &&str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..2) == Some(":")
}

/// What a reading depends on besides the file.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The names of the host's variables.
    pub environment: &'a super::Environment,
    /// The project, absolute.
    pub project: &'a str,
    /// The user's home, if it is known.
    pub home: Option<&'a str>,
}

impl Surroundings<'_> {
    /// What stands for the variables that editors know in every file.
    pub(super) fn constants(&self) -> BTreeMap<String, String> {
        let base = self.project.rsplit('/').next().unwrap_or_default();
        let mut all: BTreeMap<String, String> =
            [("pathSeparator", "/"), ("/", "/")].map(|(k, v)| (k.into(), v.into())).into();
        if !self.project.is_empty() {
            for name in ["workspaceFolder", "workspacePath", "CLAUDE_PROJECT_DIR"] {
                all.insert(name.into(), self.project.into());
            }
            all.insert("workspaceFolderBasename".into(), base.to_string());
        }
        if let Some(home) = self.home {
            all.insert("userHome".into(), home.into());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            cwd: "/r/a/b".into(),
            repository: Some("/r".into()),
            home: Some("/h".into()),
            config_root: Some("/h/.config".into()),
            xdg_root: Some("/h/.config".into()),
            config_dir: Some("/h/.config/tidegate/".into()),
            ..Places::default()
        }
    }

    fn of(places: &Places, provider: Provider) -> Vec<String> {
        let sources = places.sources().into_iter().filter(|source| source.provider == provider);
        sources.map(|source| source.path).collect()
    }

    #[test]
    fn every_tool_is_asked_in_the_order_of_priority() {
        let sources = places().sources();
        let order: Vec<u8> = sources.iter().map(|source| source.provider.priority()).collect();
        assert!(order.is_sorted_by(|one, two| one >= two), "{order:?}");
        for provider in Provider::ALL {
            let asked = sources.iter().any(|source| source.provider == *provider);
            assert_eq!(asked, !provider.tool().files.is_empty(), "{provider:?}");
        }
        let own = ["/r/a/b/.tidegate/mcp.json", "/h/.config/tidegate/mcp.json"];
        assert_eq!(of(&places(), Provider::Tidegate), own);
        assert_eq!(of(&places(), Provider::Shared), ["/r/a/b/mcp.json", "/r/a/b/.mcp.json"]);
    }

    #[test]
    fn a_file_the_user_named_is_the_only_one() {
        let places = Places { explicit: Vec::from(["/x".into()]), ..places() };
        assert_eq!(places.sources(), [Source::file(Provider::Explicit, Level::Explicit, "/x")]);
    }

    #[test]
    fn a_variable_moves_the_files_of_a_tool() {
        assert_eq!(of(&places(), Provider::Codex).last().unwrap(), "/h/.codex/config.toml");
        let moved = [("CODEX_HOME", "/c"), ("PI_CONFIG_DIR", ".pi2")];
        let moved = moved.map(|(name, path)| (name.to_string(), path.to_string())).into();
        let places = Places { moved, ..places() };
        assert_eq!(of(&places, Provider::Codex).last().unwrap(), "/c/config.toml");
        assert_eq!(of(&places, Provider::Xcsh)[2], "/h/.pi2/agent/mcp.json");
        let relative = [("CODEX_HOME".to_string(), ".codex".to_string())];
        let relative = Places { moved: relative.into(), home: None, ..places };
        assert_eq!(of(&relative, Provider::Codex), ["/r/a/b/.codex/config.toml"]);
        let known: Vec<&str> = Places::variables().collect();
        assert!(known.contains(&"CODEX_HOME") && known.contains(&"PI_CONFIG_DIR"), "{known:?}");
    }

    #[test]
    fn some_tools_look_in_every_folder_up_to_the_repository() {
        let wanted = ["/r/a/b/.crush.json", "/r/a/.crush.json", "/r/.crush.json"];
        assert_eq!(of(&places(), Provider::Crush)[..3], wanted);
        let places = Places { repository: None, ..places() };
        let project = of(&places, Provider::Crush);
        assert_eq!(project[..2], ["/r/a/b/.crush.json", "/r/a/b/crush.json"]);
    }

    #[test]
    fn what_is_not_known_is_not_asked_and_a_home_is_no_project() {
        let bare = Places { cwd: "/p".into(), ..Places::default() };
        assert!(bare.sources().iter().all(|source| source.level == Level::Project));
        let home = Places { cwd: "/h".into(), repository: None, ..places() };
        let cursor: Vec<Source> =
            home.sources().into_iter().filter(|s| s.provider == Provider::Cursor).collect();
        assert_eq!(cursor, [Source::file(Provider::Cursor, Level::User, "/h/.cursor/mcp.json")]);
    }

    /// D59, G59.
    #[test]
    fn what_is_edited_is_among_what_is_read() {
        let places =
            Places { cwd: "/p".into(), config_dir: Some("/c/".into()), ..Places::default() };
        for (level, path) in
            [(Level::Project, "/p/.tidegate/mcp.json"), (Level::User, "/c/mcp.json")]
        {
            let own = places.own(level).expect("a place");
            assert_eq!((own.path.as_str(), own.level), (path, level));
            assert!(places.sources().contains(&own));
            let named = Places { explicit: alloc::vec!["/x".into()], ..places.clone() };
            assert_eq!(named.own(level), Some(own), "also while others are read");
        }
        assert_eq!(Places { config_dir: None, ..places }.own(Level::User), None);
    }
}
