//! Forms that servers have people fill in.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

use crate::bytes::Json;
use crate::wire::json::{self, NESTING_MAX};

/// What a form holds before anybody has typed anything, as the `content` of an answer: each field
/// of the `requestedSchema` in the parameters of `elicitation/create` that has a default
/// (C-ELIC-08).
#[must_use]
pub fn form_defaults(params: &Json) -> Json {
    let schema = member(params.as_str(), "requestedSchema").unwrap_or_default();
    let fields = member(schema, "properties").unwrap_or_default();
    let mut content = String::from("{");
    for (name, field) in members(fields) {
        let Some(default) = member(field, "default") else { continue };
        if content.len() > 1 {
            content.push(',');
        }
        json::push_quoted(&mut content, &name);
        content.push(':');
        content.push_str(default);
    }
    content.push('}');
    Json::new(content)
}

fn member<'a>(object: &'a str, wanted: &str) -> Option<&'a str> {
    members(object).find(|(name, _)| name == wanted).map(|(_, value)| value)
}

fn members(object: &str) -> impl Iterator<Item = (String, &str)> {
    let members = json::members(object, NESTING_MAX).into_iter().flatten().map_while(Result::ok);
    members.filter_map(|member| Some((member.key.into_owned(), object.get(member.value)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_holds_its_defaults() {
        let of = |params: &str| String::from(form_defaults(&Json::new(params)).as_str());
        let params = r#"{"message":"m","requestedSchema":{"type":"object","properties":{
            "name":{"type":"string","default":"Ada \"L\""},"age":{"type":"integer","default":36},
            "more":{"type":"string"},"a\"b":{"type":"boolean","default":false},
            "of":{"type":"array","default":["x","y"]}},"required":["age"]}}"#;
        let wanted = r#"{"name":"Ada \"L\"","age":36,"a\"b":false,"of":["x","y"]}"#;
        assert_eq!(of(params), wanted);
        for params in ["{}", "[]", r#"{"requestedSchema":7}"#, r#"{"requestedSchema":{}}"#] {
            assert_eq!(of(params), "{}", "{params}");
        }
    }
}
