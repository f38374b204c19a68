//! `trust`: which servers that projects bring along may run.

use std::collections::BTreeSet;

use serde::Serialize;
use tidegate_core::approval::Approval;
use tidegate_core::config::consent::{Act, Consent};
use tidegate_core::config::{Definition, Level};
use tidegate_smol::Granted;

use super::files::Files;
use crate::args::{Global, TrustAction, TrustArgs, TrustNames};
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
}

/// One definition that needs an approval or has one.
#[derive(Debug, Serialize)]
struct Entry {
    server: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// `approved`, `waiting`, or `elsewhere`: approved, and not in use here as it was.
    state: &'static str,
    approval: Approval,
    #[serde(skip_serializing_if = "Option::is_none")]
    consent: Option<Consent>,
}

/// Lists, grants or revokes.
///
/// # Errors
/// If a name is not known, or the approvals cannot be read or written.
pub(crate) fn run(global: &Global, args: &TrustArgs) -> Result<Exit, Trouble> {
    let files = Files::read(global)?;
    let granted = files.granted()?;
    let entries = gather(&files, &granted);
    match &args.action {
        None | Some(TrustAction::List) => {}
        Some(TrustAction::Grant(names)) => {
            let chosen = chosen(&entries, names, |entry| entry.state != "elsewhere")?;
            let grant = chosen.iter().map(|entry| Granted {
                approval: entry.approval,
                server: entry.server.clone(),
                file: entry.file.clone(),
            });
            files.approvals()?.grant(grant.collect())?;
        }
        Some(TrustAction::Revoke(names)) => {
            let chosen = chosen(&entries, names, |entry| {
                entry.state == "approved" || !names.all && entry.state == "elsewhere"
            })?;
            let revoked = chosen.iter().map(|entry| entry.approval).collect();
            files.approvals()?.revoke(&revoked)?;
        }
    }
    let entries = if args.action.is_some() { gather(&files, &files.granted()?) } else { entries };
    let told = if global.json {
        json::line(&Trust { version: json::VERSION, trust: entries })?
    } else {
        text(global, &files, &entries)
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

fn gather(files: &Files, granted: &[Granted]) -> Vec<Entry> {
    let approved: BTreeSet<Approval> = granted.iter().map(|granted| granted.approval).collect();
    let needs = |definition: &&Definition| {
        definition.source.level == Level::Project && definition.transport.is_ok()
    };
    let here = files.resolved.definitions.iter().filter(needs).map(|definition| {
        let approval = definition.approval();
        Entry {
            server: definition.name.as_str().to_owned(),
            file: definition.source.path.clone(),
            line: Some(definition.source.line),
            state: if approved.contains(&approval) { "approved" } else { "waiting" },
            approval,
            consent: Consent::of(definition),
        }
    });
    let mut entries: Vec<Entry> = here.collect();
    let known: BTreeSet<Approval> = entries.iter().map(|entry| entry.approval).collect();
    let elsewhere = granted.iter().filter(|granted| !known.contains(&granted.approval));
    entries.extend(elsewhere.map(|granted| Entry {
        server: granted.server.clone(),
        file: granted.file.clone(),
        line: None,
        state: "elsewhere",
        approval: granted.approval,
        consent: None,
    }));
    entries
}

/// The entries that were named, of those that can be.
fn chosen<'a>(
    entries: &'a [Entry],
    names: &TrustNames,
    can: impl Fn(&Entry) -> bool,
) -> Result<Vec<&'a Entry>, Trouble> {
    let possible: Vec<&Entry> = entries.iter().filter(|entry| can(entry)).collect();
    for name in &names.names {
        if !possible.iter().any(|entry| entry.server == *name) {
            let known = possible.iter().map(|entry| entry.server.as_str());
            return Err(Trouble::Failed(unknown("server", name, known)));
        }
    }
    let named = |entry: &&Entry| names.all || names.names.contains(&entry.server);
    Ok(possible.into_iter().filter(named).collect())
}

fn text(global: &Global, files: &Files, entries: &[Entry]) -> String {
    let shown: Vec<&Entry> =
        entries.iter().filter(|entry| global.verbose || entry.state != "elsewhere").collect();
    let hidden = entries.len() - shown.len();
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
        for line in entry.consent.iter().flat_map(lines) {
            table.note(Tone::Plain, format!("   {line}"));
        }
    }
    let mut told = if shown.is_empty() {
        "no server of this project needs your approval\n".to_owned()
    } else {
        table.render(screen.paint, None)
    };
    if hidden > 0 {
        told.push_str(&format!(
            "{hidden} more approved elsewhere or as they were; -v shows them\n"
        ));
    }
    told
}

/// What a definition would do, safe for a terminal.
fn lines(consent: &Consent) -> Vec<String> {
    let safe = |text: &str| visible::one_line(text).into_owned();
    let list = |what: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("{what} {}", safe(&names.join(", "))))
    };
    let act = match &consent.act {
        Act::Run { command, args, cwd } => {
            let words = std::iter::once(command).chain(args).map(|word| format!("{word:?}"));
            let run = format!("runs {}", words.collect::<Vec<_>>().join(" "));
            cwd.iter().fold(run, |run, cwd| format!("{run} in {cwd:?}"))
        }
        Act::Connect { url } => format!("connects to {url}"),
        other => format!("{other:?}"),
    };
    let texts = |set: &'_ BTreeSet<String>| set.iter().cloned().collect::<Vec<String>>();
    let (reads, shell, files) =
        (texts(&consent.reads), texts(&consent.shell), texts(&consent.files));
    let names =
        |list: &'_ [String]| list.iter().map(String::as_str).collect::<Vec<&str>>().join(", ");
    [
        Some(safe(&act)),
        list("sets", consent.sets.iter().map(String::as_str).collect()),
        (!reads.is_empty()).then(|| format!("is given your {}", safe(&names(&reads)))),
        (!shell.is_empty()).then(|| format!("runs in a shell: {}", safe(&names(&shell)))),
        (!files.is_empty()).then(|| format!("reads {}", safe(&names(&files)))),
    ]
    .into_iter()
    .flatten()
    .collect()
}
