//! `sources`: which files were read, what won, what lost and why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use tidegate_core::approval::Approval;
use tidegate_core::config::resolve::{Fate, Told};
use tidegate_core::config::{Definition, Level, Provider, SourceRef};
use tidegate_core::error::{Problem, Severity};

use super::files::Files;
use super::word;
use crate::args::Global;
use crate::exit::{Exit, Trouble};
use crate::output::columns::{Cell, Columns};
use crate::output::paint::Tone;
use crate::output::servers::how_to_approve;
use crate::output::{self, Screen, json, visible};

/// What `sources --json` prints.
#[derive(Debug, Serialize)]
struct Sources<'a> {
    version: u32,
    sources: Vec<File<'a>>,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    provider: Provider,
    level: Level,
    path: &'a str,
    /// `read`, `missing` or `unreadable`.
    state: &'static str,
    /// Why it is unreadable, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    servers: Vec<Server<'a>>,
    /// The tool whose notation it is read in, if it is a file that was named and not our own.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_as: Option<Provider>,
    /// How many files it leads to, which come after it.
    #[serde(skip_serializing_if = "is_zero")]
    leads_to: usize,
}

#[derive(Debug, Serialize)]
struct Server<'a> {
    name: &'a str,
    line: u32,
    #[serde(flatten)]
    fate: &'a Fate,
    /// Why the other definition counts, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    /// Whether it may run, if that takes an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<bool>,
    /// Why the organisation forbids it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    forbidden: Option<&'a str>,
}

/// Shows the files.
///
/// # Errors
/// If the project's directory or a path cannot be used.
pub(crate) fn run(global: &Global) -> Result<Exit, Trouble> {
    let files = Files::read(global)?;
    let granted = files.granted()?.into_iter().map(|granted| granted.approval).collect();
    let sources = gather(&files, &granted);
    let told = if global.json {
        json::line(&Sources { version: json::VERSION, sources })?
    } else {
        text(global, &files, &sources)
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

fn gather<'a>(files: &'a Files, granted: &BTreeSet<Approval>) -> Vec<File<'a>> {
    // There may be thousands of servers.
    let mut told: BTreeMap<&str, Vec<&Told>> = BTreeMap::new();
    for fate in &files.resolved.fates {
        told.entry(&fate.source.path).or_default().push(fate);
    }
    let effective = files.resolved.definitions.iter();
    let effective = effective.map(|definition| (definition.name.as_str(), definition)).collect();
    let all = files.sources.iter().zip(&files.readings);
    all.map(|(source, reading)| {
        let state = if source.text.is_none() && !Path::new(&source.path).exists() {
            "missing"
        } else if reading.is_whole() {
            "read"
        } else {
            "unreadable"
        };
        let here = told.get(source.path.as_str()).into_iter().flatten();
        let servers = here.map(|told| Server {
            name: told.server.as_str(),
            line: told.source.line,
            fate: &told.fate,
            because: because(told),
            approved: approved(&effective, told, granted),
            forbidden: if let Fate::Forbidden { message } = &told.fate {
                Some(message)
            } else {
                None
            },
        });
        let broken = |problem: &&Problem| problem.severity == Severity::Error;
        let why = reading.problems.iter().find(broken).filter(|_| state == "unreadable");
        let why = why.map(|problem| problem.message.as_str());
        let (provider, level, path) = (source.provider, source.level, source.path.as_str());
        let (leads_to, read_as) = (reading.further.len(), reading.read_as);
        File { provider, level, path, state, why, servers: servers.collect(), read_as, leads_to }
    })
    .collect()
}

/// Why the other definition of a name counts, if one does.
fn because(told: &Told) -> Option<String> {
    let (this, Fate::Shadowed { by: other }) = (&told.source, &told.fate) else { return None };
    let tool = |it: &SourceRef| it.provider.display();
    Some(match (word(this.level), word(other.level)) {
        _ if this.provider != other.provider => {
            format!("{} comes before {}", tool(other), tool(this))
        }
        (Some(this), Some(other)) if this != other => {
            format!("the {other}'s files come before the {this}'s")
        }
        _ if this.path == other.path => "in this file it comes first".into(),
        _ => "that file is looked into first".into(),
    })
}

fn approved(
    effective: &BTreeMap<&str, &Definition>,
    told: &Told,
    granted: &BTreeSet<Approval>,
) -> Option<bool> {
    if told.source.level != Level::Project || told.fate != Fate::Active {
        return None;
    }
    let definition = effective.get(told.server.as_str())?;
    // What an approval is made of is a lot of work for nothing where there is none.
    Some(!granted.is_empty() && granted.contains(&definition.approval()))
}

fn text(global: &Global, files: &Files, sources: &[File<'_>]) -> String {
    let screen = Screen::stdout();
    // Most of the places that are looked into are of programs that are not there.
    let shown: Vec<&File<'_>> =
        sources.iter().filter(|file| global.verbose || file.state != "missing").collect();
    if shown.is_empty() {
        return "no configuration file was found; `sources -v` shows where was looked\n".into();
    }
    let mut table = Columns::headed(&["FILE", "LEVEL", "OF", "STATE"]);
    for file in &shown {
        let (tone, state) = match file.state {
            "missing" => (Tone::Faint, "not there".to_owned()),
            "unreadable" => {
                let why = visible::one_line(file.why.unwrap_or("see `tidegate doctor`"));
                (Tone::Bad, format!("cannot be used: {why}"))
            }
            _ if file.leads_to > 0 => {
                (Tone::Plain, format!("leads to {}", count(file.leads_to, "file")))
            }
            _ => (Tone::Plain, count(file.servers.len(), "server")),
        };
        table.row(vec![
            Cell::new(Tone::Plain, files.short.short(file.path)),
            Cell::new(Tone::Plain, level(file.level)),
            Cell::new(Tone::Plain, of(file)),
            Cell::new(tone, state),
        ]);
    }
    let mut told = table.render(screen.paint, screen.width);
    let mut servers = Columns::headed(&["SERVER", "WHERE", ""]);
    for file in &shown {
        for server in &file.servers {
            let (tone, words) = fate(server, files);
            servers.row(vec![
                Cell::new(Tone::Plain, visible::one_line(server.name)),
                Cell::new(Tone::Plain, files.short.line(file.path, Some(server.line))),
                Cell::new(tone, words),
            ]);
        }
    }
    if shown.iter().any(|file| !file.servers.is_empty()) {
        told.push('\n');
        told.push_str(&servers.render(screen.paint, None));
    }
    told
}

fn of(file: &File<'_>) -> String {
    let read_as = file.read_as.map(|tool| format!(", read as {}", tool.display()));
    format!("{}{}", file.provider.display(), read_as.unwrap_or_default())
}

fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Project => "project",
        Level::User => "user",
        Level::Local => "local",
        Level::Explicit | _ => "named",
    }
}

fn fate(server: &Server<'_>, files: &Files) -> (Tone, String) {
    let line = |text: &str| visible::one_line(text).into_owned();
    if let Some(why) = server.forbidden {
        return (Tone::Bad, line(why));
    }
    match server.fate {
        Fate::Active if server.approved == Some(false) => {
            (Tone::Waiting, format!("waits for your approval: {}", how_to_approve(&[server.name])))
        }
        Fate::Active => (Tone::Good, "used".into()),
        Fate::Disabled { by } => {
            (Tone::Faint, format!("switched off in {}", files.short.short(by)))
        }
        Fate::Shadowed { by } => {
            let at = files.short.line(&by.path, Some(by.line));
            let why = server.because.as_deref().map(|why| format!("; {why}")).unwrap_or_default();
            (Tone::Faint, format!("not used: the definition in {at} is{why}"))
        }
        Fate::Overlay { on } => {
            let at = files.short.line(&on.path, Some(on.line));
            (Tone::Faint, format!("only switches the definition in {at}"))
        }
        Fate::Invalid { message } => (Tone::Bad, line(message)),
        Fate::Surplus => (Tone::Bad, "not used: there are too many servers".into()),
        other @ (Fate::Filtered { .. } | _) => {
            // What a later version knows is told by its names.
            let told = serde_json::to_value(other).unwrap_or_default();
            let word = |key: &str| told[key].as_str().map(line).unwrap_or_default();
            (Tone::Faint, format!("not used: {} {}", word("fate"), word("by")).trim_end().into())
        }
    }
}
