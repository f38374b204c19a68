//! A text with gaps that the driver fills: what the machine decides by name alone.
//!
//! Floor 0. The values of variables and the answers of commands and people stay with the
//! driver; none of them enters the machine, a trace or an error (G67).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::id::AnswerId;

/// One piece of a [`Text`].
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// What it says.
    Plain(String),
    /// The value of this variable of the host.
    Variable(String),
    /// The answer that the driver keeps under this number.
    Answer(AnswerId),
}

/// A text to be filled by the driver. Serialises as a string where there is nothing to fill.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(from = "Form", into = "Form")]
pub struct Text {
    /// No two plain pieces in a row, and none that is empty.
    fills: Vec<Fill>,
}

impl Text {
    /// The pieces in their order.
    #[must_use]
    pub fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// The text, if there is nothing to fill.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match &self.fills[..] {
            [] => Some(""),
            [Fill::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with every gap filled: nothing stands where nothing is found.
    #[must_use]
    pub fn filled(&self, find: impl Fn(&Fill) -> Option<String>) -> String {
        let piece = |fill: &Fill| match fill {
            Fill::Plain(text) => text.clone(),
            gap @ (Fill::Variable(_) | Fill::Answer(_)) => find(gap).unwrap_or_default(),
        };
        self.fills.iter().map(piece).collect()
    }
}

impl FromIterator<Fill> for Text {
    fn from_iter<T: IntoIterator<Item = Fill>>(fills: T) -> Self {
        let mut text = Self::default();
        for fill in fills {
            match (text.fills.last_mut(), fill) {
                (_, Fill::Plain(new)) if new.is_empty() => {}
                (Some(Fill::Plain(before)), Fill::Plain(new)) => before.push_str(&new),
                (_, fill) => text.fills.push(fill),
            }
        }
        text
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        core::iter::once(Fill::Plain(text.into())).collect()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        core::iter::once(Fill::Plain(text)).collect()
    }
}

/// Without any value: `${NAME}` for a variable, `<answer a0>` for an answer.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fills.iter().try_for_each(|fill| match fill {
            Fill::Plain(text) => f.write_str(text),
            Fill::Variable(name) => write!(f, "${{{name}}}"),
            Fill::Answer(answer) => write!(f, "<answer {answer}>"),
        })
    }
}

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Form {
    Plain(String),
    Fills(Vec<Fill>),
}

impl From<Form> for Text {
    fn from(form: Form) -> Self {
        match form {
            Form::Plain(text) => text.into(),
            Form::Fills(fills) => fills.into_iter().collect(),
        }
    }
}

impl From<Text> for Form {
    fn from(text: Text) -> Self {
        match text.plain() {
            Some(plain) => Self::Plain(plain.into()),
            None => Self::Fills(text.fills),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn a_text_is_filled_once_and_shown_without_its_values() {
        let answer = AnswerId::new(3);
        let gaps = [Fill::Variable("A".into()), Fill::Plain("-".into()), Fill::Answer(answer)];
        let text: Text = gaps.into_iter().collect();
        let filled = text.filled(|gap| match gap {
            // G61: what is put there is not looked at again.
            Fill::Variable(name) => Some(alloc::format!("${{{name}}}")),
            Fill::Answer(_) => Some("!x".into()),
            Fill::Plain(_) => None,
        });
        assert_eq!(filled, "${A}-!x");
        assert_eq!(text.to_string(), "${A}-<answer a3>");
        assert_eq!(text.filled(|_| None), "-");
    }

    #[test]
    fn a_text_without_gaps_is_written_as_a_string_and_any_text_survives_writing() {
        for (text, written) in [
            (Text::from("x"), r#""x""#),
            (Text::default(), r#""""#),
            (
                [Fill::Plain("x".into()), Fill::Variable("A".into())].into_iter().collect(),
                r#"[{"plain":"x"},{"variable":"A"}]"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&text).unwrap(), written);
            assert_eq!(serde_json::from_str::<Text>(written).unwrap(), text);
        }
    }
}
