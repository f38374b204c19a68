//! Files as people write them: relative to the project, or to home as `~`.

use std::env;
use std::path::{Path, PathBuf};

use super::visible;

/// What paths are shortened against.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    cwd: PathBuf,
    home: Option<PathBuf>,
}

impl Places {
    /// Shortens against the project and the user's home directory.
    pub(crate) fn new(cwd: &Path) -> Self {
        let home = env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.map(|home| home.canonicalize().unwrap_or(home));
        Self { cwd: cwd.to_owned(), home }
    }

    /// The shortest form of a path that still says where it is, safe for a terminal.
    pub(crate) fn short(&self, path: &str) -> String {
        let full = Path::new(path);
        let tilde =
            |home: &PathBuf| full.strip_prefix(home).ok().map(|rest| Path::new("~").join(rest));
        let short = match full.strip_prefix(&self.cwd) {
            Ok(rest) if !rest.as_os_str().is_empty() => Some(rest.to_owned()),
            Ok(_) | Err(_) => self.home.as_ref().and_then(tilde),
        };
        let short = short.unwrap_or_else(|| full.to_owned());
        visible::one_line(&short.to_string_lossy()).into_owned()
    }

    /// A place in a file: `mcp.json:4`.
    pub(crate) fn line(&self, path: &str, line: Option<u32>) -> String {
        match line {
            Some(line) if line > 0 => format!("{}:{line}", self.short(path)),
            Some(_) | None => self.short(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_comes_before_home_and_home_is_a_tilde() {
        let places = Places { cwd: "/home/ada/tides".into(), home: Some("/home/ada".into()) };
        assert_eq!(places.line("/home/ada/tides/.mcp.json", Some(4)), ".mcp.json:4");
        assert_eq!(places.line("/home/ada/.config/mcp.json", None), "~/.config/mcp.json");
        assert_eq!(places.line("/etc/mcp.json", Some(0)), "/etc/mcp.json");
        assert_eq!(places.short("inline\u{1b}"), "inline\\x1b");
    }
}
