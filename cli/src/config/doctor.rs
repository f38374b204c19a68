//! `doctor`: what is wrong in the configuration, where, and how to mend it.

use std::collections::BTreeSet;

use serde::Serialize;
use tidegate_core::approval::Approval;
use tidegate_core::config::{Definition, Level, Transport};
use tidegate_core::error::{Category, OpenError, Problem, Severity};
use tidegate_smol::checkup;

use super::files::Files;
use super::literal;
use crate::args::Global;
use crate::exit::{Exit, Trouble};
use crate::output::paint::Tone;
use crate::output::{self, Screen, json, problems, visible};

/// What helps, where the problem does not say so itself.
const MENDS: [(Category, &str); 23] = [
    (Category::UnreadableFile, "check that the file exists and that you may read it"),
    (Category::FileTooLarge, "take out of it what is no configuration"),
    (Category::EncodingInvalid, "save the file as UTF-8"),
    (Category::EncodingBom, "save the file as UTF-8 without a byte order mark"),
    (Category::SyntaxError, "mend the file at this place; until then none of its servers is there"),
    (Category::DepthLimit, "take out what is nested so deeply"),
    (Category::DuplicateKey, "remove one of the two"),
    (Category::WrongRootType, "write {\"mcpServers\": {…}}"),
    (Category::WrongSectionType, "write \"mcpServers\": {\"NAME\": {…}}"),
    (Category::InvalidEntry, "write \"NAME\": {\"command\": …} or \"NAME\": {\"url\": …}"),
    (Category::MissingEndpoint, "give it a \"command\" or a \"url\""),
    (Category::ConflictingEndpoint, "keep one of the two, or say which by \"type\""),
    (Category::TransportMismatch, "change \"type\", or give what that type needs"),
    (Category::UnknownTransport, "use stdio, http or sse"),
    (Category::InvalidUrl, "write an address that begins with https:// or http://"),
    (Category::InsecureUrl, "use https://"),
    (Category::Forbidden, "ask who runs this machine, or remove the server"),
    (Category::UnresolvedVariable, "set the variable, or write ${NAME:-default}"),
    (Category::NeedsInput, "nothing, if there is a terminal: there it is asked for"),
    (Category::NeedsCommand, "write the value itself, or define the server in Tidegate's own file"),
    (Category::NeedsFile, "write the value itself, or define the server in Tidegate's own file"),
    (Category::MissingSection, "write {\"mcpServers\": {…}}"),
    (Category::UnknownField, "remove it, or correct its name"),
];

/// What `doctor --json` prints.
#[derive(Debug, Serialize)]
struct Doctor {
    version: u32,
    doctor: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct Finding {
    #[serde(flatten)]
    problem: Problem,
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

impl Finding {
    fn is_wrong(&self) -> bool {
        self.problem.severity != Severity::Info
    }

    /// Whether it is worth a line without `-v`: what is wrong, and what keeps a server away.
    fn is_shown(&self) -> bool {
        let keeps_away = [Category::Driver, Category::NeedsInput].contains(&self.problem.category);
        self.is_wrong() || (keeps_away && self.mend.is_some())
    }
}

/// Looks for what is wrong. Errors and warnings are; notes are shown with `-v`.
///
/// # Errors
/// If the project's directory or a path cannot be used.
pub(crate) fn run(global: &Global) -> Result<Exit, Trouble> {
    let files = Files::read(global)?;
    let granted = files.granted()?.into_iter().map(|granted| granted.approval).collect();
    let all = findings(&files, &granted);
    let unreadable = files.readings.iter().any(|reading| !reading.is_whole());
    let exit = match all.iter().any(Finding::is_wrong) {
        true if unreadable && !global.config.is_empty() => Exit::Usage,
        true => Exit::Failed,
        false => Exit::Done,
    };
    let told = if global.json {
        json::line(&Doctor { version: json::VERSION, doctor: all })?
    } else {
        let shown = all.iter().filter(|finding| global.verbose || finding.is_shown());
        text(&files, shown, exit)
    };
    output::data(&told)?;
    Ok(exit)
}

/// What the files say wrongly, then what keeps each server from running.
fn findings(files: &Files, granted: &BTreeSet<Approval>) -> Vec<Finding> {
    // Two tools may look into one folder.
    let mut said = BTreeSet::new();
    let told = files
        .resolved
        .problems
        .iter()
        .filter(|it| said.insert((&it.file, it.line, it.column, &it.message)))
        .map(|problem| Finding { problem: problem.clone(), mend: mend(problem).map(String::from) });
    let servers = files.resolved.definitions.iter();
    let runs = |it: &&Definition| it.enabled && !files.resolved.forbidden.contains_key(&it.name);
    let of_server = |it| literals(it).into_iter().chain(obstacle(files, it, granted));
    told.chain(servers.filter(runs).flat_map(of_server)).collect()
}

/// The values of a server that were probably meant otherwise.
fn literals(it: &Definition) -> Vec<Finding> {
    let mend = "write a placeholder of that tool, or define the server in Tidegate's own file";
    let told = literal::literals(it).into_iter().map(|what| Finding {
        problem: Problem {
            severity: Severity::Warning,
            category: Category::UnexpandedVariable,
            file: Some(it.source.path.clone()),
            line: Some(it.source.line),
            column: None,
            key: None,
            server: Some(it.name.clone()),
            message: format!("Server \"{}\": {what}", it.name),
        },
        mend: Some(mend.to_owned()),
    });
    told.collect()
}

/// What keeps a server that is switched on from running.
fn obstacle(files: &Files, it: &Definition, granted: &BTreeSet<Approval>) -> Option<Finding> {
    let name = visible::one_line(it.name.as_str());
    let (severity, category, what, mend) = match &it.transport {
        Err(_) => return None,
        // What is not approved resolves nothing: a look at a path with a variable's value in it
        // could tell somebody that value.
        Ok(_) if it.source.level == Level::Project && !granted.contains(&it.approval()) => (
            Severity::Info,
            Category::Driver,
            "it waits for your approval".to_owned(),
            format!("see what it runs with `tidegate trust`, then: tidegate trust grant {name}"),
        ),
        // Only asking it would tell more.
        Ok(Transport::Http(_) | Transport::Sse(_) | Transport::Auto(_)) => return None,
        Ok(Transport::Stdio(_)) => {
            let fault = checkup::fault(&files.places.cwd, it)?;
            (Severity::Error, Category::Driver, fault.to_string(), way(&fault))
        }
    };
    let problem = Problem {
        severity,
        category,
        file: Some(it.source.path.clone()),
        line: Some(it.source.line),
        column: None,
        key: None,
        server: Some(it.name.clone()),
        message: format!("Server \"{name}\": {what}"),
    };
    Some(Finding { problem, mend: Some(mend) })
}

/// What helps against what keeps a program from starting.
fn way(fault: &OpenError) -> String {
    match fault {
        OpenError::CommandNotFound { command, .. } if command.contains(char::is_whitespace) => {
            "write \"command\": \"PROGRAM\", \"args\": [\"ARGUMENT\", …]"
        }
        OpenError::CommandNotFound { .. } => "install the program, or correct \"command\"",
        OpenError::NotExecutable { .. } => "make it executable, or correct \"command\"",
        OpenError::NoDirectory { .. } => "make the directory, or correct \"cwd\"",
        OpenError::Other { .. } | _ => "correct its definition",
    }
    .to_owned()
}

fn mend(problem: &Problem) -> Option<&'static str> {
    MENDS.iter().find(|(category, _)| *category == problem.category).map(|it| it.1)
}

fn text<'a>(files: &Files, shown: impl Iterator<Item = &'a Finding>, exit: Exit) -> String {
    let paint = Screen::stdout().paint;
    let mut told = String::new();
    for Finding { problem, mend } in shown {
        let (tone, word) = problems::severity(problem.severity);
        let words = problems::one_line(problem, &files.short);
        told.push_str(&format!("{} {words}\n", paint.text(tone, word)));
        if let Some(mend) = mend {
            told.push_str(&format!("  {}\n", paint.text(Tone::Faint, mend)));
        }
    }
    if exit == Exit::Done {
        let read = files.resolved.definitions.len();
        let servers = if read == 1 { "1 server".into() } else { format!("{read} servers") };
        told.push_str(&format!("nothing is wrong with the configuration of {servers}\n"));
    }
    told
}
