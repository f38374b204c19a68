//! When sockets are made, used again and ended.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use tidegate_core::error::{ConnectStep, ExchangeFault, Sent};

use super::server::Server;
use super::world::{World, get, post};

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn one_socket_serves_one_request_after_the_other() {
    let server = Server::saying(EMPTY);
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for _ in 0..5 {
        assert!(world.ask(conn, &post("x")).is_whole());
    }
    // Another server at the same place shares it.
    let other = world.connect(&server.url());
    assert!(world.ask(other, &post("x")).is_whole());
    assert_eq!((server.accepted(), world.sockets()), (1, 0));
}

#[test]
fn requests_at_once_have_a_socket_each_and_later_ones_share_those() {
    let barrier = Arc::new(Barrier::new(8));
    let server = Server::new(move |mut peer, _| {
        while peer.request().is_some() {
            barrier.wait();
            peer.say(EMPTY);
        }
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for _ in 0..3 {
        let all: Vec<_> = (0..8).map(|_| world.begin(conn, &post("x"))).collect();
        for exchange in all {
            assert!(world.end_of(exchange).is_whole());
        }
    }
    assert_eq!(server.accepted(), 8);
}

/// Aborting frees everything at once, also when the peer is silent.
#[test]
fn a_hundred_silent_streams_are_gone_at_once() {
    // A backlog that nobody accepts from: the peer is the kernel.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut world = World::new();
    let conn = world.connect(&url);
    let streams: Vec<_> = (0..100).map(|_| world.begin(conn, &get())).collect();
    world.rest(Duration::from_millis(50));
    assert_eq!(world.sockets(), 100);
    for stream in streams.into_iter().step_by(2) {
        world.abort(conn, stream);
    }
    assert_eq!(world.sockets(), 50);
    world.kill(conn);
    assert_eq!((world.sockets(), world.http.next_due()), (0, None));
    // Each of them ends for its peer, too.
    for _ in 0..100 {
        let (mut peer, _) = listener.accept().unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        peer.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn an_idle_socket_that_was_closed_is_not_used() {
    let served = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&served);
    let server = Server::new(move |mut peer, _| {
        // Says nothing of it and hangs up after one answer.
        peer.request();
        counter.fetch_add(1, Ordering::SeqCst);
        peer.say(EMPTY);
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for _ in 0..3 {
        assert!(world.ask(conn, &post("x")).is_whole());
        world.rest(Duration::from_millis(30));
    }
    assert_eq!((server.accepted(), served.load(Ordering::SeqCst)), (3, 3));
}

/// The server hangs up while the request is under way: nobody knows whether it was carried out.
#[test]
fn a_request_that_may_have_been_carried_out_is_made_again_only_if_that_does_no_harm() {
    let serve = |mut peer: super::server::Peer, number: usize| {
        peer.request();
        peer.say(EMPTY);
        if number == 0 {
            peer.request();
            return;
        }
        while peer.request().is_some() {
            peer.say(EMPTY);
        }
    };
    let server = Server::new(serve);
    let mut world = World::new();
    let conn = world.connect(&server.url());
    assert!(world.ask(conn, &post("x")).is_whole());
    assert_eq!(world.ask(conn, &post("x")).error(), (ExchangeFault::CutHead, Sent::Perhaps));
    assert_eq!(server.accepted(), 1);
    let server = Server::new(serve);
    let conn = world.connect(&server.url());
    assert!(world.ask(conn, &post("x")).is_whole());
    assert!(world.ask(conn, &get()).is_whole());
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_socket_is_not_kept_longer_than_its_server_says() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n");
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for _ in 0..2 {
        assert!(world.ask(conn, &post("x")).is_whole());
    }
    assert_eq!(server.accepted(), 2);
    assert!(world.http.next_due().is_none());
}

#[test]
fn idle_sockets_end_with_the_last_server_at_their_place() {
    let server = Server::saying(EMPTY);
    let mut world = World::new();
    let [one, other] = [(); 2].map(|()| world.connect(&server.url()));
    assert!(world.ask(one, &post("x")).is_whole());
    world.kill(one);
    assert!(world.ask(other, &post("x")).is_whole());
    assert_eq!(server.accepted(), 1);
    world.kill(other);
    let third = world.connect(&server.url());
    assert!(world.ask(third, &post("x")).is_whole());
    assert_eq!(server.accepted(), 2);
}

#[test]
fn an_answer_with_more_than_it_announced_spoils_its_socket() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc");
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for _ in 0..2 {
        let answer = world.ask(conn, &post("x"));
        assert_eq!((answer.text(), answer.is_whole()), ("a", true));
    }
    assert_eq!(server.accepted(), 2);
}

#[test]
fn where_nothing_listens_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let mut world = World::new();
    let conn = world.connect(&url);
    let fault = ExchangeFault::Connect { step: ConnectStep::Refused, message: String::new() };
    assert_eq!(world.ask(conn, &post("x")).error(), (fault, Sent::Nothing));
}

#[test]
fn a_name_that_nobody_has_is_told_as_such() {
    let mut world = World::new();
    let conn = world.connect("http://nobody.invalid/");
    let (fault, sent) = world.ask(conn, &post("x")).error();
    assert!(
        matches!(fault, ExchangeFault::Connect { step: ConnectStep::Resolve, .. }),
        "{fault:?}"
    );
    assert_eq!(sent, Sent::Nothing);
}

/// A peer that accepts and never agrees on the encryption.
#[test]
fn a_connection_that_is_not_made_in_time_is_given_up() {
    let server = Server::new(|mut peer, _| peer.wait());
    let mut world = World::new();
    let url = format!("https://{}/", server.address);
    let conn = world.connect_within(&url, 150);
    let wanted = (ExchangeFault::TimedOut { limit_ms: 150 }, Sent::Nothing);
    assert_eq!(world.ask(conn, &post("x")).error(), wanted);
    assert_eq!(world.sockets(), 0);
}

/// `localhost` is whichever of the two its server listens at.
#[test]
fn localhost_is_found_in_either_family() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if TcpListener::bind(address).is_err() {
            // A machine without that family.
            continue;
        }
        let server = Server::at(address, |mut peer, _| {
            while let Some(request) = peer.request() {
                assert!(request.contains("host: localhost:"), "{request}");
                peer.say(EMPTY);
            }
        });
        let mut world = World::new();
        let conn = world.connect(&format!("http://localhost:{}/", server.address.port()));
        assert!(world.ask(conn, &post("x")).is_whole(), "{address}");
    }
}

#[test]
fn an_abort_on_the_way_to_a_connection_leaves_nothing() {
    let server = Server::new(|mut peer, _| {
        thread::sleep(Duration::from_millis(20));
        peer.wait();
    });
    let mut world = World::new();
    for url in
        [server.url(), "http://nobody.invalid/".into(), format!("https://{}/", server.address)]
    {
        let conn = world.connect(&url);
        let exchange = world.begin(conn, &post("x"));
        world.abort(conn, exchange);
        world.rest(Duration::from_millis(60));
        assert_eq!(world.sockets(), 0, "{url}");
    }
    assert!(world.http.next_due().is_none());
}

/// L9, L10: whatever became of them.
#[test]
fn many_exchanges_leave_nothing_behind() {
    let server = Server::new(|mut peer, number| {
        while peer.request().is_some() {
            match number % 5 {
                0 => return,
                1 => return peer.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf"),
                2 => return peer.say("nonsense\r\n\r\n"),
                3 => return peer.say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole"),
                _ => peer.say(EMPTY),
            }
        }
    });
    let mut world = World::new();
    let conn = world.connect(&server.url());
    for round in 0..40 {
        let some: Vec<_> = (0..10)
            .map(|at| world.begin(conn, &if at % 3 == 0 { get() } else { post("x") }))
            .collect();
        for (at, exchange) in some.into_iter().enumerate() {
            if (at + round) % 4 == 0 {
                world.abort(conn, exchange);
            } else {
                world.end_of(exchange);
            }
        }
    }
    world.kill(conn);
    assert!(world.http.exchanges.is_empty() && world.http.owners.is_empty());
    assert!(world.http.timers.is_empty() && world.http.remotes.is_empty());
    assert_eq!(world.http.next_due(), None);
}

/// Two hundred idle servers with open streams in 30 MiB, the machine's part included.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "measures the whole process: it has to be alone in it"]
fn an_idle_stream_takes_a_few_kib() {
    const STREAMS: usize = 400;
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    // Answers without a thread for each: what is measured is the driver's side.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n: hi\n\r\n";
    thread::spawn(move || {
        let mut peers = Vec::with_capacity(STREAMS);
        for mut peer in listener.incoming().map_while(Result::ok) {
            let _ = peer.write_all(answer.as_bytes());
            peers.push(peer);
        }
    });
    let mut world = World::new();
    let conn = world.connect(&url);
    let open = |world: &mut World| {
        let stream = world.begin(conn, &get());
        world.until(stream, |answer| !answer.body.is_empty());
    };
    // What the first one takes is there once.
    open(&mut world);
    let before = resident();
    for _ in 0..STREAMS {
        open(&mut world);
    }
    let each = (resident() - before) / STREAMS;
    println!("{each} bytes a stream");
    assert!(each < 16 * 1024, "{each} bytes a stream");
}
