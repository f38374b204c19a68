//! Names of tools for the model.
//!
//! Floor 5. May import floors 0 to 4.
//!
//! Both rules make `mcp_<server>_<tool>` from lower-cased parts in which every run of other
//! characters is one `_`. The documented rule counts digits among the others, which makes
//! `server1` and `server2` one; the default keeps them, keeps names within the 64 characters
//! model providers accept (F-052), and tells equal names apart by a suffix made from the raw
//! names, so that a name depends on what is offered and never on when it was (G23, G24).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::canon::Fingerprint;
use crate::hub::policy::Names;

/// The longest name the default rule makes, in characters: what model providers accept.
pub const NAME_MAX: usize = 64;

/// Hexadecimal digits of the shortest suffix. Two raw names with equal suffixes get longer ones.
const SUFFIX_DIGITS: usize = 8;

/// Characters of the longest suffix.
const SUFFIX_MAX: usize = 33;

/// What a tool is called whose name has no character that counts.
const NAMELESS: &str = "tool";

/// The name by the letter of the documented rule. May be equal for different tools.
#[must_use]
pub fn documented(server: &str, tool: &str) -> String {
    joined(server, tool, |c| c.is_ascii_lowercase())
}

/// Whether a tool of a server may have this name, as far as can be told without its tools.
#[must_use]
pub fn may_be_of(policy: Names, exposed: &str, server: &str) -> bool {
    let start = match policy {
        Names::Documented => joined(server, "", |c| c.is_ascii_lowercase()),
        Names::Distinct => joined(server, "", is_kept),
    };
    let start = start.strip_suffix(NAMELESS).unwrap_or(&start);
    // A longer one may be cut within the server's part.
    start.len() + SUFFIX_MAX >= NAME_MAX || exposed.starts_with(start)
}

/// The name of one tool among all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Assigned {
    /// The name for the model.
    pub exposed: String,
    /// Another tool that the bare rule gives the same name, as its place in the list. By the
    /// documented rule it is the last of them and set for all but that one, which is the one
    /// that counts; by the default it is the first other one.
    pub collides_with: Option<usize>,
}

/// Names all `tools`, given as (server, tool) pairs, in their order. By the default rule names
/// of different pairs differ, and the name of a pair does not depend on the order.
#[must_use]
pub fn assign(policy: Names, tools: &[(&str, &str)]) -> Vec<Assigned> {
    match policy {
        Names::Documented => last_wins(tools),
        Names::Distinct => told_apart(tools),
    }
}

fn last_wins(tools: &[(&str, &str)]) -> Vec<Assigned> {
    let names: Vec<String> = tools.iter().map(|(server, tool)| documented(server, tool)).collect();
    let last: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let winners: Vec<Option<usize>> =
        names.iter().map(|name| last.get(name.as_str()).copied()).collect();
    let named = names.into_iter().zip(winners).enumerate();
    named
        .map(|(at, (exposed, winner))| Assigned {
            exposed,
            collides_with: winner.filter(|winner| *winner != at),
        })
        .collect()
}

fn told_apart(tools: &[(&str, &str)]) -> Vec<Assigned> {
    let mut named: Vec<Assigned> = tools
        .iter()
        .map(|(server, tool)| Assigned { exposed: distinct(server, tool), collides_with: None })
        .collect();
    // Each round lengthens the suffix of every name that is not its own, so that none of the
    // tools concerned is preferred. A suffix of all digits is as good as the raw names.
    let mut digits = SUFFIX_DIGITS;
    while digits <= 32 {
        let clashes = clashes(&named, tools);
        if clashes.is_empty() {
            break;
        }
        for (at, other) in clashes {
            if let (Some(name), Some((server, tool))) = (named.get_mut(at), tools.get(at)) {
                let base = joined(server, tool, is_kept);
                name.exposed = suffixed(&base, server, tool, digits);
                name.collides_with.get_or_insert(other);
            }
        }
        digits *= 2;
    }
    named
}

/// The tools that share a name with a different (server, tool) pair, each with the first such.
fn clashes(named: &[Assigned], tools: &[(&str, &str)]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..named.len()).collect();
    let name = |at: usize| named.get(at).map_or("", |name| name.exposed.as_str());
    order.sort_by(|a, b| name(*a).cmp(name(*b)).then(a.cmp(b)));
    let mut found = Vec::new();
    for group in order.chunk_by(|a, b| name(*a) == name(*b)) {
        for at in group {
            let other = group.iter().find(|other| tools.get(**other) != tools.get(*at));
            found.extend(other.map(|other| (*at, *other)));
        }
    }
    found
}

/// The name a rule gives a tool before it is compared with others.
#[must_use]
pub(super) fn bare(policy: Names, server: &str, tool: &str) -> String {
    match policy {
        Names::Documented => documented(server, tool),
        Names::Distinct => distinct(server, tool),
    }
}

fn distinct(server: &str, tool: &str) -> String {
    let name = joined(server, tool, is_kept);
    if name.len() <= NAME_MAX { name } else { suffixed(&name, server, tool, SUFFIX_DIGITS) }
}

const fn is_kept(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// `base` cut to make room, `_`, and `digits` digits of the fingerprint of the raw names.
fn suffixed(base: &str, server: &str, tool: &str, digits: usize) -> String {
    // The length keeps ("a", "bc") and ("ab", "c") apart.
    let raw = alloc::format!("{}:{server}{tool}", server.len());
    let fingerprint = alloc::format!("{}", Fingerprint::of(raw.as_bytes()));
    let suffix = fingerprint.get(fingerprint.len() - digits.min(32)..).unwrap_or_default();
    let room = NAME_MAX - suffix.len() - 1;
    let kept = base.get(..room).unwrap_or(base).trim_end_matches('_');
    alloc::format!("{kept}_{suffix}")
}

/// Built in place: thousands of names are made at once.
fn joined(server: &str, tool: &str, keep: impl Fn(char) -> bool) -> String {
    const PREFIX: &str = "mcp_";
    let mut name = String::with_capacity(PREFIX.len() + server.len() + 1 + tool.len());
    name.push_str(PREFIX);
    push_part(&mut name, server, "server", &keep);
    name.push('_');
    let start = name.len();
    push_part(&mut name, tool, NAMELESS, &keep);
    let (owner, own) = name.split_at(start);
    // With its `_`, once.
    let owner = owner.strip_prefix(PREFIX).unwrap_or_default();
    if own.starts_with(owner) {
        name.drain(start..start + owner.len());
    }
    name
}

fn push_part(name: &mut String, raw: &str, fallback: &str, keep: impl Fn(char) -> bool) {
    let start = name.len();
    let mut gap = false;
    let mut add = |c: char| {
        if keep(c) {
            if gap && name.len() > start {
                name.push('_');
            }
            gap = false;
            name.push(c);
        } else {
            gap = true;
        }
    };
    // Nearly all names are ASCII.
    if raw.is_ascii() {
        raw.bytes().map(|byte| char::from(byte.to_ascii_lowercase())).for_each(&mut add);
    } else {
        raw.chars().flat_map(char::to_lowercase).for_each(&mut add);
    }
    if name.len() == start {
        name.push_str(fallback);
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
