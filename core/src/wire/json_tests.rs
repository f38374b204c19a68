use alloc::string::String;
use alloc::vec::Vec;
use std::format;

use serde::de::IgnoredAny;

use super::*;

const DEEP: usize = NESTING_MAX;

fn valid(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

const GOOD: &[&str] = &[
    "null",
    " true ",
    "false",
    "0",
    "-0",
    "-12.50e+3",
    "1E9",
    "0.1e-7",
    "\"\"",
    "\"plain\"",
    "\"\u{e9} \u{1f600} \u{7f}\"",
    r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#,
    r#""\ud83d""#,
    "[]",
    "[ ]",
    "[1 , [2,[3]] ,{}]",
    "{}",
    "{ }",
    "{\t\"a\" :\r\n1,\"b\":{\"a\":[{}]} , \"a\":null}",
    "[\"0123456789012345678901234567890\",\"01234567890123456789012345678901\"]",
];

#[test]
fn valid_json_of_every_kind_is_accepted() {
    for text in GOOD {
        assert!(valid(text), "the oracle refuses {text}");
        assert!(check(text, DEEP).is_ok(), "{text}: {:?}", check(text, DEEP));
    }
}

#[test]
fn the_place_and_the_reason_of_an_error_are_told() {
    use JsonErrorKind::{Control, Ended, Escape, Number, TooDeep, Trailing, Unexpected};
    for (text, at, kind) in [
        ("", 0, Ended),
        ("  ", 2, Ended),
        ("nul", 3, Ended),
        ("nulL", 3, Unexpected),
        ("tru e", 3, Unexpected),
        ("+1", 0, Unexpected),
        ("NaN", 0, Unexpected),
        ("'a'", 0, Unexpected),
        ("\u{feff}1", 0, Unexpected),
        ("01", 0, Number),
        ("-", 1, Ended),
        ("-a", 1, Number),
        ("1.", 2, Ended),
        ("1.e1", 2, Number),
        ("1e", 2, Ended),
        ("1e+}", 3, Number),
        ("1 2", 2, Trailing),
        ("\"a", 2, Ended),
        ("\"a\nb\"", 2, Control),
        (r#""\x""#, 1, Escape),
        (r#""\u12g4""#, 1, Escape),
        (r#""\u12"#, 5, Ended),
        ("\"\\", 2, Ended),
        ("[1,]", 3, Unexpected),
        ("[,1]", 1, Unexpected),
        ("[1 2]", 3, Unexpected),
        ("[1}", 2, Unexpected),
        ("{\"a\"}", 4, Unexpected),
        ("{\"a\":}", 5, Unexpected),
        ("{\"a\":1,}", 7, Unexpected),
        ("{a:1}", 1, Unexpected),
        ("{\"a\":1]", 6, Unexpected),
    ] {
        assert_eq!(check(text, DEEP), Err(JsonError { at, kind }), "{text}");
    }
    assert_eq!(check("{\"a\":[[{}]]}", 3), Err(JsonError { at: 7, kind: TooDeep }));
}

/// Every text one small change away from a valid one is judged as `serde_json` judges it.
#[test]
fn an_independent_parser_agrees_on_damaged_texts() {
    let spare: Vec<char> = "{}[]\",:\\0123456789.eE+-truefalsn u\u{1}\u{e9}/ \n".chars().collect();
    let mut dice = Dice(7);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut text: Vec<char> = GOOD[dice.below(GOOD.len())].chars().collect();
        for _ in 0..=dice.below(2) {
            let at = dice.below(text.len() + 1);
            let new = spare[dice.below(spare.len())];
            match dice.below(3) {
                0 => text.insert(at, new),
                1 if at < text.len() => text[at] = new,
                _ => drop(text.drain(at.min(text.len())..(at + 1).min(text.len()))),
            }
        }
        let text: String = text.into_iter().collect();
        let ours = check(&text, DEEP);
        assert_eq!(ours.is_ok(), valid(&text), "{text:?}: {ours:?}");
        accepted += usize::from(ours.is_ok());
    }
    assert!((2_000..18_000).contains(&accepted), "the damage is not mixed: {accepted}");
}

/// A special byte is found wherever it stands within a block, and in the rest behind the blocks.
#[test]
fn a_string_ends_at_its_quote_whatever_its_length() {
    for len in 0..200 {
        for (special, wanted) in [("\\n", true), ("\\", false), ("\u{1f}", false), ("\u{ff}", true)]
        {
            for at in 0..=len {
                let text = format!("\"{}{special}{}\"", "x".repeat(at), "y".repeat(len - at));
                let ok = check(&text, 0).is_ok();
                // A backslash right before the closing quote or a `y` is never an escape.
                assert_eq!(ok, wanted, "{text}");
            }
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_overflows_nothing() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        for depth in [1, 64, 10_000, 1_000_000] {
            let text = open.repeat(depth);
            assert!(check(&text, DEEP).is_err());
            assert!(check(&text, usize::MAX).is_err());
        }
    }
}

#[test]
fn exactly_the_bound_may_be_nested() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for bound in [0, 1, 5, DEEP] {
        assert!(check(&nested(bound), bound).is_ok() || bound == 0);
        let error = check(&nested(bound + 1), bound).unwrap_err();
        assert_eq!(error, JsonError { at: bound, kind: JsonErrorKind::TooDeep });
    }
    assert!(check(&nested(DEEP + 1), DEEP + 1).is_err(), "the bound itself is bounded");
    // What was closed makes room again.
    let text = format!("[{}]", ["[[]]"; 100].join(","));
    assert!(check(&text, 3).is_ok());
    assert_eq!(elements(&text, 3).unwrap().filter_map(Result::ok).count(), 100);
    assert!(elements(&text, 2).unwrap().any(|element| element.is_err()));
}

#[test]
fn members_are_told_in_order_with_their_places() {
    let text = r#" {"a" : [1, 2] ,"k\u00e9y":"v","a":{}} "#;
    let found: Vec<_> = members(text, DEEP)
        .unwrap()
        .map(|member| member.map(|m| (String::from(m.key), &text[m.value])).unwrap())
        .collect();
    assert_eq!(found, [("a".into(), "[1, 2]"), ("k\u{e9}y".into(), "\"v\""), ("a".into(), "{}")]);
}

#[test]
fn elements_are_told_in_order_with_their_places() {
    let text = "[ 1 ,\"a\", [] , {\"b\":1}]";
    let found: Vec<_> = elements(text, DEEP).unwrap().map(|range| &text[range.unwrap()]).collect();
    assert_eq!(found, ["1", "\"a\"", "[]", "{\"b\":1}"]);
    assert_eq!(elements("[]", DEEP).unwrap().count(), 0);
}

#[test]
fn an_iterator_ends_after_its_first_error() {
    for text in ["{\"a\":1", "{\"a\":1} x", "{\"a\":1,\"b\":-}", "{\"a\":1 \"b\":2}"] {
        let all: Vec<_> = members(text, DEEP).unwrap().collect();
        assert_eq!(all.len(), 2, "{text}");
        assert!(all[0].is_ok() && all[1].is_err(), "{text}");
    }
    assert!(members("[]", DEEP).is_err());
    assert!(elements("{}", DEEP).is_err());
    assert!(members("{}", 0).is_err());
}

#[test]
fn what_a_caller_leaves_alone_is_checked_and_skipped() {
    let read = |text: &'static str| -> Result<Vec<String>, JsonError> {
        let mut scanner = Scanner::new(text, DEEP);
        let mut keys = Vec::new();
        let mut outer = scanner.object()?.unwrap();
        while let Some(key) = scanner.key(&mut outer)? {
            if key == "enter" {
                let mut inner = scanner.array()?.unwrap();
                while scanner.element(&mut inner)? {
                    if scanner.kind()? == Kind::String {
                        keys.push(scanner.string()?.unwrap().into_owned());
                    }
                }
            }
            keys.push(key.into_owned());
        }
        scanner.end()?;
        assert_eq!(scanner.key(&mut outer)?, None, "the end stays the end");
        Ok(keys)
    };
    assert_eq!(
        read(r#"{"a":[{}], "enter": [1, "x", null ,"y"] ,"b":"c"}"#).unwrap(),
        ["a", "x", "y", "enter", "b"]
    );
    assert!(read(r#"{"a":[{},],"b":"c"}"#).is_err());
}

#[test]
fn a_value_of_another_type_reads_as_nothing() {
    let mut scanner = Scanner::new("[1,2,\"s\",{}]", DEEP);
    let mut array = scanner.array().unwrap().unwrap();
    assert!(scanner.element(&mut array).unwrap());
    assert_eq!(scanner.string(), Ok(None));
    assert!(scanner.element(&mut array).unwrap());
    assert!(scanner.object().unwrap().is_none());
    assert!(scanner.element(&mut array).unwrap());
    assert!(scanner.array().unwrap().is_none());
    assert!(scanner.element(&mut array).unwrap());
    let range = scanner.skip().unwrap();
    assert_eq!(scanner.slice(range), "{}");
    assert!(!scanner.element(&mut array).unwrap());
    assert_eq!(scanner.end(), Ok(()));
}

#[test]
fn strings_are_unescaped_as_an_independent_parser_does() {
    for text in GOOD.iter().filter(|text| text.starts_with('"') && **text != r#""\ud83d""#) {
        assert_eq!(string(text).unwrap(), serde_json::from_str::<String>(text).unwrap());
    }
    assert_eq!(string("1"), None);
    assert_eq!(string("\"a\" x"), None);
    assert!(matches!(string("\"plain\""), Some(Cow::Borrowed("plain"))));
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    for (text, wanted) in [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
    ] {
        assert_eq!(string(text).unwrap(), wanted, "{text}");
    }
}

#[test]
fn a_quoted_text_reads_back_and_has_the_announced_length() {
    let every: String = (0..0x180).filter_map(char::from_u32).chain(['\u{1f600}']).collect();
    for text in ["", "plain", "a\"b\\c\nd\te\r", "\u{0}", &every] {
        let mut out = String::new();
        push_quoted(&mut out, text);
        assert_eq!(out.len(), quoted_len(text), "{text:?}");
        assert_eq!(string(&out).unwrap(), text);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }
}

#[test]
fn a_value_over_several_lines_is_written_on_one() {
    let mut out = String::new();
    push_value(&mut out, "{\n  \"a\": [\r\n1]\n}");
    assert_eq!(out, "{   \"a\": [  1] }");
}

#[test]
fn every_special_byte_is_found_at_every_place_of_a_string() {
    for place in 0..200 {
        for byte in 0..0x80_u8 {
            let mut text = "\u{7f}".repeat(200);
            text.replace_range(place..=place, str::from_utf8(&[byte]).unwrap());
            let wanted = match byte {
                b'"' => Ok(place + 2),
                // Of the last one the closing quote is a part.
                b'\\' if place == 199 => Err(JsonError { at: 202, kind: JsonErrorKind::Ended }),
                b'\\' => Err(JsonError { at: place + 1, kind: JsonErrorKind::Escape }),
                0..0x20 => Err(JsonError { at: place + 1, kind: JsonErrorKind::Control }),
                _ => Ok(202),
            };
            let text = format!("\"{text}\"");
            let mut out = String::new();
            let mut scanner = Scanner::new(&text, 0);
            assert_eq!(scanner.string_into(&mut out).map(|_| scanner.position()), wanted);
            let found = Scanner::new(&text, 0).skip().map(|range| range.end);
            assert_eq!(found, wanted, "{byte} at {place}");
            if let Ok(end) = wanted {
                assert_eq!(out, text[1..end - 1]);
            }
        }
    }
}
