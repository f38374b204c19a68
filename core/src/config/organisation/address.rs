//! An address taken apart as far as rules are about it.
//!
//! Floor 2. May import floors 0 and 1. Whatever another program could take apart differently is
//! not taken apart at all.

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
        let port = if scheme == "https" { ":443" } else { ":80" };
        let host = host.strip_suffix(port).unwrap_or(&host).trim_end_matches('.').to_string();
        let path = (!path.is_empty()).then(|| path.to_string());
        (!host.is_empty()).then_some(Self { scheme, host, path })
    }

    /// Whether it fits a pattern. A path that climbs, which servers and programs understand
    /// differently, fits if `climbs` says so.
    pub(super) fn is_like(&self, pattern: &Self, climbs: bool) -> bool {
        let path = self.path.as_deref().unwrap_or("/");
        let path = if path.starts_with('/') { path.to_string() } else { alloc::format!("/{path}") };
        let fits = pattern.path.as_deref().is_none_or(|wanted| {
            if is_climbing(&path) { climbs || wanted == "/*" } else { is_like(wanted, &path) }
        });
        // No part of a host has one of these in it, so `*` never reaches beyond it.
        fits && is_like(&pattern.scheme, &self.scheme) && is_like(&pattern.host, &self.host)
    }
}

/// Whether a path has a segment in it that leads up, or could be one for somebody.
fn is_climbing(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let is_up = |segment: &str| {
        matches!(segment, "." | "..") || ["%2e", "%2f", "%5c"].iter().any(|up| segment.contains(up))
    };
    path.split('/').any(is_up)
}
