//! One remote server: its address and headers, filled and checked, and the id of its session.
//!
//! Holds secrets, none of which is ever shown (G67).

use std::fmt;

use tidegate_core::command::{FilledRemote, HttpRequest, SessionId};
use tidegate_core::error::{ExchangeFault, OpenError};
use ureq_proto::http::{HeaderName, HeaderValue, Response};
use url::Url;

use super::origin::Origin;

/// What a definition cannot say in the protocol's place. Everything that begins with `mcp-`
/// belongs to it as well.
const OURS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const SESSION: &str = "mcp-session-id";

/// A remote server.
pub(super) struct Remote {
    url: Url,
    origin: Origin,
    headers: Vec<(HeaderName, HeaderValue)>,
    session: Option<HeaderValue>,
    /// How long a connection may take to be made, in milliseconds.
    pub(super) connect_ms: u64,
}

impl Remote {
    /// Checks what a definition says; also the headers of it that are not sent.
    pub(super) fn new(filled: &FilledRemote) -> Result<(Self, Vec<String>), OpenError> {
        let (url, origin) = address(&filled.url)?;
        let (mut headers, mut ignored) = (Vec::new(), Vec::new());
        for (name, value) in &filled.headers {
            let invalid = || OpenError::InvalidHeader { name: name.clone() };
            let known = HeaderName::try_from(name.trim()).map_err(|_| invalid())?;
            // The end of a line belongs to the file that a value comes from.
            let mut value =
                HeaderValue::from_bytes(value.trim().as_bytes()).map_err(|_| invalid())?;
            value.set_sensitive(true);
            let twice = headers.iter().any(|(other, _)| *other == known);
            if twice || known.as_str().starts_with("mcp-") || OURS.contains(&known.as_str()) {
                ignored.push(name.clone());
            } else {
                headers.push((known, value));
            }
        }
        let connect_ms = filled.connect_ms;
        Ok((Self { url, origin, headers, session: None, connect_ms }, ignored))
    }

    /// Where a request goes: each reference is resolved against what the ones before it lead to.
    pub(super) fn target(&self, references: &[String]) -> Result<Url, ExchangeFault> {
        let mut url = self.url.clone();
        for reference in references {
            url = url.join(reference).map_err(|error| ExchangeFault::BadHead {
                message: format!("the address it points to cannot be read: {error}"),
            })?;
        }
        match Origin::of(&url) {
            Some(origin) if origin == self.origin => {
                url.set_fragment(None);
                // Both fail only for addresses that have no host.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                Ok(url)
            }
            Some(origin) => Err(ExchangeFault::ForeignOrigin { origin: origin.to_string() }),
            None => Err(ExchangeFault::ForeignOrigin { origin: format!("{}:", url.scheme()) }),
        }
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Every header of a request but those about its connection and its body.
    pub(super) fn headers(&self, request: &HttpRequest) -> Vec<(HeaderName, HeaderValue)> {
        let mut all = Vec::with_capacity(request.headers.len() + self.headers.len() + 2);
        for (name, value) in &request.headers {
            // An id that a server gave an event may hold what cannot be sent.
            if let Ok(name) = HeaderName::try_from(name.as_str())
                && let Ok(value) = HeaderValue::from_bytes(value.as_bytes())
            {
                all.push((name, value));
            }
        }
        let said = all.len();
        for (name, value) in &self.headers {
            if !all.iter().take(said).any(|(other, _)| other == name) {
                all.push((name.clone(), value.clone()));
            }
        }
        if let (SessionId::Send, Some(session)) = (request.session, &self.session) {
            all.push((HeaderName::from_static(SESSION), session.clone()));
        }
        all
    }

    /// Keeps the id of the session that an answer begins, if it is to be kept; whether one is
    /// kept from here on.
    pub(super) fn hear(&mut self, session: SessionId, head: &Response<()>) -> bool {
        if session == SessionId::Keep {
            let id = head.headers().get(SESSION);
            let id = id.filter(|id| is_visible(id.as_bytes())).cloned();
            self.session = id.map(|mut id| {
                id.set_sensitive(true);
                id
            });
        }
        self.session.is_some()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remote({})", self.origin)
    }
}

fn is_visible(id: &[u8]) -> bool {
    !id.is_empty() && id.iter().all(u8::is_ascii_graphic)
}

/// An address that requests can be sent to.
fn address(written: &str) -> Result<(Url, Origin), OpenError> {
    let invalid = |message: &str| OpenError::InvalidAddress { message: message.into() };
    let url = Url::parse(written.trim()).map_err(|error| invalid(&error.to_string()))?;
    let origin = Origin::of(&url).ok_or_else(|| invalid("it is not http or https"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid(
            "it holds a user name, which belongs into \"headers\", as \"Authorization\": \
             \"Basic …\"",
        ));
    }
    Ok((url, origin))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tidegate_core::bytes::Bytes;
    use tidegate_core::command::Method;

    use super::*;

    fn filled(url: &str, headers: &[(&str, &str)]) -> FilledRemote {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        FilledRemote { url: url.into(), headers: headers.collect(), connect_ms: 1 }
    }

    fn remote(url: &str) -> Remote {
        Remote::new(&filled(url, &[])).unwrap().0
    }

    fn request(headers: &[(&str, &str)], session: SessionId) -> HttpRequest {
        HttpRequest {
            method: Method::Post,
            target: vec![],
            headers: headers.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
            session,
            body: Bytes(vec![]),
        }
    }

    #[test]
    fn only_addresses_that_requests_can_be_sent_to_are_taken() {
        for (url, says) in [
            ("ftp://a.example/", "http or https"),
            ("not an address", "relative URL"),
            ("http://user:hunter2@a.example/", "Authorization"),
            ("http://hunter2@a.example/", "Authorization"),
            ("http://", "host"),
        ] {
            let error = Remote::new(&filled(url, &[])).unwrap_err();
            assert!(matches!(error, OpenError::InvalidAddress { .. }), "{error:?}");
            let message = error.to_string();
            assert!(message.contains(says) && !message.contains("hunter2"), "{message}");
        }
    }

    /// G67: the error says which header it is, and not what is in it.
    #[test]
    fn a_header_that_could_smuggle_another_one_is_refused_by_its_name() {
        for (name, value) in [("X-Key", "a\r\nHost: b"), ("X Key", "a"), ("X-Key", "a\0b")] {
            let error = Remote::new(&filled("http://a.example", &[(name, value)])).unwrap_err();
            assert_eq!(error, OpenError::InvalidHeader { name: name.into() });
        }
        // What a file ends with is no part of a value.
        let (remote, _) =
            Remote::new(&filled("http://a.example", &[("X-Key", "secret\r\n")])).unwrap();
        assert_eq!(remote.headers(&request(&[], SessionId::Ignore))[0].1, "secret");
        assert!(!format!("{remote:?}{:?}", remote.headers).contains("secret"));
    }

    #[test]
    fn a_definition_says_nothing_in_the_protocols_place() {
        let own = [
            ("Authorization", "Bearer x"),
            ("CONTENT-TYPE", "text/plain"),
            ("Mcp-Session-Id", "mine"),
            ("X-Own", "1"),
            ("authorization", "Bearer y"),
            ("host", "b.example"),
        ];
        let (remote, mut ignored) = Remote::new(&filled("http://a.example", &own)).unwrap();
        ignored.sort();
        assert_eq!(ignored, ["CONTENT-TYPE", "Mcp-Session-Id", "authorization", "host"]);
        let sent = remote.headers(&request(&[("X-Own", "2")], SessionId::Send));
        let sent: BTreeMap<_, _> =
            sent.iter().map(|(n, v)| (n.as_str(), v.to_str().unwrap())).collect();
        assert_eq!(sent, BTreeMap::from([("authorization", "Bearer x"), ("x-own", "2")]));
    }

    /// C-OLD-03, F-074.
    #[test]
    fn references_are_resolved_in_order_and_never_leave_the_origin() {
        let remote = remote("http://a.example/base/mcp?x=1");
        let target = |references: &[&str]| {
            let references: Vec<String> = references.iter().map(|it| (*it).into()).collect();
            remote.target(&references)
        };
        for (references, wanted) in [
            (&[][..], "http://a.example/base/mcp?x=1"),
            (&["/messages?s=2"], "http://a.example/messages?s=2"),
            (&["other"], "http://a.example/base/other"),
            (&["http://A.example:80/abs#part"], "http://a.example/abs"),
            (&["/one/", "two"], "http://a.example/one/two"),
            (&["http://u:p@a.example/"], "http://a.example/"),
        ] {
            assert_eq!(target(references).unwrap().as_str(), wanted);
        }
        for (reference, origin) in [
            ("http://b.example/", "http://b.example"),
            ("https://a.example/", "https://a.example"),
            ("//c.example:8/x", "http://c.example:8"),
            ("http://0.0.0.0:1/msg", "http://0.0.0.0:1"),
            ("file:///etc/passwd", "file:"),
            ("javascript:alert(1)", "javascript:"),
        ] {
            let fault = ExchangeFault::ForeignOrigin { origin: origin.into() };
            assert_eq!(target(&[reference]), Err(fault));
        }
        assert!(matches!(target(&["http://[::"]), Err(ExchangeFault::BadHead { .. })));
    }

    /// C-LHTTP-01.
    #[test]
    fn the_id_of_a_session_is_kept_and_sent_only_when_asked_for() {
        let mut remote = remote("http://a.example");
        let answer = |id: &[u8]| {
            let id = HeaderValue::from_bytes(id).unwrap();
            Response::builder().header("MCP-Session-Id", id).body(()).unwrap()
        };
        let sent = |remote: &Remote, session| {
            let sent = remote.headers(&request(&[], session)).pop();
            sent.map(|(_, value)| value.to_str().unwrap().to_owned())
        };
        assert!(!remote.hear(SessionId::Ignore, &answer(b"abc")));
        assert!(remote.hear(SessionId::Keep, &answer(b"abc")));
        assert!(remote.hear(SessionId::Send, &answer(b"other")));
        assert_eq!(sent(&remote, SessionId::Send).as_deref(), Some("abc"));
        assert_eq!(sent(&remote, SessionId::Keep), None);
        for bad in [&b"a b"[..], b"", b"a\xff"] {
            assert!(remote.hear(SessionId::Keep, &answer(b"abc")));
            assert!(!remote.hear(SessionId::Keep, &answer(bad)));
        }
        assert!(!remote.hear(SessionId::Keep, &Response::new(())));
    }
}
