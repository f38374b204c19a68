use super::*;
use crate::config::parse::read;
use crate::config::source::Source;

fn organisation(text: &str) -> Organisation {
    Organisation::read("/etc/policy.json", &Found::Content(text.into()))
}

fn definition(entry: &str) -> Definition {
    let text = format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#);
    read(&Source::inline("test", &text), text.as_bytes()).definitions.remove(0)
}

fn forbids(policy: &str, entry: &str) -> bool {
    let organisation = organisation(policy);
    assert_eq!(organisation.problem(), None, "{policy}");
    organisation.refusal(&definition(entry)).is_some()
}

#[test]
fn without_a_file_nothing_is_forbidden_and_an_empty_list_of_what_is_allowed_forbids_all() {
    let run = definition(r#"{"command":"x"}"#);
    assert_eq!(Organisation::read("/e", &Found::Nothing).refusal(&run), None);
    assert!(!forbids("{}", r#"{"command":"x"}"#));
    assert!(forbids(r#"{"allow":[]}"#, r#"{"command":"x"}"#));
    assert!(forbids(r#"{"allow":[]}"#, r#"{"url":"https://h/"}"#));
}

#[test]
fn a_denial_wins_and_names_its_line() {
    let policy = "{\"allow\":[{\"name\":\"*\"}],\n\"deny\":[\n{\"program\":\"x\"}]}";
    let refusal = organisation(policy).refusal(&definition(r#"{"command":"x"}"#)).unwrap();
    assert_eq!((refusal.file.as_deref(), refusal.line), (Some("/etc/policy.json"), Some(3)));
    assert_eq!(
        refusal.message,
        "Server \"a\" is forbidden by /etc/policy.json: it denies program \"x\""
    );
    assert!(!forbids(policy, r#"{"command":"y"}"#));
}

#[test]
fn a_rule_is_about_what_has_everything_it_says() {
    let policy = r#"{"allow":[{"name":"a","program":"npx"},{"command":["run","x"]}]}"#;
    assert!(!forbids(policy, r#"{"command":"npx","args":["anything"]}"#));
    assert!(!forbids(policy, r#"{"command":"run","args":["x"]}"#));
    for other in [
        r#"{"command":"run","args":["x","y"]}"#,
        r#"{"command":"run"}"#,
        r#"{"command":"./npx"}"#,
        r#"{"command":"/tmp/npx"}"#,
        r#"{"command":"NPX"}"#,
        r#"{"url":"https://npx/"}"#,
    ] {
        assert!(forbids(policy, other), "{other}");
    }
    assert!(forbids(r#"{"allow":[{"name":"b*"}]}"#, r#"{"command":"x"}"#));
}

/// What the core does not know is not allowed, and is forbidden where it could be meant.
#[test]
fn a_variable_gets_nothing_past_a_rule() {
    for entry in [r#"{"command":"${SHELL}"}"#, r#"{"command":"/opt/${X}"}"#] {
        assert!(forbids(r#"{"deny":[{"program":"bash"}]}"#, entry), "{entry}");
        assert!(forbids(r#"{"allow":[{"program":"bash"}]}"#, entry), "{entry}");
        assert!(!forbids(r#"{"deny":[{"name":"b"}]}"#, entry), "{entry}");
    }
    let deny = r#"{"deny":[{"command":["run","--evil"]}]}"#;
    assert!(forbids(deny, r#"{"command":"run","args":["${X:-y}"]}"#));
    assert!(!forbids(deny, r#"{"command":"run","args":["${X}","z"]}"#));
    assert!(forbids(r#"{"deny":[{"url":"https://evil"}]}"#, r#"{"url":"https://${H}/"}"#));
    assert!(forbids(r#"{"allow":[{"url":"https://h"}]}"#, r#"{"url":"https://h${X}/"}"#));
    assert!(!forbids(
        r#"{"allow":[{"command":["run","${KEY}"]}]}"#,
        r#"{"command":"run","args":["${KEY}"]}"#
    ));
}

/// What is allowed by its name is what the host calls so.
#[test]
fn an_entry_with_a_path_of_its_own_is_allowed_by_no_name() {
    for policy in [r#"{"allow":[{"program":"npx"}]}"#, r#"{"allow":[{"command":["npx","x"]}]}"#] {
        let entry = |env: &str| format!(r#"{{"command":"npx","args":["x"],"env":{env}}}"#);
        assert!(!forbids(policy, &entry(r#"{"KEY":"x"}"#)), "{policy}");
        assert!(forbids(policy, &entry(r#"{"PATH":"/tmp/evil"}"#)), "{policy}");
        assert!(forbids(policy, &entry(r#"{"Path":"${P}"}"#)), "{policy}");
    }
    let entry = r#"{"command":"/opt/npx","env":{"PATH":"/tmp"}}"#;
    assert!(!forbids(r#"{"allow":[{"program":"/opt/npx"}]}"#, entry));
    assert!(forbids(r#"{"deny":[{"program":"npx"}]}"#, entry));
}

#[test]
fn an_address_is_denied_however_it_is_spelled() {
    let deny = r#"{"deny":[{"url":"https://evil.example.com/mcp/*"}]}"#;
    for url in [
        "https://evil.example.com:443/mcp/x",
        "https://evil.example.com:0443/mcp/x",
        "https://evil.example.com:/mcp/x",
        "https://evil.example.com.:443/mcp/x",
        "https://evil.example.com/%6dcp/x",
        "https://evil.example.com/%6D%63p/x",
        "https://evil.example.com//mcp/x",
    ] {
        assert!(forbids(deny, &format!("{{\"url\":\"{url}\"}}")), "{url}");
    }
    for url in ["https://evil.example.com:8443/mcp/x", "https://evil.example.com/%6ecp/x"] {
        assert!(!forbids(deny, &format!("{{\"url\":\"{url}\"}}")), "{url}");
    }
    let allow = r#"{"allow":[{"url":"https://[::1]:443/"},{"url":"https://h:*/"}]}"#;
    assert!(!forbids(allow, r#"{"url":"https://[::1]/"}"#));
    assert!(!forbids(allow, r#"{"url":"https://h:1/"}"#));
    assert!(forbids(allow, r#"{"url":"https://[::443]/"}"#));
}

#[test]
fn a_program_is_denied_wherever_it_lies() {
    let policy = r#"{"deny":[{"program":"npx"},{"program":"/opt/x"}]}"#;
    for (entry, forbidden) in [
        (r#"{"command":"npx"}"#, true),
        (r#"{"command":"/usr/bin/npx"}"#, true),
        (r#"{"command":"./npx"}"#, true),
        (r#"{"command":"/opt/x"}"#, true),
        (r#"{"command":"/opt/y/x"}"#, false),
        (r#"{"command":"npx2"}"#, false),
    ] {
        assert_eq!(forbids(policy, entry), forbidden, "{entry}");
    }
}

#[test]
fn a_star_in_a_host_stays_in_the_host() {
    let policy = r#"{"allow":[{"url":"https://*.example.com/mcp/*"},{"url":"HTTPS://One.org"}]}"#;
    for url in [
        "https://a.example.com/mcp/x",
        "https://a.b.example.com/mcp/",
        "HTTPS://A.EXAMPLE.COM:443/mcp/x?y#z",
        "https://user:pw@a.example.com/mcp/x",
        "https://one.org/any/path",
        "https://one.org",
        "https://one.org./",
    ] {
        assert!(!forbids(policy, &format!("{{\"url\":\"{url}\"}}")), "{url}");
    }
    for url in [
        "http://a.example.com/mcp/x",
        "https://example.com/mcp/x",
        "https://evil.com/.example.com/mcp/x",
        "https://evil.com?.example.com/mcp/x",
        "https://evil.com#.example.com/mcp/x",
        "https://a.example.com@evil.com/mcp/x",
        "https://a.example.com:8443/mcp/x",
        "https://a.example.com/mcp/../admin",
        "https://a.example.com/mcp/%2e%2e/admin",
        "https://one.org.evil.com/",
        "https://one.orgevil.com/",
    ] {
        assert!(forbids(policy, &format!("{{\"url\":\"{url}\"}}")), "{url}");
    }
    let deny = r#"{"deny":[{"url":"https://evil.com/bad/*"}]}"#;
    for url in
        ["https://EVIL.com:443/bad/x", "https://x@evil.com/bad/", "https://evil.com/a/../bad/x"]
    {
        assert!(forbids(deny, &format!("{{\"url\":\"{url}\"}}")), "{url}");
    }
    assert!(!forbids(deny, r#"{"url":"https://evil.com/good"}"#));
    assert_eq!(Address::of("https://evil.com\\@good.com/"), None);
}

/// A file that is not understood forbids everything and says where it is wrong.
#[test]
fn a_file_that_is_not_understood_forbids_everything() {
    for (text, line) in [
        ("", Some(1)),
        ("[]", Some(1)),
        ("{\n\"alow\":[]}", Some(2)),
        ("{\"deny\":[\n{\"nam\":\"x\"}]}", Some(2)),
        ("{\"deny\":[\n{}]}", Some(2)),
        ("{\"deny\":{}}", Some(1)),
        ("{\"deny\":[],\n\"deny\":[]}", Some(2)),
        ("{\"deny\":[{\"name\":\"a\",\n\"name\":\"b\"}]}", Some(2)),
        ("{\"deny\":[{\"command\":\"x\"}]}", Some(1)),
        ("{\"deny\":[{\"command\":[1]}]}", Some(1)),
        ("{\"deny\":[{\"url\":\"evil.com\"}]}", Some(1)),
        ("{\n\"deny\":[", Some(2)),
    ] {
        let organisation = organisation(text);
        let problem = organisation.problem().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(problem.line, line, "{text}: {problem:?}");
        assert!(organisation.refusal(&definition(r#"{"command":"x"}"#)).is_some(), "{text}");
    }
    let unreadable = Organisation::read("/e", &Found::Unreadable("Permission denied".into()));
    assert!(unreadable.refusal(&definition(r#"{"command":"x"}"#)).is_some());
    assert!(unreadable.problem().unwrap().message.contains("Permission denied"));
}

#[test]
fn a_star_stands_for_anything() {
    for (pattern, text, fits) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("*", "", true),
        ("a*", "a", true),
        ("*a", "ba", true),
        ("a*a", "a", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c", false),
        ("**", "x", true),
    ] {
        assert_eq!(is_like(pattern, text), fits, "{pattern} {text}");
    }
}
