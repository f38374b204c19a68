//! The user's directories, and the places where configuration is looked for.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use tidegate_core::config::environment::Setting;
use tidegate_core::config::{Environment, Places};

/// The name of our directory in the user's.
const APP: &str = "tidegate";

/// The file with the rules of the organisation that runs this machine; see
/// [`tidegate_core::config::organisation`]. No variable and no flag moves it.
pub const ORGANISATION: &str = "/etc/tidegate/policy.json";

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
    /// Where programs keep what the user configures.
    pub config_root: Option<PathBuf>,
    /// Where programs that follow XDG everywhere keep it.
    pub xdg_root: Option<PathBuf>,
}

impl Directories {
    /// The directories as the environment and the platform say: XDG on Linux, the platform's
    /// own elsewhere.
    ///
    /// # Errors
    ///
    /// If a variable of ours is no absolute path: a project could bring along what is found from
    /// wherever this process happens to be.
    pub fn find() -> io::Result<Self> {
        let platform = etcetera::base_strategy::choose_native_strategy().ok();
        let platform = platform.as_ref();
        // Only XDG has a place for state; elsewhere it is data.
        let state = platform.and_then(BaseStrategy::state_dir);
        let state = state.or_else(|| platform.map(BaseStrategy::data_dir));
        Ok(Self {
            home: home(),
            config: place("TIDEGATE_CONFIG_DIR", platform.map(BaseStrategy::config_dir))?,
            state: place("TIDEGATE_STATE_DIR", state)?,
            cache: place("TIDEGATE_CACHE_DIR", platform.map(BaseStrategy::cache_dir))?,
            // Apple's strategy has the preferences for the configuration.
            config_root: platform.map(if cfg!(target_os = "macos") {
                BaseStrategy::data_dir
            } else {
                BaseStrategy::config_dir
            }),
            xdg_root: etcetera::choose_base_strategy().ok().map(|xdg| xdg.config_dir()),
        })
    }

    /// The places where configuration is looked for in a project, given as a working directory
    /// (relative to the process's own), or only the files the user named.
    ///
    /// # Errors
    ///
    /// If the directory does not exist, or a path is not Unicode.
    pub fn places(&self, cwd: &Path, explicit: &[PathBuf]) -> io::Result<Places> {
        let named = |file: &PathBuf| text(&std::path::absolute(file)?);
        let cwd = cwd.canonicalize()?;
        // The project is where it really is, so the user's files have to be, too: where `/home` is
        // a link, they would be a project's files as well in a project that is the user's home.
        let home = self.home.as_deref().map(|home| (home, real(home)));
        let in_home = |path: &Path| match &home {
            Some((home, real)) => {
                path.strip_prefix(home).map_or_else(|_| path.to_owned(), |rest| real.join(rest))
            }
            None => path.to_owned(),
        };
        // A place that is no text is one that none of the tools could name.
        let known =
            |path: &Option<PathBuf>| path.as_deref().and_then(|path| text(&in_home(path)).ok());
        let moved = Places::variables().filter_map(|name| {
            let value = env::var(name).ok().filter(|value| !value.is_empty())?;
            Some((name.to_owned(), value))
        });
        Ok(Places {
            repository: repository(&cwd).and_then(|path| text(path).ok()),
            cwd: text(&cwd)?,
            home: known(&self.home),
            config_root: known(&self.config_root),
            xdg_root: known(&self.xdg_root),
            app_data: if cfg!(windows) { known(&self.config_root) } else { None },
            config_dir: self.config.as_deref().map(|path| text(&in_home(path))).transpose()?,
            moved: moved.collect(),
            explicit: explicit.iter().map(named).collect::<io::Result<_>>()?,
        })
    }
}

/// A path without symbolic links; as it is if it leads nowhere.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The folder that is a repository: this one, or the nearest above it.
fn repository(cwd: &Path) -> Option<&Path> {
    cwd.ancestors().find(|folder| folder.join(".git").exists())
}

/// The names of this process's variables; those that are no text are nobody's to fill in.
#[must_use]
pub fn environment() -> Environment {
    let setting = |(name, value): (OsString, OsString)| {
        let setting = if value.is_empty() { Setting::Empty } else { Setting::Filled };
        Some((name.into_string().ok()?, setting))
    };
    env::vars_os().filter_map(setting).collect()
}

/// What the variable says, else our directory in the platform's.
fn place(variable: &str, platform: Option<PathBuf>) -> io::Result<Option<PathBuf>> {
    match env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(dir) if dir.is_absolute() => Ok(Some(dir)),
        Some(dir) => {
            let told = format!("{variable} has to be an absolute path and is {dir:?}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, told))
        }
        None => Ok(platform.filter(|dir| dir.is_absolute()).map(|dir| dir.join(APP))),
    }
}

/// The path as the machine takes it.
fn text(path: &Path) -> io::Result<String> {
    let not_unicode = || io::Error::other(format!("{} is not Unicode", path.display()));
    path.to_str().map(String::from).ok_or_else(not_unicode)
}

/// The user's home directory, if there is one.
pub(crate) fn home() -> Option<PathBuf> {
    // A relative one would be a folder of the project.
    etcetera::home_dir().ok().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use tidegate_core::config::Level;

    use super::*;

    /// Where `/home` is a link, as on some systems, a user's own files ask for no approval.
    #[test]
    fn a_home_behind_a_link_is_no_project() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (home, link) = (dir.join("var/home"), dir.join("home"));
        std::fs::create_dir_all(home.join(".config/tidegate")).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let directories = Directories {
            home: Some(link.clone()),
            config: Some(link.join(".config/tidegate")),
            config_root: Some(link.join(".config")),
            xdg_root: Some(link.join(".config")),
            ..Directories::default()
        };
        let places = directories.places(&link, &[]).unwrap();
        let sources = places.sources();
        for (file, level) in [
            (".cursor/mcp.json", Level::User),
            (".config/tidegate/mcp.json", Level::User),
            (".vscode/mcp.json", Level::Project),
        ] {
            let path = home.join(file);
            let of = sources.iter().filter(|source| Path::new(&source.path) == path);
            assert_eq!(of.map(|source| source.level).collect::<Vec<_>>(), [level], "{file}");
        }
        assert!(sources.iter().all(|source| !Path::new(&source.path).starts_with(&link)));
    }
}
