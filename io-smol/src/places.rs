//! The user's directories, and the places where configuration is looked for.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use tidegate_core::config::Places;

/// The name of our directory in the user's.
const APP: &str = "tidegate";

/// The directories of one user. Absent where the platform does not tell.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Directories {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where the user's `mcp.json` is: `TIDEGATE_CONFIG_DIR`, or the platform's place.
    pub config: Option<PathBuf>,
    /// Where approvals and logs are kept: `TIDEGATE_STATE_DIR`, or the platform's place.
    pub state: Option<PathBuf>,
    /// Where tool lists are cached: `TIDEGATE_CACHE_DIR`, or the platform's place.
    pub cache: Option<PathBuf>,
}

impl Directories {
    /// The directories as the environment and the platform say: XDG on Linux, the platform's
    /// own elsewhere.
    #[must_use]
    pub fn find() -> Self {
        let platform = etcetera::base_strategy::choose_native_strategy().ok();
        let platform = platform.as_ref();
        // Only XDG has a place for state; elsewhere it is data.
        let state = platform.and_then(BaseStrategy::state_dir);
        let state = state.or_else(|| platform.map(BaseStrategy::data_dir));
        Self {
            home: home(),
            config: place("TIDEGATE_CONFIG_DIR", platform.map(BaseStrategy::config_dir)),
            state: place("TIDEGATE_STATE_DIR", state),
            cache: place("TIDEGATE_CACHE_DIR", platform.map(BaseStrategy::cache_dir)),
        }
    }

    /// The places where configuration is looked for in a project, given as a working directory
    /// (relative to the process's own), or only the files the user named.
    ///
    /// # Errors
    ///
    /// If the directory does not exist, or a path is not Unicode.
    pub fn places(&self, cwd: &Path, explicit: &[PathBuf]) -> io::Result<Places> {
        let named = |file: &PathBuf| text(&std::path::absolute(file)?);
        Ok(Places {
            cwd: text(&cwd.canonicalize()?)?,
            config_dir: self.config.as_deref().map(text).transpose()?,
            explicit: explicit.iter().map(named).collect::<io::Result<_>>()?,
        })
    }
}

/// What the variable says, else our directory in the platform's.
fn place(variable: &str, platform: Option<PathBuf>) -> Option<PathBuf> {
    let set = env::var_os(variable).filter(|value| !value.is_empty());
    set.map(PathBuf::from).or_else(|| platform.map(|dir| dir.join(APP)))
}

/// The path as the machine takes it.
fn text(path: &Path) -> io::Result<String> {
    let not_unicode = || io::Error::other(format!("{} is not Unicode", path.display()));
    path.to_str().map(String::from).ok_or_else(not_unicode)
}

/// The user's home directory, if there is one.
pub(crate) fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}
