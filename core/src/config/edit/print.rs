//! Values → JSON text in the style of the place they are put in.
//!
//! Floor 2.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::page::Shape;
use crate::config::syntax::{Node, Value};

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

pub(super) fn key(key: &str) -> String {
    text(key)
}

pub(super) const fn flag(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// A value: objects over several lines if the place has lines, lists on one.
pub(super) fn value(node: &Node<'_>, shape: Shape<'_>) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(value) => flag(*value).into(),
        Value::Number(number) => String::from(&**number),
        Value::Text(value) => text(value),
        Value::List(items) => {
            let one_line = Shape { lines: None, ..shape };
            let items: Vec<String> = items.iter().map(|item| value(item, one_line)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(members) => {
            let print = |at: usize, inner: Shape<'_>| {
                members
                    .get(at)
                    .map(|member| format!("{}: {}", key(&member.key), value(&member.node, inner)))
            };
            lines(members.len(), print, shape)
        }
    }
}

/// An object of members that print themselves.
pub(super) fn map(members: &[&dyn Fn(Shape<'_>) -> String], shape: Shape<'_>) -> String {
    lines(members.len(), |at, inner| members.get(at).map(|member| member(inner)), shape)
}

fn lines(
    count: usize,
    member: impl Fn(usize, Shape<'_>) -> Option<String>,
    shape: Shape<'_>,
) -> String {
    if count == 0 {
        return "{}".into();
    }
    let Some(outer) = shape.lines else {
        let members: Vec<String> = (0..count).filter_map(|at| member(at, shape)).collect();
        return format!("{{{}}}", members.join(", "));
    };
    let indent = format!("{outer}{}", shape.unit);
    let inner = Shape { lines: Some(&indent), ..shape };
    let newline = shape.newline;
    let members: Vec<String> = (0..count).filter_map(|at| member(at, inner)).collect();
    let separator = format!(",{newline}{indent}");
    format!("{{{newline}{indent}{}{newline}{outer}}}", members.join(&separator))
}
