//! What makes an entry usable: the documented runtime's checks, in its order and words.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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
