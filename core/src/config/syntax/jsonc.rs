//! JSON as people write it → a tree with places.
//!
//! Floor 2. May import floors 0 and 1. Wraps `jsonc-parser`, whose options are wider than what
//! has only one meaning: missing commas, hexadecimal numbers and the escapes of JavaScript are
//! errors here.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::{Document, Fault, FaultKind, Member, Node, Syntax, Value};

/// Reads a text by the strictest syntax that can.
pub(in crate::config) fn parse(text: &str) -> Result<Document<'_>, Fault> {
    let mut fault = None;
    for syntax in [Syntax::Json, Syntax::Jsonc, Syntax::Loose] {
        match parse_to_ast(text, &CollectOptions::default(), &options(syntax)) {
            Ok(parsed) => {
                let mut lines = Lines { text, at: 0, line: 1 };
                let root = parsed.value.map(|value| lines.node(value));
                return Ok(Document { root, syntax });
            }
            Err(error) => fault = Some(fault_of(&error)),
        }
        if matches!(&fault, Some(Fault { kind: FaultKind::TooDeep, .. })) {
            break;
        }
    }
    // The loop runs at least once.
    Err(fault.unwrap_or(Fault { line: 1, column: 1, kind: FaultKind::TooDeep }))
}

/// Where the comments of a text that [`parse`] reads stand.
pub(in crate::config) fn comments(text: &str, syntax: Syntax) -> Vec<Range<usize>> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let tokens = parse_to_ast(text, &collect, &options(syntax)).ok().and_then(|all| all.tokens);
    let is_comment = |token: &TokenAndRange<'_>| {
        matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
    };
    let found = tokens.into_iter().flatten().filter(is_comment);
    found.map(|token| token.range.start..token.range.end).collect()
}

/// A token of a text and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::config) struct Piece {
    pub(in crate::config) span: Range<usize>,
    pub(in crate::config) kind: PieceKind,
}

/// What a token is, as far as an editor has to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::config) enum PieceKind {
    Comma,
    /// A comment that may stand in the middle of a line.
    Block,
    /// A comment up to the end of its line.
    Line,
    /// A bracket, a colon, a key or a value.
    Other,
}

impl PieceKind {
    pub(in crate::config) const fn is_comment(self) -> bool {
        matches!(self, Self::Block | Self::Line)
    }
}

/// The tokens of a text that [`parse`] reads, in their order.
pub(in crate::config) fn pieces(text: &str, syntax: Syntax) -> Vec<Piece> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let tokens = parse_to_ast(text, &collect, &options(syntax)).ok().and_then(|all| all.tokens);
    let piece = |token: TokenAndRange<'_>| {
        let kind = match token.token {
            Token::Comma => PieceKind::Comma,
            Token::CommentBlock(_) => PieceKind::Block,
            Token::CommentLine(_) => PieceKind::Line,
            Token::OpenBrace
            | Token::CloseBrace
            | Token::OpenBracket
            | Token::CloseBracket
            | Token::Colon
            | Token::String(_)
            | Token::Word(_)
            | Token::Boolean(_)
            | Token::Number(_)
            | Token::Null => PieceKind::Other,
        };
        Piece { span: token.range.start..token.range.end, kind }
    };
    tokens.into_iter().flatten().map(piece).collect()
}

const fn options(syntax: Syntax) -> ParseOptions {
    let comments = !matches!(syntax, Syntax::Json);
    let loose = matches!(syntax, Syntax::Loose);
    ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_single_quoted_strings: loose,
        allow_loose_object_property_names: loose,
        allow_missing_commas: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn fault_of(error: &ParseError) -> Fault {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let kind = if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
        FaultKind::TooDeep
    } else {
        FaultKind::Syntax(error.kind().to_string())
    };
    Fault { line: number(error.line_display()), column: number(error.column_display()), kind }
}

/// Counts lines along with a walk over the tree in the order of the text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn line_of(&mut self, offset: usize) -> u32 {
        let passed = self.text.as_bytes().get(self.at..offset).unwrap_or_default();
        let breaks = passed.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        self.at = self.at.max(offset);
        self.line
    }

    fn node(&mut self, value: ast::Value<'a>) -> Node<'a> {
        let range = value.range();
        let line = self.line_of(range.start);
        let value = match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(lit) => Value::Bool(lit.value),
            ast::Value::NumberLit(lit) => Value::Number(Cow::Borrowed(lit.value)),
            ast::Value::StringLit(lit) => Value::Text(lit.value),
            ast::Value::Array(array) => {
                Value::List(array.elements.into_iter().map(|each| self.node(each)).collect())
            }
            ast::Value::Object(object) => {
                Value::Map(object.properties.into_iter().map(|each| self.member(each)).collect())
            }
        };
        Node { value, span: range.start..range.end, line }
    }

    fn member(&mut self, property: ast::ObjectProp<'a>) -> Member<'a> {
        let line = self.line_of(property.range.start);
        let key = match property.name {
            ast::ObjectPropName::String(lit) => lit.value,
            ast::ObjectPropName::Word(lit) => Cow::Borrowed(lit.value),
        };
        Member { key, line, node: self.node(property.value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_syntax_that_reads_a_text_is_named() {
        for (text, syntax) in [
            ("{\"a\": [1, null]}", Syntax::Json),
            ("{\"a\": [1,]} // x", Syntax::Jsonc),
            ("{a: 1}", Syntax::Loose),
            ("['a']", Syntax::Loose),
        ] {
            assert_eq!(parse(text).map(|document| document.syntax), Ok(syntax), "{text}");
        }
    }

    #[test]
    fn what_has_more_than_one_meaning_is_refused() {
        for text in [
            "{\"a\": 1 \"b\": 2}",
            "[1 2]",
            "{} {}",
            "[0x1]",
            "[+1]",
            "[.5]",
            "[5.]",
            "[NaN]",
            "[01]",
            "[\"\\x41\"]",
            "[\"\\ud800\"]",
            "[,]",
            "{,}",
            "[1,,]",
            "{\"a\"}",
            "{\"a\":}",
            "/* x",
            "[",
            "tru",
            "\u{1}",
        ] {
            let fault = parse(text).expect_err(text);
            assert!(matches!(fault.kind, FaultKind::Syntax(_)), "{text}");
        }
    }

    #[test]
    fn every_value_knows_its_line_and_its_text() {
        let text = "{\r\n  \"a\": [1,\n\n\"é\\n\"],\n\"b\": {}}";
        let root = parse(text).expect("readable").root.expect("a value");
        let Value::Map(members) = &root.value else { panic!() };
        let lines: Vec<u32> = members.iter().map(|member| member.line).collect();
        assert_eq!(lines, [2, 5]);
        let Value::List(items) = &members[0].node.value else { panic!() };
        let found: Vec<(u32, &str)> =
            items.iter().map(|item| (item.line, &text[item.span.clone()])).collect();
        assert_eq!(found, [(2, "1"), (4, "\"é\\n\"")]);
    }

    #[test]
    fn a_hundred_levels_are_read_and_ten_thousand_are_too_deep() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |n| alloc::format!("{}1{}", open.repeat(n), close.repeat(n));
            assert!(parse(&nested(128)).is_ok());
            let text = nested(10_000);
            let fault = parse(&text).expect_err("too deep");
            assert_eq!(fault.kind, FaultKind::TooDeep);
        }
    }
}
