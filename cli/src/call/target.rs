//! Which tool is meant: by server and name, or by the name it is exposed under.

use std::sync::Arc;

use futures_lite::future;
use tidegate_core::error::Category;
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::ServerName;
use tidegate_core::input::Target;
use tidegate_core::tools::catalog::Tool;
use tidegate_core::tools::name::may_be_of;
use tidegate_smol::News;

use crate::args::Global;
use crate::config::files::Files;
use crate::exit::Trouble;
use crate::output::visible;
use crate::session::{Session, unknown};

/// The tool as it was typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Wanted {
    /// A server and its own name for the tool.
    Tool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The name the tool is exposed under.
    Exposed(String),
}

/// The tool that will be called.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    wanted: Wanted,
    server: Option<String>,
    tool: Option<String>,
}

/// What was typed after `call`: the tool and its arguments. Arguments are an object, so what
/// begins like JSON, or is `-`, is not the name of a tool.
///
/// # Errors
/// If there are too many words.
pub(crate) fn split(what: &[String]) -> Result<(Wanted, Option<&str>), String> {
    let exposed = |name: &String| Wanted::Exposed(name.clone());
    let by_server = |server: &String, tool: &String| Wanted::Tool {
        server: server.clone(),
        tool: tool.clone(),
    };
    match what {
        [name] => Ok((exposed(name), None)),
        [name, json] if is_json(json) => Ok((exposed(name), Some(json))),
        [.., last] if what.len() > 1 && last.contains('=') && !is_json(last) => Err(format!(
            "arguments are one JSON object, or --arg {last} for each; {last:?} is neither"
        )),
        [server, tool] => Ok((by_server(server, tool), None)),
        [server, tool, json] => Ok((by_server(server, tool), Some(json))),
        _ => Err("call takes SERVER TOOL [JSON] or EXPOSED_NAME [JSON]".to_owned()),
    }
}

fn is_json(text: &str) -> bool {
    text == "-" || text.trim_start().starts_with(['{', '[', '"'])
}

impl Wanted {
    /// The server, if it was named.
    pub(crate) fn server(&self) -> Option<&str> {
        match self {
            Self::Tool { server, .. } => Some(server),
            Self::Exposed(_) => None,
        }
    }

    /// The servers that may have it: no other has to be started, nor asked about. All if none.
    pub(crate) fn servers(&self, global: &Global) -> Vec<String> {
        match self {
            Self::Tool { server, .. } => vec![server.clone()],
            // Who names servers means those.
            Self::Exposed(_) if !global.server.is_empty() => Vec::new(),
            Self::Exposed(name) => {
                // What is wrong with the files is told by the run itself.
                let Ok(files) = Files::read(global) else { return Vec::new() };
                let servers = files.resolved.definitions.iter().map(|it| it.name.as_str());
                let may = |server: &&str| may_be_of(Policy::default().names, name, server);
                servers.filter(may).map(Into::into).collect()
            }
        }
    }

    /// What is known of the tool without asking anybody.
    pub(crate) fn as_typed(&self) -> Found {
        let (server, tool) = match self {
            Self::Tool { server, tool } => (Some(server.clone()), Some(tool.clone())),
            Self::Exposed(_) => (None, None),
        };
        Found { wanted: self.clone(), server, tool }
    }
}

impl Found {
    /// Whom to call.
    pub(crate) fn target(&self) -> Target {
        match &self.wanted {
            Wanted::Tool { server, tool } => {
                Target::Tool { server: ServerName::new(server), tool: tool.clone() }
            }
            Wanted::Exposed(name) => Target::Exposed(name.clone()),
        }
    }

    /// The tool as it was typed.
    pub(crate) const fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The tool for people. Untrusted text.
    pub(crate) fn label(&self) -> String {
        match &self.wanted {
            Wanted::Tool { server, tool } => format!("{server} {tool}"),
            Wanted::Exposed(name) => name.clone(),
        }
    }

    /// Its server, if it is known.
    pub(crate) fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The tool as its server calls it, or as it was typed.
    pub(crate) fn tool(&self) -> &str {
        match (&self.tool, &self.wanted) {
            (Some(tool), _) => tool,
            (None, Wanted::Tool { tool, .. } | Wanted::Exposed(tool)) => tool,
        }
    }
}

/// Starts what is needed and waits until the tool can be called, if only by waiting for its
/// server. A tool named by its server is left to the server: it may not list all it has.
///
/// # Errors
/// If there is no such server, or no such exposed name once every server has settled.
pub(crate) async fn find(session: &Session, wanted: &Wanted) -> Result<Found, Trouble> {
    let Wanted::Exposed(name) = wanted else {
        session.start().await?;
        return Ok(wanted.as_typed());
    };
    let mut events = session.host.events();
    let appeared = async {
        loop {
            if let Some(found) = look_up(&session.host.catalog().await.tools, wanted, name) {
                return Some(found);
            }
            match events.next().await {
                Some(News::Event(_) | News::Missed(_)) => {}
                None => return None,
            }
        }
    };
    let settled = async {
        session.start().await?;
        session.settle().await;
        Ok(look_up(&session.host.catalog().await.tools, wanted, name))
    };
    let found: Result<Option<Found>, Trouble> =
        future::or(async { Ok(appeared.await) }, settled).await;
    match found? {
        Some(found) => Ok(found),
        None => {
            let told = unknown_tool(session, wanted).await + &left_out(session).await;
            Err(Trouble::Failed(format!("{told}{}", session.obstacles().await)))
        }
    }
}

/// What definitions leave out of the tools of their servers, if anything.
async fn left_out(session: &Session) -> String {
    let problems = session.host.status().await.problems.into_iter();
    let left_out = problems.filter(|problem| problem.category == Category::ExcludedTools);
    left_out.map(|problem| format!("\n  {}", visible::one_line(&problem.message))).collect()
}

fn look_up(tools: &[Arc<Tool>], wanted: &Wanted, name: &str) -> Option<Found> {
    let tool = tools.iter().find(|tool| tool.exposed == name)?;
    let (server, tool) = (tool.server.to_string(), tool.tool.clone());
    Some(Found { wanted: wanted.clone(), server: Some(server), tool: Some(tool) })
}

/// That there is no such tool, and which there are.
pub(crate) async fn unknown_tool(session: &Session, wanted: &Wanted) -> String {
    let catalog = session.host.catalog().await;
    match wanted {
        Wanted::Exposed(name) => {
            unknown("tool", name, catalog.tools.iter().map(|tool| tool.exposed.as_str()))
        }
        Wanted::Tool { server, tool } => {
            let its = |one: &&Arc<Tool>| one.server.as_str() == server;
            let names = catalog.tools.iter().filter(its).map(|tool| tool.tool.as_str());
            format!("server \"{server}\": {}", unknown("tool", tool, names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(what: &[&str]) -> Result<(Wanted, Option<String>), String> {
        let what: Vec<String> = what.iter().map(|word| (*word).to_owned()).collect();
        split(&what).map(|(wanted, json)| (wanted, json.map(str::to_owned)))
    }

    #[test]
    fn what_begins_like_json_is_no_tool() {
        let exposed = Wanted::Exposed("mcp_a_b".into());
        let tool = Wanted::Tool { server: "a".into(), tool: "b".into() };
        assert_eq!(words(&["mcp_a_b"]), Ok((exposed.clone(), None)));
        for json in ["{}", " {\"x\": 1}", "-", "[1]", "\"x\""] {
            assert_eq!(words(&["mcp_a_b", json]), Ok((exposed.clone(), Some(json.into()))));
        }
        assert_eq!(words(&["a", "b"]), Ok((tool.clone(), None)));
        for json in ["-", "{\"url\": \"http://x/?a=b\"}"] {
            assert_eq!(words(&["a", "b", json]), Ok((tool.clone(), Some(json.into()))));
        }
        assert!(words(&[]).is_err());
        for typed in [&["mcp_a_b", "zone=UTC"][..], &["a", "b", "zone=UTC"]] {
            assert!(words(typed).is_err_and(|told| told.contains("--arg zone=UTC")), "{typed:?}");
        }
    }
}
