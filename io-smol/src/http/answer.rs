//! One answer, read from bytes that come cut anywhere.

use tidegate_core::error::ExchangeFault;
use ureq_proto::client::{Call, RecvBodyResult, RecvResponseResult, state};
use ureq_proto::http::{Response, header};

/// The longest head of an answer, in bytes.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// What every answer begins with.
const START: &[u8] = b"HTTP/1.";

/// The longest line that frames a part of a body, in bytes.
const FRAME_BYTES_MAX: usize = 16 * 1024;

/// An answer as far as it was read.
pub(super) struct Answer {
    stage: Stage,
    /// How many bytes of the head are known to have no empty line in them.
    searched: usize,
}

enum Stage {
    Head(Call<state::RecvResponse>),
    Body(Call<state::RecvBody>),
    /// Everything was read; whether its connection may be used again.
    Complete(bool),
    /// What came is no answer.
    Bad,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// The other side said that nothing more comes.
    Said,
    /// It broke.
    Broke,
}

/// A piece of an answer.
pub(super) enum Part {
    Head(Response<()>),
    Body(Vec<u8>),
}

impl Answer {
    pub(super) fn new(call: Call<state::RecvResponse>) -> Self {
        Self { stage: Stage::Head(call), searched: 0 }
    }

    /// Whether nothing of it was read.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.stage, Stage::Head(_)) && self.searched == 0
    }

    /// Whether everything was read.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::Complete(_))
    }

    /// Whether everything was read and its connection may be used for another request.
    pub(super) fn leaves_connection(&self) -> bool {
        matches!(self.stage, Stage::Complete(true))
    }

    /// Reads from what has come; how much of it is done with, and what it says. Nothing is read
    /// and nothing said if more must come first.
    pub(super) fn read(&mut self, input: &[u8]) -> Result<(usize, Option<Part>), ExchangeFault> {
        match std::mem::replace(&mut self.stage, Stage::Bad) {
            Stage::Head(call) => self.read_head(call, input),
            Stage::Body(call) => self.read_body(call, input),
            stage @ (Stage::Complete(_) | Stage::Bad) => {
                self.stage = stage;
                Ok((0, None))
            }
        }
    }

    /// The connection ended; whether that was a good place.
    pub(super) fn end(&self, how: Ending) -> Result<(), ExchangeFault> {
        match &self.stage {
            Stage::Complete(_) => Ok(()),
            Stage::Head(_) => Err(ExchangeFault::CutHead),
            // Some servers leave without the last line.
            Stage::Body(call) if call.is_ended_chunked() => Ok(()),
            Stage::Body(call) if call.can_proceed() && how == Ending::Said => Ok(()),
            Stage::Body(_) | Stage::Bad => Err(ExchangeFault::CutBody),
        }
    }

    fn read_head(
        &mut self,
        mut call: Call<state::RecvResponse>,
        input: &[u8],
    ) -> Result<(usize, Option<Part>), ExchangeFault> {
        check_start(input)?;
        // Looked at only once it is whole: a head that comes byte by byte costs no more.
        let Some(end) = self.end_of_head(input) else {
            self.searched = input.len();
            self.stage = Stage::Head(call);
            if input.len() > HEAD_BYTES_MAX {
                return Err(bad(format!("its head is longer than {HEAD_BYTES_MAX} bytes")));
            }
            return Ok((0, None));
        };
        self.searched = 0;
        if only_informs(input) {
            self.stage = Stage::Head(call);
            return Ok((end, None));
        }
        let (used, head) =
            call.try_response(input, false).map_err(|error| bad(error.to_string()))?;
        let head = head.ok_or_else(|| bad("its head has no end".into()))?;
        let coding = head.headers().get(header::CONTENT_ENCODING);
        if let Some(coding) = coding.filter(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
            let coding = String::from_utf8_lossy(coding.as_bytes());
            return Err(bad(format!("its body is encoded ({coding}), which was not asked for")));
        }
        self.stage = match call.proceed() {
            Some(RecvResponseResult::RecvBody(call)) => Stage::Body(call),
            Some(RecvResponseResult::Redirect(call)) => {
                Stage::Complete(!call.proceed().must_close_connection())
            }
            Some(RecvResponseResult::Cleanup(call)) => {
                Stage::Complete(!call.must_close_connection())
            }
            None => Stage::Bad,
        };
        Ok((used, Some(Part::Head(head))))
    }

    /// Where the empty line after the head ends, if it is there.
    fn end_of_head(&self, input: &[u8]) -> Option<usize> {
        // Empty lines before the head are not the one after it.
        let first = input.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
        // It may have begun in what was searched already.
        let from = first.max(self.searched.saturating_sub(3));
        let rest = input.get(from..)?;
        let mut lines = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let end = lines.find_map(|(at, _)| match rest.get(at + 1..)? {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        });
        end.map(|end| from + end)
    }

    fn read_body(
        &mut self,
        mut call: Call<state::RecvBody>,
        input: &[u8],
    ) -> Result<(usize, Option<Part>), ExchangeFault> {
        let mut body = vec![0; input.len()];
        // A frame that cannot be read leaves no way to tell where the body ends.
        let (used, count) = call.read(input, &mut body).map_err(|_| ExchangeFault::CutBody)?;
        body.truncate(count);
        if used == 0 && input.len() > FRAME_BYTES_MAX {
            return Err(ExchangeFault::CutBody);
        }
        let close_delimited = matches!(call.body_mode(), ureq_proto::BodyMode::CloseDelimited);
        self.stage = if call.can_proceed() && !close_delimited {
            match call.proceed() {
                Some(RecvBodyResult::Redirect(call)) => {
                    Stage::Complete(!call.proceed().must_close_connection())
                }
                Some(RecvBodyResult::Cleanup(call)) => {
                    Stage::Complete(!call.must_close_connection())
                }
                None => Stage::Bad,
            }
        } else {
            Stage::Body(call)
        };
        Ok((used, (count > 0).then_some(Part::Body(body))))
    }
}

/// Refuses what cannot become an answer as soon as that is certain: who speaks something else may
/// wait for us for ever.
fn check_start(input: &[u8]) -> Result<(), ExchangeFault> {
    let text = input.trim_ascii_start();
    let count = text.len().min(START.len());
    match text.first() {
        _ if text.get(..count) == START.get(..count) => Ok(()),
        // An alert, to which a request looks like a bad greeting.
        Some(0x15) => Err(bad("it speaks TLS, so its address begins with https".into())),
        _ => Err(bad("it does not begin with HTTP/1".into())),
    }
}

/// Whether a head is one that another one follows: any 1xx but the one that switches protocols.
fn only_informs(input: &[u8]) -> bool {
    let status = input.trim_ascii_start().get(START.len() + 2..START.len() + 5);
    status.is_some_and(|status| status.starts_with(b"1") && status != b"101")
}

fn bad(message: String) -> ExchangeFault {
    ExchangeFault::BadHead { message }
}

#[cfg(test)]
mod tests {
    use ureq_proto::client::SendRequestResult;
    use ureq_proto::http::Request;

    use super::*;

    fn answer() -> Answer {
        let mut call =
            Call::new(Request::get("http://a.example/").body(()).unwrap()).unwrap().proceed();
        call.write(&mut [0; 256]).unwrap();
        match call.proceed().unwrap() {
            Some(SendRequestResult::RecvResponse(call)) => Answer::new(call),
            _ => unreachable!("a GET has no body"),
        }
    }

    #[derive(Debug, Eq, PartialEq)]
    struct Read {
        status: Option<u16>,
        body: String,
        rest: String,
        complete: bool,
        reusable: bool,
        end: Result<(), ExchangeFault>,
    }

    /// Reads the bytes in steps of so many, and then the end of the connection.
    fn read(text: &str, step: usize) -> Read {
        let mut answer = answer();
        let (mut status, mut body, mut waiting) = (None, Vec::new(), Vec::new());
        let mut end = Ok(());
        'all: for piece in text.as_bytes().chunks(step) {
            waiting.extend_from_slice(piece);
            loop {
                match answer.read(&waiting) {
                    Ok((used, part)) => {
                        waiting.drain(..used);
                        match part {
                            Some(Part::Head(head)) => status = Some(head.status().as_u16()),
                            Some(Part::Body(bytes)) => body.extend(bytes),
                            None if used == 0 => break,
                            None => {}
                        }
                    }
                    Err(fault) => {
                        end = Err(fault);
                        break 'all;
                    }
                }
            }
        }
        let (complete, reusable) = (answer.is_complete(), answer.leaves_connection());
        let end = end.and_then(|()| answer.end(Ending::Said));
        let [body, rest] = [body, waiting].map(|it| String::from_utf8(it).unwrap());
        Read { status, body, rest, complete, reusable, end }
    }

    fn read_any(text: &str) -> Read {
        let whole = read(text, text.len());
        for step in 1..text.len().min(9) {
            assert_eq!(read(text, step), whole, "in steps of {step}: {text}");
        }
        whole
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut() {
        for (text, body, rest, complete, reusable) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!", "hi", "!", true, true),
            ("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "", "", true, true),
            ("HTTP/1.1 204 No\r\n\r\n", "", "", true, true),
            (
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
                "hi",
                "",
                true,
                false,
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", "", true, false),
            ("HTTP/1.1 200 OK\r\n\r\nto the end", "to the end", "", false, false),
            ("HTTP/1.1 200 OK\n\nto the end", "to the end", "", false, false),
            ("HTTP/1.1 307 Go\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "", "", true, true),
            ("HTTP/1.1 307 Go\r\nLocation: /x\r\nContent-Length: 1\r\n\r\nx", "x", "", true, true),
            (
                "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                "x",
                "",
                true,
                true,
            ),
        ] {
            let read = read_any(text);
            let status = read.status;
            let got = (read.body.as_str(), read.rest.as_str(), read.complete, read.reusable);
            assert_eq!(got, (body, rest, complete, reusable), "{text}");
            assert!(status.is_some() && read.end.is_ok(), "{text}");
        }
    }

    #[test]
    fn chunks_of_every_kind_are_put_together() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (body, wanted) in [
            ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
            ("0005;ext=1\r\nabcde\r\n00\r\n\r\n", "abcde"),
            ("A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", "0123456789"),
            ("0\r\n\r\n", ""),
        ] {
            let read = read_any(&format!("{head}{body}"));
            assert_eq!(
                (read.body.as_str(), read.complete, read.reusable),
                (wanted, true, true),
                "{body}"
            );
        }
        let read = read_any(&format!("{head}1\r\na\r\n0\r\n"));
        assert_eq!((read.body.as_str(), read.reusable, read.end), ("a", false, Ok(())));
    }

    #[test]
    fn what_is_cut_is_told_from_what_has_ended() {
        let cut_head = Err(ExchangeFault::CutHead);
        for text in ["HTTP/1.1 200 OK\r\nContent-Le", "H", "HTTP/1.1 100 Continue\r\n\r\n"] {
            assert_eq!(read_any(text).end, cut_head, "{text}");
        }
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhiho\r\n0\r\n\r\n",
        ] {
            assert_eq!(read(text, text.len()).end, Err(ExchangeFault::CutBody), "{text}");
        }
    }

    #[test]
    fn a_body_without_a_length_is_whole_only_if_its_end_was_said() {
        let mut answer = answer();
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        assert_eq!(answer.read(head).unwrap().0, head.len());
        assert_eq!(answer.end(Ending::Broke), Err(ExchangeFault::CutBody));
        assert_eq!(answer.end(Ending::Said), Ok(()));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(HEAD_BYTES_MAX));
        for text in [
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
            "HTTP/1.1 099 NO\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            // Nothing more comes of any of these, and nobody has to wait for it.
            "SSH-2.0-OpenSSH_9.6\r\n",
            "\0\0\u{12}\u{4}\0\0\0\0\0",
            "\u{15}\u{3}\u{3}\0\u{2}\u{2}\n",
            &long,
        ] {
            let end = read(text, text.len()).end;
            assert!(matches!(end, Err(ExchangeFault::BadHead { .. })), "{end:?}: {text:.40}");
        }
    }

    /// Whatever a server says is read or refused, and the same however it is cut: bytes of good
    /// answers changed, dropped and doubled at random.
    #[test]
    fn no_bytes_are_too_much() {
        let good = [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nabcde\r\n0\r\nX: y\r\n\r\n",
            "HTTP/1.0 302 Go\r\nLocation: /x\r\nKeep-Alive: timeout=5\r\n\r\nend",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
        ];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for round in 0..5_000 {
            let mut text = good[round % good.len()].as_bytes().to_vec();
            for _ in 0..=random(3) {
                let at = random(text.len());
                match random(3) {
                    0 => text[at] = b"\r\n :;,0159afx\xff\0"[random(15)],
                    1 => drop(text.drain(at..(at + 1 + random(4)).min(text.len() - 1).max(at))),
                    _ => text.splice(at..at, text[at..].to_vec()).for_each(drop),
                }
            }
            let text: String = text.into_iter().map(char::from).filter(char::is_ascii).collect();
            if text.is_empty() {
                continue;
            }
            let whole = read(&text, text.len());
            let cut = read(&text, 1 + random(7));
            assert_eq!(
                (cut.status, cut.end.is_ok()),
                (whole.status, whole.end.is_ok()),
                "{text:?}"
            );
            if whole.end.is_ok() {
                assert_eq!(cut, whole, "{text:?}");
            }
        }
    }
}
