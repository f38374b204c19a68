//! Which tools are meant: a part of a name, or a pattern with `*` and `?` for the whole of it.

/// What to look for, in any case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Pattern {
    /// A part of the name.
    Part(String),
    /// The whole name, with `*` for anything and `?` for one character.
    Whole(Vec<char>),
}

impl Pattern {
    /// Reads a pattern; any text is one.
    pub(crate) fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        if text.contains(['*', '?']) {
            Self::Whole(text.chars().collect())
        } else {
            Self::Part(text)
        }
    }

    /// Whether a name is meant.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        match self {
            Self::Part(part) => name.contains(part),
            Self::Whole(pattern) => whole(pattern, &name.chars().collect::<Vec<_>>()),
        }
    }
}

/// Matches from left to right; on a mismatch the last `*` takes one character more, so the time
/// is bounded by the product of the lengths.
fn whole(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_matches_anywhere_in_any_case() {
        assert!(Pattern::new("Issue").matches("mcp_github_search_issues"));
        assert!(!Pattern::new("issue").matches("mcp_github_search_code"));
        assert!(Pattern::new("").matches("anything"));
    }

    #[test]
    fn a_pattern_matches_the_whole_name() {
        for (pattern, name, wanted) in [
            ("mcp_git_*", "mcp_git_log", true),
            ("mcp_git_*", "xmcp_git_log", false),
            ("*_log", "mcp_git_log", true),
            ("*git*l?g", "mcp_git_git_lag", true),
            ("mcp_?", "mcp_ab", false),
            ("*", "", true),
            ("?", "", false),
            ("**a", "ba", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), wanted, "{pattern} {name}");
        }
    }
}
