//! Asking whether what the project brought along may run (F-038, F-039).

use std::fmt::Write as _;

use tidegate_core::config::consent::{Act, Consent};
use tidegate_core::hub::status::ServerStatus;
use tidegate_smol::{Approvals, Granted};

use crate::ask::Turn;
use crate::output::places::Places;
use crate::output::visible;

/// Asks for each server that waits for an approval; whether any was given.
///
/// # Errors
/// If an approval cannot be kept.
pub(crate) fn ask(
    servers: &[ServerStatus],
    turn: &Turn,
    approvals: &Approvals,
    places: &Places,
) -> std::io::Result<bool> {
    let waiting = servers.iter().filter_map(|one| Some((one, one.consent.as_ref()?)));
    let mut granted = Vec::new();
    for (server, consent) in waiting {
        let question = format!("{}Run it from now on? [y/N] ", described(server, consent, places));
        // Whoever is gone does not agree, to this one or another.
        let Some(answer) = turn.line(&question) else { break };
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            let (name, file) = (server.name.to_string(), server.source.path.clone());
            granted.push(Granted { approval: consent.approval, server: name, file });
        }
    }
    let any = !granted.is_empty();
    if any {
        approvals.grant(granted)?;
    }
    Ok(any)
}

/// What a server would do, safe for a terminal: everything in it is the project's own words.
pub(crate) fn described(server: &ServerStatus, consent: &Consent, places: &Places) -> String {
    let place = places.line(&server.source.path, Some(server.source.line));
    let name = word(server.name.as_str());
    let mut told = format!("The project brought along a server that is not approved: {name}\n");
    let mut line = |key: &str, what: String| {
        if !what.is_empty() {
            // Writing into a `String` cannot fail.
            let _ = writeln!(told, "  {key:<14} {what}");
        }
    };
    line("defined in", place);
    match &consent.act {
        Act::Run { command, args, cwd } => {
            line("runs", words(std::iter::once(command).chain(args), " "));
            line("in", cwd.as_deref().map(word).unwrap_or_default());
            line("sets", words(&consent.sets, ", "));
        }
        Act::Connect { url } => {
            line("connects to", word(url));
            line("sends", words(&consent.sets, ", "));
        }
        _ => line("does", "something this version does not know".into()),
    }
    line("gets your", words(&consent.reads, ", "));
    for shell in &consent.shell {
        line("runs in a shell", word(shell));
    }
    line("reads", words(&consent.files, ", "));
    told
}

fn words<'a>(texts: impl IntoIterator<Item = &'a String>, between: &str) -> String {
    texts.into_iter().map(|text| word(text)).collect::<Vec<_>>().join(between)
}

/// A text as it is where it is plain; else in quotes, what cannot be seen spelled out, and what
/// may look like something else spelled out beside it.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,%~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let quoted = format!("{text:?}");
    let shown = visible::one_line(&quoted);
    if text.is_ascii() {
        shown.into_owned()
    } else {
        format!("{shown} ({})", text.escape_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookalike_is_shown_with_what_makes_it_one() {
        for (text, shown) in [
            ("npx", "npx"),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("rm\u{1b}[8m", "\"rm\\u{1b}[8m\""),
            ("a\nb", "\"a\\nb\""),
            ("g\u{456}thub", "\"g\u{456}thub\" (g\\u{456}thub)"),
            ("x\u{200b}y", "\"x\\u{200b}y\" (x\\u{200b}y)"),
            ("\u{202e}cod", "\"\\u{202e}cod\" (\\u{202e}cod)"),
        ] {
            assert_eq!(word(text), shown);
        }
    }
}
