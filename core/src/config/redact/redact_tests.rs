use super::*;
use crate::config::definition::Definition;
use crate::config::parse::{Reading, read};
use crate::config::source::{Level, Provider};
use crate::config::template::Part;

fn shared() -> Source {
    Source::file(Provider::Shared, Level::Project, "f")
}

/// What has to be filled in where.
fn gaps(reading: &Reading) -> Vec<Vec<Part>> {
    let gap = |part: &Part| !matches!(part, Part::Text(_) | Part::Named(_));
    let all = reading.definitions.iter().flat_map(|definition| {
        definition.texts().map(|(role, text)| definition.template(text, role).parts)
    });
    all.map(|parts| parts.into_iter().filter(gap).collect()).collect()
}

/// Everything a trace relies on; returns the redacted text.
fn check(bytes: &[u8]) -> String {
    check_as(&shared(), bytes)
}

fn check_as(source: &Source, bytes: &[u8]) -> String {
    let mut redactor = Redactor::new();
    let redacted = redactor.file(source, bytes);
    let (before, after) = (read(source, bytes), read(source, &redacted));
    let shown = String::from_utf8_lossy(&redacted).into_owned();
    assert_eq!(before.problems, after.problems, "{shown}");
    assert_eq!(before.disabled, after.disabled, "{shown}");
    let shape = |reading: &Reading| gaps(reading).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(shape(&before), shape(&after), "{shown}");
    let places = |reading: &Reading| -> Vec<_> {
        let place = |d: &Definition| (d.name.clone(), d.enabled, d.timeout_ms, d.source.clone());
        reading.definitions.iter().map(place).collect()
    };
    assert_eq!(places(&before), places(&after), "{shown}");
    // The cached tool lists are asked for by the same keys.
    let keys = |reading: &Reading| -> Vec<_> {
        reading.definitions.iter().map(Definition::fingerprint).collect()
    };
    assert_eq!(keys(&before), keys(&after), "{shown}");
    // Twice is once, by whomever.
    assert_eq!(Redactor::new().file(source, &redacted), redacted, "{shown}");
    assert_eq!(redactor.file(source, &redacted), redacted, "{shown}");
    shown
}

/// G67.
#[test]
fn a_redacted_file_has_the_same_meaning_and_no_secrets() {
    let text = r#"{
  // SECRET in a comment
  "mcpServers": {
    "gh": {"command": "npx", "args": ["-y", "gh@1", "--token", "SECRET1", "--key=SECRET2", 7],
      "env": {"TOKEN": "SECRET1", "PIN": 123456, "ON": true, "NONE": null, "E": ""}, "cwd": "/w"},
    "web": {"url": "https://me:SECRET3@h.example.com/mcp?api_key=SECRET4&v=1",
      "headers": {"Authorization": "Bearer SECRET5"}, "oauth": {"clientSecret": "SECRET6"}},
    "old": {"command": "SECRET7"},
    "old": {"command": "run --password SECRET8 'a b'", "args": "-p x --auth SECRET9", "args": null},
    "line": {"command": ["node", "x", "--secret"], "args": ["SECRET10", {"a": "SECRET11"}, null]},
    "split": {"command": "x", "args": "--token 'SECRET12 13' y"},
    "SECRETLY": "SECRET14"
  },
  "other": ["SECRET15", {"a": 98765}],
  "disabledServers": ["gh", {"a": "SECRET16"}]
}"#;
    let redacted = check(text.as_bytes());
    assert!(!redacted.replace("SECRETLY", "").contains("SECRET"), "{redacted}");
    assert!(!redacted.contains("123456") && !redacted.contains("98765"), "{redacted}");
    assert!(redacted.contains(r#""--token", "<secret 1>", "--key=<secret 3>", 7]"#), "{redacted}");
    let wanted = r#"{"TOKEN": "<secret 1>", "PIN": 2e-99, "ON": true, "NONE": null, "E": ""}"#;
    assert!(redacted.contains(wanted), "{redacted}");
    assert!(redacted.contains(r#""cwd": "/w"}"#));
}

#[test]
fn equal_secrets_stay_equal_over_files() {
    let mut redactor = Redactor::new();
    let file = |value: &str| {
        format!(r#"{{"mcpServers":{{"a":{{"command":"x","env":{{"K":"{value}"}}}}}}}}"#)
    };
    let first = redactor.config(file("one").as_bytes());
    assert_eq!(first, file("<secret 1>").into_bytes());
    assert_eq!(redactor.config(file("two").as_bytes()), file("<secret 2>").into_bytes());
    assert_eq!(redactor.config(file("one").as_bytes()), first);
}

#[test]
fn a_new_secret_never_gets_the_number_of_a_placeholder_seen_before() {
    let mut redactor = Redactor::new();
    assert_eq!(redactor.placeholder("<secret 7>"), "<secret 7>");
    assert_eq!(redactor.placeholder("x"), "<secret 8>");
}

#[test]
fn files_that_cannot_be_read_fail_alike_without_their_words() {
    for text in [
        &b"{\"mcpServers\": {\n\"a\": {\"command\": \"SECRET\" \"x\": 1}}}"[..],
        b"\xef\xbb\xbf{\"a\": SECRET",
        b"SECRET",
        b"{\n\n\"a\": \"SECRET\xff\"}",
        b"\xff\xfe{\0S\0E\0C\0",
        b"// SECRET\n",
        b"",
        b"[\"SECRET\"]",
        b"\"SECRET\"",
        b"{\"mcpServers\": [\"SECRET\"]}",
        b"{\"servers\": {\"a\": {\"command\": \"x\", \"env\": {\"a\": \"SECRET\"}}}}",
        b"{\"a\": {\"command\": \"x\", \"env\": {\"a\": \"SECRET\"}}}",
        b"{mcpServers: {'a': {command: 'x', env: {k: 'SECRET\\'s\nSECRET'}, args: ['--key=\"\\n\\'']}}}",
    ] {
        assert!(!check(text).contains("SECRET"));
    }
    let deep = "[".repeat(10_000);
    check(deep.as_bytes());
}

#[test]
fn whatever_the_file_a_replay_starts_what_was_recorded() {
    let seed = br#"{"mcpServers":{"a":{"command":"n --key x","args":["--token","s",1,"https://u:p@h/?auth=1","K_KEY=v"],
"env":{"A":"1","B":2.5,"C":true}},"b":{"type":"http","url":"http://u:p@h.example.com/?token=t","headers":{"X":"y"}},
/* c */ "c":{"command":["x","--pwd"],"args":"p -q 'r s'","timeout":"5"},},"disabledServers":["a"],"z":[1,"2"]}"#;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..2_000 {
        let mut bytes = seed.to_vec();
        for _ in 0..1 + state % 3 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 8) as usize % bytes.len();
            match state % 5 {
                0 => bytes[at] = (state >> 40) as u8,
                1 => bytes.truncate(at.max(1)),
                2 | 3 => bytes.insert(at, b"{}[]\"',:\\/*=-@ 0e"[(state >> 48) as usize % 17]),
                _ => {
                    bytes.remove(at);
                    bytes.push(b'\n');
                }
            }
        }
        check(&bytes);
    }
}

/// Names of variables stay, so that a replay finds the same problems; what is around them and
/// what stands in for them does not.
#[test]
fn variables_stay_and_their_defaults_go() {
    let shown = check(
        br#"{"mcpServers":{"a":{
            "command":"run","args":["--token=${TOKEN}","--key","x${KEY:-hidden}","${A}"],
            "env":{"A":"${A}","B":"hidden ${B:-hidden}","C":"${C}${D}"}},
            "b":{"url":"https://u:${PW}@h/?key=${KEY:-hidden}","headers":{"X":"Bearer ${X}"}}}}"#,
    );
    assert!(!shown.contains("hidden") && !shown.contains("Bearer"), "{shown}");
    let wanted = ["--token=${TOKEN}", "\"A\":\"${A}\"", "${KEY:-<secret ", "\"${C}${D}\""];
    for kept in wanted {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
}

fn tool(provider: Provider, path: &str) -> Source {
    Source::file(provider, Level::User, path)
}

/// G67: TOML.
#[test]
fn toml_loses_its_secrets_and_keeps_its_lines() {
    let text = r#"# SECRET
title = "SECRET" # SECRET
[mcp_servers.a]
command = "npx"
args = ["-y", "--token", 'SECRET', """
--auth=SECRET
2""", "--key=SECRET", 12, 0x1F]
env = { "LOG" = "SECRET", 'PIN' = "12345" }
env_vars = ["CONTEXT_KEY", { name = "X", source = "SECRET" }]
startup_timeout_sec = 20.5
[projects."/home/dev"]
since = 2020-01-01
[mcp_servers."b c"]
url = "https://u:SECRET@h.example.com/?key=SECRET"
bearer_token_env_var = "TOKEN"
bearer_token = "SECRET"
http_headers = { "X" = "SECRET" }
env_http_headers = { "X-User" = "USER_ID" }
enabled = false
scopes = ["read"]
[mcp_servers]
scalar = "SECRET"
"#;
    let shown = check_as(&tool(Provider::Codex, "config.toml"), text.as_bytes());
    assert!(!shown.contains("SECRET"), "{shown}");
    for kept in ["CONTEXT_KEY", "\"TOKEN\"", "USER_ID", "20.5", "[mcp_servers.\"b c\"]", "\"-y\""] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
    assert_eq!(shown.lines().count(), text.lines().count());
}

/// G67: YAML.
#[test]
fn yaml_loses_its_secrets_and_keeps_its_lines() {
    let text = "# SECRET\nGOOSE: &k SECRET\nextensions:\n  developer: {type: builtin, other: SECRET}\n  \
                fetch:\n    enabled: true\n    type: stdio\n    cmd: uvx\n    args:\n      - --token\n      \
                - SECRET\n      - |\n        --key=SECRET\n        more\n    envs: {UA: SECRET, PIN: 123}\n    \
                env_keys: [TOK]\n    timeout: 1.5\n  linear:\n    type: streamable_http\n    uri: \
                https://l.example.com/?token=SECRET\n    headers:\n      A: Bearer $TOK\n      B: *k\n    \
                available_tools: []\n  bad: SECRET\n";
    let shown = check_as(&tool(Provider::Goose, "config.yaml"), text.as_bytes());
    assert!(!shown.contains("SECRET"), "{shown}");
    for kept in ["\"builtin\"", "\"uvx\"", "\"TOK\"", "1.5", "$TOK"] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
    let text = "mcpServers:\n  - name: A B\n    command: npx\n    env:\n      T: ${{ secrets.T }}\n  - \
                name: H\n    url: https://h.example.com/mcp\n    apiKey: SECRET${{ secrets.K }}\n    \
                requestOptions:\n      headers:\n        X: SECRET\n  - uses: acme/SECRET\n  - 5\n";
    let shown = check_as(&tool(Provider::Continue, "config.yaml"), text.as_bytes());
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("${{ secrets.T }}") && shown.contains("${{ secrets.K }}"), "{shown}");
}

#[test]
fn toml_and_yaml_that_cannot_be_read_fail_alike_without_their_words() {
    for text in
        ["a = \"SECRET\n", "a = 1\na = 2 # SECRET\n", "x = SECRET", "[a]\n[a]\n", "# SECRET\n", ""]
    {
        assert!(!check_as(&tool(Provider::Codex, "c.toml"), text.as_bytes()).contains("SECRET"));
    }
    for text in [
        "a: \"SECRET",
        "a: 1\na: SECRET\n",
        "SECRET",
        "- SECRET",
        "a: *SECRET\n",
        "~",
        "",
        "\t- x: SECRET",
    ] {
        assert!(!check_as(&tool(Provider::Goose, "c.yaml"), text.as_bytes()).contains("SECRET"));
    }
    let deep = "[".repeat(10_000);
    check_as(&tool(Provider::Goose, "c.yaml"), deep.as_bytes());
    check_as(&tool(Provider::Codex, "c.toml"), ["a = ", &deep].concat().as_bytes());
}

/// Every dialect, over texts that are not quite what it expects.
#[test]
fn whatever_the_tool_a_redacted_file_has_the_same_meaning() {
    let json = r#"{"mcpServers":{"a":{"command":"n","args":["--key","x${A:-hidden}","$B","{env:C}"],
"env":{"A":"${env:A}x","B":null,"C":7},"auth":{"CLIENT_ID":"i","scopes":["x"],"callbackPort":5}},
"b":{"url":"https://u:p@h/?key=${A}","headers":{"X":"y $Z"},"oauth":false,"tools":["*"],"disabled":"1"},
"c":{"transport":{"type":"sse","url":"https://h/"},"timeout":3}},"servers":{"d":{"command":{"path":"p"}}},
"mcp":{"servers":{"x":{"command":["a","--pwd","b"]}},"excluded":["a"]},"context_servers":{"z":{"settings":{}}}}"#;
    let toml =
        "[mcp_servers.a]\ncommand = 'n'\nargs = ['--key', \"x\\n\"]\nenv = { A = 'b', B = 5 }\n";
    let yaml = "extensions:\n  a: {cmd: n, args: [--key, x], envs: {A: b, B: 5}, type: stdio}\nmcpServers:\n  - {name: q, command: [a, b]}\n";
    let mut state = 0x1234_5678_9abc_def1_u64;
    for provider in Provider::ALL {
        for (path, seed, rounds) in
            [("f.json", json, 40), ("f.toml", toml, 40), ("f.yaml", yaml, 40)]
        {
            for _ in 0..rounds {
                let mut bytes = seed.as_bytes().to_vec();
                for _ in 0..state % 3 {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let at = (state >> 8) as usize % bytes.len();
                    match state % 4 {
                        0 => bytes[at] = (state >> 40) as u8,
                        1 => bytes.truncate(at.max(1)),
                        2 => {
                            bytes.insert(at, b"{}[]\"',:\\/*=-@ 0e\n"[(state >> 48) as usize % 18])
                        }
                        _ => {
                            bytes.remove(at);
                            bytes.push(b'\n');
                        }
                    }
                }
                state = state.wrapping_add(0x9e37_79b9);
                check_as(&tool(*provider, path), &bytes);
            }
        }
    }
}
