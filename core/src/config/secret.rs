//! Which parts of a command line or an address look like secrets.
//!
//! Floor 2. May import floors 0 and 1. Too much is better than too little: what is taken for a
//! secret is only hidden from traces and left out of fingerprints, never from a server. Looking
//! at a text whose secrets were replaced by [placeholders](is_placeholder) finds exactly those.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::variables;
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

/// Whether a text is a secret as a whole, whatever it is for.
pub(super) fn is_token(text: &str) -> bool {
    tokens(text).first().is_some_and(|range| *range == (0..text.len()))
}

/// Whether some arguments have a secret in them.
pub(super) fn is_in_any<'a>(args: impl IntoIterator<Item = &'a str>) -> bool {
    let mut found = false;
    in_arguments(args, |_| {
        found = true;
        String::new()
    });
    found
}

/// Whether a text is what a [`Redactor`](super::redact::Redactor) puts for a secret, and which
/// number it has.
pub(super) fn is_placeholder(text: &str) -> Option<u64> {
    if let Some(number) = text.strip_suffix("e-99") {
        return digits(number);
    }
    let (number, length) = placeholder(text)?;
    (length == text.len()).then_some(number)
}

/// The number and the length of the placeholder that a text starts with: `<secret 1>`, or
/// `<secret 1 ${NAME}>` with the variables in what it stands for.
fn placeholder(text: &str) -> Option<(u64, usize)> {
    let inside = text.strip_prefix("<secret ")?;
    let inside = inside.get(..inside.find('>')?)?;
    let (number, names) = inside.split_once(' ').unwrap_or((inside, ""));
    let named = names.is_empty() != inside.contains(' ') && variables::kept(names) == names;
    Some((digits(number).filter(|_| named)?, "<secret ".len() + inside.len() + 1))
}

fn digits(number: &str) -> Option<u64> {
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if digits { number.parse().ok() } else { None }
}

fn replaced(text: &str, ranges: &[Range<usize>], put: &mut impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        // Of two that overlap the first one counts, of two that start together the longer one.
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
    let names = without_placeholders(arg);
    for (at, separator) in names.match_indices(['=', ':']).take_while(|(at, _)| *at < scheme) {
        let (name, value) = (names.get(start..at), arg.get(at + 1..).unwrap_or_default());
        if name.is_some_and(is_telling) {
            let blank = value.len() - value.trim_start().len();
            found.push(at + 1 + blank..arg.len());
            break;
        }
        start = at + separator.len();
    }
    found.extend(addresses(arg));
    found.sort_by_key(|range| (range.start, Reverse(range.end)));
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
    found.sort_by_key(|range| (range.start, Reverse(range.end)));
    found
}

/// The values of telling parameters in the query from `at` on.
fn parameters(text: &str, at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let text = without_placeholders(text);
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
    // Nearly no text has one, and a character is found with less ado than a word.
    let starts = text.match_indices('<');
    let range = |(start, _): (usize, &str)| {
        let (_, length) = placeholder(text.get(start..)?)?;
        Some(start..start + length)
    };
    starts.filter_map(range).collect()
}

/// The text with something that says nothing in the place of each placeholder: what was put there
/// names no secret beside it.
fn without_placeholders(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for range in placeholders(&text) {
        let nothing = ".".repeat(range.len());
        text.to_mut().replace_range(range, &nothing);
    }
    text
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
        let known = word.len() >= TOKEN_MIN && PREFIXES.iter().any(|start| word.starts_with(start));
        if is_variable(text, &(at..at + word.len())) {
            continue;
        }
        if known {
            found.push(at..at + word.len());
        } else if looks_random(word) && !is_named(text, &(at..at + word.len())) {
            let dashes = word.len() - word.trim_start_matches(['-', '_']).len();
            found.push(at + dashes..at + word.len());
        }
    }
    found
}

/// Whether a word is the name of a variable, `${NAME}`, and no value.
fn is_variable(text: &str, word: &Range<usize>) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let after = text.get(word.end..).unwrap_or_default();
    before.ends_with("${") && after.starts_with(['}', ':'])
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

/// Whether the value of what has this name is a secret.
pub(super) fn is_telling(name: &str) -> bool {
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

    /// G67: what was put for a secret is no name that makes a secret of what follows.
    #[test]
    fn a_placeholder_names_no_secret_beside_it() {
        for (arg, wanted) in [
            ("x<secret 1> = y", "x* = y"),
            ("<secret 1 ${env:KEY}>: y", "*: y"),
            ("https://h/?<secret 1>=y", "https://h/?*=y"),
            ("key<secret 1>=y", "key*=*"),
        ] {
            assert_eq!(hidden(arg), wanted);
        }
    }

    #[test]
    fn tokens_are_known_by_how_they_start() {
        assert_eq!(hidden("${xai-PLUGIN_ROOT_X}/a"), "${xai-PLUGIN_ROOT_X}/a");
        assert_eq!(hidden("xai-PLUGIN_ROOT_X}/a"), "*}/a");
        assert_eq!(hidden("é ghp_0123456789abcdef,x"), "é *,x");
        assert_eq!(hidden("sk-short"), "sk-short");
    }

    #[test]
    fn what_looks_random_is_hidden_wherever_it_stands() {
        for (arg, wanted) in [
            ("xoxb-17653672481-19874698323", "*"),
            ("glptt-0123456789abcdef", "*"),
            ("7f3a9c0e5b1d4826a7c3e9f0b2d4681a", "*"),
            ("7F3A9C0E5B1D4826A7C3E9F0B2D4681A7F3A9C0E", "*"),
            ("q8Zt3LmX0vB7nK2pR5wY", "*"),
            ("Jd93kf-Kd02lsK3jf9SlL29dkAl4", "*"),
            ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "*"),
            ("https://h/s/q8Zt3LmX0vB7nK2pR5wY/mcp", "https://h/s/*/mcp"),
            (
                "https://h/mcp?profile=3f2504e0-4f89-11d3-9a0c-0305e82c3301",
                "https://h/mcp?profile=*",
            ),
            ("--id=q8Zt3LmX0vB7nK2pR5wY", "--id=*"),
        ] {
            assert_eq!(hidden(arg), wanted);
        }
    }

    #[test]
    fn names_versions_paths_and_addresses_stay_readable() {
        for arg in [
            "@modelcontextprotocol/server-filesystem@2025.11.25",
            "mcp-server-postgresql16-with-extensions2024",
            "ModelContextProtocolServer2024",
            "pkg@0.0.0-20240101120000-abcdef123456",
            "1.2.3-beta.4+build.20240101120000",
            "mcr.microsoft.com/playwright/mcp:v1.53.0-noble",
            "img@sha256:7f3a9c0e5b1d4826a7c3e9f0b2d4681a7f3a9c0e5b1d4826a7c3e9f0b2d4681a",
            "github:owner/repo#7f3a9c0e5b1d4826a7c3e9f0b2d4681a7f3a9c0e",
            "git+https://github.com/o/r@7f3a9c0e5b1d4826a7c3e9f0b2d4681a7f3a9c0e",
            "/nix/store/q8zt3lmx0vb7nk2pr5wyh6c1d4f9g0s3-server-1.2/bin/server",
            "./build/3f2504e0-4f89-11d3-9a0c-0305e82c3301/index.js",
            "C:\\Users\\ada\\7f3a9c0e5b1d4826a7c3e9f0b2d4681a\\run.exe",
            "https://example.com:8080/v1/mcp-server/2025-11-25/index.html",
            "--allow-everything-that-comes-from-localhost-3000",
            "00000000000000000000000000000000",
            "2025-11-25T12:34:56.789Z",
            "supercalifragilisticexpialidocious",
        ] {
            assert_eq!(hidden(arg), arg);
        }
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
        for text in [
            "--token=<secret 1>",
            "x<secret 22>y",
            "https://<secret 3>@h/?key=<secret 4>",
            "--token=<secret 5 ${A}${env:B}>",
        ] {
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
        for other in ["<secret x>", "<secret 1 >", "<secret 1 x>", "<secret 1 ${A} >", "<secret >"]
        {
            assert_eq!(is_placeholder(other), None, "{other}");
        }
    }
}
