//! Tools, as a table for people.

use std::borrow::Cow;

use tidegate_core::tools::catalog::{Tool, ToolState};

use super::Screen;
use super::columns::{Cell, Columns};
use super::paint::Tone;
use super::visible;

/// What to show of each tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Detail {
    /// One line.
    Line,
    /// Its input schema below it.
    Schema,
}

/// Whether it is said whose each tool is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    /// In a column of its own.
    Shown,
    /// Only as far as the name of the tool says it.
    Hidden,
}

impl From<bool> for Detail {
    fn from(schema: bool) -> Self {
        if schema { Self::Schema } else { Self::Line }
    }
}

/// The tools as a table; empty if there are none.
pub(crate) fn render<'a>(
    tools: impl Iterator<Item = &'a Tool>,
    owner: Owner,
    detail: Detail,
    screen: Screen,
) -> String {
    let mut columns = Columns::headed(&["TOOL", "SERVER", "STATE", "DESCRIPTION"]);
    let mut any = false;
    for tool in tools {
        any = true;
        let (tone, state) = state(&tool.state);
        let server = match owner {
            Owner::Shown => visible::one_line(tool.server.as_str()),
            Owner::Hidden => Cow::Borrowed(""),
        };
        let (text, about) = match &tool.state {
            ToolState::Failed { reason } | ToolState::Quarantined { reason } => {
                (Tone::Bad, reason.as_str())
            }
            ToolState::Live | ToolState::Deferred => (Tone::Plain, &*tool.description),
        };
        columns.row(vec![
            Cell::new(Tone::Strong, visible::one_line(&tool.exposed)),
            Cell::new(Tone::Plain, server),
            Cell::new(tone, state),
            Cell::new(text, visible::first_line(about)),
        ]);
        if detail == Detail::Schema {
            columns.note(Tone::Faint, format!("  {}", visible::one_line(tool.schema.as_str())));
        }
    }
    // A schema that is cut is of no use.
    let width = if detail == Detail::Schema { None } else { screen.width };
    if any { columns.render(screen.paint, width) } else { String::new() }
}

/// The stable name of a state, as in `list --json`.
pub(crate) const fn state_name(state: &ToolState) -> &'static str {
    match state {
        ToolState::Live => "live",
        ToolState::Deferred => "deferred",
        ToolState::Failed { .. } => "failed",
        ToolState::Quarantined { .. } => "quarantined",
    }
}

/// What is said of a state in a table; nothing of the ordinary one.
const fn state(state: &ToolState) -> (Tone, &'static str) {
    match state {
        ToolState::Live => (Tone::Plain, ""),
        ToolState::Deferred => (Tone::Waiting, "deferred"),
        ToolState::Failed { .. } => (Tone::Bad, "failed"),
        ToolState::Quarantined { .. } => (Tone::Bad, "quarantined"),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::bytes::Json;

    use super::*;
    use crate::output::paint::Paint;

    const BARE: Screen = Screen { paint: Paint::Plain, width: None };

    fn tool(exposed: &str, description: &str, state: ToolState) -> Tool {
        Tool {
            exposed: exposed.into(),
            server: "s".into(),
            tool: "t".into(),
            description: description.into(),
            schema: Json::new(r#"{"type":"object"}"#),
            state,
        }
    }

    #[test]
    fn a_description_is_its_first_line_and_cannot_steer_the_terminal() {
        let tools = [tool("mcp_s_t", "\nAdds.\x1b[2J\nMore.", ToolState::Live)];
        let text = render(tools.iter(), Owner::Shown, Detail::Line, BARE);
        assert_eq!(text, "TOOL     SERVER  DESCRIPTION\nmcp_s_t  s       Adds.\\x1b[2J\n");
    }

    #[test]
    fn a_tool_that_cannot_be_called_says_why() {
        let broken = ToolState::Quarantined { reason: "its schema is a list".into() };
        let tools =
            [tool("mcp_s_a", "Adds.", ToolState::Deferred), tool("mcp_s_b", "Broken.", broken)];
        let text = render(tools.iter(), Owner::Shown, Detail::Line, BARE);
        assert_eq!(
            text,
            "TOOL     SERVER  STATE        DESCRIPTION\n\
             mcp_s_a  s       deferred     Adds.\n\
             mcp_s_b  s       quarantined  its schema is a list\n"
        );
    }

    #[test]
    fn schemas_stand_below_their_tools() {
        let tools = [tool("mcp_s_t", "Adds.", ToolState::Live)];
        let text = render(tools.iter(), Owner::Shown, Detail::Schema, BARE);
        assert!(text.ends_with("Adds.\n  {\"type\":\"object\"}\n"), "{text}");
    }

    #[test]
    fn no_tools_are_no_table() {
        assert_eq!(render([].iter(), Owner::Shown, Detail::Line, BARE), "");
    }
}
