//! Our client beside servers of the official SDKs, in each revision, as a table in Markdown.
//!
//! `interop [SERVER…]`. Each cell is a server started anew, listed, called, listened to while it
//! counts, told to stop in the middle, asked for resources and prompts, and killed and used again.
//! `→` says which revision a server chose in the place of the one that was offered, `–` that it
//! does not speak one, the last column which one is found without being told. Answers of
//! plain JSON have no room for reports of how far a call is, so that there `count` is only called.
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod servers;
mod trial;

use std::env;
use std::process::ExitCode;

use tidegate_core::wire::dialect::Revision;

use servers::{ALL, Server};
use trial::{Verdict, trial};

fn main() -> ExitCode {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let wanted = |server: &&Server| wanted.is_empty() || wanted.iter().any(|it| it == server.name);
    let revisions = Revision::ALL.map(Revision::as_str);
    println!("| server | SDK | {} | by itself |", revisions.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(revisions.len()));
    let mut failures = Vec::new();
    for server in ALL.iter().filter(wanted) {
        let mut cell = |revision: Option<Revision>| {
            if revision.is_some_and(|revision| !server.speaks(revision.era())) {
                return "–".to_owned();
            }
            match trial(*server, revision) {
                Verdict::Works(_) if revision.is_some() => "works".to_owned(),
                Verdict::Works(spoken) => spoken,
                Verdict::Speaks(other) => format!("→ {other}"),
                Verdict::Fails(step, why) => {
                    let revision = revision.map_or("by itself", Revision::as_str);
                    failures.push(format!("{} {revision} {step}: {why}", server.name));
                    format!("**{step} fails**")
                }
            }
        };
        let cells = Revision::ALL.map(Some).into_iter().chain([None]).map(&mut cell);
        let cells: Vec<String> = cells.collect();
        println!("| {} | {} | {} |", server.name, server.sdk, cells.join(" | "));
    }
    for failure in &failures {
        println!("\n{failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
