//! Which requests go through a proxy, and through which one.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use super::origin::Origin;

/// The proxies of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Result<Proxy, Unusable>>,
    https: Option<Result<Proxy, Unusable>>,
    except: Vec<Exception>,
    /// Whether they are used even for what is on this machine.
    loopback: bool,
}

/// One proxy, spoken to in plain HTTP.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Proxy {
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
    /// What is sent as `Proxy-Authorization`.
    pub(crate) authorization: Option<String>,
}

/// A proxy that cannot be used, in words that name the variable and not its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Unusable(pub(crate) String);

/// Where no proxy is used.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Exception {
    whom: Whom,
    port: Option<u16>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Whom {
    Everybody,
    /// A domain and everything below it.
    Domain(String),
    /// The addresses that begin with so many bits of this one.
    Network(IpAddr, u8),
}

impl Proxies {
    /// The proxies of an environment (F-076). Lower case goes first, as elsewhere; a variable
    /// that is empty says nothing.
    pub(crate) fn of(find: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| {
            let names = [name.to_owned(), name.to_uppercase()];
            names.into_iter().find_map(|name| {
                let value = find(&name)?.trim().to_owned();
                (!value.is_empty()).then_some((name, value))
            })
        };
        let proxy =
            |name| find(name).or_else(|| find("all_proxy")).map(|(n, v)| Proxy::read(&n, &v));
        let except = find("no_proxy").map(|(_, list)| list).unwrap_or_default();
        let except = except.split([',', ' ']).filter_map(Exception::read).collect();
        Self { http: proxy("http_proxy"), https: proxy("https_proxy"), except, loopback: false }
    }

    /// Even for what is on this machine.
    pub(crate) fn everywhere(&mut self) {
        self.loopback = true;
    }

    /// The proxy that requests to an origin go through, if it is one. Unless that is asked for,
    /// none to this machine: from elsewhere its loopback leads to another machine's, and whoever
    /// sets a proxy for the world outside rarely thinks of the server beside it.
    pub(crate) fn to(&self, origin: &Origin) -> Result<Option<&Proxy>, Unusable> {
        if !self.loopback && is_loopback(&origin.host) {
            return Ok(None);
        }
        let proxy = if origin.secure { &self.https } else { &self.http };
        match proxy {
            Some(proxy) if !self.except.iter().any(|it| it.holds(origin)) => {
                proxy.as_ref().map(Some).map_err(Clone::clone)
            }
            Some(_) | None => Ok(None),
        }
    }
}

impl Proxy {
    fn read(variable: &str, value: &str) -> Result<Self, Unusable> {
        let whole = if value.contains("://") { value.into() } else { format!("http://{value}") };
        let url = Url::parse(&whole).map_err(|_| Unusable(format!("{variable} is no address")))?;
        if url.scheme() != "http" {
            let scheme = url.scheme();
            let message =
                format!("{variable} is a proxy of the kind {scheme}, and only http is spoken");
            return Err(Unusable(message));
        }
        let Some(host) = url.host() else {
            return Err(Unusable(format!("{variable} is no address")));
        };
        let decoded = |part: &str| percent_decode_str(part).collect::<Vec<u8>>();
        let has_user = !url.username().is_empty() || url.password().is_some();
        let authorization = has_user.then(|| {
            let mut pair = decoded(url.username());
            pair.push(b':');
            pair.extend(decoded(url.password().unwrap_or_default()));
            format!("Basic {}", BASE64_STANDARD.encode(pair))
        });
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { host: host.to_owned(), port, authorization })
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl Exception {
    /// `*`, `example.com`, `.example.com`, `127.0.0.1`, `10.0.0.0/8`, `[::1]`, each of them with
    /// a port or without.
    fn read(written: &str) -> Option<Self> {
        if written.is_empty() {
            return None;
        }
        if written == "*" {
            return Some(Self { whom: Whom::Everybody, port: None });
        }
        if let Some(whom) = Whom::network(written) {
            return Some(Self { whom, port: None });
        }
        let (host, port) = match written.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (written, None),
        };
        let whom = Whom::network(host.trim_matches(['[', ']'])).unwrap_or_else(|| {
            let domain = host.trim_start_matches("*.").trim_matches('.');
            Whom::Domain(domain.to_ascii_lowercase())
        });
        Some(Self { whom, port })
    }

    fn holds(&self, origin: &Origin) -> bool {
        self.port.is_none_or(|port| port == origin.port) && self.whom.holds(&origin.host)
    }
}

impl Whom {
    fn network(written: &str) -> Option<Self> {
        let written = written.trim_matches(['[', ']']);
        let (address, bits) = match written.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (written, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        Some(Self::Network(address, bits.unwrap_or(most).min(most)))
    }

    fn holds(&self, host: &Host<String>) -> bool {
        match (self, host) {
            (Self::Everybody, _) => true,
            (Self::Domain(domain), Host::Domain(name)) => name
                .strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
            (Self::Network(IpAddr::V4(net), bits), Host::Ipv4(address)) => {
                shared(u32::from(*net).into(), u32::from(*address).into(), *bits, 32)
            }
            (Self::Network(IpAddr::V6(net), bits), Host::Ipv6(address)) => {
                shared((*net).into(), (*address).into(), *bits, 128)
            }
            (Self::Domain(_), Host::Ipv4(_) | Host::Ipv6(_)) | (Self::Network(..), _) => false,
        }
    }
}

/// Whether a host is this machine, by its address or by a name that is never another one's
/// (RFC 6761, 6.3).
fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.to_canonical().is_loopback(),
    }
}

/// Whether two addresses of so many bits begin alike.
fn shared(one: u128, other: u128, bits: u8, of: u8) -> bool {
    bits == 0 || (one ^ other) >> (of - bits) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        Proxies::of(|name| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()))
    }

    fn to(proxies: &Proxies, url: &str) -> Option<String> {
        let origin = Origin::of(&Url::parse(url).unwrap()).unwrap();
        proxies.to(&origin).unwrap().map(ToString::to_string)
    }

    /// F-076.
    #[test]
    fn each_scheme_has_its_proxy_and_lower_case_goes_first() {
        let some = proxies(&[
            ("HTTP_PROXY", "http://upper:1"),
            ("http_proxy", "lower:2"),
            ("HTTPS_PROXY", "http://secure:3"),
        ]);
        assert_eq!(to(&some, "http://x.example").as_deref(), Some("lower:2"));
        assert_eq!(to(&some, "https://x.example").as_deref(), Some("secure:3"));
        let all = proxies(&[("ALL_PROXY", "any"), ("http_proxy", " ")]);
        assert_eq!(to(&all, "http://x.example").as_deref(), Some("any:80"));
        assert_eq!(to(&proxies(&[]), "http://x.example"), None);
    }

    /// F-076.
    #[test]
    fn what_is_excepted_goes_through_no_proxy() {
        let list =
            "localhost,127.0.0.0/8, [::1],.corp.example,one.example:81,192.168.1.7,*.wild.example";
        let some = proxies(&[("http_proxy", "p:1"), ("NO_PROXY", list)]);
        for direct in [
            "http://localhost:5",
            "http://127.9.9.9",
            "http://[::1]:7",
            "http://corp.example",
            "http://a.b.CORP.example",
            "http://one.example:81",
            "http://192.168.1.7",
            "http://a.wild.example",
        ] {
            assert_eq!(to(&some, direct), None, "{direct}");
        }
        for through in [
            "http://xcorp.example",
            "http://one.example",
            "http://192.168.1.8",
            "http://128.0.0.1",
            "http://[::2]",
        ] {
            assert!(to(&some, through).is_some(), "{through}");
        }
        let none = proxies(&[("http_proxy", "p:1"), ("no_proxy", "*")]);
        assert_eq!(to(&none, "http://x.example"), None);
    }

    /// F-076: what is on this machine is asked directly, whatever `NO_PROXY` says.
    #[test]
    fn this_machine_is_asked_without_a_proxy_unless_that_is_wanted() {
        let mut some = proxies(&[("all_proxy", "p:1"), ("no_proxy", "x.example")]);
        let here = [
            "http://localhost:5",
            "https://LOCALHOST.",
            "http://app.localhost",
            "http://127.9.9.9",
            "http://[::1]:7",
            "http://[::ffff:127.0.0.1]",
        ];
        let elsewhere = ["http://localhost.example", "http://128.0.0.1", "http://0.0.0.0"];
        assert!(here.iter().all(|url| to(&some, url).is_none()));
        assert!(elsewhere.iter().all(|url| to(&some, url).is_some()));
        some.everywhere();
        assert!(here.iter().all(|url| to(&some, url).is_some()));
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_told_by_its_variable_without_its_value() {
        for value in ["socks5://user:secret@p:1", "https://user:secret@p", "http://user:secret@:x"]
        {
            let some = proxies(&[("https_proxy", value)]);
            let origin = Origin::of(&Url::parse("https://x.example").unwrap()).unwrap();
            let Unusable(message) = some.to(&origin).unwrap_err();
            assert!(message.starts_with("https_proxy is "), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    /// G67.
    #[test]
    fn the_user_of_a_proxy_is_sent_and_never_shown() {
        let some = proxies(&[("http_proxy", "http://us%65r:p%40ss@p:1")]);
        assert!(!format!("{some:?}").contains("p@ss"));
        let proxy = some.http.unwrap().unwrap();
        let encoded = BASE64_STANDARD.encode("user:p@ss");
        assert_eq!(proxy.authorization, Some(format!("Basic {encoded}")));
    }
}
