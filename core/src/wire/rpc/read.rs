//! Line → message.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{BATCH_MAX, Broken, Id, Incoming, Malformed, Message};
use crate::bytes::Json;
use crate::error::RpcError;
use crate::wire::json::{self, JsonError, Kind, Member, Outline, Scanner};

/// Reads one line.
///
/// # Errors
/// Why it is no message.
pub fn read(line: &str, nesting_max: usize) -> Result<Incoming, Malformed> {
    let mut scanner = Scanner::new(line, nesting_max);
    if scanner.kind()? == Kind::Array {
        return batch(line, &mut scanner).map(Incoming::Batch);
    }
    let first = message(&mut scanner)?;
    if scanner.end().is_ok() {
        return first.map(Incoming::One);
    }
    let at = 0..scanner.position();
    let mut messages = vec![first.map_err(|why| Broken { why, at })];
    while scanner.kind() == Ok(Kind::Object) {
        push(&mut messages, element(&mut scanner)?)?;
    }
    scanner.end()?;
    Ok(Incoming::Joined(messages))
}

/// Reads a line of which the outline was found while it arrived. The same as [`read`].
///
/// # Errors
/// Why it is no message.
pub fn read_outlined(
    line: &str,
    outline: &Outline,
    nesting_max: usize,
) -> Result<Incoming, Malformed> {
    let Some(members) = outline.members(line, nesting_max) else { return read(line, nesting_max) };
    let mut envelope = Envelope::default();
    for Member { key, value } in members {
        envelope.take(&key, value);
    }
    envelope.message(line).map(Incoming::One)
}

/// A malformed element concerns itself only. Text that is not JSON concerns what stands behind
/// it, for nobody knows where it ends, and the whole line if no message stands before it.
fn batch(line: &str, scanner: &mut Scanner<'_>) -> Result<Vec<Result<Message, Broken>>, Malformed> {
    let mut messages = Vec::new();
    let mut start = scanner.position();
    match elements(scanner, &mut messages, &mut start) {
        Ok(()) if messages.is_empty() => Err(Malformed::EmptyBatch),
        Ok(()) => Ok(messages),
        Err(why @ Malformed::NotJson(_)) if messages.iter().any(Result::is_ok) => {
            push(&mut messages, Err(Broken { why, at: start..line.len() }))?;
            Ok(messages)
        }
        Err(why) => Err(why),
    }
}

/// Reads the elements up to the end of the line; `start` is where the last one began.
fn elements(
    scanner: &mut Scanner<'_>,
    messages: &mut Vec<Result<Message, Broken>>,
    start: &mut usize,
) -> Result<(), Malformed> {
    if let Some(mut array) = scanner.array()? {
        while scanner.element(&mut array)? {
            *start = scanner.position();
            push(messages, element(scanner)?)?;
        }
    }
    *start = scanner.position();
    Ok(scanner.end()?)
}

fn element(scanner: &mut Scanner<'_>) -> Result<Result<Message, Broken>, JsonError> {
    let start = scanner.position();
    let message = message(scanner)?;
    Ok(message.map_err(|why| Broken { why, at: start..scanner.position() }))
}

fn push(
    messages: &mut Vec<Result<Message, Broken>>,
    message: Result<Message, Broken>,
) -> Result<(), Malformed> {
    if messages.len() == BATCH_MAX {
        return Err(Malformed::TooMany);
    }
    messages.push(message);
    Ok(())
}

/// Reads the next value as a message. The outer error is that it is not JSON, so that nothing
/// behind it can be found.
fn message(scanner: &mut Scanner<'_>) -> Result<Result<Message, Malformed>, JsonError> {
    let Some(mut object) = scanner.object()? else { return Ok(Err(Malformed::NotAnObject)) };
    let mut envelope = Envelope::default();
    while let Some(key) = scanner.key(&mut object)? {
        envelope.take(&key, scanner.skip()?);
    }
    Ok(envelope.message(scanner.text()))
}

/// Where the members of a message stand.
#[derive(Default)]
struct Envelope {
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
    duplicate: Option<&'static str>,
}

impl Envelope {
    /// Notes a member if it is one that matters.
    fn take(&mut self, key: &str, value: Range<usize>) {
        let (name, member) = match key {
            "id" => ("id", &mut self.id),
            "result" => ("result", &mut self.result),
            "error" => ("error", &mut self.error),
            "method" => ("method", &mut self.method),
            "params" => ("params", &mut self.params),
            _ => return,
        };
        if member.replace(value).is_some() {
            self.duplicate = Some(name);
        }
    }

    /// What the members make together.
    fn message(self, line: &str) -> Result<Message, Malformed> {
        let text = |range: &Range<usize>| line.get(range.clone()).unwrap_or_default();
        let present = |member: Option<Range<usize>>| member.filter(|at| text(at) != "null");
        if let Some(name) = self.duplicate {
            return Err(Malformed::DuplicateMember { name });
        }
        let id =
            present(self.id).map(|at| Id::read(text(&at)).ok_or(Malformed::BadId)).transpose()?;
        let error = present(self.error);
        if let Some(method) = present(self.method) {
            if error.is_some() || present(self.result).is_some() {
                return Err(Malformed::BothMethodAndReply);
            }
            let wrong = Malformed::BadMember { name: "method", wanted: "a string" };
            let method = json::string(text(&method)).ok_or(wrong)?.into_owned();
            let params = present(self.params);
            return Ok(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            });
        }
        match (id, self.result, error) {
            // `null` is a result unless something else is the reply.
            (_, Some(result), Some(_)) if text(&result) != "null" => {
                Err(Malformed::BothResultAndError)
            }
            (Some(id), _, Some(error)) => {
                Ok(Message::Answer { id, reply: Err(rpc_error(text(&error))?) })
            }
            (None, _, Some(error)) => Ok(Message::Complaint { error: rpc_error(text(&error))? }),
            (Some(id), Some(result), None) => Ok(Message::Answer { id, reply: Ok(result) }),
            (None, Some(_), None) => Err(Malformed::NoId),
            (_, None, None) => Err(Malformed::Nothing),
        }
    }
}

impl Id {
    /// The id that a JSON value is; `None` if it is neither a text nor an integer.
    #[must_use]
    pub fn read(value: &str) -> Option<Self> {
        match json::string(value) {
            Some(text) => Some(Self::Text(text.into_owned())),
            None => integer(value).map(Self::Number),
        }
    }
}

/// The integer that a number stands for, however it is spelled (C-RPC-23). With a fraction or an
/// exponent, up to 2^53: beyond that, different integers are the same to whoever writes so.
fn integer(number: &str) -> Option<i64> {
    const EXACT: u64 = 1 << 53;
    if let Ok(integer) = number.parse() {
        return Some(integer);
    }
    let float: f64 = number.parse().ok()?;
    let integer = float as i64;
    (integer.unsigned_abs() <= EXACT && integer as f64 == float).then_some(integer)
}

/// Reads an error object that is valid JSON. Only a readable code is demanded: what stands for
/// the message is shown as it is, whatever its type.
fn rpc_error(value: &str) -> Result<RpcError, Malformed> {
    let wrong = |name, wanted| Malformed::BadMember { name, wanted };
    let mut code = None;
    let mut message = String::new();
    let mut data = None;
    let members =
        json::members(value, json::NESTING_MAX).map_err(|_| wrong("error", "an object"))?;
    for member in members {
        let member = member?;
        let text = value.get(member.value).unwrap_or_default();
        match &*member.key {
            "code" => code = integer(text),
            "message" => message = json::string(text).map_or_else(|| text.into(), String::from),
            "data" => data = Some(Json::new(text)),
            _ => {}
        }
    }
    let code = code.ok_or_else(|| wrong("error.code", "an integer"))?;
    Ok(RpcError { code, message, data })
}
