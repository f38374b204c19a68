//! Where a request goes: scheme, host and port, which requests to one server share.

use std::fmt;

use url::{Host, Url};

/// Scheme, host and port of an `http` or `https` address.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Origin {
    /// Whether what is sent there is encrypted.
    pub(crate) secure: bool,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

impl Origin {
    /// The origin of an address; `None` if its scheme is neither `http` nor `https`.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let secure = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        Some(Self { secure, host: url.host()?.to_owned(), port: url.port_or_known_default()? })
    }

    /// Host and port as a proxy is asked for them.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// As a browser shows it: without the port that goes with the scheme.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.secure { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == usual { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Option<Origin> {
        Origin::of(&Url::parse(url).unwrap())
    }

    #[test]
    fn addresses_with_the_same_scheme_host_and_port_are_of_one_origin() {
        assert_eq!(origin("http://A.example/x"), origin("http://a.example:80/y?z"));
        assert_ne!(origin("http://a.example/"), origin("https://a.example/"));
        assert_ne!(origin("http://a.example/"), origin("http://a.example:81/"));
        assert_eq!(origin("ftp://a.example/"), None);
        assert_eq!(origin("data:x"), None);
    }

    #[test]
    fn an_origin_is_shown_as_it_is_written() {
        for (url, shown, authority) in [
            ("http://a.example/x", "http://a.example", "a.example:80"),
            ("https://a.example:8443", "https://a.example:8443", "a.example:8443"),
            ("http://[::1]:9/", "http://[::1]:9", "[::1]:9"),
        ] {
            let origin = origin(url).unwrap();
            assert_eq!(
                (origin.to_string().as_str(), origin.authority().as_str()),
                (shown, authority)
            );
        }
    }
}
