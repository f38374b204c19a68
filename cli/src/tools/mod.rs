//! `tools`: find tools by name.

pub(crate) mod pattern;

use tidegate_core::error::{Category, Problem};
use tidegate_core::tools::catalog::Tool;

use crate::args::{Global, ToolsArgs};
use crate::ending::Told;
use crate::exit::{Exit, Trouble};
use crate::output::tools::{self, Owner};
use crate::output::{Screen, json, visible};
use crate::session::{self, Ended, Plan, Session};
use pattern::Pattern;

/// Finds tools.
///
/// # Errors
/// If the flags or a file the user named cannot be used.
pub(crate) fn run(global: &Global, args: &ToolsArgs) -> Result<Exit, Trouble> {
    let pattern = Pattern::new(args.pattern.as_deref().unwrap_or_default());
    let work = async |session: &Session| {
        session.start().await?;
        if args.wait {
            session.settle().await;
        }
        let problems = session.host.status().await.problems;
        let left_out = |it: &Problem| it.category == Category::ExcludedTools;
        let left_out = problems.into_iter().filter(left_out).map(|it| it.message);
        Ok((session.host.catalog().await, left_out.collect::<Vec<_>>()))
    };
    session::run(Plan::new(global, &[])?, work, |_, ended| {
        let Ended::Done((catalog, left_out)) = ended else {
            return Ok(Told::nothing(Exit::Failed));
        };
        let found: Vec<&Tool> = catalog
            .tools
            .iter()
            .map(AsRef::as_ref)
            .filter(|tool: &&Tool| pattern.matches(&tool.exposed))
            .collect();
        let shown = found.iter().copied();
        if global.json {
            let line = json::line(&json::Tools::new(shown, args.schema.into()))?;
            return Ok(Told::data(line, Exit::Done));
        }
        let table = tools::render(shown, Owner::Shown, args.schema.into(), Screen::stdout());
        let mut told = Told::data(table, Exit::Done);
        if found.is_empty() && !global.quiet {
            told.message = nothing(catalog.tools.len(), &left_out);
        }
        Ok(told)
    })
}

fn nothing(total: usize, left_out: &[String]) -> String {
    let told = match total {
        0 => "there are no tools; `tidegate list` says why".to_owned(),
        _ => format!("none of the {total} tools has such a name"),
    };
    let left_out = left_out.iter().map(|told| format!("\n  {}", visible::one_line(told)));
    std::iter::once(told).chain(left_out).collect()
}
