//! What makes an entry usable: the documented runtime's checks, in its order and words.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Transport;
use crate::error::Category;

/// One thing that makes an entry unusable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// What kind it is.
    pub category: Category,
    /// What is wrong, in the documented words.
    pub message: String,
}

/// Checks an entry after it was read: `kind` is its `type` if it has one; an empty `command` or
/// `url` is none. All that applies is returned; the messages are to be joined with `; `.
#[must_use]
pub fn validate(name: &str, kind: Option<&str>, command: &str, url: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |category, message| faults.push(Fault { category, message });
    let lacks = |other: &str| {
        if other.is_empty() { Category::MissingEndpoint } else { Category::TransportMismatch }
    };
    if !command.is_empty() && !url.is_empty() {
        fault(
            Category::ConflictingEndpoint,
            format!(
                "Server \"{name}\": both \"command\" and \"url\" are set - server should be \
                 either stdio (command) OR http/sse (url), not both"
            ),
        );
    }
    match kind {
        None | Some("stdio") => {
            if command.is_empty() {
                let message = format!("Server \"{name}\": stdio server requires \"command\" field");
                fault(lacks(url), message);
            }
        }
        Some(kind @ ("http" | "sse" | "remote")) => {
            if url.is_empty() {
                let message = format!("Server \"{name}\": {kind} server requires \"url\" field");
                fault(lacks(command), message);
            }
        }
        Some(kind) => {
            let foreign = ["ws", "websocket", "tcp"].iter().any(|k| kind.eq_ignore_ascii_case(k));
            let category =
                if foreign { Category::UnsupportedTransport } else { Category::UnknownTransport };
            fault(category, format!("Server \"{name}\": unknown server type \"{kind}\""));
        }
    }
    faults
}

/// What is to be said about an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Address {
    /// Nothing, or it has a variable in it and cannot be judged yet.
    Good,
    /// Others can read what is sent there.
    Insecure,
    /// It is for a transport that is not spoken.
    Unsupported,
    /// It is no address of a web server.
    Invalid,
}

/// Judges the address of a remote server. Only scheme, host and port count: what else is in an
/// address may be a secret and be hidden.
#[must_use]
pub fn address(url: &str) -> Address {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    let rest = rest.strip_prefix("//");
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let host_port = authority.and_then(|authority| authority.rsplit('@').next());
    if scheme.contains('$') || host_port.is_some_and(|host_port| host_port.contains('$')) {
        return Address::Good;
    }
    let secure = match scheme.to_ascii_lowercase().as_str() {
        "unix" | "pipe" | "ws" | "wss" if scheme.len() < url.len() => return Address::Unsupported,
        "https" => true,
        "http" => false,
        _ => return Address::Invalid,
    };
    match host_port.and_then(host) {
        None => Address::Invalid,
        Some(host) if secure || is_loopback(host) => Address::Good,
        Some(_) => Address::Insecure,
    }
}

/// The host of `host:port`, if it can be one.
fn host(host_port: &str) -> Option<&str> {
    let (host, port) = match host_port.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { after } else { after.strip_prefix(':')? })
        }
        None => host_port.split_once(':').unwrap_or((host_port, "")),
    };
    let refused = |c: char| c.is_whitespace() || c.is_control() || "<>\"^`{|}%".contains(c);
    let port_ok = port.is_empty() || port.parse::<u16>().is_ok();
    (!host.is_empty() && !host.contains(refused) && port_ok).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The headers that frame a message: one more of them makes another message of it.
const FRAMING: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Transport {
    /// What is wrong with a variable or a header that should not be written into a file: nothing
    /// could be given it, or it would say something else to who gets it. No value is told.
    #[must_use]
    pub fn unsendable(&self) -> Option<String> {
        match self {
            Self::Stdio(stdio) => {
                let faults = stdio.env.iter().map(|(name, value)| (name, variable(name, value)));
                told("env", faults)
            }
            Self::Http(remote) | Self::Sse(remote) | Self::Auto(remote) => {
                let faults = remote.headers.iter().map(|(name, value)| (name, header(name, value)));
                told("headers", faults)
            }
        }
    }
}

fn told<'a>(
    field: &str,
    mut faults: impl Iterator<Item = (&'a String, Option<&'static str>)>,
) -> Option<String> {
    faults.find_map(|(name, fault)| Some(format!("\"{field}.{name}\" {}", fault?)))
}

fn variable(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains('=') || name.contains(char::is_control) {
        Some("cannot be the name of a variable")
    } else if value.contains(|c: char| c.is_control() && !"\t\r\n".contains(c)) {
        Some("has a control character in its value")
    } else {
        None
    }
}

fn header(name: &str, value: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_part) {
        Some("cannot be the name of a header")
    } else if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
        Some("is a header that frames the message; the transport sets it")
    } else if value.contains(|c: char| c.is_control() && c != '\t') {
        Some("has a control character in its value")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(kind: Option<&str>, command: &str, url: &str) -> String {
        let faults = validate("n", kind, command, url);
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_documented_checks_have_the_documented_words_and_order() {
        let both = "Server \"n\": both \"command\" and \"url\" are set - server should be either \
                    stdio (command) OR http/sse (url), not both";
        assert_eq!(messages(None, "c", ""), "");
        assert_eq!(messages(Some("http"), "", "u"), "");
        assert_eq!(messages(Some("sse"), "", "u"), "");
        assert_eq!(messages(None, "c", "u"), both);
        assert_eq!(messages(Some("http"), "c", "u"), both);
        assert_eq!(
            messages(None, "", "u"),
            "Server \"n\": stdio server requires \"command\" field"
        );
        assert_eq!(messages(None, "", ""), "Server \"n\": stdio server requires \"command\" field");
        assert_eq!(
            messages(Some("sse"), "c", ""),
            "Server \"n\": sse server requires \"url\" field"
        );
        assert_eq!(
            messages(Some("pigeon"), "c", "u"),
            format!("{both}; Server \"n\": unknown server type \"pigeon\"")
        );
    }

    #[test]
    fn what_cannot_be_given_to_a_server_is_not_written_down() {
        for (name, value, bad) in [
            ("A", "multi\nline\tvalue", false),
            ("a.b-c", "", false),
            ("", "v", true),
            ("A=B", "v", true),
            ("A\u{1b}", "v", true),
            ("A", "\u{1b}[2J", true),
            ("A", "a\0b", true),
        ] {
            assert_eq!(variable(name, value).is_some(), bad, "{name:?} {value:?}");
        }
        for (name, value, bad) in [
            ("X-Key_1", "a b\tc", false),
            ("Authorization", "Bearer ${T}", false),
            ("X Y", "v", true),
            ("X:", "v", true),
            ("\u{e4}", "v", true),
            ("X", "v\r\nY: w", true),
            ("X", "v\u{7f}", true),
            ("Content-Length", "0", true),
            ("transfer-encoding", "chunked", true),
        ] {
            assert_eq!(header(name, value).is_some(), bad, "{name:?} {value:?}");
        }
    }

    #[test]
    fn addresses_are_judged_by_scheme_and_host() {
        for (url, wanted) in [
            ("https://a.example.com/mcp", Address::Good),
            ("HTTPS://a.example.com:8443", Address::Good),
            ("http://localhost:3000/mcp", Address::Good),
            ("http://127.0.0.1/", Address::Good),
            ("http://[::1]:8080/mcp", Address::Good),
            ("http://plain.example.com/mcp", Address::Insecure),
            ("http://localhost@evil.example.com/", Address::Insecure),
            ("https://user:<secret 1>@a.example.com/", Address::Good),
            ("${BASE}/mcp", Address::Good),
            ("${BASE:-https://a.example.com}/mcp", Address::Good),
            ("http://${HOST}:80/mcp", Address::Good),
            ("http://${USER}@plain.example.com/${PATH}", Address::Insecure),
            ("ws://a.example.com", Address::Unsupported),
            ("unix:/run/x.sock", Address::Unsupported),
            ("ftp://n.example.com/x", Address::Invalid),
            ("not a url", Address::Invalid),
            ("https://", Address::Invalid),
            ("https:///path", Address::Invalid),
            ("https://a b/", Address::Invalid),
            ("https://a:99999/", Address::Invalid),
            ("", Address::Invalid),
        ] {
            assert_eq!(address(url), wanted, "{url:?}");
        }
    }
}
