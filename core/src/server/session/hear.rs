//! What is heard on a connection: one message after the other, and what is none.
//!
//! Floor 3. Answers are matched to requests by number (C-RPC-06), requests of the server's are
//! answered (G49), and what fits nowhere is counted (G39, G43).

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::RpcError;
use crate::quote::Quoted;
use crate::wire::dialect::{Era, Revision};
use crate::wire::lines::Frame;
use crate::wire::mcp::{self, ResultType};
use crate::wire::rpc::{self, Broken, Id, Incoming, Malformed, Message, Peek};

use super::super::channel::Step;
use super::{Asked, Heard, Session};

/// How much of an odd line is shown.
const SAMPLE_CHARS: usize = 120;

impl Session {
    /// Hears what came by a stream of a request, if it was one.
    pub(super) fn hear(
        &mut self,
        frame: Frame<'_>,
        of: Option<u64>,
        heard: &mut Vec<Heard>,
        step: &mut Step<'_>,
    ) {
        let (line, incoming) = match frame {
            Frame::Line(line) => {
                let incoming = rpc::read(&line, self.nesting_max);
                (line, incoming)
            }
            Frame::Long(line, outline) => {
                let incoming = rpc::read_outlined(&line, &outline, self.nesting_max);
                (line.into(), incoming)
            }
            Frame::NotUtf8 { bytes, head, tail } => {
                self.spoiled(&rpc::peek(&head, &tail), "it is not UTF-8".into(), heard);
                let what = alloc::format!("skipped a line of {bytes} bytes that is not UTF-8");
                return self.odd(what, heard);
            }
            Frame::TooLong { head, tail, bytes_max } => {
                let limit = bytes_max as u64;
                let peek = rpc::peek(&head, &tail);
                if peek == Peek::HasMethod {
                    let what = alloc::format!("skipped a message longer than {limit} bytes");
                    return self.odd(what, heard);
                }
                let asked = self.asked_by(&peek);
                return heard.push(Heard::TooLong { asked, limit });
            }
        };
        match incoming {
            Ok(Incoming::One(message)) => {
                self.hear_message(message, Text::Whole(line), of, heard, step);
            }
            // C-RPC-13: only one revision has batches; elsewhere the line is dropped, and who
            // waits for an answer in it hears so.
            Ok(Incoming::Batch(messages)) if !self.revision.is_some_and(Revision::has_batches) => {
                for message in messages.into_iter().flatten() {
                    if let Message::Answer { id, .. } = message {
                        let why = "it came in a batch, which this revision lacks".into();
                        self.spoiled(&Peek::Answer(id), why, heard);
                    }
                }
                self.odd("skipped a batch, which this revision lacks".into(), heard);
            }
            Ok(Incoming::Batch(messages) | Incoming::Joined(messages)) => {
                for message in messages {
                    match message {
                        Ok(message) => {
                            self.hear_message(message, Text::Part(&line), of, heard, step);
                        }
                        Err(Broken { why, at }) => {
                            self.malformed(&why, line.get(at).unwrap_or_default(), heard);
                        }
                    }
                }
            }
            Err(malformed) => self.malformed(&malformed, &line, heard),
        }
    }

    /// Skips what is no message; who waits for it as an answer hears so (L8).
    fn malformed(&mut self, why: &Malformed, text: &str, heard: &mut Vec<Heard>) {
        // Of two ids nobody knows which counts.
        if *why != (Malformed::DuplicateMember { name: "id" }) {
            self.spoiled(&rpc::peek(text.as_bytes(), b""), why.to_string(), heard);
        }
        let sample: String = text.chars().take(SAMPLE_CHARS).collect();
        self.odd(alloc::format!("skipped a line ({why}): {sample}"), heard);
    }

    fn hear_message(
        &mut self,
        message: Message,
        text: Text<'_>,
        of: Option<u64>,
        heard: &mut Vec<Heard>,
        step: &mut Step<'_>,
    ) {
        match message {
            Message::Answer { id, reply } => match self.number(&id) {
                Some(request) => {
                    if let Id::Text(_) = &id {
                        self.mistyped(&id, heard);
                    }
                    self.answered(request, reply.map(|at| text.json(at)), heard, step);
                }
                None => self.unknown(&id, heard),
            },
            // C-RPC-17: without a handshake nobody asks but the client.
            Message::Request { method, .. } if self.era() == Some(Era::Modern) => {
                let method = Quoted(&method);
                self.odd(
                    alloc::format!("asked {method:?}, which no server of its revision may"),
                    heard,
                );
            }
            Message::Request { id, method, params } => {
                let params = params.map(|at| text.json(at));
                self.inquired(id, &method, params, of, heard, step);
            }
            Message::Notification { method, params } => {
                self.notified(method, params.map(|at| text.json(at)), heard);
            }
            Message::Complaint { error } => {
                let error = error.quoted();
                self.odd(alloc::format!("complained without saying about what: {error}"), heard);
            }
        }
    }

    /// A request of ours is answered. Without a handshake an answer says for itself what it is
    /// (C-RPC-14 to C-RPC-16), and what was only put wrongly is put again, once.
    pub(super) fn answered(
        &mut self,
        request: u64,
        reply: Result<Json, RpcError>,
        heard: &mut Vec<Heard>,
        step: &mut Step<'_>,
    ) {
        let modern = self.era() == Some(Era::Modern);
        let misput = modern && reply.as_ref().is_err_and(|error| self.is_misput(request, error));
        if misput && self.ask_again(request, step) {
            return;
        }
        let Some(asked) = self.take(request) else { return };
        heard.push(match (asked, reply) {
            (Asked::Call(call), Err(error)) if misput => Heard::Misput { call, error },
            (asked, Ok(result)) if modern => typed(asked, result),
            (asked, Err(error)) if modern || asked == Asked::Discover => {
                Heard::Answered { asked, reply: Err(told(error)) }
            }
            (asked, reply) => Heard::Answered { asked, reply },
        });
    }

    fn notified(&mut self, method: String, params: Option<Json>, heard: &mut Vec<Heard>) {
        match method.as_str() {
            mcp::LOG => heard.extend(params.map(Heard::Logged)),
            mcp::PROGRESS => heard.extend(params.and_then(|params| self.progressed(params))),
            // C-CANC-08: of what is asked of a server only this can be called off by it.
            mcp::CANCELLED if self.era() == Some(Era::Modern) => {
                let id = params.and_then(|params| mcp::read_cancelled(&params));
                let request = id.and_then(|id| self.number(&id));
                if let Some(request) = request
                    && let Some(asked @ Asked::Listen(_)) = self.asked.get(&request).copied()
                {
                    self.take(request);
                    heard.push(Heard::Answered { asked, reply: Ok(Json::new("{}")) });
                }
            }
            mcp::CANCELLED => heard.extend(params.and_then(|params| self.withdrawn(&params))),
            _ => heard.push(Heard::Notified { method, params }),
        }
    }

    fn progressed(&mut self, params: Json) -> Option<Heard> {
        let progress = mcp::read_progress(params.as_str())?;
        let Id::Number(token) = progress.token else { return None };
        let token = u64::try_from(token).ok()?;
        let Some(Asked::Call(call)) = self.asked.get(&token).copied() else { return None };
        // C-PROG-02: progress increases; what does not is no progress. The bits of floats
        // that are not negative order as the floats do.
        let value = progress.value.max(0.0).abs().to_bits();
        let grows = self.last_progress.get(&token).is_none_or(|last| *last < value);
        grows.then(|| {
            self.last_progress.insert(token, value);
            Heard::Progressed { call, progress: params }
        })
    }

    fn unknown(&mut self, id: &Id, heard: &mut Vec<Heard>) {
        self.unknown_answers += 1;
        if self.unknown_answers == 1 {
            let id = id.to_string();
            let id = Quoted(&id);
            let what = alloc::format!("answered id {id}, which nobody asked or which has ended");
            heard.push(Heard::Odd(what));
        }
    }

    /// L8: an answer that cannot be read is the only one there will be, so whoever asked hears
    /// of it at once.
    fn spoiled(&mut self, peek: &Peek, message: String, heard: &mut Vec<Heard>) {
        if let Some(asked) = self.asked_by(peek) {
            heard.push(Heard::Spoiled { asked, message });
        }
    }

    /// Takes out what a line answers of which only a part was read.
    fn asked_by(&mut self, peek: &Peek) -> Option<Asked> {
        match peek {
            Peek::Answer(id) => self.number(id).and_then(|request| self.take(request)),
            Peek::HasMethod | Peek::Unknown => None,
        }
    }

    /// The number of the request that an answer with this id is for, if it has none yet. C-RPC-06
    /// knows numbers of ours only; that some servers give a number back as its text is tolerated,
    /// because no other request can be meant.
    fn number(&self, id: &Id) -> Option<u64> {
        let number = match id {
            Id::Number(number) => u64::try_from(*number).ok()?,
            Id::Text(text) => {
                text.parse().ok().filter(|number: &u64| number.to_string() == *text)?
            }
        };
        self.asked.contains_key(&number).then_some(number)
    }

    fn mistyped(&mut self, id: &Id, heard: &mut Vec<Heard>) {
        self.text_ids += 1;
        if self.text_ids == 1 {
            let what =
                alloc::format!("answered our number with the text {id}; it is taken as meant");
            heard.push(Heard::Odd(what));
        }
    }

    pub(super) fn odd(&mut self, what: String, heard: &mut Vec<Heard>) {
        self.skipped_lines += 1;
        if !self.odd_told {
            self.odd_told = true;
            heard.push(Heard::Odd(what));
        }
    }
}

/// A result, as its type says.
fn typed(asked: Asked, result: Json) -> Heard {
    match (ResultType::of(result.as_str()), asked) {
        (ResultType::Complete, _) => Heard::Answered { asked, reply: Ok(result) },
        (ResultType::InputRequired, Asked::Call(call)) => Heard::Wants { call, result },
        (ResultType::InputRequired, _) => {
            let message = "it asks for something before it answers, which it may not here".into();
            Heard::Spoiled { asked, message }
        }
        (ResultType::Unknown(kind), _) => {
            let message =
                alloc::format!("its resultType is {:?}, which nobody asked for", Quoted(&kind));
            Heard::Spoiled { asked, message }
        }
    }
}

/// An error with all that it says in its message: what a server needs of its client stands
/// elsewhere in it.
fn told(mut error: RpcError) -> RpcError {
    let required = mcp::required_capabilities(&error);
    if error.code == mcp::MISSING_CAPABILITY && !required.is_empty() {
        let needs = Quoted(&required.join(", ")).to_string();
        error.message = alloc::format!("{}; it needs a host with {needs}", error.message);
    }
    error
}

/// The line a message stands in: moved into what is made of it where it is the only one.
enum Text<'a> {
    Whole(alloc::borrow::Cow<'a, str>),
    Part(&'a str),
}

impl Text<'_> {
    fn json(self, at: core::ops::Range<usize>) -> Json {
        match self {
            Text::Whole(alloc::borrow::Cow::Owned(line)) => Json::within(line, at),
            Text::Whole(alloc::borrow::Cow::Borrowed(line)) => {
                Json::new(line.get(at).unwrap_or_default())
            }
            Text::Part(line) => Json::new(line.get(at).unwrap_or_default()),
        }
    }
}
