//! The framer against the definition of a line.

use std::borrow::Cow;

use tidegate_core::wire::lines::{Frame, Lines};

use crate::choices::{Bytes, Choices};

/// How many cuts of a stream are decided by the input.
const CUTS_MAX: u32 = 16;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Frames of a stream, however it is cut, are the lines of the whole stream (G44).
///
/// # Panics
/// If they are not.
pub fn lines(data: &[u8]) {
    let (head, stream) = data.split_at(data.len().min(24));
    let mut choices = Bytes::new(head);
    let bytes_max = 1 + choices.choose(400) as usize;
    let cuts = choices.choose(CUTS_MAX);
    let length = u32::try_from(stream.len()).unwrap_or(u32::MAX);
    let mut places: Vec<usize> =
        (0..cuts).map(|_| choices.choose(length.saturating_add(1)) as usize).collect();
    places.sort_unstable();

    let wanted = by_definition(bytes_max, stream);
    assert_eq!(framed(bytes_max, stream, &places), wanted, "cut at {places:?}");
    assert_eq!(framed(bytes_max, stream, &[]), wanted, "not cut");
    let every: Vec<usize> = (0..stream.len()).collect();
    assert_eq!(framed(bytes_max, stream, &every), wanted, "cut everywhere");
}

fn framed(bytes_max: usize, stream: &[u8], places: &[usize]) -> Vec<Frame<'static>> {
    let mut lines = Lines::new(bytes_max);
    let (mut frames, mut from) = (Vec::new(), 0);
    for to in places.iter().copied().chain([stream.len()]) {
        let chunk = stream.get(from..to).unwrap_or_default();
        frames.extend(lines.push(chunk).map(owned));
        from = to;
    }
    frames.extend(lines.finish());
    frames
}

fn owned(frame: Frame<'_>) -> Frame<'static> {
    match frame {
        Frame::Line(line) => Frame::Line(Cow::Owned(line.into_owned())),
        Frame::Long(line, _) => Frame::Line(Cow::Owned(line)),
        Frame::NotUtf8 { bytes, head, tail } => Frame::NotUtf8 { bytes, head, tail },
        Frame::TooLong { head, tail, bytes_max } => Frame::TooLong { head, tail, bytes_max },
    }
}

/// The lines of a whole stream, from what the framer's documentation says of them.
fn by_definition(bytes_max: usize, stream: &[u8]) -> Vec<Frame<'static>> {
    let line = |(at, raw): (usize, &[u8])| {
        let unmarked = |bytes: &[u8]| {
            let marked = if at == 0 { bytes.strip_prefix(BYTE_ORDER_MARK) } else { None };
            marked.map_or_else(|| bytes.to_vec(), <[u8]>::to_vec)
        };
        if raw.len() > bytes_max {
            let head = unmarked(&raw[..bytes_max.min(1024)]);
            let tail = raw[raw.len().saturating_sub(256)..].to_vec();
            return Some(Frame::TooLong { head, tail, bytes_max });
        }
        let mut text = unmarked(raw);
        if text.ends_with(b"\r") {
            text.pop();
        }
        if text.iter().all(|byte| b" \t\r".contains(byte)) {
            return None;
        }
        Some(match String::from_utf8(text) {
            Ok(text) => Frame::Line(Cow::Owned(text)),
            Err(error) => {
                let text = error.into_bytes();
                let head = text[..text.len().min(1024)].to_vec();
                let tail = text[text.len().saturating_sub(256)..].to_vec();
                Frame::NotUtf8 { bytes: text.len(), head, tail }
            }
        })
    };
    stream.split(|byte| *byte == b'\n').enumerate().filter_map(line).collect()
}
