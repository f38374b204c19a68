//! What a call asks of a server: a tool, a resource, a prompt, or what an argument could be.
//!
//! Floor 1. May import floor 0.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{COMPLETE, Meta, PROMPTS_GET, RESOURCES_READ, TOOLS_CALL};
use crate::bytes::Json;
use crate::input::Reference;
use crate::wire::json;

/// At least what a line needs beside its texts: keys, punctuation, two integers.
const FRAME_BYTES: usize = 160;

/// What a call is aimed at.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Aim {
    /// A tool, as its server calls it.
    Tool(String),
    /// A resource, by its address.
    Resource(String),
    /// A prompt.
    Prompt(String),
    /// What an argument of something could be.
    Completion(Reference),
}

/// What a call asks.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Job {
    /// What it is aimed at.
    pub aim: Aim,
    /// A JSON object: the arguments; nothing of a resource; `argument` and perhaps `context` of a
    /// completion.
    pub arguments: Json,
    /// What the server has to be told before it answers, if it said so (C-MRTR-02).
    pub round: Option<Round>,
}

/// What goes with a request that is made again because the server wanted to be told something.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Round {
    /// The answers by the server's keys, a JSON object; none if nothing was asked.
    pub responses: Option<String>,
    /// What the server wants to be reminded of, byte for byte as it wrote it (C-MRTR-04).
    pub state: Option<Json>,
}

impl Job {
    /// The method of its request.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match &self.aim {
            Aim::Tool(_) => TOOLS_CALL,
            Aim::Resource(_) => RESOURCES_READ,
            Aim::Prompt(_) => PROMPTS_GET,
            Aim::Completion(_) => COMPLETE,
        }
    }

    /// What the headers of its request name (C-MHTTP-04).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.aim {
            Aim::Tool(name) | Aim::Resource(name) | Aim::Prompt(name) => Some(name),
            Aim::Completion(_) => None,
        }
    }

    /// Whether it changes nothing but what we are told, so that it may be asked again.
    #[must_use]
    pub const fn is_harmless(&self) -> bool {
        !matches!(self.aim, Aim::Tool(_))
    }

    /// The line of its request, in one allocation, with the request's id as its progress token
    /// (F-065).
    #[must_use]
    pub fn line(&self, id: u64, meta: &Meta) -> Vec<u8> {
        let (arguments, members) = (self.arguments.as_str(), meta.members());
        let more = self.round.as_ref().map_or(0, Round::len);
        let bytes = FRAME_BYTES + self.aim.len() + arguments.len() + more + members.len();
        let mut line = String::with_capacity(bytes);
        // Put together, not formatted: that would be a twentieth of what a call takes.
        let id = id.to_string();
        for part in ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"method\":\"", self.method()] {
            line.push_str(part);
        }
        line.push_str("\",\"params\":{");
        self.aim.push(&mut line);
        match &self.aim {
            Aim::Tool(_) | Aim::Prompt(_) => {
                line.push_str(",\"arguments\":");
                json::push_value(&mut line, arguments);
            }
            Aim::Completion(_) => push_members(&mut line, arguments),
            Aim::Resource(_) => {}
        }
        self.round.iter().for_each(|round| round.push(&mut line));
        line.push_str(",\"_meta\":{\"progressToken\":");
        line.push_str(&id);
        if !members.is_empty() {
            line.push(',');
            line.push_str(members);
        }
        line.push_str("}}}\n");
        line.into_bytes()
    }
}

impl Aim {
    fn len(&self) -> usize {
        match self {
            Self::Tool(text) | Self::Resource(text) | Self::Prompt(text) => json::quoted_len(text),
            Self::Completion(Reference::Prompt(text) | Reference::Resource(text)) => {
                json::quoted_len(text)
            }
        }
    }

    fn push(&self, line: &mut String) {
        let (before, text, after) = match self {
            Self::Tool(name) | Self::Prompt(name) => ("\"name\":", name, ""),
            Self::Resource(uri) => ("\"uri\":", uri, ""),
            Self::Completion(Reference::Prompt(name)) => {
                ("\"ref\":{\"type\":\"ref/prompt\",\"name\":", name, "}")
            }
            Self::Completion(Reference::Resource(uri)) => {
                ("\"ref\":{\"type\":\"ref/resource\",\"uri\":", uri, "}")
            }
        };
        line.push_str(before);
        json::push_quoted(line, text);
        line.push_str(after);
    }
}

impl Round {
    fn len(&self) -> usize {
        let texts = [self.responses.as_deref(), self.state.as_ref().map(Json::as_str)];
        texts.into_iter().flatten().map(|text| text.len() + FRAME_BYTES).sum()
    }

    fn push(&self, line: &mut String) {
        if let Some(responses) = &self.responses {
            line.push_str(",\"inputResponses\":");
            json::push_value(line, responses);
        }
        if let Some(state) = &self.state {
            line.push_str(",\"requestState\":");
            line.push_str(state.as_str());
        }
    }
}

/// The members of an object, each behind a comma.
fn push_members(line: &mut String, object: &str) {
    let inside = object.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some(inside) = inside.filter(|inside| !inside.trim().is_empty()) {
        line.push(',');
        json::push_value(line, inside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json::{Kind, NESTING_MAX};

    fn job(aim: Aim, arguments: &str) -> Job {
        Job { aim, arguments: Json::new(arguments), round: None }
    }

    fn line(job: &Job) -> String {
        String::from_utf8(job.line(7, &Meta::default())).unwrap()
    }

    /// F-065.
    #[test]
    fn a_call_is_one_line_with_a_progress_token() {
        let tool = job(Aim::Tool("a\"b".into()), "{\n  \"x\": \"y\\n\"\r\n}");
        assert_eq!(
            line(&tool),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\
             \"a\\\"b\",\"arguments\":{   \"x\": \"y\\n\"  },\"_meta\":{\"progressToken\":7}}}\n"
        );
    }

    /// C-RES-01, C-PROM-01, C-COMP-01, C-COMP-02.
    #[test]
    fn each_kind_of_call_has_the_parameters_of_its_method() {
        let rest = ",\"_meta\":{\"progressToken\":7}}}\n";
        let argument = "{ \"argument\": {\"name\":\"a\",\"value\":\"b\"} }";
        for (job, method, params) in [
            (job(Aim::Resource("x://\"".into()), "{}"), "resources/read", r#""uri":"x://\"""#),
            (
                job(Aim::Prompt("p".into()), r#"{"a":"1"}"#),
                "prompts/get",
                r#""name":"p","arguments":{"a":"1"}"#,
            ),
            (
                job(Aim::Completion(Reference::Prompt("p".into())), argument),
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"p"}, "argument": {"name":"a","value":"b"} "#,
            ),
            (
                job(Aim::Completion(Reference::Resource("x://{y}".into())), "{}"),
                "completion/complete",
                r#""ref":{"type":"ref/resource","uri":"x://{y}"}"#,
            ),
        ] {
            let wanted = alloc::format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{method}\",\"params\":{{{params}{rest}"
            );
            assert_eq!(line(&job), wanted);
            assert_eq!(json::check(line(&job).trim_end(), NESTING_MAX), Ok(Kind::Object));
        }
    }

    /// C-MRTR-02, C-MRTR-04, C-MRTR-05: what was not said is not there, and what was comes back
    /// byte for byte.
    #[test]
    fn a_further_round_carries_the_answers_and_the_state_as_it_was_written() {
        let of = |responses: Option<&str>, state: Option<&str>| {
            let round = Round { responses: responses.map(Into::into), state: state.map(Json::new) };
            let line = line(&Job { round: Some(round), ..job(Aim::Tool("t".into()), "{}") });
            let (_, rest) = line.split_once("\"arguments\":{}").unwrap();
            String::from(rest.split_once(",\"_meta\"").unwrap().0)
        };
        assert_eq!(of(None, None), "");
        assert_eq!(of(Some("{\"a\":{}}"), None), ",\"inputResponses\":{\"a\":{}}");
        let state = r#""\u0041\/ \"x\" é""#;
        assert_eq!(of(None, Some(state)), alloc::format!(",\"requestState\":{state}"));
        let both = of(Some("{}"), Some("\"s\""));
        assert_eq!(both, ",\"inputResponses\":{},\"requestState\":\"s\"");
    }

    #[test]
    fn a_line_is_written_in_one_allocation() {
        let long = "\u{1}".repeat(1_000);
        let arguments = alloc::format!("{{\"a\":\"{}\"}}", "x".repeat(10_000));
        let round = Round { responses: Some(arguments.clone()), state: Some(Json::new("\"s\"")) };
        for aim in [
            Aim::Tool(long.clone()),
            Aim::Resource(long.clone()),
            Aim::Completion(Reference::Prompt(long)),
        ] {
            let job = Job { round: Some(round.clone()), ..job(aim, &arguments) };
            let line = job.line(u64::MAX, &Meta::default());
            assert!(line.capacity() <= line.len() + arguments.len() + 3 * FRAME_BYTES);
        }
    }
}
