//! Which files are asked, in which order.
//!
//! Floor 2. A pure function of places; nothing is read here.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;

/// Whose file it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// A file the user named (`--config`).
    Explicit,
    /// Tidegate's own file.
    Tidegate,
    /// `mcp.json` or `.mcp.json` in the project, which many tools share.
    Shared,
    /// A configuration the host gave as text.
    Inline,
}

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
    /// The file, or a name for a text that is no file.
    pub path: String,
    /// The text itself, if it is not to be read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Bytes>,
}

impl Source {
    /// A configuration given as text; `name` stands for it where a file would be named.
    #[must_use]
    pub fn inline(name: &str, text: &str) -> Self {
        Self {
            provider: Provider::Inline,
            level: Level::Explicit,
            path: name.into(),
            text: Some(text.into()),
        }
    }
}

/// The places that decide which files are asked.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Places {
    /// The project: the working directory, absolute.
    pub cwd: String,
    /// The user's configuration directory for Tidegate, absolute, if there is one.
    pub config_dir: Option<String>,
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

    /// The files to ask, the strongest first: what the user named and nothing else, or the
    /// project's `.tidegate/mcp.json`, `mcp.json`, `.mcp.json`, then the user's own `mcp.json`.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        let source = |provider, level, path| Source { provider, level, path, text: None };
        if !self.explicit.is_empty() {
            let named = |path: &String| source(Provider::Explicit, Level::Explicit, path.clone());
            return self.explicit.iter().map(named).collect();
        }
        let project = [
            (Provider::Tidegate, ".tidegate/mcp.json"),
            (Provider::Shared, "mcp.json"),
            (Provider::Shared, ".mcp.json"),
        ];
        let mut sources: Vec<Source> = project
            .into_iter()
            .map(|(provider, file)| source(provider, Level::Project, join(&self.cwd, file)))
            .collect();
        if let Some(dir) = &self.config_dir {
            sources.push(source(Provider::Tidegate, Level::User, join(dir, "mcp.json")));
        }
        sources
    }
}

fn join(dir: &str, file: &str) -> String {
    alloc::format!("{}/{file}", dir.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
