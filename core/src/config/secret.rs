//! Which parts of a command line or an address look like secrets.
//!
//! Floor 2. May import floors 0 and 1. Too much is better than too little: what is taken for a
//! secret is only hidden from traces and left out of fingerprints, never from a server. Looking
//! at a text whose secrets were replaced by [placeholders](is_placeholder) finds exactly those.

mod placeholder;
mod token;

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::words::{self, Word};
use placeholder::{holes, placeholders, veiled, without_placeholders};
use token::tokens;

pub(super) use placeholder::is_placeholder;
pub(super) use token::is_token;

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

/// Whether some arguments have a secret in them.
pub(super) fn is_in_any<'a>(args: impl IntoIterator<Item = &'a str>) -> bool {
    let mut found = false;
    in_arguments(args, |_| {
        found = true;
        String::new()
    });
    found
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
    let (veiled, names) = (veiled(arg), without_placeholders(arg));
    let scheme = veiled.find("://").unwrap_or(arg.len());
    let mut found = Vec::new();
    // `--api-key=…`, `--env=API_KEY=…`, `Authorization: Bearer …`
    let mut start = 0;
    for (at, separator) in veiled.match_indices(['=', ':']).take_while(|(at, _)| *at < scheme) {
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
    let veiled = veiled(text);
    let mut host = 0..0;
    if let Some(scheme) = veiled.find("://") {
        let start = scheme + 3;
        let rest = veiled.get(start..).unwrap_or_default();
        let end = start + rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = veiled.get(start..end).unwrap_or_default();
        let user = authority.rfind('@').unwrap_or(0);
        found.push(start..start + user);
        host = start..end;
    }
    found.extend(parameters(text, &veiled, host.end));
    found.extend(tokens(&veiled).into_iter().filter(|token| !host.contains(&token.start)));
    for default in holes(text).into_iter().filter_map(|hole| hole.default) {
        let inside = argument(text.get(default.clone()).unwrap_or_default()).into_iter();
        found.extend(inside.map(|it| default.start + it.start..default.start + it.end));
    }
    found.sort_by_key(|range| (range.start, Reverse(range.end)));
    found
}

/// The values of telling parameters in the query from `at` on.
fn parameters(text: &str, veiled: &str, at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let names = without_placeholders(text);
    let rest = veiled.get(at..).unwrap_or_default();
    let Some(query) = rest.find('?') else { return found };
    let mut start = at + query + 1;
    for parameter in veiled.get(start..).unwrap_or_default().split(['&', '#']) {
        if let Some((name, value)) = parameter.split_once('=')
            && names.get(start..start + name.len()).is_some_and(is_telling)
        {
            // As for a name and its value elsewhere, so that the longer of two starts with it.
            let blank = value.len() - value.trim_start().len();
            found.push(start + name.len() + 1 + blank..start + parameter.len());
        }
        start += parameter.len() + 1;
    }
    found
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

    /// G67: what a program fills in is hidden as a whole or not at all, in the notation of any tool.
    #[test]
    fn no_separator_in_a_placeholder_takes_it_apart() {
        for (arg, wanted) in [
            ("cookie${input:region}", "cookie${input:region}"),
            ("key${V:-a}", "key${V:-a}"),
            ("${env:TOKEN}", "${env:TOKEN}"),
            ("key{env:V}", "key{env:V}"),
            ("{file:/run/key=x}/y", "{file:/run/key=x}/y"),
            ("token-${{ secrets.A:b }}-x", "token-${{ secrets.A:b }}-x"),
            ("--token=a${env:V}", "--token=*"),
            ("--${KEY}=abc", "--${KEY}=*"),
            ("https://${HOST:-a/b}/x?key=${K}&a=b", "https://${HOST:-a/b}/x?key=*&a=b"),
            ("https://h/?x=${V:-a&key=b}", "https://h/?x=${V:-a&key=*}"),
            ("https://${A}:${B}@h/", "https://*@h/"),
            ("${BASE:-https://u:p@h}/x?key=abc", "${BASE:-https://*@h}/x?key=*"),
            ("${xai-PLUGIN_ROOT_X}/a", "${xai-PLUGIN_ROOT_X}/a"),
            ("$sk_live_0123456789abcdef/a", "*/a"),
            // A default is text like any other, and what is not closed is no hole.
            ("${V:-sk-0123456789abcdef}", "${V:-*}"),
            ("${V:-token=abc}x", "${V:-token=*}x"),
            ("${env:V:-sk-0123456789abcdef}", "${env:V:-*}"),
            ("${sk-0123456789abcdef", "${*"),
            ("key${V:-a", "key${V:*"),
            ("${{key=a}", "${{key=a}"),
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

    /// G67: looking again finds what was found.
    #[test]
    fn what_is_a_name_and_its_value_and_a_parameter_is_hidden_once() {
        let text = "x?a: secret = 0.2#=5 & b";
        let once = in_arguments([text], |_| "<secret 1>".into()).concat();
        assert_eq!(in_arguments([once.as_str()], |same| same.into()), [once.as_str()]);
        assert_eq!(once, "x?a: secret = <secret 1>");
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
