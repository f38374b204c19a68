//! `remove`: the definition that counts is taken out of its file (G58).

use tidegate_core::config::edit::Edit;

use super::Changed;
use super::add::{place, scope, shadowed};
use super::files::Files;
use super::foreign::Wish;
use crate::args::{Global, RemoveArgs};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json, visible};

/// Removes a server.
///
/// # Errors
/// If no file of the scope defines it, or its file is another program's or cannot be written.
pub(crate) fn run(global: &Global, args: &RemoveArgs) -> Result<Exit, Trouble> {
    let mut files = Files::read(global)?;
    let name = &args.name;
    let shown = visible::one_line(name);
    let source = match scope(args.scope.as_deref())? {
        Some(level) => files.of_scope(level)?,
        None => files.writable(files.known(name)?, Wish::Gone)?.clone(),
    };
    if !files.defines(name, &source.path) {
        let place = place(&files, &source);
        return Err(Trouble::Failed(format!("Server \"{shown}\" not found in {place}.")));
    }
    let was_hidden = shadowed(&files, name, &source);
    let change = Edit::Remove { name: name.clone() };
    files.edit(&source, &change).map_err(|trouble| trouble.failed("remove"))?;
    let left = files.effective(name).map(|left| files.at(left));
    let note = match (was_hidden, left) {
        (Some(_), Some(at)) => format!("it was hidden: the definition in {at} is used as before"),
        (None, Some(at)) => format!("the definition of \"{shown}\" in {at} is used from here on"),
        (_, None) => String::new(),
    };
    let told = if global.json {
        json::line(&Changed::new(name, vec![&source.path], &note))?
    } else {
        let place = place(&files, &source);
        let mut told = format!("✓ Removed server \"{shown}\" from {place}\n");
        if !note.is_empty() {
            told.push_str(&format!("  {note}\n"));
        }
        told
    };
    output::data(&told)?;
    Ok(Exit::Done)
}
