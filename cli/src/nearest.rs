//! The names that were probably meant.

use strsim::damerau_levenshtein;

/// How many names are suggested.
const SUGGESTED_MAX: usize = 3;
/// Names longer than this are not compared: the time grows with the product of the lengths.
const COMPARED_CHARS: usize = 200;

/// The names nearest to `wanted`, the nearest first; those that contain it count as near.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|name| distance(&wanted, &name.to_lowercase()).map(|far| (far, name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(SUGGESTED_MAX);
    near.into_iter().map(|(_, name)| name).collect()
}

/// How far apart two names are; `None` if nobody would take one for the other.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let longer = wanted.chars().count().max(name.chars().count());
    if longer > COMPARED_CHARS || wanted.is_empty() {
        return None;
    }
    let far = damerau_levenshtein(wanted, name);
    let contained = wanted.len() > 2 && name.contains(wanted);
    match contained {
        true => Some(far.min(1)),
        false => (far * 5 <= longer * 2).then_some(far),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_the_nearest_name_comes_first() {
        let names = ["search_issues", "search_code", "create_issue"];
        assert_eq!(nearest("serach_issue", names.into_iter()), ["search_issues", "create_issue"]);
        assert_eq!(nearest("SEARCH_CODE", names.into_iter()).first(), Some(&"search_code"));
    }

    #[test]
    fn a_part_of_a_name_is_near_and_something_else_is_not() {
        let names = ["mcp_github_search_issues", "mcp_time_now"];
        assert_eq!(nearest("issues", names.into_iter()), ["mcp_github_search_issues"]);
        assert!(nearest("weather", names.into_iter()).is_empty());
        assert!(nearest("", names.into_iter()).is_empty());
    }
}
