//! Asking whether what the project brought along may run (F-038, F-039).

use std::fmt::Write as _;

use tidegate_core::config::assignment::{Assignment, Value};
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
    let earlier = approvals.list()?;
    let mut any = false;
    for (server, consent) in waiting {
        let question =
            format!("{}Run it from now on? [y/N] ", asked(server, consent, &earlier, places));
        // Whoever is gone does not agree, to this one or another.
        let Some(answer) = turn.line(&question) else { break };
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            // Kept at once: the next question may be answered by an interrupt.
            approvals.grant(vec![granted(consent, server.name.as_str(), &server.source.path)])?;
            any = true;
        }
    }
    Ok(any)
}

/// The approval of a definition, with what is told of it later.
pub(crate) fn granted(consent: &Consent, server: &str, file: &str) -> Granted {
    let shown = if consent.confidential { Vec::new() } else { lines(consent) };
    Granted { approval: consent.approval, server: server.into(), file: file.into(), shown }
}

/// What is asked, safe for a terminal: everything in it is the project's own words.
fn asked(server: &ServerStatus, consent: &Consent, earlier: &[Granted], places: &Places) -> String {
    let (name, file) = (server.name.as_str(), &server.source.path);
    let mut told =
        format!("The project brought along a server that is not approved: {}\n", word(name));
    let place = line("defined in", &places.line(file, Some(server.source.line)));
    let back = line("to take it back", &format!("tidegate trust revoke {}", shell_word(name)));
    let changes = changes(consent, name, file, earlier);
    for line in changes.into_iter().chain([place]).chain(lines(consent)).chain([back]) {
        // Writing into a `String` cannot fail.
        let _ = writeln!(told, "  {line}");
    }
    told
}

/// That a server was approved in another form, if it was, and what is said of only one of the
/// two. Safe for a terminal.
pub(crate) fn changes(
    consent: &Consent,
    server: &str,
    file: &str,
    earlier: &[Granted],
) -> Vec<String> {
    let same = |granted: &&Granted| granted.server == server && granted.file == file;
    let Some(last) = earlier.iter().rfind(same) else { return Vec::new() };
    let now = lines(consent);
    let mut told = vec![line("changed", "since you approved it")];
    let gone = last.shown.iter().filter(|line| !now.contains(line));
    told.extend(gone.map(|gone| line("before", &visible::one_line(gone))));
    if !last.shown.is_empty() {
        let new = now.iter().filter(|line| !last.shown.contains(line));
        told.extend(new.map(|new| line("and now", new)));
    }
    told
}

/// What a definition would do, a line for each thing, safe for a terminal.
pub(crate) fn lines(consent: &Consent) -> Vec<String> {
    let mut told = Vec::new();
    let mut add = |key: &str, what: String| {
        if !what.is_empty() {
            told.push(line(key, &what));
        }
    };
    let reads = words(&consent.reads, ", ");
    let sets = match &consent.act {
        Act::Run { command, args, cwd } => {
            add("runs", words(std::iter::once(command).chain(args), " "));
            add("in", cwd.as_deref().map(word).unwrap_or_default());
            let rest = if reads.is_empty() { "" } else { ", and the rest of your environment" };
            add("gets your", if reads.is_empty() { "environment".into() } else { reads + rest });
            "sets"
        }
        Act::Connect { url } => {
            add("connects to", word(url));
            add("gets your", reads);
            "sends"
        }
        _ => {
            add("does", "something this version does not know".into());
            "sets"
        }
    };
    for assignment in &consent.sets {
        add(sets, assigned(assignment));
    }
    add("removes", words(&consent.unsets, ", "));
    for shell in &consent.shell {
        add("runs in a shell", word(shell));
    }
    add("reads", words(&consent.files, ", "));
    told
}

fn line(key: &str, what: &str) -> String {
    format!("{key:<15} {what}")
}

fn assigned(assignment: &Assignment) -> String {
    let name = word(&assignment.name);
    match &assignment.value {
        Value::Written(text) => format!("{name}={}", word(text)),
        Value::Variable(variable) => format!("{name}=(your {})", word(variable)),
        Value::Hidden | _ => format!("{name}=<hidden>"),
    }
}

fn words<'a>(texts: impl IntoIterator<Item = &'a String>, between: &str) -> String {
    texts.into_iter().map(|text| word(text)).collect::<Vec<_>>().join(between)
}

/// A text as it is where it is plain; else in quotes, what cannot be seen spelled out, and what
/// may look like something else spelled out beside it.
fn word(text: &str) -> String {
    if is_plain(text) {
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

/// An argument for a command that is suggested, as a shell takes it; safe for a terminal.
pub(crate) fn shell_word(text: &str) -> String {
    let dashes = if text.starts_with('-') { "-- " } else { "" };
    if is_plain(text) && !text.starts_with(['~', '=']) {
        return format!("{dashes}{text}");
    }
    if text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return format!("{dashes}'{}'", text.replace('\'', "'\\''"));
    }
    // What cannot be seen is spelled out, byte by byte.
    let bytes = text.bytes().map(|byte| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("{dashes}$'{}'", bytes.collect::<String>())
}

fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,%~".contains(c);
    !text.is_empty() && text.chars().all(plain)
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

    #[test]
    fn a_suggested_command_can_be_pasted() {
        for (name, shown) in [
            ("docs", "docs"),
            ("my docs", "'my docs'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
            ("-x", "-- -x"),
            ("", "''"),
            ("a\nb", "$'a\\x0ab'"),
            ("\u{e9}'", "$'\\xc3\\xa9\\''"),
        ] {
            assert_eq!(shell_word(name), shown);
        }
    }
}
