//! The JSON-RPC reader against a general JSON parser, and against its own writer.

use serde_json::Value;
use tidegate_core::wire::json;
use tidegate_core::wire::mcp;
use tidegate_core::wire::rpc::{self, Id, Incoming, Message};

/// What the reader finds is there, what it writes it reads back, and it accepts no text that is
/// not JSON.
///
/// # Panics
/// If not.
pub fn rpc(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    let general: Result<Value, _> = serde_json::from_str(&line);
    let ours = json::check(&line, json::NESTING_MAX);
    if general.is_ok() {
        assert!(ours.is_ok(), "JSON is refused: {ours:?}");
    }
    match rpc::read(&line, json::NESTING_MAX) {
        Ok(Incoming::One(message)) => {
            assert!(ours.is_ok(), "a message that is not JSON: {ours:?}");
            judge(&line, &message, general.as_ref().ok());
        }
        Ok(Incoming::Batch(messages) | Incoming::Joined(messages)) => {
            for message in messages.iter().flatten() {
                judge(&line, message, None);
            }
        }
        Err(_) => {}
    }
    // Whatever a server sends as a result of a method is read or refused, never trusted.
    let _ = mcp::read_initialize(&line);
    if let Ok(page) = mcp::read_tools_page(&line) {
        let kept = mcp::read_tools(&mcp::encode_tools(&page.entries));
        assert_eq!(kept.as_ref(), Ok(&page.entries), "a list that was stored is another one");
    }
    let _ = mcp::read_progress(&line);
    let _ = mcp::read_updated(&line);
    let named = mcp::read_prompts_page(&line).into_iter().flat_map(|page| page.entries);
    named.for_each(|prompt| assert!(!prompt.name.is_empty(), "a prompt without a name"));
    let found = mcp::read_resources_page(&line).into_iter().flat_map(|page| page.entries);
    found.for_each(|resource| assert!(!resource.uri.is_empty(), "a resource without an address"));
    let _ = mcp::read_templates_page(&line);
    let _ = rpc::peek(data.get(..1024).unwrap_or(data), data.get(1024..).unwrap_or_default());
}

/// One message says what a general parser finds at the same places, and survives being written.
fn judge(line: &str, message: &Message, whole: Option<&Value>) {
    let part = |at: &std::ops::Range<usize>| line.get(at.clone()).expect("a place in the line");
    match message {
        Message::Answer { id, reply: Ok(at) } => {
            let text = part(at);
            same(text, whole, "result");
            let written = rpc::result(id, text);
            let written = String::from_utf8(written).expect("what is written is UTF-8");
            assert_eq!(written.matches('\n').count(), 1, "one line for one message");
            let Ok(Incoming::One(Message::Answer { id: again, reply: Ok(at) })) =
                rpc::read(written.trim_end(), json::NESTING_MAX)
            else {
                // A result that nests as deep as is read does not fit into an envelope again.
                return;
            };
            assert_eq!(&again, id);
            let before: Result<Value, _> = serde_json::from_str(text);
            let after: Result<Value, _> = serde_json::from_str(&written[at]);
            assert_eq!(before.ok(), after.ok());
        }
        Message::Answer { id, reply: Err(error) } => {
            let written = rpc::error(id, error.code, &error.message);
            let written = String::from_utf8(written).expect("what is written is UTF-8");
            match rpc::read(written.trim_end(), json::NESTING_MAX) {
                Ok(Incoming::One(Message::Answer { id: again, reply: Err(read) })) => {
                    assert_eq!(
                        (&again, read.code, read.message),
                        (id, error.code, error.message.clone())
                    );
                }
                other => panic!("an error that is written is read as {other:?}"),
            }
        }
        Message::Request { params, method, id } => {
            if let Some(at) = params {
                same(part(at), whole, "params");
            }
            if let Id::Number(number) = id
                && let Ok(number) = u64::try_from(*number)
            {
                let written = rpc::request(number, method, "{}");
                let written = String::from_utf8(written).expect("what is written is UTF-8");
                match rpc::read(written.trim_end(), json::NESTING_MAX) {
                    Ok(Incoming::One(Message::Request { id: again, method: name, .. })) => {
                        assert_eq!((&again, &name), (id, method));
                    }
                    other => panic!("a request that is written is read as {other:?}"),
                }
            }
        }
        Message::Notification { params: Some(at), .. } => same(part(at), whole, "params"),
        Message::Notification { params: None, .. } | Message::Complaint { .. } => {}
    }
}

fn same(text: &str, whole: Option<&Value>, member: &str) {
    if let Some(whole) = whole {
        let read: Value = serde_json::from_str(text).expect("a part of JSON is JSON");
        assert_eq!(Some(&read), whole.get(member), "{member} stands elsewhere");
    }
}
