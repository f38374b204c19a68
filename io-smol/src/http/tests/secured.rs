//! Encrypted connections, and whom they trust.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;
use tidegate_core::error::{ConnectStep, ExchangeFault, Sent};

use super::server::Server;
use super::world::{World, post};
use crate::http::network::Network;

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Somebody who signs certificates.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Authority {
    pub(super) fn new() -> Self {
        Self::named("somebody")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Self { issuer, dir: TempDir::new().unwrap() };
        std::fs::write(authority.file(), authority.issuer.pem()).unwrap();
        authority
    }

    /// The file with its certificate.
    pub(super) fn file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    fn config(&self, name: &str) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}

/// A server with a certificate of this name, that says the same to every request, and hangs up
/// without a word if that has no length.
pub(super) fn secure(authority: &Authority, name: &str, answer: &'static str) -> Server {
    let config = authority.config(name);
    Server::new(move |peer, _| {
        let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(tls, peer.stream);
        let mut text = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(count) = stream.read(&mut piece)
            && count > 0
        {
            text.extend_from_slice(&piece[..count]);
            // Every request of these tests ends in its body, one x.
            if text.ends_with(b"\r\n\r\nx") {
                text.clear();
                let _ = stream.write_all(answer.as_bytes());
                if !answer.contains("Content-Length") {
                    return;
                }
            }
        }
    })
}

fn local(server: &Server) -> String {
    format!("https://localhost:{}/mcp", server.address.port())
}

#[test]
fn a_certificate_of_a_known_authority_is_trusted_and_its_socket_used_again() {
    let authority = Authority::new();
    let server = secure(&authority, "localhost", EMPTY);
    let mut world = World::with(Network::direct().with_ca_file(authority.file()));
    let conn = world.connect(&local(&server));
    for _ in 0..3 {
        let answer = world.ask(conn, &post("x"));
        assert!(answer.is_whole(), "{answer:?}");
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_long_body_comes_through_whole() {
    let authority = Authority::new();
    let body = "y".repeat(1_000_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = secure(&authority, "localhost", Box::leak(answer.into_boxed_str()));
    let mut world = World::with(Network::direct().with_ca_file(authority.file()));
    let conn = world.connect(&local(&server));
    let answer = world.ask(conn, &post("x"));
    assert!(answer.is_whole() && answer.text() == body);
}

#[test]
fn nobody_else_is_trusted_and_nothing_was_sent() {
    let (known, unknown) = (Authority::new(), Authority::named("nobody"));
    for (server, says) in [
        (secure(&unknown, "localhost", EMPTY), "--ca-file"),
        (secure(&known, "other.example", EMPTY), "certificate"),
    ] {
        let mut world = World::with(Network::direct().with_ca_file(known.file()));
        let conn = world.connect(&local(&server));
        let (fault, sent) = world.ask(conn, &post("x")).error();
        let ExchangeFault::Connect { step: ConnectStep::Tls, message } = fault else {
            unreachable!("{fault:?}");
        };
        assert!(message.contains(says), "{message}");
        assert_eq!((sent, world.sockets()), (Sent::Nothing, 0));
    }
}

#[test]
fn a_file_of_certificates_that_cannot_be_read_is_named() {
    let authority = Authority::new();
    let server = secure(&authority, "localhost", EMPTY);
    let empty = authority.dir.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for file in [empty, authority.dir.path().join("missing.pem")] {
        let mut world = World::with(Network::direct().with_ca_file(&file));
        let conn = world.connect(&local(&server));
        let (fault, _) = world.ask(conn, &post("x")).error();
        let ExchangeFault::Connect { step: ConnectStep::Tls, message } = fault else {
            unreachable!("{fault:?}");
        };
        assert!(message.contains(&file.display().to_string()), "{message}");
    }
}

/// Without a length only the end of the encryption says that nothing was cut off.
#[test]
fn a_body_that_ends_without_saying_so_is_cut() {
    let authority = Authority::new();
    let server = secure(&authority, "localhost", "HTTP/1.1 200 OK\r\n\r\nhalf");
    let mut world = World::with(Network::direct().with_ca_file(authority.file()));
    let conn = world.connect(&local(&server));
    let answer = world.ask(conn, &post("x"));
    assert_eq!(answer.text(), "half");
    assert_eq!(answer.error(), (ExchangeFault::CutBody, Sent::Perhaps));
    assert_eq!(world.sockets(), 0);
}
