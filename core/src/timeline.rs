//! A run as text: one line for each input `<`, command `>`, event `!` and tick `~`.
//!
//! Roof. May import everything. The `Display` of a [`TraceLine`]. The same grammar serves snapshots, failure output, `tidegate
//! timeline` and bug reports. It is written by hand, so a member added to a struct changes no
//! story, and it is a digest: messages are named, not quoted, and long texts are cut. What can
//! be fed to a machine again is the trace the lines were made from.
//!
//! ```text
//!      0ms < Start o0
//!      0ms > Open c0 fast: fast-server --stdio
//!     12ms < Received c0 result#0
//!    250ms ~
//!    250ms ! GateOpened o0 after 250ms connected=[fast] deferred=[slow]
//! ```

mod exchange;
mod message;

use alloc::string::{String, ToString as _};
use core::fmt::{self, Display, Formatter, Write};

use crate::command::{Command, Launch, Question};
use crate::error::{Problem, Severity};
use crate::event::{Event, OpResult, Outcome, ServerState, StartReport};
use crate::input::{Fact, Found, Input, Listed, NewCall, Reference, Request, Target};
use crate::inquiry::Reply;
use crate::time::Timestamp;
use crate::trace::TraceLine;

use message::{Body, Messages};

/// How much of a text that is not a message is shown, in characters.
const SHOWN_CHARS: usize = 60;

impl Display for TraceLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut f = OneLine(f);
        match self {
            Self::Head { version, options } => {
                let gate = options.policy.gate_ms;
                write!(f, "# trace {version}, gate {gate}ms, {}", options.cwd)
            }
            Self::Input { at, input } => write!(f, "{} < {}", Moment(*at), Text(input)),
            Self::Tick { at } => write!(f, "{} ~", Moment(*at)),
            Self::Command { at, command } => write!(f, "{} > {}", Moment(*at), Text(command)),
            Self::Event { at, event } => write!(f, "{} ! {}", Moment(*at), Text(event)),
        }
    }
}

/// A moment in a column of its own.
struct Moment(Timestamp);

impl Display for Moment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6}ms", self.0.as_millis())
    }
}

/// Escapes what would break the line or steer a terminal: much of the text is a server's.
struct OneLine<'a, 'f>(&'a mut Formatter<'f>);

impl Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(steers) {
            match part.char_indices().next_back() {
                Some((at, last)) if steers(last) => {
                    self.0.write_str(&part[..at])?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                Some(_) | None => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// Whether a character could steer a terminal or break a line: controls of C0 and C1, line and
/// paragraph separators, and marks that change the direction of text.
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A value as the timeline words it.
struct Text<'a, T>(&'a T);

impl Display for Text<'_, Input> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Input::Host(request) => Text(request).fmt(f),
            Input::Io(fact) => Text(fact).fmt(f),
        }
    }
}

impl Display for Text<'_, Request> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Request::Start { op } => write!(f, "Start {op}"),
            Request::Reload { op } => write!(f, "Reload {op}"),
            Request::Connect { op, server } => write!(f, "Connect {op} {server}"),
            Request::Disconnect { op, server } => write!(f, "Disconnect {op} {server}"),
            Request::DisconnectAll { op } => write!(f, "DisconnectAll {op}"),
            Request::Reconnect { op, server, failed } => {
                write!(f, "Reconnect {op} {server}")?;
                failed.iter().try_for_each(|conn| write!(f, " instead of {conn}"))
            }
            Request::Restart { op, server } => write!(f, "Restart {op} {server}"),
            Request::Enable { op, server } => write!(f, "Enable {op} {server}"),
            Request::Disable { op, server } => write!(f, "Disable {op} {server}"),
            Request::AwaitConnected { op, server, timeout_ms } => {
                write!(f, "AwaitConnected {op} {server}")?;
                timeout_ms.iter().try_for_each(|limit| write!(f, " within {limit}ms"))
            }
            Request::StopWaiting { op } => write!(f, "StopWaiting {op}"),
            Request::Call(call) => Text(call).fmt(f),
            Request::Cancel { call } => write!(f, "Cancel {call}"),
            // What was answered is between a person and the server.
            Request::Reply { inquiry, reply: Reply::Done(_) } => write!(f, "Reply {inquiry}"),
            Request::Reply { inquiry, reply: Reply::Refused(refusal) } => {
                write!(f, "Reply {inquiry} {refusal}")
            }
            Request::Watch { on } => write!(f, "Watch {}", if *on { "on" } else { "off" }),
            Request::Shutdown => f.write_str("Shutdown"),
        }
    }
}

impl Display for Text<'_, NewCall> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let NewCall { call, target, arguments, timeout_ms, max_ms } = self.0;
        write!(f, "Call {call} ")?;
        match target {
            Target::Exposed(name) => f.write_str(name)?,
            Target::Tool { server, tool } => write!(f, "{server}/{tool}")?,
            Target::Resource { server, uri } => write!(f, "resource {server}/{}", Cut(uri))?,
            Target::Prompt { server, prompt } => write!(f, "prompt {server}/{}", Cut(prompt))?,
            Target::Completion { server, of } => {
                let (Reference::Prompt(of) | Reference::Resource(of)) = of;
                write!(f, "completion {server}/{}", Cut(of))?;
            }
        }
        write!(f, " {}", Cut(arguments.as_str()))?;
        if let Some(limit) = timeout_ms {
            write!(f, " within {limit}ms")?;
        }
        match max_ms {
            Some(limit) => write!(f, " at most {limit}ms"),
            None => Ok(()),
        }
    }
}

impl Display for Text<'_, Fact> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fact::ConfigRead { read, origin: _, found } => {
                write!(f, "ConfigRead {read} {}", Text(found))
            }
            Fact::ApprovalsRead { read, approved } => {
                write!(f, "ApprovalsRead {read} {} approved", approved.len())
            }
            Fact::FolderListed { read, listed } => {
                write!(f, "FolderListed {read} {}", Text(listed))
            }
            Fact::FilesChanged => f.write_str("FilesChanged"),
            Fact::CacheRead { read, found, age_ms } => {
                write!(f, "CacheRead {read} {}", Text(found))?;
                if *age_ms > 0 { write!(f, " {age_ms}ms old") } else { Ok(()) }
            }
            Fact::Answered { ask, result: Ok(()) } => write!(f, "Answered {ask}"),
            Fact::Answered { ask, result: Err(error) } => write!(f, "Answered {ask}: {error}"),
            Fact::Opened { conn, pid: Some(pid) } => write!(f, "Opened {conn} pid {pid}"),
            Fact::Opened { conn, pid: None } => write!(f, "Opened {conn}"),
            Fact::OpenFailed { conn, error } => write!(f, "OpenFailed {conn}: {error}"),
            Fact::Received { conn, bytes } => write!(f, "Received {conn} {}", Messages(bytes)),
            Fact::Complained { conn, bytes } => {
                write!(f, "Complained {conn} {}", Cut(&String::from_utf8_lossy(bytes)))
            }
            Fact::OutputEnded { conn } => write!(f, "OutputEnded {conn}"),
            Fact::InputFailed { conn } => write!(f, "InputFailed {conn}"),
            Fact::Head { conn, exchange, head } => {
                write!(f, "Head {conn} {exchange} {}", Text(head))
            }
            Fact::Body { conn, exchange, bytes } => {
                write!(f, "Body {conn} {exchange} {}", Body(bytes))
            }
            Fact::ExchangeEnded { conn, exchange, end } => {
                write!(f, "ExchangeEnded {conn} {exchange}")?;
                end.as_ref().map_or_else(|error| write!(f, ": {}", Text(error)), |()| Ok(()))
            }
            Fact::Closed { conn, exit } => write!(f, "Closed {conn}: {exit}"),
        }
    }
}

impl Display for Text<'_, Found> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Found::Content(bytes) => write!(f, "{} bytes", bytes.len()),
            Found::Nothing => f.write_str("nothing"),
            Found::Unreadable(why) => write!(f, "unreadable: {why}"),
        }
    }
}

impl Display for Text<'_, Listed> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Listed::Names { names, surplus: 0 } => write!(f, "{} entries", names.len()),
            Listed::Names { names, surplus } => {
                write!(f, "{} entries and {surplus} more", names.len())
            }
            Listed::Nothing => f.write_str("nothing"),
            Listed::Unreadable(why) => write!(f, "unreadable: {why}"),
        }
    }
}

impl Display for Text<'_, Command> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Command::ReadConfig { read, path, bytes_max: _ } => {
                write!(f, "ReadConfig {read} {path}")
            }
            Command::ListFolder { read, path, entries_max: _ } => {
                write!(f, "ListFolder {read} {path}")
            }
            Command::Watch { paths } => write!(f, "Watch {}", paths.join(" ")),
            Command::ReadApprovals { read } => write!(f, "ReadApprovals {read}"),
            Command::ReadCache { read, key } => write!(f, "ReadCache {read} {}", Short(key)),
            Command::WriteCache { key, content } => {
                write!(f, "WriteCache {} {} bytes", Short(key), content.len())
            }
            Command::DropCache { key } => write!(f, "DropCache {}", Short(key)),
            Command::Ask { ask, what: Question::Shell { .. } } => write!(f, "Ask {ask} a command"),
            Command::Ask { ask, what: Question::Input { id, .. } } => {
                write!(f, "Ask {ask} somebody for {id:?}")
            }
            Command::StopAsking { ask } => write!(f, "StopAsking {ask}"),
            Command::Open { conn, server, launch } => {
                write!(f, "Open {conn} {server}: {}", Text(launch))
            }
            Command::Send { conn, bytes } => write!(f, "Send {conn} {}", Messages(bytes)),
            Command::CloseInput { conn } => write!(f, "CloseInput {conn}"),
            Command::Terminate { conn } => write!(f, "Terminate {conn}"),
            Command::Kill { conn } => write!(f, "Kill {conn}"),
            Command::Connect { conn, server, remote } => {
                write!(f, "Connect {conn} {server}: {}", Text(remote))
            }
            Command::Exchange { conn, exchange, request } => {
                write!(f, "Exchange {conn} {exchange} {}", Text(request))
            }
            Command::Abort { conn, exchange } => write!(f, "Abort {conn} {exchange}"),
            Command::Abandon { conn } => write!(f, "Abandon {conn}"),
        }
    }
}

impl Display for Text<'_, Launch> {
    /// Without the environment, whose values may be secrets.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.command)?;
        self.0.args.iter().try_for_each(|arg| write!(f, " {}", Cut(&arg.to_string())))?;
        self.0.cwd.iter().try_for_each(|cwd| write!(f, " in {cwd}"))
    }
}

impl Display for Text<'_, Event> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Event::ServerChanged { server, state } => {
                write!(f, "ServerChanged {server} {}", state.name())?;
                match state {
                    ServerState::Failed { failure } | ServerState::Suspended { failure } => {
                        write!(f, ": {}", failure.describe(server))
                    }
                    ServerState::Retrying { failure, start } => {
                        write!(f, ", start {start} to come: {}", failure.describe(server))
                    }
                    ServerState::Skipped { reason } => write!(f, ": {}", reason.describe()),
                    ServerState::Connecting
                    | ServerState::Connected
                    | ServerState::Disabled
                    | ServerState::NeedsApproval
                    | ServerState::Disconnected => Ok(()),
                }
            }
            Event::GateOpened(report) => Text(report).fmt(f),
            Event::ToolsChanged { revision } => write!(f, "ToolsChanged {revision}"),
            Event::ResourcesChanged { revision } => write!(f, "ResourcesChanged {revision}"),
            Event::PromptsChanged { revision } => write!(f, "PromptsChanged {revision}"),
            Event::ResourceUpdated { server, uri } => {
                write!(f, "ResourceUpdated {server} {}", Cut(uri))
            }
            Event::CallFinished { call, outcome } => {
                write!(f, "CallFinished {call} {}", Text(outcome))
            }
            Event::CallRefused { call } => write!(f, "CallRefused {call}"),
            Event::CallProgressed { call, progress } => {
                write!(f, "CallProgressed {call} {}", Cut(progress.as_str()))
            }
            Event::Inquired { inquiry, server, call, what } => {
                write!(f, "Inquired {inquiry} {server}")?;
                call.iter().try_for_each(|call| write!(f, " in {call}"))?;
                write!(f, " {what}")
            }
            Event::InquiryEnded { inquiry, why } => write!(f, "InquiryEnded {inquiry}: {why}"),
            Event::Logged { server, message } => {
                write!(f, "Logged {server} {}", Cut(message.as_str()))
            }
            Event::Notified { server, method, params } => {
                write!(f, "Notified {server} {}", Cut(method))?;
                let params = params.as_ref().map(|params| Cut(params.as_str()));
                params.iter().try_for_each(|params| write!(f, " {params}"))
            }
            Event::Complained { server, text } => write!(f, "Complained {server} {}", Cut(text)),
            Event::ProblemFound(problem) => write!(f, "ProblemFound {}", Text(problem)),
            Event::Done { op, result } => write!(f, "Done {op} {}", Text(result)),
            Event::OpRefused { op } => write!(f, "OpRefused {op}"),
            Event::Stopped => f.write_str("Stopped"),
        }
    }
}

impl Display for Text<'_, StartReport> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let StartReport { op, elapsed_ms, connected, deferred, failed, skipped } = self.0;
        write!(f, "GateOpened {op} after {elapsed_ms}ms")?;
        listed(f, "connected", connected, |f, server| server.fmt(f))?;
        listed(f, "deferred", deferred, |f, server| server.fmt(f))?;
        listed(f, "failed", failed, |f, (server, failure)| {
            write!(f, "{server}: {}", failure.describe(server))
        })?;
        listed(f, "skipped", skipped, |f, (server, why)| write!(f, "{server}: {}", why.describe()))
    }
}

impl Display for Text<'_, Outcome> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Outcome::Answered(result) => write!(f, "answered {}", Cut(result.as_str())),
            Outcome::Failed(error) => write!(f, "failed: {error}"),
            Outcome::Aborted => f.write_str("aborted"),
        }
    }
}

impl Display for Text<'_, OpResult> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            OpResult::Done => f.write_str("done"),
            OpResult::Reloaded { started, restarted, stopped, kept } => {
                f.write_str("reloaded")?;
                let lists = [
                    ("started", started),
                    ("restarted", restarted),
                    ("stopped", stopped),
                    ("kept", kept),
                ];
                lists
                    .into_iter()
                    .try_for_each(|(label, list)| listed(f, label, list, |f, server| server.fmt(f)))
            }
            OpResult::UnknownServer => f.write_str("unknown server"),
            OpResult::Failed { failure } => write!(f, "failed ({})", failure.stage),
            OpResult::Skipped { reason } => write!(f, "skipped: {}", reason.describe()),
            OpResult::Superseded => f.write_str("superseded"),
            OpResult::TooMany { limit } => write!(f, "more than {limit} operations at once"),
            OpResult::TimedOut { limit_ms } => write!(f, "timed out after {limit_ms}ms"),
            OpResult::Aborted => f.write_str("aborted"),
            OpResult::ShuttingDown => f.write_str("shutting down"),
        }
    }
}

impl Display for Text<'_, Problem> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Problem { severity, category: _, file, line, column, key, server, message } = self.0;
        f.write_str(match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        })?;
        file.iter().try_for_each(|file| write!(f, " {file}"))?;
        line.iter().chain(column).try_for_each(|at| write!(f, ":{at}"))?;
        key.iter().try_for_each(|key| write!(f, " {key}"))?;
        server.iter().try_for_each(|server| write!(f, " [{server}]"))?;
        write!(f, " {}", Cut(message))
    }
}

/// ` label=[a b]`, or nothing if the list is empty.
fn listed<T>(
    f: &mut Formatter<'_>,
    label: &str,
    list: &[T],
    mut each: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    let Some((first, rest)) = list.split_first() else { return Ok(()) };
    write!(f, " {label}=[")?;
    each(f, first)?;
    for item in rest {
        f.write_str(", ")?;
        each(f, item)?;
    }
    f.write_str("]")
}

/// The first eight characters of a key, enough to tell a handful apart.
struct Short<T>(T);

impl<T: Display> Display for Short<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = alloc::format!("{}", self.0);
        f.write_str(text.get(..8).unwrap_or(&text))
    }
}

/// A text, cut where it is long.
struct Cut<'a>(&'a str);

impl Display for Cut<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(SHOWN_CHARS).map_or(self.0.len(), |(at, _)| at);
        let (shown, rest) = self.0.split_at(end);
        f.write_str(shown)?;
        if rest.is_empty() { Ok(()) } else { write!(f, "… ({} bytes)", self.0.len()) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::id::ConnId;

    fn received(text: &str) -> String {
        let fact = Fact::Received { conn: ConnId::new(3), bytes: text.into() };
        TraceLine::Input { at: Timestamp::from_millis(12), input: Input::Io(fact) }.to_string()
    }

    #[test]
    fn messages_are_named() {
        assert_eq!(
            received(
                "{\"id\":0,\"result\":{\"tools\":[1,2]}}\n{\"id\":\"a\",\"error\":{\"code\":-32601}}\n"
            ),
            "    12ms < Received c3 result#0 (2 tools), error#\"a\" -32601"
        );
        assert_eq!(
            received("{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n"),
            "    12ms < Received c3 notifications/cancelled of #2"
        );
    }

    #[test]
    fn what_a_server_chooses_is_cut_and_steers_nothing() {
        let long = "m".repeat(1_000);
        for message in [
            alloc::format!("{{\"method\":\"{long}\"}}\n"),
            alloc::format!("{{\"id\":\"{long}\",\"result\":{{}}}}\n"),
            alloc::format!("{{\"error\":{{\"code\":\"{long}\"}}}}\n"),
            alloc::format!("{{\"method\":\"m\",\"params\":{{\"name\":\"{long}\"}}}}\n"),
            alloc::format!("{{\"method\":\"m\",\"params\":{{\"requestId\":\"{long}\"}}}}\n"),
        ] {
            assert!(received(&message).len() < 200, "{message}");
        }
        for c in "\u{7}\u{1b}\u{9b}\u{61c}\u{200f}\u{2028}\u{202e}\u{2066}".chars() {
            assert!(!received(&alloc::format!("a{c}b")).contains(c), "{c:?}");
        }
    }

    #[test]
    fn what_is_no_message_is_quoted_on_one_line_and_cut() {
        assert_eq!(received("half {\"id\r\u{7}"), "    12ms < Received c3 half {\"id\\r\\u{7}");
        let long = "é".repeat(100);
        assert_eq!(
            received(&long),
            alloc::format!("    12ms < Received c3 {}… (200 bytes)", "é".repeat(60))
        );
    }
}
