use std::format;
use std::string::String;

use super::super::{Scanner, members};
use super::*;

/// What the outline of a text is by its definition, from all of it at once.
fn naive(text: &str, nesting_max: usize) -> Option<Vec<Member<'_>>> {
    let members: Vec<_> = members(text, nesting_max).ok()?.collect::<Result<_, _>>().ok()?;
    (members.len() <= MEMBERS_MAX).then_some(members)
}

/// The outline of a text that grows up to each of these lengths.
fn outline(text: &str, lengths: impl IntoIterator<Item = usize>) -> Outline {
    let mut outline = Outline::new();
    for length in lengths {
        outline.extend(&text.as_bytes()[..length]);
    }
    outline.extend(text.as_bytes());
    outline
}

fn members_of<'a>(outline: &'a Outline, text: &'a str) -> Option<Vec<Member<'a>>> {
    outline.members(text, NESTING_MAX).map(Iterator::collect)
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "{}",
    " { } \r",
    "{}{}",
    "[{}]",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{,}",
    "{\"a\":-12.5e+3,\"b\":0}",
    "{\"a\":01}",
    "{\"a\":1.}",
    "{\"a\":12 34}",
    "{ \"jsonrpc\" : \"2.0\" , \"id\" : 7 , \"result\" : { \"a\" : [ 1 , [ ] , { } ] } } ",
    r#"{"result":{"text":"a\"b\\\u00e9\n","of":[true,false,null]},"\u0069d":"x"}"#,
    r#"{"a":"\u12g4"}"#,
    r#"{"a":"\x"}"#,
    "{\"a\":\"\t\"}",
    "{\"a\":tru}",
    "{\"a\":true}x",
    "{\"a\":[1,]}",
    "{\"a\":[}]}",
    "{\"a\":{\"b\"}}",
    "{\"\u{e9}\":\"\u{20ac}\u{1f600}\"}",
    "{\"a\":1,\"a\":2}",
    "{\"a\"",
    "{\"a\":\"b",
];

/// G44.
#[test]
fn where_a_text_is_cut_makes_no_difference_to_its_outline() {
    for text in TEXTS {
        let wanted = naive(text, NESTING_MAX);
        assert_eq!(members_of(&outline(text, []), text), wanted, "{text} at once");
        assert_eq!(members_of(&outline(text, 0..text.len()), text), wanted, "{text} in bytes");
        for a in 0..=text.len() {
            for b in a..=text.len() {
                let cut = outline(text, [a, b]);
                assert_eq!(members_of(&cut, text), wanted, "{text} cut at {a} and {b}");
            }
        }
    }
}

#[test]
fn what_is_outlined_is_what_a_scanner_accepts_however_deep_it_nests() {
    for depth in [1, 2, 5, NESTING_MAX - 1, NESTING_MAX] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        for nesting_max in [0, 1, 2, 3, 5, 6, NESTING_MAX, usize::MAX] {
            let outline = outline(&text, 0..text.len());
            let accepted = Scanner::new(&text, nesting_max).skip().is_ok();
            assert_eq!(outline.members(&text, nesting_max).is_some(), accepted, "{depth}");
        }
    }
}

#[test]
fn many_members_and_long_tokens_in_pieces_are_left_to_the_scanner() {
    let member = "\"a\":1,";
    for (count, known) in [(MEMBERS_MAX, true), (MEMBERS_MAX + 1, false)] {
        let text = format!("{{{}}}", member.repeat(count).trim_end_matches(','));
        assert_eq!(members_of(&outline(&text, []), &text).is_some(), known);
    }
    let digits = "1".repeat(3 * AGAIN_BYTES_MAX);
    for text in [format!("{{\"a\":{digits}}}"), format!("{{\"{digits}\":1}}")] {
        assert!(members_of(&outline(&text, []), &text).is_some());
        assert_eq!(members_of(&outline(&text, [2 * AGAIN_BYTES_MAX]), &text), None);
    }
    let text: String = format!("{{\"a\":\"{digits}\"}}");
    assert!(members_of(&outline(&text, 0..text.len()), &text).is_some(), "a long string is not");
}
