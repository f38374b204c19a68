//! Which variables the host has: their names, never their values.
//!
//! Floor 2. A decision needs to know whether a variable is set; what it holds is filled in by
//! the driver and never enters the core.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// Whether a variable that is set holds anything.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Set to nothing.
    Empty,
    /// Set to something.
    Filled,
}

/// The names of the host's variables. By default none is set.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Environment(BTreeMap<String, Setting>);

impl Environment {
    /// Whether none is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How a variable is set; `None` if it is not.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<Setting> {
        self.0.get(name).copied()
    }

    /// Whether a variable is set, to nothing or to something.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a variable is set to something.
    #[must_use]
    pub fn is_filled(&self, name: &str) -> bool {
        self.setting(name) == Some(Setting::Filled)
    }
}

impl FromIterator<(String, Setting)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, Setting)>>(names: T) -> Self {
        Self(names.into_iter().collect())
    }
}
