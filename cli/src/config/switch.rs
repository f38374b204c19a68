//! `enable` and `disable`: the definition that counts is switched, by whatever switches it
//! (G58, D61, D62).

use tidegate_core::config::Level;
use tidegate_core::config::edit::Edit;

use super::Changed;
use super::add::place;
use super::files::{EditTrouble, Files};
use super::foreign::{self, Wish};
use crate::args::{Global, SwitchArgs};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json, visible};

/// Switches a server on.
///
/// # Errors
/// If no file defines it, or what switches it off stands in a file that may not be changed.
pub(crate) fn enable(global: &Global, args: &SwitchArgs) -> Result<Exit, Trouble> {
    let mut files = Files::read(global)?;
    let name = args.name.as_str();
    let denied = !files.denying(name).is_empty();
    // A file that only switches servers off defines none.
    let definition = if denied { files.effective(name) } else { Some(files.known(name)?) };
    if !denied && let Some(definition) = definition.filter(|it| it.enabled) {
        if let Some(tool) = foreign::switched_off_by(&files.places, definition) {
            return Err(foreign::elsewhere(name, tool, &files.at(definition)));
        }
        return already(global, name, "enabled");
    }
    // Every file is looked at before the first one is changed.
    let mut changes = Vec::new();
    for source in files.denying(name) {
        if !super::files::is_own(source) {
            return Err(foreign::refusal(&files, source, name, Wish::Allowed));
        }
        changes.push((source.clone(), Edit::Allow { name: name.into() }));
    }
    if let Some(definition) = definition.filter(|it| !files.is_on_by_itself(it)) {
        let source = files.writable(definition, Wish::On)?;
        changes.push((source.clone(), Edit::Enable { name: name.into() }));
    }
    if let Some(definition) = definition.filter(|_| changes.is_empty()) {
        let (tool, at) = files.off_by(definition);
        return Err(foreign::elsewhere(name, tool, &at));
    }
    let mut changed = Vec::new();
    for (source, change) in changes {
        if files.edit(&source, &change).map_err(|trouble| trouble.failed("enable"))? {
            changed.push(source);
        }
    }
    let places: Vec<String> = changed.iter().map(|source| place(&files, source)).collect();
    let told = if global.json {
        let paths = changed.iter().map(|source| source.path.as_str()).collect();
        json::line(&Changed::new(name, paths, ""))?
    } else {
        format!("✓ Enabled \"{}\" in {}\n", visible::one_line(name), places.join(", "))
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

/// Switches a server off: in its own file, or in the user's file if that may not be changed.
///
/// # Errors
/// If no file defines it or no file can be changed.
pub(crate) fn disable(global: &Global, args: &SwitchArgs) -> Result<Exit, Trouble> {
    let mut files = Files::read(global)?;
    let name = args.name.as_str();
    let definition = files.known(name)?;
    if !definition.enabled {
        return already(global, name, "disabled");
    }
    let failed = |trouble: EditTrouble| trouble.failed("disable");
    let shown = visible::one_line(name);
    let (source, note) = match files.writable(definition, Wish::On).cloned() {
        Ok(source) => {
            files.edit(&source, &Edit::Disable { name: name.into() }).map_err(failed)?;
            (source, String::new())
        }
        Err(_) => {
            let at = files.at(definition);
            let source = files.of_scope(Level::User)?;
            files.edit(&source, &Edit::Deny { name: name.into() }).map_err(failed)?;
            (source, format!("its definition in {at} is as it was; other programs read it too"))
        }
    };
    let told = if global.json {
        json::line(&Changed::new(name, vec![&source.path], &note))?
    } else {
        let mut told = format!("✓ Disabled \"{shown}\" in {}\n", place(&files, &source));
        if !note.is_empty() {
            told.push_str(&format!("  {note}\n"));
        }
        told
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

fn already(global: &Global, name: &str, state: &str) -> Result<Exit, Trouble> {
    let words = format!("Server \"{}\" is already {state}.", visible::one_line(name));
    let told = if global.json {
        json::line(&Changed::new(name, Vec::new(), &words))?
    } else {
        format!("{words}\n")
    };
    output::data(&told)?;
    Ok(Exit::Done)
}
