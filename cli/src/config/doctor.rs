//! `doctor`: what is wrong in the configuration, where, and how to mend it.

use serde::Serialize;
use tidegate_core::error::{Category, Problem, Severity};

use super::files::Files;
use crate::args::Global;
use crate::exit::{Exit, Trouble};
use crate::output::paint::Tone;
use crate::output::{self, Screen, json, problems};

/// What helps, where the problem does not say so itself.
const MENDS: [(Category, &str); 18] = [
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
    (Category::UnknownField, "remove it, or correct its name"),
];

/// What `doctor --json` prints.
#[derive(Debug, Serialize)]
struct Doctor<'a> {
    version: u32,
    doctor: Vec<Finding<'a>>,
}

#[derive(Debug, Serialize)]
struct Finding<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'static str>,
}

/// Looks for what is wrong. Errors and warnings are; notes are shown with `-v`.
///
/// # Errors
/// If the project's directory or a path cannot be used.
pub(crate) fn run(global: &Global) -> Result<Exit, Trouble> {
    let files = Files::read(global)?;
    let wrong = |problem: &&Problem| problem.severity != Severity::Info;
    let all = &files.resolved.problems;
    let exit = if all.iter().any(|problem| wrong(&problem)) { Exit::Failed } else { Exit::Done };
    let shown = all.iter().filter(|problem| global.verbose || wrong(problem));
    let told = if global.json {
        let doctor = all.iter().map(|problem| Finding { problem, mend: mend(problem) }).collect();
        json::line(&Doctor { version: json::VERSION, doctor })?
    } else {
        text(&files, shown, exit)
    };
    output::data(&told)?;
    Ok(exit)
}

fn mend(problem: &Problem) -> Option<&'static str> {
    MENDS.iter().find(|(category, _)| *category == problem.category).map(|it| it.1)
}

fn text<'a>(files: &Files, shown: impl Iterator<Item = &'a Problem>, exit: Exit) -> String {
    let paint = Screen::stdout().paint;
    let mut told = String::new();
    for problem in shown {
        let (tone, word) = problems::severity(problem.severity);
        let words = problems::one_line(problem, &files.short);
        told.push_str(&format!("{} {words}\n", paint.text(tone, word)));
        if let Some(mend) = mend(problem) {
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
