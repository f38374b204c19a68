//! Messages without what people answered in them, for records of a run.
//!
//! Floor 1. May import floor 0. What a person tells a server is for that server alone. Hiding it
//! in an answer and then writing the message is the same as writing the message and then hiding it
//! there: so a record that holds neither can be replayed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::wire::json::{self, Kind, NESTING_MAX};

/// What stands in the place of what was answered.
const HIDDEN: &str = "\"<hidden>\"";

/// A host's answer to a server without what a person said: the `content` of an `ElicitResult`, and
/// all of what is no answer.
#[must_use]
pub fn hidden(answer: &str) -> String {
    if json::check(answer, NESTING_MAX) != Ok(Kind::Object) {
        return HIDDEN.into();
    }
    let elicited = members(answer).any(|(key, _)| key == "action");
    replaced(answer, |key, _| (elicited && key == "content").then(|| HIDDEN.into()))
}

/// Whole messages to a server without what people said in them; `None` if nobody did.
#[must_use]
pub fn hidden_in(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(bytes).ok()?;
    if !text.contains("\"result\"") && !text.contains("\"inputResponses\"") {
        return None;
    }
    let shown: String = text.split_inclusive('\n').map(hidden_in_line).collect();
    (shown != text).then(|| shown.into_bytes())
}

fn hidden_in_line(line: &str) -> String {
    replaced(line, |key, value| match key {
        "result" => Some(hidden(value)),
        "params" if value.contains("\"inputResponses\"") => {
            Some(replaced(value, |key, responses| {
                (key == "inputResponses").then(|| replaced(responses, |_, it| Some(hidden(it))))
            }))
        }
        _ => None,
    })
}

/// An object with some of its values replaced; anything else as it is.
fn replaced(object: &str, by: impl Fn(&str, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(object.len());
    let mut end = 0;
    for (key, value) in members(object) {
        let Some(other) = by(&key, object.get(value.clone()).unwrap_or_default()) else { continue };
        out.push_str(object.get(end..value.start).unwrap_or_default());
        out.push_str(&other);
        end = value.end;
    }
    out.push_str(object.get(end..).unwrap_or_default());
    out
}

fn members(object: &str) -> impl Iterator<Item = (String, core::ops::Range<usize>)> {
    let members = json::members(object, NESTING_MAX).into_iter().flatten();
    members.map_while(Result::ok).map(|member| (member.key.into_owned(), member.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Json;
    use crate::inquiry::{Reply, Service};
    use crate::wire::mcp;
    use crate::wire::rpc::Id;

    const ANSWERS: [&str; 8] = [
        r#"{"action":"accept","content":{"pin":"1234"}}"#,
        "{ \"content\" : \"1234\",\n \"action\":\"accept\", \"content\": [\"1234\"] }",
        r#"{"content":{},"\u0061ction":"1","x":1}"#,
        r#"{"action":"decline"}"#,
        r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}"#,
        r#"["1234"]"#,
        "1234 is no JSON",
        "{}{\"pin\":\"1234\"}",
    ];

    #[test]
    fn what_a_person_said_is_hidden_and_nothing_else() {
        for answer in ANSWERS {
            assert!(!hidden(answer).contains("1234"), "{answer}");
        }
        let of = |at: usize| hidden(ANSWERS[at]);
        assert_eq!(of(0), r#"{"action":"accept","content":"<hidden>"}"#);
        assert_eq!(of(3), ANSWERS[3]);
        assert_eq!(of(4), ANSWERS[4]);
    }

    /// A replay of what was recorded says what was recorded.
    #[test]
    fn hiding_before_and_after_a_message_is_written_comes_to_the_same() {
        for answer in ANSWERS {
            let line = |answer: &str| {
                let reply = Reply::Done(Json::new(answer));
                mcp::reply(&Id::Number(7), Service::ElicitationForm, &reply)
            };
            let after = hidden_in(&line(answer)).unwrap_or_else(|| line(answer));
            let before = line(&hidden(answer));
            assert_eq!(str::from_utf8(&before), str::from_utf8(&after), "{answer}");
            assert!(!str::from_utf8(&after).unwrap().contains("1234"));
        }
    }

    #[test]
    fn answers_that_go_with_a_request_are_hidden_in_it() {
        let line = concat!(
            r#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"content":"kept"},"#,
            r#""inputResponses":{"a":{"action":"accept","content":{"pin":"1234"}},"#,
            r#""b":{"roots":[]}},"requestState":"s"}}"#,
            "\n{\"id\":2,\"method\":\"ping\"}\n",
        );
        let shown = hidden_in(line.as_bytes()).unwrap();
        let wanted = line.replace(r#"{"pin":"1234"}"#, HIDDEN);
        assert_eq!(str::from_utf8(&shown), Ok(wanted.as_str()));
        for line in ["{\"id\":1,\"method\":\"ping\"}\n", "\"result\"", "{\"result\":{}}", ""] {
            assert_eq!(hidden_in(line.as_bytes()), None, "{line}");
        }
    }
}
