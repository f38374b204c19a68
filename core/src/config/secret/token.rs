//! What a secret looks like that nobody calls by its name.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::vec::Vec;
use core::ops::Range;

/// How tokens of well-known services start.
const PREFIXES: [&str; 46] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "whsec_", // OpenAI, Anthropic, Stripe and who follows them
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "gldt-", // forges
    "xox",
    "xapp-",
    "ATATT",
    "ATCTT",
    "lin_api_",
    "ntn_",
    "secret_",
    "figd_", // where people work
    "AKIA",
    "ASIA",
    "AIza",
    "GOCSPX-",
    "ya29",
    "dop_v1_",
    "EAAC", // clouds
    "hf_",
    "gsk_",
    "xai-",
    "r8_",
    "nvapi-",
    "pplx-",
    "tvly-", // models and search
    "npm_",
    "pypi-",
    "dckr_pat_",
    "rubygems_", // registries
    "shpat_",
    "shpss_",
    "sntrys_",
    "sntryu_",
    "phx_", // shops and watchers
    "eyJ",  // any JSON Web Token
];

/// The shortest token with such a start, in bytes.
const TOKEN_MIN: usize = 16;
/// The shortest run of letters and digits that may be random, in bytes: 120 bits as base64.
const RANDOM_MIN: usize = 20;
/// The shortest run of hexadecimal digits that may be random: 128 bits.
const HEX_MIN: usize = 32;

/// Whether a text is a secret as a whole, whatever it is for.
pub(in crate::config) fn is_token(text: &str) -> bool {
    tokens(text).first().is_some_and(|range| *range == (0..text.len()))
}

/// Where tokens stand in a text.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split(|c| !is_part(c)) {
        // Both are slices of `text`.
        let at = start;
        start += word.len();
        start += text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let known = word.len() >= TOKEN_MIN && PREFIXES.iter().any(|start| word.starts_with(start));
        if known {
            // `$NAME` may be a hole.
            let named = text.get(..at).is_some_and(|before| before.ends_with('$'));
            found.push(at - usize::from(named)..at + word.len());
        } else if looks_random(word) && !is_named(text, &(at..at + word.len())) {
            let dashes = word.len() - word.trim_start_matches(['-', '_']).len();
            found.push(at + dashes..at + word.len());
        }
    }
    found
}

/// Whether nobody would think of such a word: a UUID, a long hexadecimal number, or letters and
/// digits that take turns too often for a name with a version in it.
fn looks_random(word: &str) -> bool {
    // What could be a number would be read as one.
    (is_uuid(word) || word.split(['-', '_']).any(is_random)) && word.parse::<f64>().is_err()
}

fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn is_random(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    if run.len() >= HEX_MIN && run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return (1..run.len()).contains(&digits);
    }
    let turns = run.as_bytes().windows(2);
    let turns = turns.filter(|pair| {
        let [one, other] = pair else { return false };
        one.is_ascii_digit() != other.is_ascii_digit()
    });
    // In base62, every fourth letter is followed by a digit or the other way round.
    run.len() >= RANDOM_MIN && turns.count() >= (run.len() / 7).max(4)
}

/// Whether something around a word says that it is no secret: it is a part of a path, or the
/// digest or the commit of a package. In an address there are secrets in the path.
fn is_named(text: &str, word: &Range<usize>) -> bool {
    let (before, after) = (text.get(..word.start).unwrap_or_default(), text.get(word.end..));
    if text.contains("://") {
        return text.starts_with("git") && before.ends_with(['@', '#']);
    }
    let after = after.unwrap_or_default();
    before.contains(['/', '\\'])
        || after.starts_with(['/', '\\'])
        || before.ends_with(['@', '#'])
        || before.ends_with("sha256:")
}
