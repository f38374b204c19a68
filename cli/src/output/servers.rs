//! Servers, as a table for people: state, time, tools, source, and below each what went wrong.

use std::sync::Arc;

use tidegate_core::error::{Cause, OpenError};
use tidegate_core::event::{ServerState, Skip};
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::tools::catalog::{Tool, ToolState};

use super::Screen;
use super::columns::{Cell, Columns};
use super::paint::Tone;
use super::places::Places;
use super::visible;
use crate::consent::shell_word;

/// How many lines of a failed server's standard error are shown.
pub(crate) const TAIL_LINES: usize = 10;
/// The same with `-v`.
const TAIL_LINES_VERBOSE: usize = 200;

/// How much to show of each server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Detail {
    /// State and failures.
    Short,
    /// Also what it says about itself, and more of its standard error.
    Full,
}

/// The servers as a table; empty if there are none.
pub(crate) fn render(
    servers: &[ServerStatus],
    tools: &[Arc<Tool>],
    places: &Places,
    detail: Detail,
    screen: Screen,
) -> String {
    if servers.is_empty() {
        return String::new();
    }
    let headings = ["", "SERVER", "STATE", "   TIME", "VIA", "TOOLS", "SOURCE"];
    let mut columns = Columns::headed(&headings);
    for server in servers {
        let (mark, tone) = mark(&server.state);
        columns.row(vec![
            Cell::new(tone, mark),
            Cell::new(Tone::Strong, visible::one_line(server.name.as_str())),
            Cell::new(tone, server.state.name()),
            Cell::number(Tone::Plain, time(server).map(duration).unwrap_or_default()),
            Cell::new(Tone::Plain, server.transport.as_str()),
            Cell::new(Tone::Plain, count(server, tools)),
            Cell::new(Tone::Faint, source(server, places)),
        ]);
        notes(&mut columns, server, detail);
    }
    // What went wrong is to be read in full: it wraps where the terminal ends.
    columns.render(screen.paint, None)
}

/// Where a server is defined, and by which tool if that is not plain.
fn source(server: &ServerStatus, places: &Places) -> String {
    let place = places.line(&server.source.path, Some(server.source.line));
    let provider = server.source.provider;
    if provider.is_own() { place } else { format!("{place} via {}", provider.display()) }
}

/// Why a server is in its state, in one line of untrusted text, if there is anything to say.
pub(crate) fn reason(server: &ServerStatus) -> Option<String> {
    let approve =
        || format!("waits for your approval: {}", how_to_approve(&[server.name.as_str()]));
    match &server.state {
        ServerState::Failed { failure } => Some(failure.describe(&server.name)),
        ServerState::Suspended { failure } => {
            Some(format!("{}; lost too often to be started again", failure.describe(&server.name)))
        }
        ServerState::Retrying { failure, start } => {
            Some(format!("{}; start {start} to come", failure.describe(&server.name)))
        }
        ServerState::Skipped { reason } => Some(reason.describe().to_owned()),
        ServerState::Disabled => Some(Skip::Disabled.describe().to_owned()),
        ServerState::NeedsApproval => Some(approve()),
        ServerState::Connecting | ServerState::Connected | ServerState::Disconnected | _ => None,
    }
}

/// How to approve what the project brought along (F-039).
pub(crate) fn how_to_approve(names: &[&str]) -> String {
    let words: Vec<String> = match names {
        [] => Vec::new(),
        [name] => vec![shell_word(name)],
        // One that starts with a dash ends the options, so it comes only once.
        _ if names.len() <= NAMES_MAX && !names.iter().any(|name| name.starts_with('-')) => {
            names.iter().map(|name| shell_word(name)).collect()
        }
        _ => vec!["NAME".to_owned()],
    };
    let it = if names.len() == 1 { "it" } else { "they" };
    let them = if names.len() == 1 { "it" } else { "them" };
    format!(
        "`tidegate trust grant {}` approves {them}, --trust-project for one run; `tidegate trust` \
         shows what {it} would run",
        words.join(" ")
    )
}

/// How many names a suggested command has at most.
const NAMES_MAX: usize = 4;

/// How long it took to be ready or to fail, in milliseconds.
pub(crate) fn time(server: &ServerStatus) -> Option<u64> {
    match &server.state {
        state if state.is_failed() => state.failure().map(|failure| failure.after_ms),
        _ => server.connect_ms,
    }
}

/// Milliseconds for people.
pub(crate) fn duration(ms: u64) -> String {
    if ms < 10_000 { format!("{ms} ms") } else { format!("{}.{} s", ms / 1_000, ms % 1_000 / 100) }
}

/// The last lines of a text, made safe, each after a bar.
pub(crate) fn tail(text: &str, lines_max: usize) -> Vec<String> {
    let safe = visible::block(text.trim_end());
    let lines: Vec<&str> = safe.lines().collect();
    let hidden = lines.len().saturating_sub(lines_max);
    let mut shown = Vec::with_capacity(lines.len() - hidden + 1);
    if hidden > 0 {
        shown.push(format!("│ … {hidden} more"));
    }
    shown.extend(lines.into_iter().skip(hidden).map(|line| format!("│ {line}")));
    shown
}

fn notes(columns: &mut Columns, server: &ServerStatus, detail: Detail) {
    let failed = server.state.failure().is_some();
    // That it needs approval stands in its row; how to approve is said once for all.
    let approval = matches!(server.state, ServerState::NeedsApproval);
    if let Some(reason) = reason(server).filter(|_| !approval) {
        let tone = if failed { Tone::Bad } else { Tone::Faint };
        columns.note(tone, format!("   {}", visible::one_line(&reason)));
    }
    let lines_max = match detail {
        Detail::Short => TAIL_LINES,
        Detail::Full => TAIL_LINES_VERBOSE,
    };
    if failed {
        for line in tail(&server.stderr_tail, lines_max) {
            columns.note(Tone::Faint, format!("   {line}"));
        }
    }
    if detail == Detail::Full {
        if let Some(path) = searched(server) {
            columns.note(Tone::Faint, format!("   searched: {}", visible::one_line(path)));
        }
        about(columns, server);
    }
}

/// The `PATH` in which its command was not found.
fn searched(server: &ServerStatus) -> Option<&str> {
    let ServerState::Failed { failure } = &server.state else { return None };
    let Cause::Open { error: OpenError::CommandNotFound { searched, .. } } = &failure.cause else {
        return None;
    };
    Some(searched.as_str()).filter(|path| !path.is_empty())
}

/// What it says about itself, and what was odd about it.
fn about(columns: &mut Columns, server: &ServerStatus) {
    let revision = server.revision.as_ref().map(|revision| format!("protocol {revision}"));
    let pid = server.pid.map(|pid| format!("process {pid}"));
    let skipped = (server.skipped_lines > 0)
        .then(|| format!("{} lines of output were no messages", server.skipped_lines));
    let unknown = (server.unknown_answers > 0)
        .then(|| format!("{} answers nobody had asked for", server.unknown_answers));
    let mistyped =
        (server.text_ids > 0).then(|| format!("{} answers with a text as id", server.text_ids));
    let facts: Vec<String> =
        [server.server_info.clone(), revision, pid, skipped, unknown, mistyped]
            .into_iter()
            .flatten()
            .collect();
    if !facts.is_empty() {
        columns.note(Tone::Faint, format!("   {}", visible::one_line(&facts.join(", "))));
    }
}

const fn mark(state: &ServerState) -> (&'static str, Tone) {
    match state {
        ServerState::Connected => ("●", Tone::Good),
        ServerState::Connecting | ServerState::Retrying { .. } => ("◌", Tone::Waiting),
        ServerState::Failed { .. } | ServerState::Suspended { .. } => ("✗", Tone::Bad),
        ServerState::NeedsApproval => ("?", Tone::Waiting),
        ServerState::Disabled | ServerState::Skipped { .. } | ServerState::Disconnected | _ => {
            ("○", Tone::Faint)
        }
    }
}

/// How many tools of which kind.
fn count(server: &ServerStatus, tools: &[Arc<Tool>]) -> String {
    let (mut live, mut deferred, mut failed, mut quarantined) = (0, 0, 0, 0);
    for tool in tools.iter().filter(|tool| tool.server == server.name) {
        match tool.state {
            ToolState::Live => live += 1,
            ToolState::Deferred => deferred += 1,
            ToolState::Failed { .. } => failed += 1,
            ToolState::Quarantined { .. } => quarantined += 1,
        }
    }
    let kinds =
        [(live, ""), (deferred, " deferred"), (failed, " failed"), (quarantined, " quarantined")];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count}{kind}"))
        .collect();
    match parts.is_empty() && matches!(server.state, ServerState::Connected) {
        true => "0".to_owned(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;
    use crate::output::paint::Paint;

    const BARE: Screen = Screen { paint: Paint::Plain, width: None };

    fn server(name: &str, state: Value, more: Value) -> ServerStatus {
        let mut status = json!({
            "name": name, "state": state, "since": 0, "link": "disconnected",
            "source": {"provider": "shared", "level": "project", "path": "/p/mcp.json", "line": 3},
            "transport": "stdio", "skipped_lines": 0, "unknown_answers": 0, "stderr_tail": "",
        });
        status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(status).unwrap()
    }

    fn shown(servers: &[ServerStatus], detail: Detail) -> String {
        render(servers, &[], &Places::new(Path::new("/p")), detail, BARE)
    }

    fn failed(stderr: &str) -> Value {
        json!({"failed": {"failure": {
            "stage": "initialize", "cause": {"exited": {"exit": {"code": 3}}}, "after_ms": 8,
            "stderr_tail": stderr,
        }}})
    }

    #[test]
    fn each_state_has_its_row_and_each_failure_its_reason_and_last_words() {
        let servers = [
            server("fast", json!("connected"), json!({"connect_ms": 12})),
            server("dies", failed(""), json!({"stderr_tail": "starting\n\u{1b}[31mfatal\n"})),
            server("mine", json!("disabled"), json!({})),
        ];
        assert_eq!(
            shown(&servers, Detail::Short),
            "   SERVER  STATE         TIME  VIA    TOOLS  SOURCE\n\
             ●  fast    connected    12 ms  stdio  0      mcp.json:3\n\
             ✗  dies    failed        8 ms  stdio         mcp.json:3\n   \
                Server \"dies\" exited with status 3 (initialize)\n   \
                │ starting\n   \
                │ \\x1b[31mfatal\n\
             ○  mine    disabled            stdio         mcp.json:3\n   \
                switched off\n"
        );
    }

    #[test]
    fn an_unapproved_server_says_how_to_approve_it() {
        let theirs = server("theirs", json!("needs-approval"), json!({}));
        assert!(reason(&theirs).unwrap().ends_with(&how_to_approve(&["theirs"])));
        let told = how_to_approve(&["a b", "c"]);
        assert!(told.starts_with("`tidegate trust grant 'a b' c` approves them"), "{told}");
        let told = how_to_approve(&["a", "-b"]);
        assert!(told.starts_with("`tidegate trust grant NAME` approves them"), "{told}");
    }

    #[test]
    fn the_tail_is_bounded_and_says_what_it_leaves_out() {
        let text: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        let shown = tail(&text, TAIL_LINES);
        assert_eq!(shown.first().unwrap(), "│ … 2 more");
        assert_eq!(shown.get(1).unwrap(), "│ line 3");
        assert_eq!(shown.len(), TAIL_LINES + 1);
    }

    #[test]
    fn what_a_server_says_of_itself_is_detail() {
        let about =
            json!({"server_info": "fast 1.0", "revision": "2025-11-25", "skipped_lines": 2});
        let servers = [server("fast", json!("connected"), about)];
        assert!(!shown(&servers, Detail::Short).contains("2025"));
        assert!(
            shown(&servers, Detail::Full)
                .contains("fast 1.0, protocol 2025-11-25, 2 lines of output were no messages")
        );
    }

    #[test]
    fn the_directories_that_were_searched_for_a_command_are_detail() {
        let error = json!({"kind": "command-not-found", "command": "x", "searched": "/a:/b"});
        let cause = json!({"open": {"error": error}});
        let lost =
            json!({"failed": {"failure": {"stage": "spawn", "cause": cause, "after_ms": 1}}});
        let servers = [server("lost", lost, json!({}))];
        let short = shown(&servers, Detail::Short);
        assert!(
            short.contains("in the 2 directories of PATH\n") && !short.contains("/a"),
            "{short}"
        );
        let full = shown(&servers, Detail::Full);
        assert!(full.contains("searched: /a:/b"), "{full}");
    }

    #[test]
    fn durations_are_read_at_a_glance() {
        assert_eq!([duration(0), duration(9_999), duration(12_345)], ["0 ms", "9999 ms", "12.3 s"]);
    }
}
