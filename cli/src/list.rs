//! `list`: the servers with their state, their tools, and what there is to mend.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::error::{Problem, Severity};
use tidegate_core::event::{ServerState, Skip};
use tidegate_core::hub::status::{ServerStatus, Status};
use tidegate_core::id::ServerName;
use tidegate_core::tools::catalog::Catalog;

use crate::args::{Global, ListArgs};
use crate::ending::Told;
use crate::exit::{Exit, Trouble};
use crate::output::json::{self, Times};
use crate::output::paint::{Paint, Tone};
use crate::output::servers;
use crate::output::tools::{self, Owner};
use crate::output::{Screen, problems};
use crate::session::{self, Ended, Plan, Session};

/// What is known at the moment of the answer.
#[derive(Debug)]
struct Listing {
    status: Status,
    catalog: Arc<Catalog>,
    elapsed_ms: u64,
}

/// Lists.
///
/// # Errors
/// If the flags or a file the user named cannot be used.
pub(crate) fn run(global: &Global, args: &ListArgs) -> Result<Exit, Trouble> {
    let plan = Plan::new(global, &[])?;
    let looked = plan.files();
    let work = async |session: &Session| {
        let mut elapsed_ms = session.start().await?.elapsed_ms;
        if args.wait {
            session.settle().await;
            elapsed_ms = session.elapsed_ms();
        }
        let (status, catalog) = (session.host.status().await, session.host.catalog().await);
        Ok(Listing { status, catalog, elapsed_ms })
    };
    session::run(plan, work, |session, ended| {
        let Ended::Done(mut listing) = ended else { return Ok(Told::nothing(Exit::Failed)) };
        let json = if global.json { as_json(global, args, &listing)? } else { String::new() };
        listing.narrow(&session.only);
        let failed = args.strict && listing.is_wanting();
        let mut told = Told::data(json, if failed { Exit::Failed } else { Exit::Done });
        if !global.json {
            told.data = as_text(global, args, &listing, session);
            if listing.status.servers.is_empty() && !global.quiet {
                told.message = nowhere(&looked, session, global.config.is_empty());
            }
        }
        Ok(told)
    })
}

impl Listing {
    /// Leaves out what was not asked for; nothing if everything was.
    fn narrow(&mut self, only: &BTreeSet<ServerName>) {
        if !only.is_empty() {
            self.status.servers.retain(|server| only.contains(&server.name));
            let wanted = |problem: &Problem| {
                problem.server.as_ref().is_none_or(|server| only.contains(server))
            };
            self.status.problems.retain(wanted);
        }
    }

    /// Whether a server that somebody wants does not run, or something that is configured cannot
    /// be used (`--strict`). What somebody switched off or left out is not wanted.
    fn is_wanting(&self) -> bool {
        let is_refused = |state: &ServerState| {
            matches!(
                state,
                ServerState::NeedsApproval | ServerState::Skipped { reason: Skip::Forbidden }
            )
        };
        let is_missing = |state: &ServerState| state.is_failed() || is_refused(state);
        self.status.servers.iter().any(|server| is_missing(&server.state))
            || self.status.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The problems that are not the reason that stands at their server already.
    fn unsaid(&self) -> Vec<Problem> {
        let reasons: BTreeMap<&ServerName, String> = self
            .status
            .servers
            .iter()
            .filter_map(|server| Some((&server.name, servers::reason(server)?)))
            .collect();
        let is_said = |problem: &&Problem| {
            let reason = problem.server.as_ref().and_then(|server| reasons.get(server));
            reason.is_some_and(|reason| reason.contains(&problem.message))
        };
        self.status.problems.iter().filter(|problem| !is_said(problem)).cloned().collect()
    }

    /// How to approve what needs approval, if anything does (F-039).
    fn approval(&self, paint: Paint) -> String {
        let needs = |server: &&ServerStatus| matches!(server.state, ServerState::NeedsApproval);
        let waiting = self.status.servers.iter().filter(needs);
        let names: Vec<&str> = waiting.map(|server| server.name.as_str()).collect();
        let told = match names.len() {
            0 => return String::new(),
            1 => "1 server of the project needs".to_owned(),
            count => format!("{count} servers of the project need"),
        };
        let text = format!("{told} your approval: {}", servers::how_to_approve(&names));
        format!("{}\n", paint.text(Tone::Waiting, &text))
    }
}

fn as_json(global: &Global, args: &ListArgs, listing: &Listing) -> Result<String, Trouble> {
    let times = Times { gate_ms: global.gate_ms(), elapsed_ms: listing.elapsed_ms };
    let list = json::List::new(&listing.status, &listing.catalog.tools, args.schema.into(), times);
    Ok(json::line(&list)?)
}

fn as_text(global: &Global, args: &ListArgs, listing: &Listing, session: &Session) -> String {
    let screen = Screen::stdout();
    let places = &session.places;
    let detail = if global.verbose { servers::Detail::Full } else { servers::Detail::Short };
    let tools = &listing.catalog.tools;
    let rest = listing.unsaid();
    let sections = [
        servers::render(&listing.status.servers, tools, places, detail, screen),
        tools::render(tools.iter().map(AsRef::as_ref), Owner::Hidden, args.schema.into(), screen),
        problems::render(&rest, places, screen),
        listing.approval(screen.paint),
    ];
    let told: Vec<String> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    told.join("\n")
}

/// That nothing is configured, and where it could be.
fn nowhere((own, other): &(Vec<String>, Vec<String>), session: &Session, searched: bool) -> String {
    let files: Vec<String> =
        own.iter().map(|file| format!("\n  {}", session.places.short(file))).collect();
    let others = match other.len() {
        0 => String::new(),
        count => format!("\n  and {count} files of other tools"),
    };
    let where_from = if searched { "looked for" } else { "there are none in" };
    format!(
        "no servers are configured; {where_from}{}{others}\nTry `tidegate demo` to see what would \
         happen.",
        files.concat()
    )
}
