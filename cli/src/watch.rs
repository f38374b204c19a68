//! What is shown while a command works: the line of progress, what servers say, and a file of the
//! user's that cannot be read.

use std::collections::BTreeMap;

use futures_lite::future;
use serde_json::Value;
use tidegate_core::bytes::Json;
use tidegate_core::event::{Event, ServerState};
use tidegate_core::hub::status::Status;
use tidegate_core::id::ServerName;
use tidegate_smol::News;

use crate::exit::Trouble;
use crate::output::{Screen, paint::Tone, visible};
use crate::session::Session;

/// A server's line of standard error is cut off here if it never ends, in bytes.
const LINE_BYTES: usize = 16 * 1024;
/// How many names of starting servers are told.
const NAMES_TOLD: usize = 6;

/// What a command is busy with.
#[derive(Clone, Debug)]
pub(crate) enum Activity {
    /// Its servers are starting.
    Starting,
    /// A call.
    Calling {
        /// The tool, safe for a terminal.
        tool: String,
        /// What the server says of its progress, safe for a terminal.
        progress: String,
    },
}

/// Shows what happens. Ends only when the command must, with what is wrong.
pub(crate) async fn watch(session: &Session) -> Trouble {
    let mut events = session.host.events();
    let mut watch = Watch { session, servers: BTreeMap::new() };
    loop {
        let frame = async {
            session.progress.frame().await;
            None
        };
        match future::or(async { Some(events.next().await) }, frame).await {
            None => watch.draw(),
            Some(Some(News::Event(Event::ProblemFound(problem)))) => {
                if let Some(trouble) = session.unreadable(&problem) {
                    return trouble;
                }
            }
            Some(Some(News::Event(event))) => watch.event(event),
            Some(Some(News::Missed(_))) => watch.catch_up(&session.host.status().await),
            // The runtime has ended; the command hears of it where it waits.
            Some(None) => future::pending().await,
        }
    }
}

struct Watch<'a> {
    session: &'a Session,
    servers: BTreeMap<ServerName, Seen>,
}

/// What was heard of one server.
#[derive(Debug, Default)]
struct Seen {
    phase: Phase,
    /// The line it is in the middle of writing.
    line: String,
}

/// Whether a server was ever starting, and whether it still is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Phase {
    #[default]
    Unstarted,
    Starting,
    Started,
}

impl Seen {
    fn enter(&mut self, state: &ServerState) {
        let starting = state.is_connecting();
        self.phase = match self.phase {
            _ if starting => Phase::Starting,
            Phase::Unstarted => Phase::Unstarted,
            Phase::Starting | Phase::Started => Phase::Started,
        };
    }
}

impl Watch<'_> {
    fn event(&mut self, event: Event) {
        if let Event::ServerChanged { server, state } = event {
            self.seen(&server).enter(&state);
        } else if let Event::Complained { server, text } = event {
            let lines = complete_lines(&mut self.seen(&server).line, &text);
            self.say(&server, &lines);
        } else if let Event::Logged { server, message } = event {
            self.say(&server, &[logged(&message)]);
        } else if let Event::CallProgressed { progress, .. } = event
            && let Activity::Calling { progress: shown, .. } =
                &mut *self.session.activity.borrow_mut()
        {
            *shown = progressed(&progress);
        }
    }

    fn catch_up(&mut self, status: &Status) {
        for server in &status.servers {
            self.seen(&server.name).enter(&server.state);
        }
    }

    fn seen(&mut self, server: &ServerName) -> &mut Seen {
        self.servers.entry(server.clone()).or_default()
    }

    /// Passes on what a server says, each line after its name.
    fn say(&self, server: &ServerName, lines: &[String]) {
        let voice = self.session.voice.borrow();
        let Some(voice) = voice.as_ref().filter(|_| !lines.is_empty()) else { return };
        self.session.progress.erase();
        let name = format!("[{}]", visible::one_line(server.as_str()));
        let name = Screen::stderr().paint.text(Tone::Accent, &name).to_string();
        for line in lines {
            voice.say(format!("{name} {}", visible::one_line(line.trim_end())));
        }
    }

    fn draw(&self) {
        let what = match &*self.session.activity.borrow() {
            Activity::Starting => self.starting(),
            Activity::Calling { tool, progress } if progress.is_empty() => {
                format!("calling {tool}")
            }
            Activity::Calling { tool, progress } => format!("calling {tool}: {progress}"),
        };
        self.session.progress.draw(&what);
    }

    fn starting(&self) -> String {
        let started = self.servers.iter().filter(|(_, seen)| seen.phase != Phase::Unstarted);
        let total = started.clone().count();
        let waiting: Vec<_> = started
            .filter(|(_, seen)| seen.phase == Phase::Starting)
            .map(|(name, _)| visible::one_line(name.as_str()))
            .collect();
        if waiting.is_empty() {
            return "reading the configuration".to_owned();
        }
        let done = match total - waiting.len() {
            0 => String::new(),
            done => format!("{done} of {total} servers are done, "),
        };
        let more = match waiting.len().saturating_sub(NAMES_TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let told = waiting.get(..NAMES_TOLD).unwrap_or(&waiting);
        format!("{done}waiting for {}{more}", told.join(", "))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        for (server, seen) in std::mem::take(&mut self.servers) {
            if !seen.line.is_empty() {
                self.say(&server, &[seen.line]);
            }
        }
    }
}

/// Adds text to a line that has begun and takes out the lines that are complete.
fn complete_lines(begun: &mut String, text: &str) -> Vec<String> {
    begun.push_str(text);
    if !begun.contains('\n') && begun.len() < LINE_BYTES {
        return Vec::new();
    }
    let whole = std::mem::take(begun);
    let (lines, rest) = whole.rsplit_once('\n').unwrap_or((&whole, ""));
    begun.push_str(rest);
    lines.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// A log message of a server on one line: `warning: disk is full`.
fn logged(message: &Json) -> String {
    let Ok(value) = serde_json::from_str::<Value>(message.as_str()) else {
        return message.to_string();
    };
    let level = value["level"].as_str().unwrap_or("log");
    match value["data"].as_str() {
        Some(text) => format!("{level}: {text}"),
        None => format!("{level}: {}", value["data"]),
    }
}

/// A report of progress on one line, safe for a terminal: `3 of 10, reading`.
fn progressed(progress: &Json) -> String {
    let Ok(value) = serde_json::from_str::<Value>(progress.as_str()) else { return String::new() };
    let count = match (&value["progress"], &value["total"]) {
        (Value::Number(done), Value::Number(total)) => format!("{done} of {total}"),
        (Value::Number(done), _) => done.to_string(),
        _ => String::new(),
    };
    let parts = [count.as_str(), value["message"].as_str().unwrap_or_default()];
    let told: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    visible::one_line(&told.join(", ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let mut begun = String::new();
        assert!(complete_lines(&mut begun, "one").is_empty());
        assert_eq!(complete_lines(&mut begun, " line\ntwo\r\nth"), ["one line", "two"]);
        assert_eq!(complete_lines(&mut begun, "ree\n"), ["three"]);
        assert_eq!(begun, "");
    }

    #[test]
    fn a_line_that_never_ends_is_cut() {
        let mut begun = String::new();
        assert_eq!(complete_lines(&mut begun, &"x".repeat(LINE_BYTES)).len(), 1);
        assert_eq!(begun, "");
    }

    #[test]
    fn progress_and_log_messages_fit_on_a_line() {
        let told = |text: &str| progressed(&Json::new(text));
        assert_eq!(told(r#"{"progress":3,"total":10,"message":"reading"}"#), "3 of 10, reading");
        assert_eq!(told(r#"{"progress":0.5}"#), "0.5");
        assert_eq!(told(r#"{"message":"\u001b[2J"}"#), "\\x1b[2J");
        assert_eq!(logged(&Json::new(r#"{"level":"warning","data":"full"}"#)), "warning: full");
        assert_eq!(logged(&Json::new(r#"{"data":{"a":1}}"#)), r#"log: {"a":1}"#);
    }
}
