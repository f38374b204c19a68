//! TOML → a tree with places.
//!
//! Floor 2. May import floors 0 and 1. Wraps `toml`, which refuses a key that is repeated and
//! goes 80 levels deep. Its tables are sorted by their keys; here they stand as in the file.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::{Fault, FaultKind, Lines, Member, Node, Value};

/// Reads a text; `None` if there is nothing but white space and comments.
pub(super) fn parse(text: &str) -> Result<Option<Node<'_>>, Fault> {
    let lines = Lines::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let words = error.message();
        let kind = if words.contains("recurs") {
            FaultKind::TooDeep
        } else {
            FaultKind::Syntax(words.lines().collect::<Vec<_>>().join(" "))
        };
        Fault { line: lines.line(at), column: lines.column(at), kind }
    })?;
    let table = table.into_inner();
    if table.is_empty() {
        return Ok(None);
    }
    Ok(Some(Node { value: map(table, &lines), span: 0..text.len(), line: 1 }))
}

/// Where the comments of a text stand.
pub(in crate::config) fn comments(text: &str) -> Vec<Range<usize>> {
    let comments = Source::new(text).lex().filter(|token| token.kind() == TokenKind::Comment);
    comments.map(|token| token.span().start()..token.span().end()).collect()
}

/// A text as TOML, with `breaks` line ends in it that do not count.
pub(in crate::config) fn literal(text: &str, breaks: usize) -> String {
    let mut out = String::from("\"");
    if breaks > 0 {
        out.push_str("\"\"\\");
        out.push_str(&"\n".repeat(breaks));
    }
    for (at, c) in text.chars().enumerate() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Blanks at the start would belong to the line ends.
            c if c.is_control() || (at == 0 && c.is_whitespace()) => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push_str(if breaks > 0 { "\"\"\"" } else { "\"" });
    out
}

fn map<'a>(table: DeTable<'a>, lines: &Lines<'_>) -> Value<'a> {
    let mut members: Vec<(usize, Member<'a>)> = table
        .into_iter()
        .map(|(key, value)| {
            let span = key.span();
            let line = lines.line(span.start);
            (span.start, Member { key: key.into_inner(), line, node: node(value, line, lines) })
        })
        .collect();
    members.sort_by_key(|(at, _)| *at);
    Value::Map(members.into_iter().map(|(_, member)| member).collect())
}

fn node<'a>(value: Spanned<DeValue<'a>>, line: u32, lines: &Lines<'_>) -> Node<'a> {
    let span = value.span();
    // A table that is made up along the way stands nowhere.
    let line = if span.is_empty() { line } else { lines.line(span.start) };
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text),
        DeValue::Integer(number) => Value::Number(integer(&number)),
        DeValue::Float(number) => Value::Number(Cow::Owned(number.as_str().into())),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(time) => Value::Text(Cow::Owned(time.to_string())),
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|item| node(item, line, lines)).collect())
        }
        DeValue::Table(table) => map(table, lines),
    };
    Node { value, span, line }
}

fn integer(number: &DeInteger<'_>) -> Cow<'static, str> {
    let text = number.as_str();
    let decimal = Some(number.radix()).filter(|radix| *radix != 10);
    let decimal = decimal.and_then(|radix| u128::from_str_radix(text, radix).ok());
    Cow::Owned(decimal.map_or_else(|| text.trim_start_matches('+').into(), |n| n.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(node: &Node<'_>) -> String {
        match &node.value {
            Value::Map(members) => {
                let each = |m: &Member<'_>| format!("{}@{}={}", m.key, m.line, shape(&m.node));
                format!("{{{}}}", members.iter().map(each).collect::<Vec<_>>().join(" "))
            }
            Value::List(items) => {
                format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(" "))
            }
            Value::Text(text) => format!("{text:?}"),
            Value::Number(text) => text.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Null => "null".into(),
        }
    }

    #[test]
    fn tables_stand_in_the_order_of_the_file_with_their_lines() {
        let text =
            "z = 0xff\r\n[m.b]\nx = [1, 'two']\n[m]\na.c = 1_000.5\n[m.b.e]\nd = 2020-01-01\n";
        let root = parse(text).expect("readable").expect("something");
        let wanted =
            r#"{z@1=255 m@4={b@2={x@3=[1 "two"] e@6={d@7="2020-01-01"}} a@5={c@5=1000.5}}}"#;
        assert_eq!(shape(&root), wanted);
        assert_eq!(parse("# nothing\n"), Ok(None));
    }

    #[test]
    fn what_is_no_toml_is_located() {
        for (text, line, column) in
            [("a = 1\na = 2\n", 2, 1), ("[x]\n\n  b = \n", 3, 7), ("é = 1\n", 1, 1)]
        {
            let fault = parse(text).expect_err(text);
            assert_eq!((fault.line, fault.column), (line, column), "{text} {fault:?}");
            assert!(matches!(fault.kind, FaultKind::Syntax(_)));
        }
        let deep = format!("a = {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(parse(&deep).expect_err("deep").kind, FaultKind::TooDeep);
        assert!(parse(&format!("a = {}1{}", "[".repeat(64), "]".repeat(64))).is_ok());
    }

    #[test]
    fn a_literal_is_the_text_it_stands_for_over_as_many_lines() {
        for text in ["", "a", "<secret 1>", "a\"b\\c\u{1}\n", " x", "é\u{7f}"] {
            for breaks in 0..3 {
                let source = format!("a = {}", literal(text, breaks));
                assert_eq!(source.matches('\n').count(), breaks);
                let root = parse(&source).expect(&source).expect("something");
                let Value::Map(members) = &root.value else { panic!() };
                assert_eq!(members[0].node.value, Value::Text(text.into()), "{source}");
            }
        }
    }
}
