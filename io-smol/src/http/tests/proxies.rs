//! Through a proxy, or past it.

use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use tidegate_core::error::{ConnectStep, ExchangeFault, Sent};

use super::secured::{Authority, secure};
use super::server::Server;
use super::world::{World, post};
use crate::http::network::Network;

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A network with this proxy for everything.
fn through(proxy: &Server, except: &str) -> Network {
    let address = format!("http://user:secret@{}", proxy.address);
    let except = except.to_owned();
    Network::of(move |name| match name {
        "ALL_PROXY" => Some(address.clone()),
        "NO_PROXY" => Some(except.clone()),
        _ => None,
    })
    .with_loopback_proxied()
}

/// A proxy that opens tunnels, and what it was asked.
fn tunnels() -> (Server, Receiver<String>) {
    let (tell, told) = channel();
    let proxy = Server::new(move |mut peer, _| {
        let request = peer.request().unwrap();
        let to = request.split(' ').nth(1).unwrap().to_owned();
        let _ = tell.send(request);
        // Wherever a name leads, it leads to this machine.
        let port = to.rsplit(':').next().unwrap().parse::<u16>().unwrap();
        let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        peer.say("HTTP/1.1 200 Connection established\r\n\r\n");
        let (mut from, mut into) = (server.try_clone().unwrap(), peer.stream.try_clone().unwrap());
        thread::spawn(move || io::copy(&mut from, &mut into));
        let mut server = server;
        let _ = io::copy(&mut peer.stream, &mut server);
    });
    (proxy, told)
}

/// F-076.
#[test]
fn a_plain_request_is_given_to_the_proxy_whole() {
    let proxy = Server::new(|mut peer, _| {
        while let Some(request) = peer.request() {
            assert!(request.starts_with("POST http://far.example/mcp HTTP/1.1\r\n"), "{request}");
            assert!(request.contains("host: far.example\r\n"), "{request}");
            assert!(request.contains("proxy-authorization: Basic dXNlcjpzZWNyZXQ=\r\n"));
            peer.say(EMPTY);
        }
    });
    let mut world = World::with(through(&proxy, ""));
    let conn = world.connect("http://far.example/mcp");
    for _ in 0..2 {
        assert!(world.ask(conn, &post("x")).is_whole());
    }
    assert_eq!(proxy.accepted(), 1);
}

/// F-076.
#[test]
fn what_is_excepted_goes_past_the_proxy() {
    let proxy = Server::saying(EMPTY);
    let server = Server::saying(EMPTY);
    let mut world = World::with(through(&proxy, "127.0.0.1,localhost"));
    for url in [server.url(), format!("http://localhost:{}/", server.address.port())] {
        let conn = world.connect(&url);
        assert!(world.ask(conn, &post("x")).is_whole());
    }
    assert_eq!((proxy.accepted(), server.accepted()), (0, 2));
}

/// F-076.
#[test]
fn what_is_on_this_machine_goes_past_the_proxy() {
    let proxy = format!("http://{}", Server::saying(EMPTY).address);
    let server = Server::saying(EMPTY);
    let network = Network::of(move |name| (name == "http_proxy").then(|| proxy.clone()));
    let mut world = World::with(network);
    let conn = world.connect(&server.url());
    assert!(world.ask(conn, &post("x")).is_whole());
    assert_eq!(server.accepted(), 1);
}

/// F-076.
#[test]
fn an_encrypted_request_goes_through_a_tunnel() {
    let authority = Authority::new();
    let server = secure(&authority, "far.example", EMPTY);
    let (proxy, told) = tunnels();
    let network = through(&proxy, "").with_ca_file(authority.file());
    let mut world = World::with(network);
    let conn = world.connect(&format!("https://far.example:{}/mcp", server.address.port()));
    let answer = world.ask(conn, &post("x"));
    assert!(answer.is_whole(), "{answer:?}");
    let asked = told.recv().unwrap();
    assert!(asked.starts_with(&format!("CONNECT far.example:{}", server.address.port())));
    assert!(asked.contains("Proxy-Authorization: Basic "), "{asked}");
}

#[test]
fn a_proxy_that_refuses_is_named_and_nothing_was_sent() {
    for (said, says) in [
        ("HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n", "407"),
        ("HTTP/1.1 403 No\r\n\r\n", "403"),
        ("nonsense\r\n\r\n", "HTTP"),
        ("", "hung up"),
    ] {
        let proxy = Server::new(move |mut peer, _| {
            peer.request();
            peer.say(said);
        });
        let mut world = World::with(through(&proxy, ""));
        let conn = world.connect("https://far.example/");
        let (fault, sent) = world.ask(conn, &post("x")).error();
        let ExchangeFault::Connect { step: ConnectStep::Proxy, message } = fault else {
            unreachable!("{fault:?}");
        };
        assert!(message.contains(says) && message.contains(&proxy.address.to_string()));
        assert!(!message.contains("secret"));
        assert_eq!((sent, world.sockets()), (Sent::Nothing, 0));
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let proxy = address.clone();
    let network = Network::of(move |name| (name == "http_proxy").then(|| proxy.clone()));
    let mut world = World::with(network);
    let conn = world.connect("http://far.example/");
    let (fault, sent) = world.ask(conn, &post("x")).error();
    let ExchangeFault::Connect { step: ConnectStep::Proxy, message } = fault else {
        unreachable!("{fault:?}");
    };
    assert!(message.contains(&address), "{message}");
    assert_eq!(sent, Sent::Nothing);
}
