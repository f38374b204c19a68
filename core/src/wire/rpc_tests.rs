use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::format;

use super::*;
use crate::bytes::Json;
use crate::wire::json::{JsonErrorKind, NESTING_MAX};
use crate::wire::lines::{Frame, Lines};

fn one(line: &str) -> Result<Message, Malformed> {
    match read(line, NESTING_MAX)? {
        Incoming::One(message) => Ok(message),
        Incoming::Batch(_) | Incoming::Joined(_) => panic!("several: {line}"),
    }
}

/// A message as one line of text, with the ranges resolved.
fn shown(line: &str) -> String {
    match one(line) {
        Ok(message) => show(line, &message),
        Err(malformed) => format!("! {malformed}"),
    }
}

fn show(line: &str, message: &Message) -> String {
    let part = |range: &Range<usize>| &line[range.clone()];
    let params = |params: &Option<Range<usize>>| params.as_ref().map_or("-", part).to_string();
    match message {
        Message::Request { id, method, params: p } => format!("{id} asks {method} {}", params(p)),
        Message::Notification { method, params: p } => format!("tells {method} {}", params(p)),
        Message::Answer { id, reply: Ok(result) } => format!("{id} is {}", part(result)),
        Message::Answer { id, reply: Err(error) } => format!("{id} fails {error} {:?}", error.data),
        Message::Complaint { error } => format!("complains {error} {:?}", error.data),
    }
}

#[test]
fn every_kind_of_message_is_told_apart() {
    for (line, wanted) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "7 asks ping -"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":null}"#, "7 asks ping -"),
        (
            r#"{"method":"roots/list","params":{"a":[1]},"id":"x"}"#,
            r#""x" asks roots/list {"a":[1]}"#,
        ),
        (r#"{"jsonrpc":"2.0","method":"n","params":{}}"#, "tells n {}"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#, r#"1 is {"x":1}"#),
        (r#" { "result" : { } , "jsonrpc" : "2.0" , "id" : 1 } "#, "1 is { }"),
        (r#"{"id":1,"result":null}"#, "1 is null"),
        (
            r#"{"id":1,"error":{"code":-32601,"message":"no","data":{"a": 1}}}"#,
            r#"1 fails MCP error -32601: no Some({"a": 1})"#,
        ),
        // C-RPC-08: an error without an id, or with null for it.
        (
            r#"{"error":{"code":-32700,"message":"what?"}}"#,
            "complains MCP error -32700: what? None",
        ),
        (r#"{"id":null,"error":{"code":1,"message":"m"}}"#, "complains MCP error 1: m None"),
        // seed-runtime 7.1: a null id makes a notification.
        (r#"{"id":null,"method":"n"}"#, "tells n -"),
    ] {
        assert_eq!(shown(line), wanted, "{line}");
    }
}

#[test]
fn what_a_sloppy_server_adds_or_forgets_is_tolerated() {
    for (line, wanted) in [
        // C-RPC-19: unknown members.
        (r#"{"id":1,"result":{},"extra":[{"id":2}],"x":null}"#, "1 is {}"),
        // Any `jsonrpc`, or none, or two.
        (r#"{"jsonrpc":2,"jsonrpc":"1.0","id":1,"result":{}}"#, "1 is {}"),
        // Null beside the real thing is absence.
        (r#"{"id":1,"result":{},"error":null}"#, "1 is {}"),
        (
            r#"{"id":1,"result":null,"error":{"code":1,"message":"m"}}"#,
            "1 fails MCP error 1: m None",
        ),
        (r#"{"id":1,"result":null,"error":null}"#, "1 is null"),
        (r#"{"id":1,"method":"m","result":null,"error":null}"#, "1 asks m -"),
        (r#"{"id":1,"method":null,"result":{}}"#, "1 is {}"),
        // Escaped keys are the same keys.
        (r#"{"\u0069d":1,"r\u0065sult":{}}"#, "1 is {}"),
        // An error whose message is not a string, or missing.
        (r#"{"id":1,"error":{"code":1.0,"message":["m"]}}"#, r#"1 fails MCP error 1: ["m"] None"#),
        (r#"{"id":1,"error":{"code":1,"why":2}}"#, "1 fails MCP error 1:  None"),
    ] {
        assert_eq!(shown(line), wanted, "{line}");
    }
}

#[test]
fn what_cannot_be_understood_is_named() {
    let bad = |name, wanted| Malformed::BadMember { name, wanted };
    for (line, wanted) in [
        ("1", Malformed::NotAnObject),
        ("\"text\"", Malformed::NotAnObject),
        ("null", Malformed::NotAnObject),
        ("{}", Malformed::Nothing),
        (r#"{"id":1}"#, Malformed::Nothing),
        (r#"{"id":1,"error":null}"#, Malformed::Nothing),
        (r#"{"result":{}}"#, Malformed::NoId),
        (r#"{"id":null,"result":{}}"#, Malformed::NoId),
        (r#"{"id":1,"result":{},"error":{"code":1,"message":""}}"#, Malformed::BothResultAndError),
        (r#"{"result":{},"error":{"code":1,"message":""}}"#, Malformed::BothResultAndError),
        (r#"{"id":1,"method":"m","result":{}}"#, Malformed::BothMethodAndReply),
        (r#"{"id":true,"result":{}}"#, Malformed::BadId),
        (r#"{"id":[1],"method":"m"}"#, Malformed::BadId),
        (r#"{"id":1.5,"method":"m"}"#, Malformed::BadId),
        (r#"{"id":1,"method":7}"#, bad("method", "a string")),
        (r#"{"id":1,"error":"boom"}"#, bad("error", "an object")),
        (r#"{"id":1,"error":{"message":"m"}}"#, bad("error.code", "an integer")),
        (r#"{"id":1,"error":{"code":"1","message":"m"}}"#, bad("error.code", "an integer")),
        (r#"{"id":1,"error":{"code":1.5,"message":"m"}}"#, bad("error.code", "an integer")),
        ("[]", Malformed::EmptyBatch),
        (" [ ] ", Malformed::EmptyBatch),
    ] {
        assert_eq!(read(line, NESTING_MAX), Err(wanted), "{line}");
    }
}

#[test]
fn a_member_that_stands_there_twice_is_never_guessed() {
    for (name, member) in [
        ("id", r#""id":2"#),
        ("id", r#""\u0069d":1"#),
        ("result", r#""result":{}"#),
        ("error", r#""error":null,"error":null"#),
        ("method", r#""method":"a","method":"b""#),
        ("params", r#""params":{},"params":{}"#),
    ] {
        let line = format!(r#"{{"id":1,"result":{{}},{member}}}"#);
        assert_eq!(one(&line), Err(Malformed::DuplicateMember { name }), "{line}");
    }
}

#[test]
fn a_line_that_is_not_json_says_where() {
    for (line, at, kind) in [
        ("Server listening on stdio", 0, JsonErrorKind::Unexpected),
        ("{\"id\":1,\"result\":{}} trailing", 21, JsonErrorKind::Trailing),
        ("{\"id\":1,\"result\":{}}{\"id\":2,\"result\":{}", 39, JsonErrorKind::Ended),
        ("{\"id\":1,\"result\":{}}{\"id\":2,\"result\":{}},", 40, JsonErrorKind::Trailing),
        ("12:30 ready", 2, JsonErrorKind::Trailing),
        ("{\"id\":1,\"result\":{}", 19, JsonErrorKind::Ended),
        ("[{\"id\":1},", 10, JsonErrorKind::Ended),
        ("{\"id\":1,\"result\":{\"a\":NaN}}", 22, JsonErrorKind::Unexpected),
        ("", 0, JsonErrorKind::Ended),
    ] {
        let error = JsonError { at, kind };
        assert_eq!(read(line, NESTING_MAX), Err(Malformed::NotJson(error)), "{line}");
    }
}

/// C-RPC-06, C-RPC-23.
#[test]
fn ids_are_compared_by_value_and_type() {
    let id = |text: &str| match one(&format!(r#"{{"id":{text},"result":0}}"#)) {
        Ok(Message::Answer { id, .. }) => Some(id),
        Ok(_) | Err(_) => None,
    };
    for same in ["1", "1.0", "1.000", "10e-1", "0.1e1", "1E0", "1e+0"] {
        assert_eq!(id(same), Some(Id::Number(1)), "{same}");
    }
    for text in ["\"1\"", r#""\u0031""#] {
        assert_eq!(id(text), Some(Id::Text("1".into())));
    }
    assert_eq!(id("-0"), Some(Id::Number(0)));
    assert_eq!(id("-0.0"), Some(Id::Number(0)));
    assert_eq!(id("-7"), Some(Id::Number(-7)));
    assert_eq!(id("9223372036854775807"), Some(Id::Number(i64::MAX)));
    assert_eq!(id("-9223372036854775808"), Some(Id::Number(i64::MIN)));
    assert_eq!(id("9007199254740993"), Some(Id::Number(9_007_199_254_740_993)));
    assert_eq!(id("9007199254740992.0"), Some(Id::Number(1 << 53)));
    for bad in ["9223372036854775808", "1e300", "1e999", "9007199254740994.0", "0.1", "true", "{}"]
    {
        assert_eq!(id(bad), None, "{bad}");
    }
    assert_eq!(id("\"\""), Some(Id::Text(String::new())), "an empty text is an id");
}

fn show_all(line: &str, messages: &[Result<Message, Broken>]) -> Vec<String> {
    let show = |message: &Result<Message, Broken>| match message {
        Ok(message) => show(line, message),
        Err(Broken { why, at }) => format!("! {why}: {}", &line[at.clone()]),
    };
    messages.iter().map(show).collect()
}

/// C-RPC-10; whether the revision has batches is decided by whoever knows the revision.
#[test]
fn a_batch_is_read_element_by_element() {
    let line =
        r#"[{"id":1,"result":{}}, 5 ,{"method":"n"},[],{"id":2},{"id":3,"id":3,"result":0}]"#;
    let Ok(Incoming::Batch(messages)) = read(line, NESTING_MAX) else { panic!() };
    assert_eq!(
        show_all(line, &messages),
        [
            "1 is {}",
            "! not a JSON object: 5",
            "tells n -",
            "! not a JSON object: []",
            r#"! neither a method, nor a result, nor an error: {"id":2}"#,
            r#"! id stands there twice: {"id":3,"id":3,"result":0}"#,
        ]
    );
}

#[test]
fn what_stands_before_a_syntax_error_in_a_batch_is_read() {
    let line = r#"[{"id":1,"result":{}},{"id":2,"result":{]"#;
    let Ok(Incoming::Batch(messages)) = read(line, NESTING_MAX) else { panic!() };
    let shown = show_all(line, &messages);
    assert_eq!(shown.first().map(String::as_str), Some("1 is {}"));
    assert!(shown[1].ends_with(r#": {"id":2,"result":{]"#), "{shown:?}");
    for no_batch in ["[info] started", "[1] x", "[5,"] {
        assert!(matches!(read(no_batch, NESTING_MAX), Err(Malformed::NotJson(_))), "{no_batch}");
    }
}

/// D39.
#[test]
fn a_forgotten_line_end_loses_no_message() {
    let line = r#"{"id":1,"result":{}}{"id":2} {"method":"n"}"#;
    let Ok(Incoming::Joined(messages)) = read(line, NESTING_MAX) else { panic!() };
    assert_eq!(
        show_all(line, &messages),
        ["1 is {}", r#"! neither a method, nor a result, nor an error: {"id":2}"#, "tells n -"]
    );
}

#[test]
fn the_messages_of_one_line_are_bounded() {
    let many = |count: usize, between: &str| ["{}"].repeat(count).join(between);
    let batch = |count: usize| format!("[{}]", many(count, ","));
    let Ok(Incoming::Batch(messages)) = read(&batch(BATCH_MAX), NESTING_MAX) else { panic!() };
    assert_eq!(messages.len(), BATCH_MAX);
    assert_eq!(read(&batch(BATCH_MAX + 1), NESTING_MAX), Err(Malformed::TooMany));
    assert!(read(&many(BATCH_MAX, ""), NESTING_MAX).is_ok());
    assert_eq!(read(&many(BATCH_MAX + 1, ""), NESTING_MAX), Err(Malformed::TooMany));
}

#[test]
fn a_message_that_nests_too_deeply_is_refused_and_overflows_nothing() {
    for depth in [NESTING_MAX, 10_000] {
        let line = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let Err(Malformed::NotJson(error)) = read(&line, usize::MAX) else { panic!() };
        assert_eq!(error.kind, JsonErrorKind::TooDeep);
    }
    assert!(read(r#"{"id":1,"result":{"a":{}}}"#, 3).is_ok());
    assert!(read(r#"{"id":1,"result":{"a":{}}}"#, 2).is_err());
}

/// G44: encoding then decoding is the identity.
#[test]
fn what_is_written_reads_back() {
    let nasty = "a\"b\\c\n\u{1}\u{e9}\u{1f600}";
    let ids = [Id::Number(0), Id::Number(i64::MIN), Id::Text("1".into()), Id::Text(nasty.into())];
    let text = |line: &[u8]| {
        let line = str::from_utf8(line).unwrap();
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one line: {line:?}");
        assert!(line.starts_with("{\"jsonrpc\":\"2.0\","), "C-RPC-01: {line}");
        line.trim_end().to_string()
    };
    for method in ["tools/list", nasty] {
        let line = text(&request(u64::from(u32::MAX), method, "{\"a\":\n1}"));
        let Ok(Message::Request { id, method: read, params }) = one(&line) else { panic!() };
        assert_eq!((id, &*read), (Id::Number(i64::from(u32::MAX)), method));
        assert_eq!(&line[params.unwrap()], "{\"a\": 1}");
        let line = text(&notification(method, "{}"));
        assert_eq!(shown(&line), format!("tells {method} {{}}"));
    }
    for id in ids {
        let line = text(&result(&id, "{\r\n}"));
        let Ok(Message::Answer { id: read, reply }) = one(&line) else { panic!() };
        assert_eq!((read, &line[reply.unwrap()]), (id.clone(), "{  }"));
        let line = text(&error(&id, i64::MIN, nasty));
        let Ok(Message::Answer { id: read, reply: Err(error) }) = one(&line) else { panic!() };
        assert_eq!(read, id);
        assert_eq!(error, RpcError { code: i64::MIN, message: nasty.into(), data: None });
    }
}

#[test]
fn a_line_is_written_in_one_allocation() {
    let long = "\u{1}".repeat(1_000);
    for line in [
        request(u64::MAX, &long, "{}"),
        notification(&long, "{}"),
        result(&Id::Text(long.clone()), "{}"),
        error(&Id::Number(i64::MIN), i64::MIN, &long),
    ] {
        assert!(line.capacity() <= line.len() + 96, "it grew: {} {}", line.capacity(), line.len());
    }
}

/// An oversized answer fails the call it answers and no other.
#[test]
fn the_ends_of_an_oversized_line_say_whom_it_concerns() {
    let five = Peek::Answer(Id::Number(5));
    let cut = r#"{"content":[{"type":"text","text":"aaa"#;
    for (head, tail, wanted) in [
        // The order of most servers.
        (format!(r#"{{"jsonrpc":"2.0","id":5,"result":{cut}"#), r#"a"}]}}"#, five.clone()),
        (format!(r#"{{"id":"5","error":{cut}"#), "", Peek::Answer(Id::Text("5".into()))),
        // The order of servers in JavaScript.
        (format!(r#"{{"result":{cut}"#), r#"a"}]},"jsonrpc":"2.0","id":5}"#, five.clone()),
        (
            format!(r#"{{"result":{cut}"#),
            r#"a"}]} , "id" : 5 , "jsonrpc" : "2.0" } "#,
            five.clone(),
        ),
        (format!(r#"{{"result":{cut}"#), "\u{e9}\",\"id\":5}\r", five.clone()),
        // Something inside the result that looks like the end of the message.
        (format!(r#"{{"result":{cut}"#), r#"a","id":5}]}}"#, Peek::Unknown),
        (format!(r#"{{"result":{cut}"#), r#"a\",\"id\":5}"}}"#, Peek::Unknown),
        (format!(r#"{{"result":{cut}"#), r#"a, \"id":5}"#, Peek::Unknown),
        (format!(r#"{{"result":{cut}"#), r#"a"}]},"id":5,"method":"m"}"#, Peek::Unknown),
        // Not an answer, or nobody knows.
        (format!(r#"{{"jsonrpc":"2.0","id":5,"method":"m","params":{cut}"#), "", Peek::HasMethod),
        (format!(r#"{{"id":5,"params":{cut}"#), r#""},"method":"m"}"#, Peek::HasMethod),
        (format!(r#"{{"id":5,"x":{cut}"#), r#"","id":5}"#, Peek::Unknown),
        (r#"{"id":5"#.into(), "", Peek::Unknown),
        (format!(r#"[{{"id":5,"result":{cut}"#), r#","id":5}"#, Peek::Unknown),
        ("no JSON at all".into(), r#","id":5}"#, Peek::Unknown),
        (String::new(), "", Peek::Unknown),
    ] {
        assert_eq!(peek(head.as_bytes(), tail.as_bytes()), wanted, "{head} ... {tail}");
    }
    // Cut within a character.
    assert_eq!(peek(b"{\"id\":5,\"result\":\"\xc3", b"\xa9\"}"), five);
}

#[test]
fn the_data_of_an_error_is_kept_byte_for_byte() {
    let line = r#"{"id":1,"error":{"code":-32602,"message":"m","data":{"supported": ["a"] }}}"#;
    let Ok(Message::Answer { reply: Err(error), .. }) = one(line) else { panic!() };
    assert_eq!(error.data, Some(Json::new(r#"{"supported": ["a"] }"#)));
}

/// G44: a message that is scanned while it arrives is the same as one that is read at once.
#[test]
fn a_long_line_is_read_the_same_wherever_it_is_cut() {
    let text = "\\\"k\u{e9}y\\\" \\u20ac \u{1f600}\\n0123456789".repeat(1_500);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"text":"{text}"}}}}"#);
    let deep = format!(r#"{{"id":1,"result":["{text}",{}{}]}}"#, "[".repeat(9), "]".repeat(9));
    let lines = [
        format!("{answer} \t"),
        format!("{answer}{answer}"),
        format!("[{answer}]"),
        format!("{answer}]"),
        answer.replacen("y", "\u{1}", 1_000),
        answer.replacen("\"id\":7", "\"id\":7,\"id\":8", 1),
        format!(r#"{{"result":"{text}","id":-12}}"#),
        format!(r#"{{"method":"{text}","params":{{}}}}"#),
        format!(r#"{{"error":{{"code":1,"message":"{text}"}},"id":"x"}}"#),
        deep,
    ];
    for line in &lines {
        let stream = format!("{line}\n");
        for chunk in [1, 7, 4_096, 40_000] {
            let mut lines = Lines::new(1_000_000);
            let chunks = stream.as_bytes().chunks(chunk);
            let frames = chunks.filter_map(|chunk| {
                let frame = lines.push(chunk).next()?;
                let Frame::Long(line, outline) = frame else { panic!("{frame:?}") };
                Some((line, outline))
            });
            let [(long, outline)] = &*frames.collect::<Vec<_>>() else { panic!("one frame") };
            assert_eq!(long, line);
            for nesting_max in [0, 1, 2, 8, 12, 128] {
                let wanted = read(line, nesting_max);
                assert_eq!(read_outlined(long, outline, nesting_max), wanted, "by {chunk}");
            }
        }
    }
}
