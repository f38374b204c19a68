//! Which parts of a command line or an address look like secrets.
//!
//! Floor 2. May import floors 0 and 1. Too much is better than too little: what is taken for a
//! secret is only hidden from traces and left out of fingerprints, never from a server. Looking
//! at a text whose secrets were replaced by [placeholders](is_placeholder) finds exactly those.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::words::{self, Word};

/// What the name of an option, a variable, a header or a parameter has in it if its value is a
/// secret.
const NAMES: [&str; 12] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "key",
    "auth",
    "credential",
    "bearer",
    "cookie",
    "signature",
    "dsn",
];

/// How tokens of well-known services start.
const PREFIXES: [&str; 16] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
];

/// The shortest token with such a start, in bytes.
const TOKEN_MIN: usize = 16;

/// Replaces the secrets in the arguments of a program.
pub(super) fn in_arguments<'a>(
    args: impl IntoIterator<Item = &'a str>,
    mut put: impl FnMut(&str) -> String,
) -> Vec<String> {
    let mut is_value = false;
    let argument = |arg: &'a str| {
        let mut ranges = Vec::new();
        if is_value && !arg.starts_with('-') {
            ranges.push(0..arg.len());
        } else {
            ranges = argument(arg);
        }
        // `--token` and the like: what comes next is the value.
        is_value = arg.starts_with('-') && !arg.contains(['=', ' ']) && is_telling(arg);
        replaced(arg, &ranges, &mut put)
    };
    args.into_iter().map(argument).collect()
}

/// Replaces the secrets in a whole command line.
pub(super) fn in_line(line: &str, put: impl FnMut(&str) -> String) -> String {
    let words = words::split(line);
    let changed = in_arguments(words.iter().map(|word| word.text.as_str()), put);
    with_words(line, &words, &changed)
}

/// A command line with other words for its own. One that differs comes in single quotes, so
/// that it stays one.
pub(super) fn with_words(line: &str, words: &[Word], changed: &[String]) -> String {
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for (word, new) in words.iter().zip(changed) {
        if word.text == *new {
            continue;
        }
        out.push_str(line.get(at..word.span.start).unwrap_or_default());
        out.push('\'');
        out.push_str(&new.replace('\'', "'\\''"));
        out.push('\'');
        at = word.span.end;
    }
    out.push_str(line.get(at..).unwrap_or_default());
    out
}

/// Replaces the secrets in an address, never its scheme, host and port.
pub(super) fn in_address(url: &str, mut put: impl FnMut(&str) -> String) -> String {
    replaced(url, &addresses(url), &mut put)
}

/// Whether a text is what a [`Redactor`](super::redact::Redactor) puts for a secret, and which
/// number it has.
pub(super) fn is_placeholder(text: &str) -> Option<u64> {
    let number = text
        .strip_prefix("<secret ")
        .and_then(|rest| rest.strip_suffix('>'))
        .or_else(|| text.strip_suffix("e-99"))?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if digits { number.parse().ok() } else { None }
}

fn replaced(text: &str, ranges: &[Range<usize>], put: &mut impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        // Of two that overlap the first one counts.
        if range.start >= at && !range.is_empty() {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(&put(text.get(range.clone()).unwrap_or_default()));
            at = range.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// The secrets in one argument that is no value of the option before it.
fn argument(arg: &str) -> Vec<Range<usize>> {
    let scheme = arg.find("://").unwrap_or(arg.len());
    let mut found = Vec::new();
    // `--api-key=…`, `--env=API_KEY=…`, `Authorization: Bearer …`
    let mut start = 0;
    for (at, separator) in arg.match_indices(['=', ':']).take_while(|(at, _)| *at < scheme) {
        let (name, value) = (arg.get(start..at), arg.get(at + 1..).unwrap_or_default());
        if name.is_some_and(is_telling) {
            let blank = value.len() - value.trim_start().len();
            found.push(at + 1 + blank..arg.len());
            break;
        }
        start = at + separator.len();
    }
    found.extend(addresses(arg));
    found.sort_by_key(|range| range.start);
    found
}

/// The secrets of the address in a text, and everything that is a secret wherever it stands.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = placeholders(text);
    let mut host = 0..0;
    if let Some(scheme) = text.find("://") {
        let start = scheme + 3;
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = text.get(start..end).unwrap_or_default();
        let user = authority.rfind('@').unwrap_or(0);
        found.push(start..start + user);
        found.extend(parameters(text, end));
        host = start..end;
    }
    found.extend(tokens(text).into_iter().filter(|token| !host.contains(&token.start)));
    found.sort_by_key(|range| range.start);
    found
}

/// The values of telling parameters in the query from `at` on.
fn parameters(text: &str, at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let rest = text.get(at..).unwrap_or_default();
    let Some(query) = rest.find('?') else { return found };
    let mut start = at + query + 1;
    for parameter in text.get(start..).unwrap_or_default().split(['&', '#']) {
        if let Some((name, _)) = parameter.split_once('=')
            && is_telling(name)
        {
            found.push(start + name.len() + 1..start + parameter.len());
        }
        start += parameter.len() + 1;
    }
    found
}

fn placeholders(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("<secret ");
    let range = |(start, _): (usize, &str)| {
        // A number has at most 20 digits.
        let rest = text.as_bytes().get(start..)?;
        let end = start + rest.iter().take(32).position(|byte| *byte == b'>')? + 1;
        is_placeholder(text.get(start..end)?).map(|_| start..end)
    };
    starts.filter_map(range).collect()
}

fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split(|c| !is_part(c)) {
        // Both are slices of `text`.
        let at = start;
        start += word.len();
        start += text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        if word.len() >= TOKEN_MIN && PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
            found.push(at..at + word.len());
        }
    }
    found
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(arg: &str) -> String {
        in_arguments([arg], |_| "*".into()).concat()
    }

    #[test]
    fn secrets_are_known_by_the_names_they_are_given() {
        for (arg, wanted) in [
            ("--token=abc", "--token=*"),
            ("--api-key=a=b", "--api-key=*"),
            ("GITHUB_TOKEN=abc", "GITHUB_TOKEN=*"),
            ("Authorization: Bearer abc", "Authorization: *"),
            ("X-Api-Key:abc", "X-Api-Key:*"),
            ("--env=API_KEY=abc", "--env=API_KEY=*"),
            ("--header=Authorization: Bearer abc", "--header=Authorization: *"),
            (r#"{"region":"x","apiKey":"abc"}"#, r#"{"region":"x","apiKey":*"#),
            ("--verbose", "--verbose"),
            ("--port=3000", "--port=3000"),
            ("--token=", "--token="),
            ("C:\\keys\\a", "C:\\keys\\a"),
            ("@modelcontextprotocol/server-github", "@modelcontextprotocol/server-github"),
        ] {
            assert_eq!(hidden(arg), wanted);
        }
    }

    #[test]
    fn the_value_of_an_option_may_be_the_next_argument() {
        let args = ["--api-key", "abc", "x", "--token", "--verbose", "y", "-Password", "z"];
        let hidden = in_arguments(args, |_| "*".into());
        assert_eq!(hidden, ["--api-key", "*", "x", "--token", "--verbose", "y", "-Password", "*"]);
    }

    #[test]
    fn secrets_in_addresses_are_found_and_the_host_stays() {
        for (url, wanted) in [
            ("https://u:p@h.example.com/x", "https://*@h.example.com/x"),
            ("https://h/?a=1&exaApiKey=abc&b=2", "https://h/?a=1&exaApiKey=*&b=2"),
            ("https://h/?auth=abc#token=x", "https://h/?auth=*#token=*"),
            ("https://key=abc@h/", "https://*@h/"),
            (
                "https://sk-0123456789abcdef.example.com/",
                "https://sk-0123456789abcdef.example.com/",
            ),
            ("https://h/sk-0123456789abcdef/mcp", "https://h/*/mcp"),
        ] {
            assert_eq!(in_address(url, |_| "*".into()), wanted);
            assert_eq!(hidden(url), wanted);
        }
        let dsn = "--db=postgres://u:p@h/db";
        assert_eq!(hidden(dsn), "--db=postgres://*@h/db");
    }

    #[test]
    fn tokens_are_known_by_how_they_start() {
        assert_eq!(hidden("é ghp_0123456789abcdef,x"), "é *,x");
        assert_eq!(hidden("sk-short"), "sk-short");
    }

    #[test]
    fn a_line_keeps_its_words() {
        let hide = |line| in_line(line, |_| "<secret 1>".into());
        assert_eq!(hide("run  --token abc 'x y'"), "run  --token '<secret 1>' 'x y'");
        assert_eq!(hide("run \"--key=a b\""), "run '--key=<secret 1>'");
        assert_eq!(hide("run x"), "run x");
        let once = hide("run --token abc --key=\"it's\"");
        assert_eq!(in_line(&once, |same| same.into()), once);
    }

    #[test]
    fn placeholders_are_found_again() {
        for text in ["--token=<secret 1>", "x<secret 22>y", "https://<secret 3>@h/?key=<secret 4>"]
        {
            let mut seen = Vec::new();
            let again = in_arguments([text], |secret| {
                seen.push(is_placeholder(secret));
                secret.into()
            });
            assert_eq!(again, [text]);
            assert!(seen.iter().all(Option::is_some) && !seen.is_empty(), "{text}");
        }
        assert_eq!(is_placeholder("7e-99"), Some(7));
        assert_eq!(is_placeholder("e-99"), None);
        assert_eq!(is_placeholder("<secret x>"), None);
    }
}
