//! What a file says of the values it leaves to be asked for.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::syntax::{Member, Value, last};
use super::template::Part;

/// The key of the list in a file.
pub(super) const KEY: &str = "inputs";

/// What of an input is no secret: what it may be answered with is left out of a trace.
pub(super) const KEPT: [&str; 4] = ["id", "type", "description", "password"];

/// How many choices are shown of one that has a list.
const OPTIONS_MAX: usize = 100;

/// A value that a person is asked for. Untrusted text.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(default)]
pub struct Input {
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether nobody should see it being typed.
    pub password: bool,
    /// What it is if nothing is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What it can be, if that is a list; then nothing else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// The inputs of a file by their ids; of a repeated id the last one counts.
pub(super) fn read(root: &[Member<'_>]) -> BTreeMap<String, Input> {
    let Some(Value::List(items)) = last(root, KEY).map(|member| &member.node.value) else {
        return BTreeMap::new();
    };
    let inputs = items.iter().filter_map(|item| match &item.value {
        Value::Map(members) => Some((text(members, "id")?, input(members))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => None,
    });
    inputs.collect()
}

fn input(members: &[Member<'_>]) -> Input {
    let value = |key| last(members, key).map(|member| &member.node.value);
    let options = match value("options") {
        Some(Value::List(items)) => {
            let texts = items.iter().filter_map(|item| match &item.value {
                Value::Text(text) => Some(text.to_string()),
                Value::Map(option) => text(option, "value"),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => None,
            });
            texts.take(OPTIONS_MAX).collect()
        }
        _ => Vec::new(),
    };
    Input {
        description: text(members, "description"),
        password: value("password") == Some(&Value::Bool(true)),
        default: text(members, "default"),
        options,
    }
}

fn text(members: &[Member<'_>], key: &str) -> Option<String> {
    match &last(members, key)?.node.value {
        Value::Text(text) => Some(text.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// Gives a definition those inputs that it asks for.
pub(super) fn give(definition: &mut Definition, inputs: &BTreeMap<String, Input>) {
    if inputs.is_empty() {
        return;
    }
    let parts = definition.texts().flat_map(|(role, text)| definition.template(text, role).parts);
    let id = |part| if let Part::Input { id, .. } = part { Some(id) } else { None };
    let asked = parts.filter_map(id).filter_map(|id| inputs.get(&id).map(|it| (id, it.clone())));
    definition.inputs = asked.collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Question;
    use crate::config::parse::read;
    use crate::config::redact::Redactor;
    use crate::config::{Level, Provider, Source};

    const TEXT: &str = r#"{"inputs":[
        {"type":"promptString","id":"token","description":"A token","password":true},
        {"type":"pickString","id":"region","options":["eu",{"label":"US","value":"us"}],"default":"eu"},
        {"id":"unused"}],
        "servers":{"s":{"command":"s","env":{"T":"${input:token}","R":"${input:region}","X":"${input:x}"}}}}"#;

    fn source() -> Source {
        Source::file(Provider::Vscode, Level::User, "f")
    }

    fn questions(bytes: &[u8]) -> Vec<Question> {
        let reading = read(&source(), bytes);
        reading.definitions[0].questions().into_iter().collect()
    }

    #[test]
    fn a_question_says_what_the_file_says_of_the_input() {
        let asked = |id: &str,
                     description: Option<&str>,
                     password,
                     default: Option<&str>,
                     options: &[&str]| {
            Question::Input {
                file: "f".into(),
                id: id.into(),
                description: description.map(Into::into),
                password,
                default: default.map(Into::into),
                options: options.iter().map(ToString::to_string).collect(),
            }
        };
        let wanted = [
            asked("region", None, false, Some("eu"), &["eu", "us"]),
            asked("token", Some("A token"), true, None, &[]),
            // What is not known to be harmless is not shown.
            asked("x", None, true, None, &[]),
        ];
        assert_eq!(questions(TEXT.as_bytes()), wanted);
        assert_eq!(read(&source(), TEXT.as_bytes()).definitions[0].inputs.len(), 2);
    }

    /// G67.
    #[test]
    fn a_redacted_file_asks_for_the_same_inputs() {
        let redacted = Redactor::new().file(&source(), TEXT.as_bytes());
        let ids = |bytes: &[u8]| -> Vec<(String, bool)> {
            let id = |what| match what {
                Question::Input { id, password, .. } => (id, password),
                Question::Shell { line } => (line, false),
            };
            questions(bytes).into_iter().map(id).collect()
        };
        assert_eq!(ids(&redacted), ids(TEXT.as_bytes()));
        assert!(!String::from_utf8_lossy(&redacted).contains("\"eu\""));
    }
}
