//! `set`: how long a server may take and which of its tools may be called without asking, written
//! into the file that the definition in use stands in (G58).

use tidegate_core::config::edit::Edit;

use super::Changed;
use super::add::place;
use super::files::Files;
use super::foreign::Wish;
use crate::args::{Global, SetArgs};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json, visible};

/// Sets what the flags say, all of it or nothing.
///
/// # Errors
/// If they say nothing, no file defines the server, or its file is another program's or cannot be
/// written.
pub(crate) fn run(global: &Global, args: &SetArgs) -> Result<Exit, Trouble> {
    let changes = changes(global, args)?;
    let mut files = Files::read(global)?;
    let name = args.name.as_str();
    let definition = files.known(name)?;
    let source = files.writable(definition, Wish::Kept)?.clone();
    let was_approved = files.is_approved(definition)?;
    let changed = files.edit_all(&source, &changes).map_err(|trouble| trouble.failed("update"))?;
    // Who changes what was approved agrees to the change, and to nothing that was not approved.
    let note = if changed && was_approved { files.approve(name).err() } else { None };
    let note = note.unwrap_or_default();
    let shown = visible::one_line(name);
    let told = if global.json {
        let changed = if changed { vec![source.path.as_str()] } else { Vec::new() };
        json::line(&Changed::new(name, changed, &note))?
    } else if changed {
        let place = place(&files, &source);
        let mut told = format!("✓ Updated server \"{shown}\" in {place}\n");
        if !note.is_empty() {
            told.push_str(&format!("  {note}\n"));
        }
        told
    } else {
        format!("Server \"{shown}\" is set so already.\n")
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

fn changes(global: &Global, args: &SetArgs) -> Result<Vec<Edit>, Trouble> {
    let usage = |words: &str| Err(Trouble::Usage(words.into()));
    for (flag, tools) in [("--auto-approve", &args.auto_approve), ("--ask", &args.ask)] {
        if tools.iter().any(|tool| tool.is_empty() || tool.contains(char::is_control)) {
            return usage(&format!("Invalid {flag} value. Use the name of a tool."));
        }
    }
    if args.auto_approve.iter().any(|tool| args.ask.contains(tool)) {
        return usage("Use either --auto-approve or --ask for a tool, not both.");
    }
    let name = || args.name.clone();
    let mut changes = Vec::new();
    changes.extend(global.timeout.map(|ms| Edit::SetTimeout { name: name(), ms }));
    if !args.auto_approve.is_empty() {
        changes.push(Edit::ApproveTools { name: name(), tools: args.auto_approve.clone() });
    }
    if !args.ask.is_empty() {
        changes.push(Edit::AskForTools { name: name(), tools: args.ask.clone() });
    }
    if changes.is_empty() {
        return usage("Use --timeout, --auto-approve or --ask.");
    }
    Ok(changes)
}
