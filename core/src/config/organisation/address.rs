//! An address taken apart as far as rules are about it.
//!
//! Floor 2. May import floors 0 and 1. Whatever another program could take apart differently is
//! not taken apart at all.

use alloc::format;
use alloc::string::{String, ToString as _};

use super::is_like;

/// Scheme, host with port, and path with all that follows.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Address {
    scheme: String,
    host: String,
    /// `None` if nothing is said about it.
    path: Option<String>,
}

impl Address {
    /// Takes an address or a pattern apart; `None` if that can be done in more ways than one.
    pub(super) fn of(text: &str) -> Option<Self> {
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.chars().any(odd) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
        let host = without_default_port(&host, if scheme == "https" { "443" } else { "80" });
        let path = (!path.is_empty()).then(|| decoded(path));
        (!host.is_empty()).then_some(Self { scheme, host, path })
    }

    /// Whether it fits a pattern. A path that climbs, which servers and programs understand
    /// differently, fits if `climbs` says so.
    pub(super) fn is_like(&self, pattern: &Self, climbs: bool) -> bool {
        let path = self.path.as_deref().unwrap_or("/");
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        let fits = pattern.path.as_deref().is_none_or(|wanted| {
            if is_climbing(&path) { climbs || wanted == "/*" } else { is_like(wanted, &path) }
        });
        // No part of a host has one of these in it, so `*` never reaches beyond it.
        fits && is_like(&pattern.scheme, &self.scheme) && is_like(&pattern.host, &self.host)
    }
}

/// A host with its port, but for the one it has anyway, in however many digits.
fn without_default_port(authority: &str, default: &str) -> String {
    let split = authority.rsplit_once(':');
    let split = split.filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    let (host, port) = split.unwrap_or((authority, ""));
    // What is in front of the last colon of an IPv6 address is none, and the rest no port.
    let (host, port) =
        if host.starts_with('[') && !host.ends_with(']') { (authority, "") } else { (host, port) };
    let (host, port) = (host.trim_end_matches('.'), port.trim_start_matches('0'));
    if port.is_empty() || port == default { host.to_string() } else { format!("{host}:{port}") }
}

/// A path with letters and digits for what stands for them; other signs may mean something else
/// when they are written so.
fn decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(|code| code.is_ascii_alphanumeric() || b"-_~".contains(code)) {
            Some(code) => {
                out.push(char::from(code));
                out.push_str(part.get(2..).unwrap_or_default());
            }
            None => {
                out.push('%');
                out.push_str(part);
            }
        }
    }
    out
}

/// Whether a path has a segment in it that leads up or nowhere, or could be one for somebody.
fn is_climbing(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    // Many servers take two slashes for one.
    if path.contains("//") {
        return true;
    }
    let is_up = |segment: &str| {
        matches!(segment, "." | "..") || ["%2e", "%2f", "%5c"].iter().any(|up| segment.contains(up))
    };
    path.split('/').any(is_up)
}
