use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::*;
use crate::error::RpcError;

fn flat(result: &Value) -> Flattened {
    flatten(&Json::new(result.to_string())).expect("readable")
}

fn text(content: &Value) -> String {
    flat(&json!({ "content": content })).text
}

/// The documented vectors.
#[test]
fn parts_are_joined_by_a_blank_line() {
    let part = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(text(&json!([part("a"), part("b")])), "a\n\nb");
    assert_eq!(text(&json!([part(""), part("x")])), "\n\nx");
    assert_eq!(text(&json!([])), "");
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    assert_eq!(text(&json!([image, part("x")])), "[Image: image/png]\n\nx");
    let resource = |inner: Value| json!([{"type": "resource", "resource": inner}]);
    assert_eq!(text(&resource(json!({"uri": "f:/a", "text": "t\n"}))), "[Resource: f:/a]\nt\n");
    assert_eq!(text(&resource(json!({"uri": "f:/a", "text": ""}))), "[Resource: f:/a]");
    assert_eq!(text(&resource(json!({"uri": "f:/a", "blob": "AAAA"}))), "[Resource: f:/a]");
}

/// G76: no content item is dropped, whatever it is.
#[test]
fn what_is_no_text_leaves_a_placeholder() {
    for (item, wanted) in [
        (json!({"type": "audio", "mimeType": "audio/wav", "data": "AA"}), "[Audio: audio/wav]"),
        (json!({"type": "resource_link", "uri": "f:/b", "name": "b"}), "[Resource link: f:/b]"),
        (json!({"type": "hologram", "text": "x"}), "[Unsupported content: hologram]"),
        (json!({"type": "image"}), "[Image]"),
        (json!({"type": "resource"}), "[Resource]"),
        (json!({"type": "resource", "resource": 5}), "[Resource]"),
        (json!({"type": "text"}), "[Unsupported content: text]"),
        (json!({"type": "text", "text": 5}), "[Unsupported content: text]"),
        (json!({"text": "x"}), "[Unsupported content]"),
        (json!({}), "[Unsupported content]"),
        (json!(null), "[Unsupported content]"),
        (json!([["text"]]), "[Unsupported content]"),
    ] {
        let around = json!([{"type": "text", "text": "<"}, item, {"type": "text", "text": ">"}]);
        assert_eq!(text(&around), format!("<\n\n{wanted}\n\n>"));
        assert_eq!(flat(&json!({ "content": around })).blocks, 3);
    }
}

#[test]
fn the_order_and_repetition_of_members_do_not_matter() {
    for (block, wanted) in [
        (r#"{"text":"x","type":"text"}"#, "x"),
        (r#"{"text":"x","type":"image","mimeType":"m"}"#, "[Image: m]"),
        (r#"{"resource":{"text":"x","uri":"u"},"type":"resource","text":"y"}"#, "[Resource: u]\nx"),
        (r#"{"resource":{"text":"x","uri":"u"},"text":"y","type":"text"}"#, "y"),
        (r#"{"text":"y","resource":{"text":"x","uri":"u"},"type":"text"}"#, "y"),
        (r#"{"type":"text","text":"x","text":"y"}"#, "y"),
        (r#"{ "type" : "text" , "\u0074ext" : "x" , "annotations" : { "a" : [ 1 , "]" ] } }"#, "x"),
    ] {
        let result = format!("{{\"content\":[{block},{{\"type\":\"text\",\"text\":\"z\"}}]}}");
        let read = flatten(&Json::new(result)).expect("readable");
        assert_eq!(read.text, format!("{wanted}\n\nz"), "{block}");
    }
}

#[test]
fn structured_content_speaks_where_there_is_no_block() {
    let alone = flatten(&Json::new(r#"{"structuredContent":{"b" :1}}"#)).expect("readable");
    assert_eq!((alone.text.as_str(), alone.blocks), (r#"{"b" :1}"#, 0));
    assert_eq!(flat(&json!({"structuredContent": {"a": 1}, "content": []})).text, r#"{"a":1}"#);
    let block = json!([{"type": "text", "text": "x"}]);
    assert_eq!(flat(&json!({"content": block, "structuredContent": {"a": 1}})).text, "x");
}

#[test]
fn a_result_that_is_none_is_an_error_of_the_call() {
    for text in ["[]", "null", "{}", r#"{"content":null}"#, r#"{"content":"x"}"#, r#"{"a":1}"#, ""]
    {
        let error = flatten(&Json::new(text)).expect_err(text);
        assert!(matches!(error, CallError::Shape { .. }), "{text}");
    }
}

/// F-062, F-063.
#[test]
fn a_model_reads_failures_as_text() {
    let answered = |result: Value| Outcome::Answered(Json::new(result.to_string()));
    let said = |is_error: bool| {
        answered(json!({"content": [{"type": "text", "text": "x"}], "isError": is_error}))
    };
    assert_eq!(text_for_model(&said(false)), Ok("x".into()));
    assert_eq!(text_for_model(&said(true)), Ok("Error: x".into()));
    let unsaid = answered(json!({"content": [{"type": "text", "text": "x"}]}));
    assert_eq!(text_for_model(&unsaid), Ok("x".into()));
    let silent = answered(json!({"content": [], "isError": true}));
    assert_eq!(text_for_model(&silent), Ok("Error: ".into()));
    let error = RpcError { code: -32_602, message: "no".into(), data: None };
    let failed = Outcome::Failed(CallError::Rpc { error });
    assert_eq!(text_for_model(&failed), Ok("MCP error: MCP error -32602: no".into()));
    let bad = answered(json!({}));
    assert_eq!(
        text_for_model(&bad),
        Ok("MCP error: malformed answer: the result has no content".into())
    );
}

/// G77.
#[test]
fn an_abort_is_never_a_text() {
    assert_eq!(text_for_model(&Outcome::Aborted), Err(Aborted));
}

#[test]
fn members_of_a_result_are_given_as_received() {
    let result =
        Json::new(r#" { "content" : [ 1.0 ] ,"structuredContent":{"a" : "]}"}, "x":-1e3 }"#);
    assert_eq!(content_json(&result), Some(Json::new("[ 1.0 ]")));
    assert_eq!(structured_json(&result), Some(Json::new(r#"{"a" : "]}"}"#)));
    assert_eq!(content_json(&Json::new("{}")), None);
    assert_eq!(content_json(&Json::new("[]")), None);
}

/// Against an independent reader.
#[test]
fn every_escape_is_read_as_serde_json_reads_it() {
    let long = "plain ".repeat(20);
    for string in [
        r#""""#,
        r#""a""#,
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0000\u00e9\uFFFD""#,
        r#""\ud83d\ude80 é 🚀""#,
        r#""0123456789012345678901234567890\n""#,
        r#""01234567890123456789012345678901\n""#,
        r#""é1234567890123456789012345678901\\""#,
    ] {
        for pad in ["", &long] {
            let string = format!("\"{pad}{}", &string[1..]);
            let result = format!("{{\"content\":[{{\"type\":\"text\",\"text\":{string}}}]}}");
            let wanted: String = serde_json::from_str(&string).expect("JSON");
            assert_eq!(flatten(&Json::new(result)).expect("readable").text, wanted);
        }
    }
    let half = r#"{"content":[{"type":"text","text":"\ud83dx\udc00"}]}"#;
    assert_eq!(flatten(&Json::new(half)).expect("readable").text, "\u{fffd}x\u{fffd}");
}

#[test]
fn no_text_makes_the_reader_panic() {
    let whole = r#"{"content":[{"type":"text","text":"é\n\ud83d\ude80"},{"type":"resource","resource":{"uri":"u","text":"t"}}],"isError":true,"structuredContent":{"a":[1,{}]}}"#;
    let chars: Vec<char> = whole.chars().collect();
    for cut in 0..chars.len() {
        let start: String = chars.iter().take(cut).collect();
        assert!(flatten(&Json::new(start.clone())).is_err());
        for wrong in ["\"", "\\", "{", "}", "[", "]", ",", ":", "é", "0", "n", ""] {
            let rest: String = chars.iter().skip(cut + 1).collect();
            let result = Json::new(format!("{start}{wrong}{rest}"));
            let _ = flatten(&result);
            let _ = content_json(&result);
        }
    }
}

#[test]
fn a_short_text_in_a_long_result_keeps_no_room_for_the_rest() {
    let data = "A".repeat(100_000);
    let read = flat(&json!({"content": [
        {"type": "text", "text": "x"}, {"type": "image", "mimeType": "m", "data": data}]}));
    assert_eq!(read.text, "x\n\n[Image: m]".to_string());
    assert!(read.text.capacity() < 1_000);
}
