//! What goes with a call: cancellation, progress, roots.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::CANCELLED;
use crate::wire::json::{self, NESTING_MAX};
use crate::wire::rpc::Id;

/// At least what a line needs beside its texts: keys, punctuation, two integers.
const FRAME_BYTES: usize = 160;

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The token that was sent with the call.
    pub token: Id,
    /// How far it is, in the server's own units.
    pub value: f64,
}

/// The line that tells the server that nobody waits for request `id` any more.
#[must_use]
pub fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    let mut line = String::with_capacity(FRAME_BYTES + json::quoted_len(reason));
    let _ = write!(
        line,
        "{{\"jsonrpc\":\"2.0\",\"method\":\"{CANCELLED}\",\"params\":{{\"requestId\":{id},\"reason\":"
    );
    json::push_quoted(&mut line, reason);
    line.push_str("}}\n");
    line.into_bytes()
}

/// Reads the parameters of `notifications/progress`; `None` if they name no token or no number.
#[must_use]
pub fn read_progress(params: &str) -> Option<Progress> {
    let (mut token, mut value) = (None, None);
    for member in json::members(params, NESTING_MAX).ok()? {
        let member = member.ok()?;
        let text = params.get(member.value)?;
        match &*member.key {
            "progressToken" => token = Id::read(text),
            "progress" => value = text.parse().ok(),
            _ => {}
        }
    }
    Some(Progress { token: token?, value: value? })
}

/// The result of `roots/list`: the directory the runtime works in, an absolute path.
#[must_use]
pub fn roots_result(cwd: &str) -> String {
    // `C:\work`
    let drive = cwd.as_bytes().get(1) == Some(&b':');
    let is_separator = |c: char| c == '/' || (drive && c == '\\');
    let name = cwd.rsplit(is_separator).find(|part| !part.is_empty()).unwrap_or(cwd);
    let mut result = String::from("{\"roots\":[{\"uri\":\"");
    push_file_url(&mut result, cwd, drive);
    result.push_str("\",\"name\":");
    json::push_quoted(&mut result, name);
    result.push_str("}]}");
    result
}

/// RFC 8089; a path with a drive becomes `/C:/work`. Needs no escapes inside a JSON string.
fn push_file_url(out: &mut String, path: &str, drive: bool) {
    out.push_str(if drive { "file:///" } else { "file://" });
    for byte in path.bytes() {
        match byte {
            b'\\' if drive => out.push('/'),
            b':' if drive => out.push(':'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;
    use crate::wire::json::Kind;

    #[test]
    fn a_cancellation_names_the_request_and_the_reason() {
        assert_eq!(
            str::from_utf8(&cancelled(7, "no\n\"time\"")).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":\
             {\"requestId\":7,\"reason\":\"no\\n\\\"time\\\"\"}}\n"
        );
    }

    #[test]
    fn a_line_is_written_in_one_allocation() {
        let line = cancelled(u64::MAX, &"\u{1}".repeat(1_000));
        assert!(line.capacity() <= line.len() + FRAME_BYTES);
        let text = str::from_utf8(&line).unwrap();
        assert_eq!(json::check(text, NESTING_MAX), Ok(Kind::Object));
    }

    #[test]
    fn progress_is_read_by_token_and_value() {
        let of = |params| read_progress(params).map(|progress| (progress.token, progress.value));
        assert_eq!(
            of(r#"{"progressToken":7,"progress":0.5,"total":1,"message":"m"}"#),
            Some((Id::Number(7), 0.5))
        );
        assert_eq!(of(r#"{"progress":-1e2,"progressToken":7.0}"#), Some((Id::Number(7), -100.0)));
        assert_eq!(of(r#"{"progressToken":"7","progress":3}"#), Some((Id::Text("7".into()), 3.0)));
        for params in [
            "",
            "[]",
            "{}",
            r#"{"progressToken":7}"#,
            r#"{"progress":7}"#,
            r#"{"progressToken":null,"progress":1}"#,
            r#"{"progressToken":7,"progress":"1"}"#,
            r#"{"progressToken":7,"progress":1"#,
        ] {
            assert_eq!(of(params), None, "{params}");
        }
    }

    #[test]
    fn the_root_is_a_file_url_with_the_last_part_as_its_name() {
        for (cwd, uri, name) in [
            ("/home/me/work", "file:///home/me/work", "work"),
            ("/home/me/work/", "file:///home/me/work/", "work"),
            ("/", "file:///", "/"),
            ("/a b/100%/#?;\"\\", "file:///a%20b/100%25/%23%3F%3B%22%5C", "#?;\\\"\\\\"),
            ("/\u{e9}\u{20ac}", "file:///%C3%A9%E2%82%AC", "\u{e9}\u{20ac}"),
            ("C:\\Users\\me", "file:///C:/Users/me", "me"),
        ] {
            let wanted = format!("{{\"roots\":[{{\"uri\":\"{uri}\",\"name\":\"{name}\"}}]}}");
            assert_eq!(roots_result(cwd), wanted);
            assert_eq!(json::check(&wanted, NESTING_MAX), Ok(Kind::Object));
        }
    }
}
