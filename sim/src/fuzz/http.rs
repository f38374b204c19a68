//! Streams of events and heads of HTTP against what is said of them, and a session that is cut
//! anywhere against the same one in one piece.

use tidegate_core::config::Source;
use tidegate_core::event;
use tidegate_core::id::{ConnId, ExchangeId, OpId};
use tidegate_core::input::{Fact, HttpHead, Input, Request};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::wire::http::{Answer, Content, read};
use tidegate_core::wire::sse::{Event, Events};

use crate::choices::{Bytes, Choices};

/// How many cuts of a stream are decided by the input.
const CUTS_MAX: u32 = 16;

/// Events of a stream, and what it says of itself, are the same however it is cut (G44).
///
/// # Panics
/// If they are not.
pub fn sse(data: &[u8]) {
    let (head, stream) = data.split_at(data.len().min(24));
    let mut choices = Bytes::new(head);
    let bytes_max = 1 + choices.choose(400) as usize;
    let places = cuts(&mut choices, stream.len());
    let wanted = events(bytes_max, stream, &[]);
    assert_eq!(events(bytes_max, stream, &places), wanted, "cut at {places:?}");
    let every: Vec<usize> = (0..stream.len()).collect();
    assert_eq!(events(bytes_max, stream, &every), wanted, "cut everywhere");
}

fn events(
    bytes_max: usize,
    stream: &[u8],
    places: &[usize],
) -> (Vec<Event>, Option<String>, Option<u64>) {
    let mut events = Events::new(bytes_max);
    let mut said = Vec::new();
    for part in parts(stream, places) {
        said.extend(events.push(part));
    }
    (said, events.last_id().map(str::to_owned), events.retry_ms())
}

/// A head means the same whatever the case of its media type and whatever follows that, and
/// leads elsewhere only where it says so.
///
/// # Panics
/// If it does not.
pub fn http_head(data: &[u8]) {
    let mut choices = Bytes::new(data);
    let statuses = [200, 202, 204, 301, 307, 308, 400, 404, 405, 429, 500, 503, 999];
    let status = *choices.pick(&statuses);
    let name = *choices.pick(&["content-type", "location", "retry-after", "allow"]);
    let value = String::from_utf8_lossy(data.get(2..).unwrap_or_default()).into_owned();
    let head = |value: &str| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        HttpHead { status, headers, session: false }
    };
    let answer = read(&head(&value));
    if name == "content-type" {
        let louder = read(&head(&format!("{}; q=1", value.to_ascii_uppercase())));
        let known = |answer: &Answer| match answer {
            Answer::Done(Content::Json) => Some("json"),
            Answer::Done(Content::Events) => Some("events"),
            _ => None,
        };
        assert_eq!(known(&answer), known(&louder), "{value:?}");
    }
    let moved = matches!(answer, Answer::Moved { .. });
    assert_eq!(moved, matches!(status, 307 | 308) && name == "location");
    assert_eq!(matches!(answer, Answer::Done(_)), (200..300).contains(&status));
}

/// What a server says by itself leads to the same orders and news however it is cut (G44). News
/// of states is told once for all that came together, so that it is the last state that counts;
/// what the catalogue has to complain of is found then too, so that problems count in any order.
///
/// # Panics
/// If it does not.
pub fn session(data: &[u8]) {
    let (head, stream) = data.split_at(data.len().min(24));
    let places = cuts(&mut Bytes::new(head), stream.len());
    assert_eq!(told(stream, &places), told(stream, &[]), "cut at {places:?}");
}

fn told(stream: &[u8], places: &[usize]) -> Vec<String> {
    let config = r#"{"mcpServers":{"a":{"type":"sse","url":"https://a/"}}}"#;
    let mut options = Options::new("/project", vec![Source::inline("fuzz", config)]);
    options.limits.message_bytes = 2_000;
    let mut runtime = Runtime::new(options);
    let (conn, exchange) = (ConnId::new(0), ExchangeId::new(0));
    let head = HttpHead {
        status: 200,
        headers: vec![("content-type".into(), "text/event-stream".into())],
        session: false,
    };
    let begin = [
        Input::Host(Request::Start { op: OpId::new(0) }),
        Input::Io(Fact::Opened { conn, pid: None }),
        Input::Io(Fact::Head { conn, exchange, head }),
    ];
    let body = |part: &[u8]| {
        let bytes = part.to_vec().into();
        Input::Io(Fact::Body { conn, exchange, bytes })
    };
    let inputs = begin.into_iter().chain(parts(stream, places).map(body));
    let mut told = Vec::new();
    for input in inputs {
        runtime.handle(Timestamp::ZERO, input);
        told.extend(std::iter::from_fn(|| runtime.poll_command()).map(|it| format!("{it:?}")));
    }
    let is_of_a_state = |event: &event::Event| {
        matches!(
            event,
            event::Event::ServerChanged { .. }
                | event::Event::GateOpened(_)
                | event::Event::ToolsChanged { .. }
        )
    };
    let news = std::iter::from_fn(|| runtime.poll_event()).filter(|event| !is_of_a_state(event));
    let is_problem = |event: &event::Event| matches!(event, event::Event::ProblemFound(_));
    let (problems, others): (Vec<_>, Vec<_>) = news.partition(is_problem);
    let mut problems: Vec<String> = problems.iter().map(|event| format!("{event:?}")).collect();
    problems.sort();
    told.extend(others.iter().map(|event| format!("{event:?}")));
    told.extend(problems);
    let mut status = runtime.status();
    status.problems.sort_by_key(|problem| format!("{problem:?}"));
    told.push(format!("{status:?}"));
    told
}

fn cuts(choices: &mut impl Choices, length: usize) -> Vec<usize> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let count = choices.choose(CUTS_MAX);
    let mut places: Vec<usize> =
        (0..count).map(|_| choices.choose(length.saturating_add(1)) as usize).collect();
    places.sort_unstable();
    places
}

fn parts<'a>(stream: &'a [u8], places: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let starts = std::iter::once(0).chain(places.iter().copied());
    let ends = places.iter().copied().chain([stream.len()]);
    starts.zip(ends).map(|(from, to)| stream.get(from..to).unwrap_or_default())
}
