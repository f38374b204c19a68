//! Bytes ↔ messages: framing, scanning, and single small messages.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use tidegate_core::bytes::Json;
use tidegate_core::wire::json::{self, NESTING_MAX};
use tidegate_core::wire::lines::{Frame, Lines};
use tidegate_core::wire::mcp::{self, Aim, Job, Meta};
use tidegate_core::wire::rpc::{self, Incoming, Message};

/// What a driver reads from a pipe at once.
const CHUNK: usize = 64 * 1024;

const MEGABYTE: usize = 1_000_000;

const MESSAGE_MAX: usize = 64 * 1024 * 1024;

const SMALL_ANSWER: &str = r#"{"jsonrpc":"2.0","id":41,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}"#;

/// An answer whose one text is `bytes` long, with an escaped line end every 80 bytes.
fn large_answer(bytes: usize) -> String {
    let line = format!("{}\\n", "The quick brown fox. ".repeat(4).get(..78).unwrap_or_default());
    let text = line.repeat(bytes / line.len());
    format!(
        r#"{{"jsonrpc":"2.0","id":41,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

/// A page of 100 tools with schemas of a usual size.
fn tools_page() -> String {
    let tool = |n: usize| {
        format!(
            r#"{{"name":"search_{n}","title":"Search","description":"Finds what matches a pattern, in the order in which it was written.","inputSchema":{{"type":"object","properties":{{"pattern":{{"type":"string","description":"What to look for."}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":20}},"paths":{{"type":"array","items":{{"type":"string"}}}}}},"required":["pattern"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}}}"#
        )
    };
    let tools: Vec<String> = (0..100).map(tool).collect();
    format!(r#"{{"tools":[{}],"nextCursor":"100"}}"#, tools.join(","))
}

/// Small lines, most of them within one chunk.
#[divan::bench]
fn frame_small_lines(bencher: Bencher<'_, '_>) {
    let stream = format!("{SMALL_ANSWER}\n").repeat(MEGABYTE / SMALL_ANSWER.len());
    bencher.counter(BytesCount::of_str(&stream)).bench(|| {
        let mut lines = Lines::new(MESSAGE_MAX);
        let chunks = black_box(&stream).as_bytes().chunks(CHUNK);
        chunks.map(|chunk| lines.push(chunk).count()).sum::<usize>()
    });
}

/// One line over many chunks.
#[divan::bench(args = [10, 50])]
fn frame_one_line_of_megabytes(bencher: Bencher<'_, '_>, megabytes: usize) {
    let stream = large_answer(megabytes * MEGABYTE) + "\n";
    bencher.counter(BytesCount::of_str(&stream)).bench(|| {
        let mut lines = Lines::new(MESSAGE_MAX);
        let chunks = black_box(&stream).as_bytes().chunks(CHUNK);
        chunks.map(|chunk| lines.push(chunk).count()).sum::<usize>()
    });
}

/// The envelope around a text with an escape every 80 bytes.
#[divan::bench(args = [10])]
fn scan_text_of_megabytes(bencher: Bencher<'_, '_>, megabytes: usize) {
    let line = large_answer(megabytes * MEGABYTE);
    bencher.counter(BytesCount::of_str(&line)).bench(|| rpc::read(black_box(&line), NESTING_MAX));
}

/// The same by the parser that most hosts use, which keeps nothing of it.
#[divan::bench(args = [10])]
fn serde_json_ignores_text_of_megabytes(bencher: Bencher<'_, '_>, megabytes: usize) {
    let line = large_answer(megabytes * MEGABYTE);
    bencher
        .counter(BytesCount::of_str(&line))
        .bench(|| serde_json::from_str::<serde::de::IgnoredAny>(black_box(&line)).is_ok());
}

/// Small values and short keys.
#[divan::bench]
fn scan_structure(bencher: Bencher<'_, '_>) {
    let page = tools_page();
    bencher.counter(BytesCount::of_str(&page)).bench(|| json::check(black_box(&page), NESTING_MAX));
}

/// The same by the parser that most hosts use, which keeps nothing of it.
#[divan::bench]
fn serde_json_ignores_structure(bencher: Bencher<'_, '_>) {
    let page = tools_page();
    bencher
        .counter(BytesCount::of_str(&page))
        .bench(|| serde_json::from_str::<serde::de::IgnoredAny>(black_box(&page)).is_ok());
}

/// From chunks to the value that is handed to the host.
#[divan::bench(args = [10, 50])]
fn large_result_end_to_end(bencher: Bencher<'_, '_>, megabytes: usize) {
    let stream = large_answer(megabytes * MEGABYTE) + "\n";
    bencher.counter(BytesCount::of_str(&stream)).bench(|| {
        let mut lines = Lines::new(MESSAGE_MAX);
        let chunks = black_box(&stream).as_bytes().chunks(CHUNK);
        chunks.filter_map(|chunk| lines.push(chunk).find_map(result)).next()
    });
}

/// One small answer: framed, read, and its result copied out of the chunk.
#[divan::bench]
fn small_answer_end_to_end(bencher: Bencher<'_, '_>) {
    let chunk = format!("{SMALL_ANSWER}\n");
    let mut lines = Lines::new(MESSAGE_MAX);
    bencher
        .counter(ItemsCount::new(1_u8))
        .bench_local(|| lines.push(black_box(chunk.as_bytes())).find_map(result));
}

fn result(frame: Frame<'_>) -> Option<Json> {
    let (line, incoming) = match frame {
        Frame::Line(line) => {
            let incoming = rpc::read(&line, NESTING_MAX);
            (line.into_owned(), incoming)
        }
        Frame::Long(line, outline) => {
            let incoming = rpc::read_outlined(&line, &outline, NESTING_MAX);
            (line, incoming)
        }
        Frame::NotUtf8 { .. } | Frame::TooLong { .. } => return None,
    };
    match incoming {
        Ok(Incoming::One(Message::Answer { reply: Ok(window), .. })) => {
            Some(Json::within(line, window))
        }
        Ok(_) | Err(_) => None,
    }
}

#[divan::bench]
fn read_small_answer() -> bool {
    rpc::read(black_box(SMALL_ANSWER), NESTING_MAX).is_ok()
}

#[divan::bench]
fn read_small_notification() -> bool {
    let line = r#"{"method":"notifications/progress","params":{"progressToken":41,"progress":3},"jsonrpc":"2.0"}"#;
    rpc::read(black_box(line), NESTING_MAX).is_ok()
}

#[divan::bench]
fn write_call(bencher: Bencher<'_, '_>) {
    let arguments = Json::new(r#"{"pattern":"fn main","limit":20,"paths":["src","tests"]}"#);
    let job = Job { aim: Aim::Tool("search".into()), arguments, round: None };
    bencher.bench(|| black_box(&job).line(black_box(41), &Meta::default()));
}

#[divan::bench]
fn read_page_of_100_tools(bencher: Bencher<'_, '_>) {
    let page = tools_page();
    bencher
        .counter(BytesCount::of_str(&page))
        .counter(ItemsCount::new(100_u8))
        .bench(|| mcp::read_tools_page(black_box(&page)));
}
