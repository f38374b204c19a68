//! `trust`: which servers that projects bring along may run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tidegate_core::approval::Approval;
use tidegate_core::config::consent::Consent;
use tidegate_core::config::{Definition, Level};
use tidegate_smol::{Granted, places};

use super::files::Files;
use crate::args::{Global, RevokeNames, TrustAction, TrustArgs, TrustNames};
use crate::consent::{self, changes, lines};
use crate::exit::{Exit, Trouble};
use crate::output::columns::{Cell, Columns};
use crate::output::paint::Tone;
use crate::output::{self, Screen, json, visible};
use crate::session::unknown;

/// What `trust --json` prints.
#[derive(Debug, Serialize)]
struct Trust {
    version: u32,
    trust: Vec<Entry>,
    /// What was taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    revoked: Vec<Granted>,
}

/// One definition that needs an approval or has one.
#[derive(Debug, Serialize)]
struct Entry {
    server: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// `approved`; `waiting`; `earlier`: of this project and approved, and not in use in that
    /// form; `elsewhere`: approved for another project.
    state: &'static str,
    approval: Approval,
    /// That it was approved in another form, and what it was then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consent: Option<Consent>,
}

/// Lists, grants or revokes.
///
/// # Errors
/// If a name is not known, or the approvals cannot be read or written.
pub(crate) fn run(global: &Global, args: &TrustArgs) -> Result<Exit, Trouble> {
    let files = Files::read(global)?;
    let mut told = Trust { version: json::VERSION, trust: Vec::new(), revoked: Vec::new() };
    match &args.action {
        None | Some(TrustAction::List) => {}
        Some(TrustAction::Grant(names)) => grant(&files, names)?,
        Some(TrustAction::Revoke(names)) => told.revoked = revoke(&files, names)?,
    }
    told.trust = gather(&files, &files.granted()?);
    let text = if global.json {
        json::line(&told)?
    } else {
        let revoking = matches!(args.action, Some(TrustAction::Revoke(_)));
        let revoked = if revoking { taken(&files, &told.revoked) } else { String::new() };
        format!("{revoked}{}", text(global, &files, &told.trust))
    };
    output::data(&text)?;
    Ok(Exit::Done)
}

fn grant(files: &Files, names: &TrustNames) -> Result<(), Trouble> {
    let entries = gather(files, &[]);
    for name in &names.names {
        if !entries.iter().any(|entry| entry.server == *name) {
            return Err(nothing_to_approve(files, &entries, name));
        }
    }
    let named = |entry: &Entry| names.all || names.names.contains(&entry.server);
    let chosen = entries.iter().filter(|entry| named(entry));
    let granted = chosen.filter_map(|entry| {
        let consent = entry.consent.as_ref()?;
        Some(consent::granted(consent, &entry.server, &entry.file))
    });
    Ok(files.approvals()?.grant(granted.collect())?)
}

/// Why a server cannot be approved.
fn nothing_to_approve(files: &Files, entries: &[Entry], name: &str) -> Trouble {
    let Some(definition) = files.effective(name) else {
        let known = entries.iter().map(|entry| entry.server.as_str());
        return Trouble::Failed(unknown("server", name, known));
    };
    let (name, at) = (visible::one_line(name), files.at(definition));
    Trouble::Failed(if definition.source.level == Level::Project {
        format!("Server \"{name}\" ({at}) is not valid; `tidegate doctor` says why")
    } else {
        format!("Server \"{name}\" needs no approval: {at} is no file of the project")
    })
}

/// Takes approvals back: of this project in all forms, or of every project; says which.
fn revoke(files: &Files, names: &RevokeNames) -> Result<Vec<Granted>, Trouble> {
    let here = |granted: &Granted| files.is_of_project(&granted.file);
    let granted: Vec<Granted> = files.granted()?.into_iter().filter(here).collect();
    for name in &names.names {
        if granted.iter().any(|granted| granted.server == *name) {
            continue;
        }
        let known = granted.iter().map(|granted| granted.server.as_str());
        return Err(Trouble::Failed(match files.effective(name) {
            Some(_) => format!("Server \"{}\" is not approved", visible::one_line(name)),
            None => unknown("server", name, known),
        }));
    }
    let chosen = |granted: &Granted| {
        names.everywhere || here(granted) && (names.all || names.names.contains(&granted.server))
    };
    Ok(files.approvals()?.revoke(chosen)?)
}

/// What was taken back, for people.
fn taken(files: &Files, revoked: &[Granted]) -> String {
    let mut forms: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for granted in revoked {
        *forms.entry((&granted.server, &granted.file)).or_default() += 1;
    }
    let line = |((server, file), count): ((&str, &str), usize)| {
        let (server, file) = (visible::one_line(server), files.short.short(file));
        let forms = if count == 1 { String::new() } else { format!(", {count} forms of it") };
        format!("took back the approval of \"{server}\" ({file}{forms})\n")
    };
    if forms.is_empty() {
        return "nothing was approved\n".to_owned();
    }
    forms.into_iter().map(line).chain(["\n".to_owned()]).collect()
}

fn gather(files: &Files, granted: &[Granted]) -> Vec<Entry> {
    let environment = places::environment();
    let approved: BTreeSet<Approval> = granted.iter().map(|granted| granted.approval).collect();
    let needs = |definition: &&Definition| {
        definition.source.level == Level::Project && definition.transport.is_ok()
    };
    let here = files.resolved.definitions.iter().filter(needs).filter_map(|definition| {
        let consent = Consent::of(definition, &environment)?;
        let (name, file) = (definition.name.as_str(), &definition.source.path);
        let is_approved = approved.contains(&consent.approval);
        Some(Entry {
            server: name.to_owned(),
            file: file.clone(),
            line: Some(definition.source.line),
            state: if is_approved { "approved" } else { "waiting" },
            approval: consent.approval,
            changes: if is_approved { vec![] } else { changes(&consent, name, file, granted) },
            consent: Some(consent),
        })
    });
    let mut entries: Vec<Entry> = here.collect();
    let known: BTreeSet<Approval> = entries.iter().map(|entry| entry.approval).collect();
    let others = granted.iter().filter(|granted| !known.contains(&granted.approval));
    entries.extend(others.map(|granted| Entry {
        server: granted.server.clone(),
        file: granted.file.clone(),
        line: None,
        state: if files.is_of_project(&granted.file) { "earlier" } else { "elsewhere" },
        approval: granted.approval,
        changes: Vec::new(),
        consent: None,
    }));
    entries
}

fn text(global: &Global, files: &Files, entries: &[Entry]) -> String {
    let is_here = |entry: &&Entry| matches!(entry.state, "approved" | "waiting");
    let shown: Vec<&Entry> =
        entries.iter().filter(|entry| global.verbose || is_here(entry)).collect();
    let screen = Screen::stdout();
    let mut table = Columns::headed(&["SERVER", "STATE", "WHERE"]);
    for entry in &shown {
        let tone = match entry.state {
            "approved" => Tone::Good,
            "waiting" => Tone::Waiting,
            _ => Tone::Faint,
        };
        table.row(vec![
            Cell::new(Tone::Plain, visible::one_line(&entry.server)),
            Cell::new(tone, entry.state),
            Cell::new(Tone::Plain, files.short.line(&entry.file, entry.line)),
        ]);
        for line in entry.changes.iter().cloned().chain(entry.consent.iter().flat_map(lines)) {
            table.note(Tone::Plain, format!("   {line}"));
        }
    }
    let mut told = if shown.is_empty() {
        "no server of this project needs your approval\n".to_owned()
    } else {
        table.render(screen.paint, None)
    };
    if !global.verbose {
        let count = |state: &str| entries.iter().filter(|entry| entry.state == state).count();
        let mut line = |count: usize, what: &str| {
            if count > 0 {
                told.push_str(&format!("{count} {what}; -v shows them\n"));
            }
        };
        line(count("earlier"), "more approved as servers of this project were");
        line(count("elsewhere"), "more approved in other projects");
    }
    told
}
