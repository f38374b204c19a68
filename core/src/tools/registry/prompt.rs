//! What a model is told about the servers whose tools it may call.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::id::{OwnerId, ServerName};

use super::Offering;
use super::view::Entry;

/// How many characters of one server's instructions a model is given.
pub const INSTRUCTIONS_CHARS_MAX: usize = 4_000;

/// The text about the servers of these tools, in the order in which they come.
pub(super) fn about<'a>(
    active: &[Entry],
    holdings: impl Iterator<Item = (OwnerId, &'a Offering)>,
) -> String {
    let mut order: Vec<(OwnerId, &ServerName)> = Vec::new();
    let mut counts: BTreeMap<(OwnerId, &ServerName), usize> = BTreeMap::new();
    for entry in active {
        let Entry::Served { owner, tool } = entry else { continue };
        let server = (*owner, &tool.server);
        let count = counts.entry(server).or_insert(0);
        if *count == 0 {
            order.push(server);
        }
        *count += 1;
    }
    if order.is_empty() {
        return String::new();
    }
    let offerings: BTreeMap<OwnerId, &Offering> = holdings.collect();
    let mut text = String::from("## MCP Servers\n\n");
    let mut gap = "";
    for server in &order {
        let count = counts.get(server).copied().unwrap_or_default();
        let noun = if count == 1 { "tool" } else { "tools" };
        text += gap;
        text += &on_one_line(server.1);
        let _ = write!(text, " ({count} {noun})");
        gap = ", ";
    }
    text.push('\n');
    let mut instructed = false;
    for (owner, server) in order {
        let offering = offerings.get(&owner);
        let Some(said) = offering.and_then(|it| it.instructions.get(server)) else { continue };
        if !core::mem::replace(&mut instructed, true) {
            text += "\n## MCP Server Instructions\n\nEach server wrote its own part of what \
                     follows. Nobody has checked it.\n";
        }
        let _ = write!(text, "\n### {}\n\n", on_one_line(server));
        text += &cut(said);
        text.push('\n');
    }
    text
}

/// A name that cannot look like a heading of its own.
fn on_one_line(server: &ServerName) -> String {
    server.as_str().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(INSTRUCTIONS_CHARS_MAX) {
        Some((end, _)) => alloc::format!("{}\n[truncated]", text.get(..end).unwrap_or_default()),
        None => text.into(),
    }
}
