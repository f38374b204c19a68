//! A recorded run as lines of JSON: the form the driver writes and the simulator reads.
//!
//! Roof; only plain data. The first line says what the runtime was made with, every other line
//! is one thing that went in or came out, with its moment:
//!
//! ```text
//! {"tidegate_trace":1,"options":{…}}
//! {"at":0,"input":{"host":{"start":{"op":0}}}}
//! {"at":0,"command":{"command":"read-config",…}}
//! {"at":250,"tick":true}
//! {"at":250,"event":{"gate-opened":{…}}}
//! ```
//!
//! What came out follows what caused it. Feeding the inputs and ticks to a fresh runtime made
//! with the options gives the same commands and events, byte for byte (L2).

use alloc::boxed::Box;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::event::Event;
use crate::input::Input;
use crate::options::Options;
use crate::time::Timestamp;

/// The version of the form. A reader refuses every other one.
pub const TRACE_VERSION: u32 = 1;

/// One line of a recorded run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub enum TraceLine {
    /// What the runtime was made with; the first line and no other.
    Head {
        /// The version of the form: [`TRACE_VERSION`].
        version: u32,
        /// The options, without secrets.
        options: Box<Options>,
    },
    /// Something happened.
    Input {
        /// When.
        at: Timestamp,
        /// What.
        input: Input,
    },
    /// Time passed: `handle_timeout` was called.
    Tick {
        /// When.
        at: Timestamp,
    },
    /// The runtime ordered something.
    Command {
        /// When.
        at: Timestamp,
        /// What.
        command: Command,
    },
    /// The runtime had news.
    Event {
        /// When.
        at: Timestamp,
        /// What.
        event: Event,
    },
}

/// The members of a line as they stand in the file. A flat struct instead of an untagged enum:
/// that would read every line into a tree first, and [`Json`](crate::bytes::Json) would lose
/// its spelling.
#[derive(Clone, Default, Deserialize, Serialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tidegate_trace: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Box<Options>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tick: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Input>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Command>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<Event>,
}

impl TryFrom<Fields> for TraceLine {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let Fields { tidegate_trace, options, at, tick, input, command, event } = fields;
        match (tidegate_trace, options, at, tick, input, command, event) {
            (Some(version), Some(options), None, None, None, None, None) => {
                Ok(Self::Head { version, options })
            }
            (None, None, Some(at), None, Some(input), None, None) => Ok(Self::Input { at, input }),
            (None, None, Some(at), Some(true), None, None, None) => Ok(Self::Tick { at }),
            (None, None, Some(at), None, None, Some(command), None) => {
                Ok(Self::Command { at, command })
            }
            (None, None, Some(at), None, None, None, Some(event)) => Ok(Self::Event { at, event }),
            _ => Err("neither a head nor one input, tick, command or event with its \"at\"".into()),
        }
    }
}

impl From<TraceLine> for Fields {
    fn from(line: TraceLine) -> Self {
        let none = Self::default();
        match line {
            TraceLine::Head { version, options } => {
                Self { tidegate_trace: Some(version), options: Some(options), ..none }
            }
            TraceLine::Input { at, input } => Self { at: Some(at), input: Some(input), ..none },
            TraceLine::Tick { at } => Self { at: Some(at), tick: Some(true), ..none },
            TraceLine::Command { at, command } => {
                Self { at: Some(at), command: Some(command), ..none }
            }
            TraceLine::Event { at, event } => Self { at: Some(at), event: Some(event), ..none },
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::bytes::Json;
    use crate::error::{CallError, Cause, Failure, RpcError, Stage};
    use crate::event::{OpResult, Outcome, ServerState};
    use crate::id::{CallId, ConnId, OpId};
    use crate::input::{Fact, NewCall, Request, Target};

    fn odd_json() -> Json {
        Json::new(r#"{"b" : 1.0, "a":[ 1e2,"\u00e9"]}"#)
    }

    fn survives(line: TraceLine) {
        let text = serde_json::to_string(&line).unwrap();
        let read: TraceLine = serde_json::from_str(&text).unwrap();
        assert_eq!(read, line, "{text}");
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn every_kind_of_line_survives_with_the_spelling_of_its_json() {
        let at = Timestamp::from_millis(7);
        let call = CallId::new(1);
        let error = RpcError { code: -3, message: "no".to_string(), data: Some(odd_json()) };
        let failure = Failure {
            stage: Stage::Initialize,
            cause: Cause::Refused { error: error.clone() },
            after_ms: 3,
            stderr_tail: "x".to_string(),
        };
        let new = NewCall {
            call,
            target: Target::Tool { server: "a".into(), tool: "t".to_string() },
            arguments: odd_json(),
            timeout_ms: Some(5),
            max_ms: Some(7),
        };
        survives(TraceLine::Head { version: 1, options: Box::new(Options::new("/p", vec![])) });
        survives(TraceLine::Tick { at });
        survives(TraceLine::Input { at, input: Input::Host(Request::Call(new)) });
        survives(TraceLine::Input { at, input: Input::Host(Request::Shutdown) });
        let bytes = b"\xff\x00".to_vec().into();
        let received = Fact::Received { conn: ConnId::new(2), bytes };
        survives(TraceLine::Input { at, input: Input::Io(received) });
        survives(TraceLine::Command { at, command: Command::Kill { conn: ConnId::new(2) } });
        for event in [
            Event::Stopped,
            Event::CallFinished { call, outcome: Outcome::Answered(odd_json()) },
            Event::CallFinished { call, outcome: Outcome::Failed(CallError::Rpc { error }) },
            Event::CallProgressed { call, progress: odd_json() },
            Event::Done { op: OpId::new(4), result: OpResult::Failed { failure: failure.clone() } },
            Event::ServerChanged { server: "a".into(), state: ServerState::Failed { failure } },
        ] {
            survives(TraceLine::Event { at, event });
        }
    }

    /// G79: whatever a host passes as arguments is recorded as it is, on one line.
    #[test]
    fn arguments_survive_whatever_they_are() {
        let odd = [
            "{\n  \"a\": 1\n}",
            " {} ",
            "{}\n",
            "{",
            "",
            "{} {}",
            "\"x\"",
            "\u{feff}{}",
            "{\"a\" :1}",
        ];
        for arguments in odd.map(Json::new) {
            let (call, target) = (CallId::new(1), Target::Exposed("t".to_string()));
            let new = NewCall { call, target, arguments, timeout_ms: None, max_ms: None };
            let at = Timestamp::ZERO;
            let line = TraceLine::Input { at, input: Input::Host(Request::Call(new)) };
            assert!(!serde_json::to_string(&line).unwrap().contains('\n'));
            survives(line);
        }
    }

    /// G79: a null that a server sent is there.
    #[test]
    fn a_null_is_not_taken_for_nothing() {
        let (at, null) = (Timestamp::ZERO, Some(Json::new("null")));
        let error = RpcError { code: 1, message: "m".to_string(), data: null.clone() };
        let outcome = Outcome::Failed(CallError::Rpc { error });
        survives(TraceLine::Event {
            at,
            event: Event::CallFinished { call: CallId::new(1), outcome },
        });
        let event = Event::Notified { server: "a".into(), method: "m".to_string(), params: null };
        survives(TraceLine::Event { at, event });
    }

    #[test]
    fn a_line_that_is_two_things_or_none_is_refused() {
        for text in [
            "{}",
            r#"{"at":1}"#,
            r#"{"at":1,"tick":false}"#,
            r#"{"tick":true}"#,
            r#"{"tidegate_trace":1}"#,
            r#"{"at":1,"tick":true,"event":"stopped"}"#,
            "[]",
        ] {
            assert!(serde_json::from_str::<TraceLine>(text).is_err(), "{text}");
        }
    }
}
