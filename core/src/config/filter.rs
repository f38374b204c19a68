//! Which definitions the settings leave out.
//!
//! Floor 2. May import floors 0 and 1. What is left out hides nothing (G54).

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Transport};
use super::source::{Level, Provider};
use crate::id::ServerName;

/// The settings. By default nothing is left out.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct Filters {
    /// Whether what a project brings along counts (`enableProjectConfig`). Default yes.
    pub project_config: bool,
    /// Whose files do not count at all.
    pub disabled_providers: BTreeSet<Provider>,
    /// Servers that are left out wherever they are defined.
    pub exclude: BTreeSet<ServerName>,
    /// Whether servers of the Exa search are left out and their keys kept apart, for a host that
    /// has that search built in. Default no; documented: yes.
    pub exa: bool,
    /// Whether servers that drive a browser are left out, for a host that has one built in.
    /// Default no.
    pub browser: bool,
}

/// Why a definition is left out.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Filter {
    /// [`Filters::project_config`].
    ProjectConfig,
    /// [`Filters::disabled_providers`].
    Provider,
    /// [`Filters::exclude`].
    Excluded,
    /// [`Filters::exa`].
    Exa,
    /// [`Filters::browser`].
    Browser,
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            project_config: true,
            disabled_providers: BTreeSet::new(),
            exclude: BTreeSet::new(),
            exa: false,
            browser: false,
        }
    }
}

impl Filters {
    /// What the documented runtime does by itself.
    #[must_use]
    pub fn documented() -> Self {
        Self { exa: true, ..Self::default() }
    }

    /// Why a definition is left out, if it is.
    #[must_use]
    pub fn verdict(&self, definition: &Definition) -> Option<Filter> {
        let source = &definition.source;
        if !self.project_config && source.level == Level::Project {
            Some(Filter::ProjectConfig)
        } else if self.disabled_providers.contains(&source.provider) {
            Some(Filter::Provider)
        } else if self.exclude.contains(&definition.name) {
            Some(Filter::Excluded)
        } else if self.exa && is_exa(definition) {
            Some(Filter::Exa)
        } else if self.browser && is_browser(definition) {
            Some(Filter::Browser)
        } else {
            None
        }
    }
}

impl Filter {
    /// What is said of a definition that is left out.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::ProjectConfig => "the configuration of projects is switched off",
            Self::Provider => "the files of this tool are switched off",
            Self::Excluded => "it is excluded",
            Self::Exa => "the host has this search itself",
            Self::Browser => "the host has a browser itself",
        }
    }
}

/// The texts that tell what a server is: its address, or its command and arguments.
fn texts(definition: &Definition) -> (Option<&String>, impl Iterator<Item = &String>) {
    let (url, words) = match &definition.transport {
        Ok(Transport::Stdio(stdio)) => (None, Some((&stdio.command, &stdio.args))),
        Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) => {
            (Some(&remote.url), None)
        }
        Err(_) => (None, None),
    };
    (url, words.into_iter().flat_map(|(command, args)| core::iter::once(command).chain(args)))
}

/// Seed runtime 1.8.
fn is_exa(definition: &Definition) -> bool {
    let (url, words) = texts(definition);
    // The command itself does not count.
    let mut texts = url.into_iter().chain(words.skip(1));
    definition.name.as_str().eq_ignore_ascii_case("exa")
        || texts.any(|text| text.to_ascii_lowercase().contains("mcp.exa.ai"))
}

/// The key in a definition of the Exa search.
pub(super) fn exa_key(definition: &Definition) -> Option<String> {
    let (url, words) = texts(definition);
    let mut texts = url.into_iter().chain(words.skip(1));
    let in_text = texts.find_map(|text| {
        let start = text.to_ascii_lowercase().find("exaapikey=")? + "exaapikey=".len();
        let key = text.get(start..)?.split(|c: char| c == '&' || c.is_whitespace()).next()?;
        (!key.is_empty()).then(|| key.to_string())
    });
    let Ok(Transport::Stdio(stdio)) = &definition.transport else { return in_text };
    in_text.or_else(|| stdio.env.get("EXA_API_KEY").filter(|key| !key.is_empty()).cloned())
}

/// What servers that drive a browser are called.
const BROWSER_NAMES: [&str; 6] =
    ["puppeteer", "playwright", "browserbase", "browser-tools", "browser-use", "browser"];
/// Where they are.
const BROWSER_HOSTS: [&str; 2] = ["browserbase.com", "browser-use.com"];
/// The packages they are.
const BROWSER_PACKAGES: [&str; 10] = [
    "@modelcontextprotocol/server-puppeteer",
    "@playwright/mcp",
    "@browserbasehq/mcp-server-browserbase",
    "@agentdeskai/browser-tools-mcp",
    "@agent-infra/mcp-server-browser",
    "puppeteer-mcp",
    "playwright-mcp",
    "pptr-mcp",
    "browser-use-mcp",
    "mcp-browser-use",
];

/// Seed runtime 1.9.
fn is_browser(definition: &Definition) -> bool {
    let name = definition.name.as_str().to_lowercase();
    let has = |text: &str, known: &[&str]| {
        let text = text.to_ascii_lowercase();
        known.iter().any(|known| text.contains(known))
    };
    let (url, mut words) = texts(definition);
    BROWSER_NAMES.contains(&&*name)
        || url.is_some_and(|url| has(url, &BROWSER_HOSTS))
        || words.any(|word| has(word, &BROWSER_PACKAGES))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;

    fn kept(entries: &str, filters: &Filters) -> Vec<String> {
        let text = format!("{{\"mcpServers\":{{{entries}}}}}");
        let reading = read(&Source::inline("f", &text), text.as_bytes());
        let kept = reading.definitions.iter().filter(|d| filters.verdict(d).is_none());
        kept.map(|definition| definition.name.to_string()).collect()
    }

    const EXA: &str = r#""EXA":{"command":"x"},"a":{"url":"https://mcp.Exa.ai/?exaApiKey=K1&x"},
        "b":{"command":"npx","args":["mcp-remote","https://mcp.exa.ai/mcp?EXAAPIKEY=K2"]},
        "c":{"command":"npx","args":["-y","https://mcp.exa.ai"],"env":{"EXA_API_KEY":"K3"}},
        "not":{"command":"mcp.exa.ai","args":["exa"]}"#;

    #[test]
    fn the_exa_search_is_left_out_where_it_is_built_in() {
        assert_eq!(kept(EXA, &Filters::documented()), ["not"]);
        assert_eq!(kept(EXA, &Filters::default()).len(), 5);
        let text = format!("{{\"mcpServers\":{{{EXA}}}}}");
        let reading = read(&Source::inline("f", &text), text.as_bytes());
        let keys: Vec<_> = reading.definitions.iter().filter_map(exa_key).collect();
        assert_eq!(keys, ["K1", "K2", "K3"]);
    }

    #[test]
    fn browsers_are_left_out_where_one_is_built_in() {
        let entries = r#""Browser":{"command":"x"},"a":{"url":"https://api.browserbase.com/mcp"},
            "b":{"command":"npx","args":["@Playwright/mcp@latest"]},"c":{"command":"puppeteer-mcp"},
            "not":{"command":"npx","args":["browser"]}"#;
        assert_eq!(kept(entries, &Filters { browser: true, ..Filters::default() }), ["not"]);
    }
}
