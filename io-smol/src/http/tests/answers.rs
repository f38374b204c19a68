//! What an answer is read as, whatever its server does.

use std::thread;
use std::time::Duration;

use tidegate_core::command::{HttpRequest, Method, SessionId};
use tidegate_core::error::{ExchangeFault, Sent};

use super::server::Server;
use super::world::{World, get, post, request};

const JSON: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

#[test]
fn a_request_is_answered_with_head_body_and_end() {
    let server = Server::new(|mut peer, _| {
        let request = peer.request().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /mcp HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("accept: text/event-stream"), "{head}");
        peer.say(&format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Other: 1\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let answer = world.ask(conn, &post("hello"));
    assert!(answer.is_whole());
    let head = answer.head.as_ref().unwrap();
    assert_eq!((head.status, answer.text()), (200, "hello"));
    assert_eq!(head.header("content-type"), Some("text/plain"));
    assert_eq!(head.header("x-other"), None);
    assert!(!head.session);
}

#[test]
fn a_stream_is_passed_on_as_it_comes_and_not_before_and_not_after() {
    let server = Server::new(|mut peer, _| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n");
        // Waits for the test to have seen it.
        peer.request();
        peer.wait();
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let stream = world.begin(conn, &get());
    let answer = world.until(stream, |answer| !answer.body.is_empty());
    assert_eq!((answer.text(), answer.end.is_none()), ("data", true));
    world.abort(conn, stream);
    assert_eq!(world.sockets(), 0);
}

/// L6: an answer that came in one piece is heard of no further than its head, if that is enough.
#[test]
fn nothing_is_heard_of_an_exchange_that_was_broken_off() {
    let server = Server::saying(JSON);
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let exchange = world.begin(conn, &post("x"));
    world.unwanted = Some(exchange);
    world.until(exchange, |answer| answer.head.is_some());
    world.rest(Duration::from_millis(20));
    let answer = world.until(exchange, |_| true);
    assert!(answer.body.is_empty() && answer.end.is_none(), "{answer:?}");
    // It had been answered whole, so its socket is as good as any.
    assert!(world.ask(conn, &post("x")).is_whole());
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_head_that_comes_byte_by_byte_is_a_head() {
    let server = Server::new(|mut peer, _| {
        peer.request();
        for at in 0..JSON.len() {
            peer.say(&JSON[at..=at]);
            thread::sleep(Duration::from_micros(300));
        }
        peer.wait();
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let answer = world.ask(conn, &post("x"));
    assert_eq!((answer.status(), answer.text()), (200, "{}"));
}

#[test]
fn a_connection_that_ends_too_early_is_told_by_where_it_ended() {
    for (said, wanted) in [
        ("", ExchangeFault::CutHead),
        ("HTTP/1.1 200 OK\r\nContent-Le", ExchangeFault::CutHead),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", ExchangeFault::CutBody),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nha", ExchangeFault::CutBody),
    ] {
        let server = Server::new(move |mut peer, _| {
            peer.request();
            peer.say(said);
        });
        let mut world = World::new();
        let conn = world.connect(&server.url());
        let answer = world.ask(conn, &post("x"));
        assert_eq!(answer.error(), (wanted, Sent::Perhaps), "{said}");
        assert_eq!(world.sockets(), 0);
    }
}

#[test]
fn what_is_no_http_is_refused_and_its_head_is_bounded() {
    for said in
        ["SSH-2.0-x\r\n\r\n".to_owned(), format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(80_000))]
    {
        let server = Server::new(move |mut peer, _| {
            peer.request();
            peer.say(&said);
            peer.wait();
        });
        let mut world = World::new();
        let conn = world.connect(&server.url());
        let (fault, sent) = world.ask(conn, &post("x")).error();
        assert!(matches!(fault, ExchangeFault::BadHead { .. }), "{fault:?}");
        assert_eq!(sent, Sent::Perhaps);
        assert_eq!(world.sockets(), 0);
    }
}

/// A server may refuse a long request without reading it.
#[test]
fn an_answer_that_comes_before_the_request_was_read_counts() {
    let server = Server::new(|mut peer, _| {
        peer.say("HTTP/1.1 413 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        thread::sleep(Duration::from_millis(50));
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let answer = world.ask(conn, &post(&"x".repeat(4 << 20)));
    assert_eq!((answer.status(), answer.is_whole()), (413, true));
    assert_eq!(world.sockets(), 0);
}

#[test]
fn a_long_answer_comes_in_pieces_and_a_long_request_goes_out_whole() {
    let server = Server::new(|mut peer, _| {
        let request = peer.request().unwrap();
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        peer.say(&format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let sent: String = (0..3_000_000_u32).map(|at| char::from(b'a' + (at % 23) as u8)).collect();
    let answer = world.ask(conn, &post(&sent));
    assert!(answer.is_whole() && answer.text() == sent);
    assert!(answer.longest <= 64 * 1024, "{}", answer.longest);
}

/// F-074, C-OLD-03, F-080: a redirect or an endpoint event is followed only as the core says, and
/// only to the server itself.
#[test]
fn nothing_is_sent_to_another_origin() {
    let server = Server::saying(JSON);
    let foreign = Server::saying(JSON);
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let mut request = post("x");
    request.target = vec![foreign.url()];
    let origin = format!("http://{}", foreign.address);
    let wanted = (ExchangeFault::ForeignOrigin { origin }, Sent::Nothing);
    assert_eq!(world.ask(conn, &request).error(), wanted);
    assert_eq!((server.accepted(), foreign.accepted()), (0, 0));
    request.target = vec!["/elsewhere?x=1".into()];
    assert!(world.ask(conn, &request).is_whole());
}

/// C-LHTTP-01: the id is sent when asked for, and is in no fact.
#[test]
fn the_id_of_a_session_stays_with_the_driver() {
    let server = Server::new(|mut peer, _| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nMCP-Session-Id: s-1\r\nContent-Length: 0\r\n\r\n");
        while let Some(request) = peer.request() {
            let said = request.contains("mcp-session-id: s-1\r\n");
            peer.say(if said { JSON } else { "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n" });
        }
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let with = |session| {
        let mut request = post("x");
        request.session = session;
        request
    };
    let head = world.ask(conn, &with(SessionId::Keep)).head.unwrap();
    assert!(head.session && !format!("{head:?}").contains("s-1"));
    assert_eq!(world.ask(conn, &with(SessionId::Send)).status(), 200);
    assert_eq!(world.ask(conn, &with(SessionId::Ignore)).status(), 400);
    // Another attempt knows nothing of it.
    let other = world.connect(&server.url());
    assert_eq!(world.ask(other, &with(SessionId::Send)).status(), 400);
}

/// D45, G48: the session is that of the handshake.
#[test]
fn whatever_else_names_a_session_does_not_move_it() {
    let server = Server::new(|mut peer, _| {
        for number in 1.. {
            let Some(request) = peer.request() else { return };
            let sent = request.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
            let sent = sent.unwrap_or("none");
            peer.say(&format!(
                "HTTP/1.1 200 OK\r\nMcp-Session-Id: s-{number}\r\nContent-Length: {}\r\n\r\n{sent}",
                sent.len()
            ));
        }
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for (method, session, sent) in [
        (Method::Post, SessionId::Keep, "none"),
        (Method::Post, SessionId::Send, "s-1"),
        (Method::Get, SessionId::Send, "s-1"),
        (Method::Delete, SessionId::Send, "s-1"),
    ] {
        let answer = world.ask(conn, &HttpRequest { session, ..request(method, "") });
        assert_eq!(answer.text(), sent, "{method}");
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_deletion_has_no_body() {
    let server = Server::new(|mut peer, _| {
        let request = peer.request().unwrap();
        assert!(request.starts_with("DELETE /mcp ") && !request.contains("content-length"));
        peer.say("HTTP/1.1 405 No\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n");
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    let answer = world.ask(conn, &request(Method::Delete, ""));
    assert_eq!(answer.head.unwrap().header("allow"), Some("POST"));
}
