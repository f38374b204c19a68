//! Parameters of tools that headers mirror: where a schema says so, and what a call then says.
//!
//! Floor 1. May import floor 0. Only over HTTP and only where there is no handshake (C-XHDR-01).

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde_json::Value;

use crate::wire::http::mirrored;

/// The annotation of a property.
const ANNOTATION: &str = "x-mcp-header";

/// Beyond this, and below the same with a minus, integers are not exact everywhere (C-XHDR-03).
const INTEGER_MAX: i64 = (1 << 53) - 1;

/// How long the name in an annotation may be, in bytes: what no server would take as the name of a
/// header, a call cannot mirror.
const NAME_MAX: usize = 256;

/// A parameter that a header mirrors.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Mirror {
    /// The end of the header's name.
    name: String,
    /// The keys that lead to the parameter.
    path: Vec<String>,
}

/// Whether the annotations in a schema, if there are any, are as they have to be.
///
/// # Errors
/// What is wrong with the first one that is not (C-XHDR-02 to C-XHDR-04).
pub fn check_mirrors(schema: &str) -> Result<(), String> {
    read(schema).map(drop)
}

/// The headers that mirror parameters of a call (C-XHDR-06, C-XHDR-07, C-XHDR-11).
#[must_use]
pub fn mirrors(schema: &str, arguments: &str) -> Vec<(String, String)> {
    let mirrors = read(schema).unwrap_or_default();
    if mirrors.is_empty() {
        return Vec::new();
    }
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return Vec::new() };
    let header = |mirror: Mirror| {
        let value = mirror.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
        Some((format!("Mcp-Param-{}", mirror.name), mirrored(&text(value)?)))
    };
    mirrors.into_iter().filter_map(header).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            let whole = |float: &f64| *float as i64 as f64 == *float;
            let float = || number.as_f64().filter(whole).map(|float| float as i64);
            let integer = number.as_i64().or_else(float)?;
            (-INTEGER_MAX..=INTEGER_MAX).contains(&integer).then(|| integer.to_string())
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn read(schema: &str) -> Result<Vec<Mirror>, String> {
    let mut mirrors = Vec::new();
    // Of most tools this is all that is looked at.
    if schema.contains(ANNOTATION)
        && let Ok(schema) = serde_json::from_str::<Value>(schema)
    {
        walk(&schema, &mut Vec::new(), &mut mirrors)?;
    }
    Ok(mirrors)
}

/// Looks at a schema to which properties alone lead, and not too many: JSON nests so deep only.
fn walk(schema: &Value, path: &mut Vec<String>, mirrors: &mut Vec<Mirror>) -> Result<(), String> {
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            (ANNOTATION, name) => {
                let name = named(name, schema, path, mirrors)?;
                mirrors.push(Mirror { name, path: path.clone() });
            }
            ("properties", Value::Object(properties)) => {
                for (property, schema) in properties {
                    path.push(property.clone());
                    walk(schema, path, mirrors)?;
                    path.pop();
                }
            }
            (key, value) if is_annotated(key, value) => {
                return Err(format!("{ANNOTATION} stands inside {key}"));
            }
            (_, _) => {}
        }
    }
    Ok(())
}

/// The name in an annotation.
fn named(
    name: &Value,
    schema: &Value,
    path: &[String],
    mirrors: &[Mirror],
) -> Result<String, String> {
    let at = path.join(".");
    if path.is_empty() {
        return Err(format!("{ANNOTATION} stands on no parameter"));
    }
    let fits = |name: &&str| (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_token);
    let Some(name) = name.as_str().filter(fits) else {
        return Err(format!("{ANNOTATION} of {at} cannot be part of a header's name"));
    };
    let kind = schema.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(format!("{ANNOTATION} of {at} is on no text, integer or boolean"));
    }
    if mirrors.iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
        return Err(format!("{ANNOTATION} {name} stands there twice"));
    }
    Ok(name.into())
}

/// RFC 9110, section 5.6.2.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

/// Whether an annotation stands in the value of a keyword. What is data is none, and neither is the
/// name of a property.
fn is_annotated(keyword: &str, value: &Value) -> bool {
    match (keyword, value) {
        ("default" | "examples" | "enum" | "const", _) => false,
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(schemas),
        ) => schemas.values().any(|schema| is_annotated("", schema)),
        (_, Value::Object(members)) => {
            members.iter().any(|(key, value)| key == ANNOTATION || is_annotated(key, value))
        }
        (_, Value::Array(items)) => items.iter().any(|item| is_annotated("", item)),
        (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(properties: &str) -> String {
        format!(r#"{{"type":"object","properties":{properties}}}"#)
    }

    /// C-XHDR-06, C-XHDR-07, C-XHDR-08, C-XHDR-11.
    #[test]
    fn a_call_says_in_headers_what_its_tool_wants_there() {
        let schema = schema(
            r#"{"region":{"type":"string","x-mcp-header":"Region"},
                "n":{"type":"integer","x-mcp-header":"N"},
                "on":{"type":"boolean","x-mcp-header":"On"},
                "method":{"type":"string","x-mcp-header":"Method"},
                "plain":{"type":"string"},
                "deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Er"}}}}"#,
        );
        let of = |arguments: &str| {
            let mut headers = mirrors(&schema, arguments);
            headers.sort();
            headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
        };
        assert_eq!(
            of(
                r#"{"region":"us w","n":42.0,"on":false,"method":"","plain":"x","deep":{"er":" y"}}"#
            ),
            [
                "Mcp-Param-Er: =?base64?IHk=?=",
                "Mcp-Param-Method: ",
                "Mcp-Param-N: 42",
                "Mcp-Param-On: false",
                "Mcp-Param-Region: us w",
            ]
        );
        assert_eq!(of(r#"{"region":null,"n":9007199254740993,"on":[],"deep":7}"#), [""; 0]);
        assert_eq!(of("{}"), [""; 0]);
    }

    /// C-XHDR-02 to C-XHDR-04.
    #[test]
    fn an_annotation_that_cannot_be_followed_makes_its_tool_unusable() {
        for properties in [
            r#"{"a":{"type":"string","x-mcp-header":""}}"#,
            r#"{"a":{"type":"string","x-mcp-header":7}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"a b"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"a:b"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"é"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"a\n"}}"#,
            r#"{"a":{"type":"number","x-mcp-header":"A"}}"#,
            r#"{"a":{"type":"object","x-mcp-header":"A"}}"#,
            r#"{"a":{"type":["string","null"],"x-mcp-header":"A"}}"#,
            r#"{"a":{"x-mcp-header":"A"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}"#,
            r#"{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}"#,
            r#"{"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}}"#,
            r#"{"a":{"not":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}"#,
        ] {
            assert!(check_mirrors(&schema(properties)).is_err(), "{properties}");
        }
        let named = |name: String| {
            schema(&format!(r#"{{"a":{{"type":"string","x-mcp-header":"{name}"}}}}"#))
        };
        assert_eq!(check_mirrors(&named("a".repeat(NAME_MAX))), Ok(()));
        assert!(check_mirrors(&named("a".repeat(NAME_MAX + 1))).is_err());
        let elsewhere = r#"{"type":"object","$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#;
        assert!(check_mirrors(elsewhere).is_err());
        assert!(check_mirrors(r#"{"type":"string","x-mcp-header":"A"}"#).is_err());
    }

    #[test]
    fn what_only_looks_like_an_annotation_is_none() {
        for properties in [
            r#"{"x-mcp-header":{"type":"string"}}"#,
            r#"{"a":{"type":"object","default":{"x-mcp-header":"A"}}}"#,
            r#"{"a":{"type":"array","items":{"properties":{"x-mcp-header":{}}}}}"#,
            r#"{"a":{"type":"string","description":"x-mcp-header"}}"#,
        ] {
            assert_eq!(check_mirrors(&schema(properties)), Ok(()), "{properties}");
        }
    }
}
