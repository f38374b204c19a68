//! What a subagent may use of its parent's tools.
//!
//! Floor 5. May import floors 0 to 4. A subagent starts nothing and holds nothing: it sees a
//! part of its parent's catalogue as it is at the moment, and its calls are its parent's calls,
//! so they end with the same texts and details (G74) and not later than the parent (G73).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::CallError;
use crate::id::ServerName;
use crate::input::Target;

use super::catalog::{Catalog, Tool};

/// How long a subagent's call may take, in milliseconds, the wait for its server and all progress
/// included (documented).
pub const SUBAGENT_CALL_MS: u64 = 60_000;

/// Which of its parent's tools a subagent may use.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All, those that come later too.
    #[default]
    All,
    /// All of these servers, those that come later too.
    Servers(BTreeSet<ServerName>),
    /// These tools, by their servers and the servers' own names for them.
    Tools(BTreeSet<(ServerName, String)>),
}

impl Scope {
    /// Whether this tool of this server is in it.
    #[must_use]
    pub fn admits(&self, server: &ServerName, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Servers(servers) => servers.contains(server),
            Self::Tools(tools) => tools.contains(&(server.clone(), tool.into())),
        }
    }

    /// Whether whatever a server has beside its tools is in it.
    fn admits_all_of(&self, server: &ServerName) -> bool {
        match self {
            Self::All => true,
            Self::Servers(servers) => servers.contains(server),
            Self::Tools(_) => false,
        }
    }

    /// What a subagent sees of a catalogue: the same revision, and for [`Scope::All`] the same
    /// allocation.
    #[must_use]
    pub fn of(&self, catalog: &Arc<Catalog>) -> Arc<Catalog> {
        if *self == Self::All {
            return Arc::clone(catalog);
        }
        let admitted = |tool: &&Arc<Tool>| self.admits(&tool.server, &tool.tool);
        let tools = catalog.tools.iter().filter(admitted).cloned().collect();
        Arc::new(Catalog { revision: catalog.revision, tools })
    }

    /// Whether a call to this target may be passed on to the parent, whose catalogue this is.
    ///
    /// # Errors
    /// [`CallError::UnknownServer`] or [`CallError::UnknownTool`] for what is outside of it, as
    /// if it did not exist. What exists nowhere passes: the parent says so as to itself.
    pub fn check(&self, catalog: &Catalog, target: &Target) -> Result<(), CallError> {
        match target {
            Target::Tool { server, tool } if !self.admits(server, tool) => Err(match self {
                Self::Servers(_) => CallError::UnknownServer { server: server.clone() },
                Self::All | Self::Tools(_) => CallError::UnknownTool { tool: tool.clone() },
            }),
            Target::Exposed(name) if *self != Self::All => {
                let meant = catalog.tools.iter().find(|tool| tool.exposed == *name);
                match meant {
                    Some(tool) if !self.admits(&tool.server, &tool.tool) => {
                        Err(CallError::UnknownTool { tool: name.clone() })
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Target::Resource { server, .. }
            | Target::Prompt { server, .. }
            | Target::Completion { server, .. }
                if !self.admits_all_of(server) =>
            {
                Err(CallError::UnknownServer { server: server.clone() })
            }
            Target::Tool { .. }
            | Target::Exposed(_)
            | Target::Resource { .. }
            | Target::Prompt { .. }
            | Target::Completion { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Json;
    use crate::tools::catalog::ToolState;

    fn catalog() -> Arc<Catalog> {
        let tool = |(server, name): (&str, &str)| {
            Arc::new(Tool {
                exposed: alloc::format!("mcp_{server}_{name}"),
                server: server.into(),
                tool: name.into(),
                description: "does something".into(),
                schema: Json::new("{}"),
                state: ToolState::Live,
            })
        };
        let tools = [("git", "log"), ("git", "push"), ("web", "get")].map(tool).to_vec();
        Arc::new(Catalog { revision: 7, tools })
    }

    fn names(catalog: &Catalog) -> alloc::vec::Vec<&str> {
        catalog.tools.iter().map(|tool| tool.exposed.as_str()).collect()
    }

    fn tool(server: &str, tool: &str) -> Target {
        Target::Tool { server: server.into(), tool: tool.into() }
    }

    #[test]
    fn a_subagent_sees_its_part_of_the_parents_revision() {
        let parent = catalog();
        assert!(Arc::ptr_eq(&Scope::All.of(&parent), &parent));
        let git = Scope::Servers(["git".into()].into());
        assert_eq!(names(&git.of(&parent)), ["mcp_git_log", "mcp_git_push"]);
        assert_eq!(git.of(&parent).revision, 7);
        let log = Scope::Tools([("git".into(), "log".into())].into());
        assert_eq!(names(&log.of(&parent)), ["mcp_git_log"]);
        assert_eq!(names(&Scope::Tools([].into()).of(&parent)), [] as [&str; 0]);
    }

    #[test]
    fn what_is_outside_a_scope_does_not_exist_by_either_name() {
        let parent = catalog();
        let git = Scope::Servers(["git".into()].into());
        let log = Scope::Tools([("git".into(), "log".into())].into());
        let unknown = |tool: &str| Err(CallError::UnknownTool { tool: tool.into() });
        for exposed in ["mcp_git_log", "mcp_of_nobody"] {
            let target = Target::Exposed(exposed.into());
            for scope in [&Scope::All, &git, &log] {
                assert_eq!(scope.check(&parent, &target), Ok(()));
            }
        }
        let push = Target::Exposed("mcp_git_push".into());
        assert_eq!(log.check(&parent, &push), unknown("mcp_git_push"));
        assert_eq!(git.check(&parent, &push), Ok(()));
        assert_eq!(log.check(&parent, &tool("git", "push")), unknown("push"));
        let other = CallError::UnknownServer { server: "web".into() };
        assert_eq!(git.check(&parent, &tool("web", "get")), Err(other));
        assert_eq!(Scope::All.check(&parent, &tool("web", "get")), Ok(()));
        // Whether a server has such a tool is for the parent to say.
        assert_eq!(git.check(&parent, &tool("git", "gone")), Ok(()));
    }
}
