//! Wherever the bytes of messages are cut, do the same messages come of them?

use std::iter;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tidegate_core::wire::lines::{Frame, Lines};
use tidegate_core::wire::rpc::{self, Incoming, Malformed};

/// Lines, `TEXT` standing for what is chosen: messages of every kind, and what looks like one.
const SHAPES: [&str; 16] = [
    r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"TEXT"}]}}"#,
    r#" { "result" : [ "TEXT" , { "a" : [ [ [ -1.5e3 , null ] ] , { } ] } ] , "id" : "x" } "#,
    r#"{"id":1,"error":{"code":-32000,"message":"TEXT","data":{"TEXT":[true,false]}}}"#,
    r#"{"method":"TEXT","params":{"TEXT":["TEXT"]}}"#,
    r#"{"\u0069d":"TEXT","method":"ping"}"#,
    r#"[{"id":1,"result":"TEXT"},{"method":"a"},7]"#,
    r#"{"id":1,"id":2,"result":"TEXT"}"#,
    r#"{"id":1,"result":["TEXT",TEXT]}"#,
    r#"{"id":1,"result":{"TEXT"}}"#,
    r#"{"id":1,"result":"TEXT"} TEXT"#,
    r#"{"id":1,"result":"TEXT"#,
    r#"{"id":1,"result":[TEXT]}"#,
    r#"{"TEXT":1,"id":TEXT}"#,
    "[TEXT]",
    "TEXT",
    "",
];

/// What a text is made of.
const PARTS: [&str; 20] = [
    "plain words, ",
    "0123456789",
    r#"\""#,
    r"\\",
    r"\n",
    r"\u20ac",
    r"\ud83d\ude00",
    r"\ud83d",
    r"\x",
    "\u{e9}",
    "\u{20ac}",
    "\u{1f600}",
    "\u{feff}",
    "\"",
    "[",
    "{\"a\":",
    "]",
    " ",
    "\r",
    "\u{1}",
];

fn line() -> impl Strategy<Value = String> {
    // Mostly the text is sound, and every other time it is too long for one read.
    let part = prop_oneof![9 => select(&PARTS[..8]), 1 => select(&PARTS[..])];
    let times = prop_oneof![0..20_usize, 1_000..8_000_usize];
    (select(&SHAPES[..]), vec(part, 1..6), times)
        .prop_map(|(shape, parts, times)| shape.replace("TEXT", &parts.concat().repeat(times)))
}

/// Some lines as the bytes of a stream, of which some may be spoiled.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let end = select(&["\n", "\r\n", "\r\r\n", "\n\n", ""][..]);
    let start = prop_oneof![4 => Just(""), 1 => Just("\u{feff}")];
    let spoiled =
        prop_oneof![2 => vec(any::<(Index, u8)>(), 0..1), 1 => vec(any::<(Index, u8)>(), 1..4)];
    (start, vec((line(), end), 1..4), spoiled).prop_map(|(start, lines, spoiled)| {
        let text = lines.iter().flat_map(|(line, end)| [line.as_str(), end]);
        let text: String = iter::once(start).chain(text).collect();
        let mut stream = text.into_bytes();
        for (at, byte) in spoiled {
            if !stream.is_empty() {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
        }
        stream
    })
}

/// Where a stream is cut.
#[derive(Clone, Debug)]
enum Cuts {
    Anywhere(Vec<Index>),
    Every(usize),
}

fn cuts() -> impl Strategy<Value = Cuts> {
    prop_oneof![
        3 => vec(any::<Index>(), 1..12).prop_map(Cuts::Anywhere),
        1 => select(&[3, 64, 1_000, 4_096, 32_768, 65_536][..]).prop_map(Cuts::Every),
    ]
}

impl Cuts {
    fn pieces<'a>(&self, stream: &'a [u8]) -> Vec<&'a [u8]> {
        let mut places: Vec<usize> = match self {
            Self::Anywhere(places) => places.iter().map(|at| at.index(stream.len() + 1)).collect(),
            Self::Every(bytes) => (0..stream.len()).step_by(*bytes).collect(),
        };
        places.extend([0, stream.len()]);
        places.sort_unstable();
        places.windows(2).map(|place| &stream[place[0]..place[1]]).collect()
    }
}

/// What is read of a stream.
#[derive(Debug, PartialEq)]
enum Read {
    /// A line, and what it says to a reader that takes only so many levels.
    Line(String, Vec<Result<Incoming, Malformed>>),
    NotUtf8(usize, Vec<u8>, Vec<u8>),
    TooLong(Vec<u8>, Vec<u8>),
}

const NESTINGS_MAX: [usize; 3] = [2, 5, 128];

fn read(bytes_max: usize, pieces: &[&[u8]]) -> Vec<Read> {
    let read = |frame: Frame<'_>| match frame {
        Frame::Line(line) => {
            let incoming = NESTINGS_MAX.map(|max| rpc::read(&line, max)).to_vec();
            Read::Line(line.into_owned(), incoming)
        }
        Frame::Long(line, outline) => {
            let incoming =
                NESTINGS_MAX.map(|max| rpc::read_outlined(&line, &outline, max)).to_vec();
            Read::Line(line, incoming)
        }
        Frame::NotUtf8 { bytes, head, tail } => Read::NotUtf8(bytes, head, tail),
        Frame::TooLong { head, tail, .. } => Read::TooLong(head, tail),
    };
    let mut lines = Lines::new(bytes_max);
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(lines.push(piece).map(read));
    }
    all.extend(lines.finish().map(read));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// G44.
    #[test]
    fn messages_are_the_same_wherever_their_bytes_are_cut(
        stream in stream(),
        cuts in vec(cuts(), 1..4),
        bytes_max in select(&[1_000, 40_000, 10_000_000][..]),
    ) {
        let wanted = read(bytes_max, &[&stream]);
        for cuts in cuts {
            // Compared by hand: nobody wants to see what is different in a megabyte.
            let same = read(bytes_max, &cuts.pieces(&stream)) == wanted;
            prop_assert!(same, "cut {:?} up to {}", cuts, bytes_max);
        }
    }
}
