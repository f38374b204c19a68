use alloc::string::ToString as _;
use alloc::vec;

use super::*;

fn read(stream: &str) -> (Vec<(Name, String)>, Events) {
    let mut events = Events::new(64);
    let said = events.push(stream.as_bytes()).map(|event| (event.name, text(&event.data)));
    let said = said.collect();
    (said, events)
}

fn text(frame: &Frame<'_>) -> String {
    match frame {
        Frame::Line(line) => line.to_string(),
        Frame::Long(line, _) => line.clone(),
        Frame::NotUtf8 { bytes, .. } => alloc::format!("<{bytes} bytes>"),
        Frame::TooLong { head, tail, bytes_max } => alloc::format!(
            "<{}..{} over {bytes_max}>",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        ),
    }
}

fn said(stream: &str) -> Vec<String> {
    read(stream).0.into_iter().map(|(_, text)| text).collect()
}

/// F-078, C-SSE-01.
#[test]
fn lines_end_in_any_way_in_any_mix() {
    for stream in
        ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata:b\r\n\n"]
    {
        assert_eq!(said(stream), ["a", "b"], "{stream:?}");
    }
}

/// C-SSE-01.
#[test]
fn fields_are_read_as_the_standard_says() {
    assert_eq!(said("\u{feff}data: a\n\n"), ["a"], "a mark before the first line");
    assert_eq!(said("data: 1\ndata\ndata:2\n\n"), ["1\n\n2"], "lines are joined");
    assert_eq!(said("data:  a\n\n"), [" a"], "one space is removed");
    assert_eq!(said(": hi\n:\ndata: a\nfoo: b\n data: c\n\n"), ["a"], "the rest is ignored");
    assert_eq!(said("datadatadatadatadata: x\n\n"), Vec::<String>::new(), "a long name");
    assert_eq!(said("data: a\n"), Vec::<String>::new(), "C-SSE-04: what is cut off is none");
}

/// C-SSE-02.
#[test]
fn only_a_message_is_one() {
    let names: Vec<Name> = read(
        "data: 1\n\nevent: message\ndata: 1\n\nevent: endpoint\ndata: 1\n\nevent: x\ndata: 1\n\n\
         data: 1\n\n",
    )
    .0
    .into_iter()
    .map(|(name, _)| name)
    .collect();
    let wanted = [Name::Message, Name::Message, Name::Endpoint, Name::Other, Name::Message];
    assert_eq!(names, wanted);
}

/// C-SSE-03, C-LHTTP-08.
#[test]
fn an_event_without_data_is_not_said_and_its_id_counts() {
    let (events, state) = read("id: 7\nretry: 500\ndata:\n\n");
    assert_eq!((events, state.last_id(), state.retry_ms()), (vec![], Some("7"), Some(500)));
    let state = read("id: 7\ndata: a\n\nid: 8\ndata: b\n").1;
    assert_eq!(state.last_id(), Some("7"), "an event that is not complete does not count");
    assert_eq!(read("id: 7\n\nid: a\u{0}b\nretry: 1x\n\n").1.last_id(), Some("7"));
    assert_eq!(read("id: 7\n\nid\n\n").1.last_id(), None);
    let long = alloc::format!("id: 7\n\nid: {}\n\n", "x".repeat(VALUE_BYTES + 1));
    assert_eq!(read(&long).1.last_id(), Some("7"));
}

/// C-SSE-05, L10.
#[test]
fn of_an_event_that_is_too_long_the_ends_are_kept() {
    let stream = alloc::format!("data: {}\ndata: end\n\ndata: b\n\n", "a".repeat(70));
    let head = "a".repeat(64);
    let tail = alloc::format!("{}\nend", "a".repeat(70));
    assert_eq!(said(&stream), [alloc::format!("<{head}..{tail} over 64>"), "b".into()]);
}

#[test]
fn data_that_is_not_utf_8_is_told_apart() {
    let mut events = Events::new(64);
    let said: Vec<Event> = events.push(b"data: \xff\n\ndata: \xc3\xa9\n\n").collect();
    let said: Vec<String> = said.iter().map(|event| text(&event.data)).collect();
    assert_eq!(said, ["<1 bytes>", "é"]);
}

/// A long message is outlined while it comes, whatever pieces it comes in.
#[test]
fn a_long_event_is_outlined_as_it_comes() {
    let message = alloc::format!("{{\"id\":7,\"result\":\"{}\"}}", "x".repeat(2 * LONG_BYTES));
    let stream = alloc::format!("data: {message}\n\n");
    for step in [1_000, stream.len()] {
        let mut events = Events::new(stream.len());
        let mut said = vec![];
        for piece in stream.as_bytes().chunks(step) {
            said.extend(events.push(piece));
        }
        let [Event { data: Frame::Long(text, outline), .. }] = said.as_slice() else { panic!() };
        assert_eq!(*text, message);
        let members = outline.members(text, 8).unwrap();
        let keys: Vec<_> = members.map(|member| member.key.into_owned()).collect();
        assert_eq!(keys, ["id", "result"]);
    }
}
