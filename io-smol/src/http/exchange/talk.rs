//! The part of an exchange that its server sees: the request, and the answer to it.

use std::time::Duration;

use tidegate_core::bytes::Bytes;
use tidegate_core::error::ExchangeFault;
use tidegate_core::input::{Fact, HttpHead};
use ureq_proto::http::Response;

use super::{Course, Exchange, Step, Used, Wires, close};
use crate::http::answer::{Ending, Part};
use crate::http::remote::Remote;
use crate::http::socket::{Read, Socket, Written};
use crate::pollset::Interest;

/// The largest piece of a body that is passed on at once.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// A shared buffer that grew beyond this is not kept.
const BUFFER_BYTES_KEPT: usize = 256 * 1024;

impl Exchange {
    /// Begins to send: from here on something may reach the server.
    pub(super) fn talk(&mut self, mut socket: Socket, used: Used, wires: &mut Wires<'_>) -> Course {
        socket.reset();
        match self.send(socket, used, wires) {
            Ok(socket) => {
                self.step = Step::Talking(socket, used);
                Course::Waits
            }
            Err(course) => course,
        }
    }

    pub(super) fn send(
        &mut self,
        mut socket: Socket,
        used: Used,
        wires: &mut Wires<'_>,
    ) -> Result<Socket, Course> {
        let interest = match socket.write(&self.out, &mut self.taken) {
            Written::All => Interest::Read,
            Written::Blocked => Interest::ReadWrite,
            Written::Broken if socket.was_touched() => {
                // A server that refuses a long request may have answered before it hung up.
                self.spoiled = true;
                Interest::Read
            }
            Written::Broken => return Err(self.lose(socket, used, ExchangeFault::CutHead, wires)),
        };
        match socket.await_(interest, wires.poll) {
            Ok(()) => Ok(socket),
            Err(_) => Err(self.fail_with(socket, ExchangeFault::CutHead, wires)),
        }
    }

    pub(super) fn receive(
        &mut self,
        mut socket: Socket,
        used: Used,
        remote: &mut Remote,
        wires: &mut Wires<'_>,
    ) -> Course {
        let mut buffer = std::mem::take(wires.buffer);
        buffer.clear();
        buffer.append(&mut self.waiting);
        let read = socket.read(&mut buffer);
        let heard = match read {
            Read::Some => self.hear(&buffer, remote, wires),
            Read::Nothing | Read::End | Read::Broken => Ok(0),
        };
        if let Ok(heard) = &heard {
            self.waiting = buffer.get(*heard..).unwrap_or_default().to_vec();
        }
        if buffer.capacity() <= BUFFER_BYTES_KEPT {
            *wires.buffer = buffer;
        }
        let ending = match (heard, read) {
            (Err(fault), _) => return self.fail_with(socket, fault, wires),
            (Ok(_), Read::Some) if self.answer.is_complete() => return self.finish(socket, wires),
            (Ok(_), Read::Some | Read::Nothing) => {
                self.step = Step::Talking(socket, used);
                return Course::Waits;
            }
            (Ok(_), Read::End) => Ending::Said,
            (Ok(_), Read::Broken) => Ending::Broke,
        };
        match self.answer.end(ending) {
            Ok(()) => {
                close(socket, wires);
                Course::Ended(Ok(()))
            }
            Err(fault) => self.lose(socket, used, fault, wires),
        }
    }

    /// Reads what came, and passes it on; how much of it is done with.
    fn hear(
        &mut self,
        bytes: &[u8],
        remote: &mut Remote,
        wires: &mut Wires<'_>,
    ) -> Result<usize, ExchangeFault> {
        if self.taken == self.out.len() {
            // It is not made again: an answer has begun.
            (self.out, self.taken) = (Vec::new(), 0);
        }
        let (conn, exchange) = self.key;
        let mut at = 0;
        while !self.answer.is_complete() {
            let (used, part) = self.answer.read(bytes.get(at..).unwrap_or_default())?;
            at += used;
            match part {
                Some(Part::Head(head)) => {
                    self.keep = patience(&head);
                    let session = remote.hear(self.session, &head);
                    let head = told(&head, session);
                    wires.facts.push_back(Fact::Head { conn, exchange, head });
                }
                Some(Part::Body(body)) if body.len() <= BODY_BYTES_MAX => {
                    wires.facts.push_back(Fact::Body { conn, exchange, bytes: Bytes(body) });
                }
                Some(Part::Body(body)) => {
                    for piece in body.chunks(BODY_BYTES_MAX) {
                        let bytes = Bytes(piece.to_vec());
                        wires.facts.push_back(Fact::Body { conn, exchange, bytes });
                    }
                }
                None if used == 0 => break,
                None => {}
            }
        }
        Ok(at)
    }

    /// Everything was read.
    fn finish(&self, socket: Socket, wires: &mut Wires<'_>) -> Course {
        let sent = self.taken == self.out.len() && !self.spoiled;
        if sent && self.waiting.is_empty() && self.answer.leaves_connection() {
            wires.owners.remove(&socket.id());
            wires.pool.put(self.origin.clone(), socket, self.keep, wires.poll);
        } else {
            close(socket, wires);
        }
        Course::Ended(Ok(()))
    }

    /// The connection is gone. On a socket that was idle that is nobody's fault: the request is
    /// made again if that cannot make it twice.
    fn lose(
        &self,
        socket: Socket,
        used: Used,
        fault: ExchangeFault,
        wires: &mut Wires<'_>,
    ) -> Course {
        let unheard = self.answer.is_fresh() && self.waiting.is_empty() && !self.out.is_empty();
        let harmless = self.repeatable || !socket.was_touched();
        if used == Used::Before && unheard && harmless {
            close(socket, wires);
            return Course::Again;
        }
        self.fail_with(socket, fault, wires)
    }
}

/// What of a head is passed on.
fn told(head: &Response<()>, session: bool) -> HttpHead {
    let wanted =
        head.headers().iter().filter(|(name, _)| HttpHead::WANTED.contains(&name.as_str()));
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    HttpHead {
        status: head.status().as_u16(),
        headers: wanted.map(|(n, v)| (n.as_str().to_owned(), text(v.as_bytes()))).collect(),
        session,
    }
}

/// How long a server says it waits for another request: `Keep-Alive: timeout=5`.
fn patience(head: &Response<()>) -> Option<Duration> {
    let said = head.headers().get("keep-alive")?.to_str().ok()?;
    let seconds = said.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    Some(Duration::from_secs(seconds.trim().parse().ok()?))
}
