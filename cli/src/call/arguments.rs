//! The arguments of a call: a JSON object, `--arg key=value`, or both.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use tidegate_core::bytes::Json;

/// How much of the text around a mistake is shown, in characters on each side.
const SHOWN_CHARS: usize = 40;

/// The arguments as one JSON object; the text as given where nothing is added to it.
///
/// # Errors
/// What is wrong and where, for the person who typed it.
pub(crate) fn merge(json: Option<&str>, pairs: &[String]) -> Result<Json, String> {
    let text = json.unwrap_or("{}");
    let mut members = object(text)?;
    if pairs.is_empty() {
        return Ok(Json::new(text.trim()));
    }
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(format!("--arg {pair:?} is not KEY=VALUE"));
        };
        if members.insert(key.to_owned(), member(value)?).is_some() {
            return Err(format!("the argument {key:?} is given twice"));
        }
    }
    let joined = serde_json::to_string(&members).map_err(|error| error.to_string())?;
    Ok(Json::new(joined))
}

/// The members of an object, their values as they were written.
fn object(text: &str) -> Result<BTreeMap<String, Box<RawValue>>, String> {
    match serde_json::from_str(text) {
        Ok(members) => Ok(members),
        Err(error) if error.is_data() => Err(format!(
            "the arguments must be a JSON object, such as {{\"key\": \"value\"}}, not {}",
            kind(text)
        )),
        Err(error) => Err(format!("the arguments are not JSON: {}", place(text, &error))),
    }
}

fn kind(text: &str) -> &'static str {
    match text.trim_start().chars().next() {
        Some('[') => "a list",
        Some('"') => "a text",
        Some('t' | 'f') => "true or false",
        Some('n') => "null",
        _ => "a number",
    }
}

/// A value that is JSON as it is, anything else as text.
fn member(value: &str) -> Result<Box<RawValue>, String> {
    serde_json::from_str(value).or_else(|_| to_raw_value(value)).map_err(|error| error.to_string())
}

/// The mistake, the line it is in, and a mark below its place.
fn place(text: &str, error: &serde_json::Error) -> String {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    // The column counts bytes; it may stand inside or behind a character.
    let before = line.char_indices().take_while(|(at, _)| *at + 1 < error.column()).count();
    let first = before.saturating_sub(SHOWN_CHARS);
    let shown: String = line.chars().skip(first).take(2 * SHOWN_CHARS).collect();
    format!("{error}\n  {shown}\n  {}^", " ".repeat(before - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(json: Option<&str>, pairs: &[&str]) -> Result<String, String> {
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        merge(json, &pairs).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn nothing_given_is_an_empty_object_and_json_keeps_its_spelling() {
        assert_eq!(merged(None, &[]).unwrap(), "{}");
        assert_eq!(merged(Some(" {\"b\": 1.0, \"a\":2}\n"), &[]).unwrap(), "{\"b\": 1.0, \"a\":2}");
    }

    #[test]
    fn a_value_is_json_where_it_can_be_and_text_otherwise() {
        let pairs = ["n=1.50", "t=is:open x=y", "b=true", "s=\"1\"", "l=[1, 2]", "e="];
        assert_eq!(
            merged(Some("{\"z\": null}"), &pairs).unwrap(),
            r#"{"b":true,"e":"","l":[1, 2],"n":1.50,"s":"1","t":"is:open x=y","z":null}"#
        );
    }

    #[test]
    fn the_same_argument_twice_is_a_mistake() {
        for (json, pairs) in [(Some(r#"{"a":1}"#), &["a=2"][..]), (None, &["a=1", "a=1"][..])] {
            assert_eq!(merged(json, pairs).unwrap_err(), "the argument \"a\" is given twice");
        }
    }

    #[test]
    fn a_pair_needs_a_key() {
        assert_eq!(merged(None, &["a"]).unwrap_err(), "--arg \"a\" is not KEY=VALUE");
        assert_eq!(merged(None, &["=a"]).unwrap_err(), "--arg \"=a\" is not KEY=VALUE");
    }

    #[test]
    fn a_mistake_is_pointed_at() {
        assert_eq!(
            merged(Some(r#"{"ä": 1 "b": 2}"#), &[]).unwrap_err(),
            "the arguments are not JSON: expected `,` or `}` at line 1 column 10\n  \
             {\"ä\": 1 \"b\": 2}\n          ^"
        );
        let long = format!("{{\"{}\": x}}", "k".repeat(100));
        let told = merged(Some(&long), &[]).unwrap_err();
        let (mark, line) = (told.lines().nth(2).unwrap(), told.lines().nth(1).unwrap());
        assert_eq!(line.chars().nth(mark.chars().count() - 1), Some('x'), "{told}");
    }

    #[test]
    fn what_is_no_object_is_named() {
        for (text, kind) in [("[1]", "a list"), ("\"x\"", "a text"), ("7", "a number")] {
            assert!(merged(Some(text), &[]).unwrap_err().ends_with(kind));
        }
    }
}
