//! A request as bytes.

use tidegate_core::command::{HttpRequest, Method};
use ureq_proto::client::{Call, SendRequestResult, state};
use ureq_proto::http::{self, HeaderName, HeaderValue, Request, header};
use url::{Position, Url};

use super::origin::Origin;
use super::proxy::Proxy;

const USER_AGENT: &str = concat!("tidegate/", env!("CARGO_PKG_VERSION"));

/// A request, and what its answer is read with.
pub(super) struct Outgoing {
    /// The whole of it.
    pub(super) bytes: Vec<u8>,
    pub(super) call: Call<state::RecvResponse>,
}

/// Writes a request. Through a proxy it names the whole address, unless it goes through a
/// tunnel.
pub(super) fn outgoing(
    url: &Url,
    origin: &Origin,
    request: &HttpRequest,
    headers: Vec<(HeaderName, HeaderValue)>,
    proxy: Option<&Proxy>,
) -> Result<Outgoing, ureq_proto::Error> {
    let proxy = proxy.filter(|_| !origin.secure);
    let bad = |error: http::Error| ureq_proto::Error::BadHeader(error.to_string());
    let mut builder = Request::builder()
        .method(method(request.method))
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(header::HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(header::ACCEPT_ENCODING, "identity");
    if !headers.iter().any(|(name, _)| name == header::USER_AGENT) {
        builder = builder.header(header::USER_AGENT, USER_AGENT);
    }
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    if request.method == Method::Post {
        builder = builder.header(header::CONTENT_LENGTH, request.body.0.len());
    }
    if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
        builder = builder.header(header::PROXY_AUTHORIZATION, authorization);
    }
    let head = builder.body(()).map_err(bad)?;
    let lines: usize = head.headers().iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    let mut bytes = vec![0; lines + url.as_str().len() + 64];
    let mut call = Call::new(head)?.proceed();
    let count = call.write(&mut bytes)?;
    bytes.truncate(count);
    if proxy.is_some() {
        let at = method(request.method).as_str().len() + 1;
        bytes.splice(at..at, origin.to_string().into_bytes());
    }
    bytes.extend_from_slice(&request.body.0);
    let call = match call.proceed()? {
        Some(SendRequestResult::RecvResponse(call)) => call,
        Some(SendRequestResult::SendBody(mut call)) => {
            call.consume_direct_write(request.body.0.len())?;
            call.proceed().ok_or(ureq_proto::Error::OutputOverflow)?
        }
        Some(SendRequestResult::Await100(_)) | None => {
            return Err(ureq_proto::Error::OutputOverflow);
        }
    };
    Ok(Outgoing { bytes, call })
}

const fn method(method: Method) -> http::Method {
    match method {
        Method::Post => http::Method::POST,
        Method::Get => http::Method::GET,
        Method::Delete => http::Method::DELETE,
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::bytes::Bytes;
    use tidegate_core::command::SessionId;

    use super::*;

    fn written(url: &str, method: Method, body: &str, proxy: Option<&Proxy>) -> String {
        let url = Url::parse(url).unwrap();
        let origin = Origin::of(&url).unwrap();
        let request = HttpRequest {
            method,
            target: vec![],
            headers: vec![],
            session: SessionId::Ignore,
            body: Bytes(body.as_bytes().to_vec()),
        };
        let headers = vec![(header::ACCEPT, HeaderValue::from_static("text/event-stream"))];
        let outgoing = outgoing(&url, &origin, &request, headers, proxy).unwrap();
        String::from_utf8(outgoing.bytes).unwrap()
    }

    #[test]
    fn a_request_is_written_with_its_frame_and_its_body() {
        let post = written("http://a.example:81/m?x=`#y", Method::Post, "{}", None);
        let (head, body) = post.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "{}");
        let mut lines: Vec<&str> = head.lines().collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "POST /m?x=` HTTP/1.1",
                "accept-encoding: identity",
                "accept: text/event-stream",
                "content-length: 2",
                "host: a.example:81",
                &format!("user-agent: {USER_AGENT}"),
            ]
        );
        for method in [Method::Get, Method::Delete] {
            let bare = written("http://[::1]:9", method, "", None);
            assert!(
                bare.starts_with(&format!("{method} / HTTP/1.1\r\nhost: [::1]:9\r\n")),
                "{bare}"
            );
            assert!(bare.ends_with("\r\n\r\n") && !bare.contains("content-length"), "{bare}");
        }
    }

    /// F-076.
    #[test]
    fn a_proxy_is_told_the_whole_address_unless_it_only_passes_bytes_on() {
        let proxy = Proxy {
            host: url::Host::Domain("p".into()),
            port: 1,
            authorization: Some("Basic eA==".into()),
        };
        let plain = written("http://a.example/m?x", Method::Get, "", Some(&proxy));
        assert!(plain.starts_with("GET http://a.example/m?x HTTP/1.1\r\n"), "{plain}");
        assert!(plain.contains("proxy-authorization: Basic eA==\r\n"), "{plain}");
        let secure = written("https://a.example/m?x", Method::Get, "", Some(&proxy));
        assert!(secure.starts_with("GET /m?x HTTP/1.1\r\n"), "{secure}");
        assert!(!secure.contains("proxy-"), "{secure}");
    }
}
