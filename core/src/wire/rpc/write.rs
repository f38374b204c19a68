//! Message → line.
//!
//! Floor 1. May import floor 0. Each line is built in one allocation.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::Id;
use crate::wire::json;

/// At least what a line needs beside its texts: keys, punctuation, two integers.
const FRAME_BYTES: usize = 96;

/// The line of a request. `params` is an object or an array.
#[must_use]
pub fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    let mut line = begin(json::quoted_len(method) + params.len());
    // Writing into a `String` cannot fail.
    let _ = write!(line, ",\"id\":{id}");
    asked(line, method, params)
}

/// The line of a notification. `params` is an object or an array.
#[must_use]
pub fn notification(method: &str, params: &str) -> Vec<u8> {
    asked(begin(json::quoted_len(method) + params.len()), method, params)
}

/// The line of an answer. `json` is any JSON value.
#[must_use]
pub fn result(id: &Id, json: &str) -> Vec<u8> {
    let mut line = answered(id, json.len());
    line.push_str(",\"result\":");
    json::push_value(&mut line, json);
    end(line)
}

/// The line of an error as an answer.
#[must_use]
pub fn error(id: &Id, code: i64, message: &str) -> Vec<u8> {
    let mut line = answered(id, json::quoted_len(message));
    let _ = write!(line, ",\"error\":{{\"code\":{code},\"message\":");
    json::push_quoted(&mut line, message);
    line.push('}');
    end(line)
}

/// A line with room for texts of `bytes`.
fn begin(bytes: usize) -> String {
    let mut line = String::with_capacity(FRAME_BYTES + bytes);
    line.push_str("{\"jsonrpc\":\"2.0\"");
    line
}

fn answered(id: &Id, bytes: usize) -> String {
    match id {
        Id::Number(number) => {
            let mut line = begin(bytes);
            let _ = write!(line, ",\"id\":{number}");
            line
        }
        Id::Text(text) => {
            let mut line = begin(bytes + json::quoted_len(text));
            line.push_str(",\"id\":");
            json::push_quoted(&mut line, text);
            line
        }
    }
}

fn asked(mut line: String, method: &str, params: &str) -> Vec<u8> {
    line.push_str(",\"method\":");
    json::push_quoted(&mut line, method);
    line.push_str(",\"params\":");
    json::push_value(&mut line, params);
    end(line)
}

fn end(mut line: String) -> Vec<u8> {
    line.push_str("}\n");
    line.into_bytes()
}
