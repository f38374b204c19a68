use alloc::vec;

use super::*;
use crate::config::definition::Transport;

fn at(provider: Provider, level: Level, text: &str) -> Reading {
    let source = Source::file(provider, level, "f");
    read(&source, text.as_bytes())
}

fn own(text: &str) -> Reading {
    at(Provider::Tidegate, Level::User, text)
}

/// The problems, each as `line key server category`.
fn found(reading: &Reading) -> Vec<String> {
    let place = |problem: &Problem| {
        let line = problem.line.map_or_else(|| "-".into(), |line| format!("{line}"));
        let key = problem.key.as_deref().unwrap_or("-");
        let server = problem.server.as_ref().map_or("-", ServerName::as_str);
        format!("{line} {key} {server} {:?}", problem.category)
    };
    reading.problems.iter().map(place).collect()
}

fn error_of(reading: &Reading, name: &str) -> String {
    let found = reading.definitions.iter().find(|d| d.name.as_str() == name).expect("a definition");
    found.transport.clone().expect_err("not valid")
}

/// F-024, G55: the reproduction of the field report.
#[test]
fn a_faulty_entry_is_reported_with_its_place_and_hurts_no_other() {
    let reading = own("{\"mcpServers\": {\n\"bad\": \"oops\",\n\"worse\": {\"args\": [\"x\"]},\n\
                       \"good\": {\"command\": \"python3\", \"args\": [\"server.py\"]}\n}}");
    assert_eq!(
        found(&reading),
        ["2 mcpServers.bad bad InvalidEntry", "3 mcpServers.worse.type worse MissingEndpoint"]
    );
    let names: Vec<&str> = reading.definitions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["bad", "worse", "good"]);
    assert_eq!(
        error_of(&reading, "bad"),
        "Server \"bad\": the entry should be an object and is text"
    );
    assert_eq!(
        error_of(&reading, "worse"),
        "Server \"worse\": stdio server requires \"command\" field"
    );
    assert!(reading.definitions.iter().all(|d| d.source.path == "f"));
    assert_eq!(reading.definitions.last().map(|d| d.source.line), Some(4));
}

/// F-025.
#[test]
fn a_url_alone_is_http_by_whatever_name() {
    for key in ["url", "serverUrl", "httpUrl"] {
        let reading =
            own(&format!(r#"{{"mcpServers":{{"a":{{"{key}":"http://127.0.0.1:9/mcp"}}}}}}"#));
        assert_eq!(found(&reading), [""; 0]);
        let [definition] = &reading.definitions[..] else { panic!("{reading:?}") };
        let transport = definition.transport.as_ref().expect("valid");
        assert!(matches!(transport, Transport::Http(r) if r.url == "http://127.0.0.1:9/mcp"));
    }
}

/// F-026.
#[test]
fn an_entry_with_both_endpoints_gives_one_problem_that_names_both_keys() {
    let both = r#""command":"c","url":"http://localhost/""#;
    let reading = own(&format!(r#"{{"mcpServers":{{"a":{{{both}}}}}}}"#));
    let [problem] = &reading.problems[..] else { panic!("{reading:?}") };
    assert_eq!(problem.severity, Severity::Error);
    assert!(problem.message.contains("\"command\"") && problem.message.contains("\"url\""));
    assert_eq!(error_of(&reading, "a"), problem.message);

    let reading = own(&format!(r#"{{"mcpServers":{{"a":{{"type":"stdio",{both}}}}}}}"#));
    let [problem] = &reading.problems[..] else { panic!("{reading:?}") };
    assert_eq!(problem.severity, Severity::Warning);
    assert!(problem.message.contains("\"command\"") && problem.message.contains("\"url\""));
    let transport = reading.definitions[0].transport.as_ref().expect("valid");
    assert!(matches!(transport, Transport::Stdio(_)));
}

/// F-027: the reproduction of the field report.
#[test]
fn comments_and_trailing_commas_are_read_and_mentioned_only_where_others_read_too() {
    let text = "{\"mcpServers\": {\n  // \"off\": {\"command\": \"x\"},\n  \"on\": {\"command\": \"y\",}, /* z */\n}}";
    let reading = own(text);
    assert_eq!(found(&reading), [""; 0]);
    assert_eq!(reading.definitions.len(), 1);
    let reading = at(Provider::Shared, Level::Project, text);
    assert_eq!(found(&reading), ["- - - LenientSyntax"]);
    assert_eq!(reading.definitions.len(), 1);
}

/// F-027.
#[test]
fn a_syntax_error_is_located_and_gives_no_definitions() {
    for (text, line, column) in [
        ("{\n  \"mcpServers\": {\n    \"a\": {\"command\" \"x\"}\n  }\n}", 3, 21),
        ("{\"mcpServers\": {\"a\": {\"command\": \"x\"}}", 1, 1),
        ("{} {}", 1, 4),
        ("{\"a\": 0x10}", 1, 7),
        ("{\"a\": \"\\ud800\"}", 1, 8),
        ("{\"a\": 1 \"b\": 2}", 1, 8),
        ("{'a': 1 'b': 2}", 1, 8),
    ] {
        let reading = own(text);
        assert!(reading.definitions.is_empty());
        let [problem] = &reading.problems[..] else { panic!("{reading:?}") };
        assert_eq!((problem.severity, problem.category), (Severity::Error, Category::SyntaxError));
        assert_eq!(problem.line, Some(line), "{text}");
        assert_eq!(problem.column, Some(column), "{text}");
        let twice = ["line ", "column "].iter().any(|word| problem.message.contains(word));
        assert!(!twice, "{text}: {}", problem.message);
    }
}

/// F-028: both spellings, and the list.
#[test]
fn every_way_to_switch_a_server_off_counts() {
    let reading = own(r#"{"mcpServers":{
        "a":{"command":"x","enabled":false},"b":{"command":"x","disabled":true},
        "c":{"command":"x","enabled":true,"disabled":true},"d":{"command":"x"},
        "e":{"command":"x","enabled":true,"disabled":false},"f":{"command":"x","enabled":"0"}},
        "disabledServers":["d"]}"#);
    let on: Vec<&str> =
        reading.definitions.iter().filter(|d| d.enabled).map(|d| d.name.as_str()).collect();
    assert_eq!(on, ["e"]);
    assert_eq!(reading.disabled.into_iter().collect::<Vec<_>>(), [ServerName::new("d")]);
}

#[test]
fn only_a_file_the_user_vouches_for_switches_off_what_others_define() {
    let text = r#"{"mcpServers":{},"disabledServers":["d",null,5]}"#;
    let reading = at(Provider::Shared, Level::Project, text);
    assert!(reading.disabled.is_empty());
    assert_eq!(found(&reading), ["1 disabledServers - InvalidField"]);
}

#[test]
fn servers_of_other_programs_files_are_read_with_a_warning() {
    let inner = r#"{"a":{"command":"x"},"b":{"url":"https://e.example.com/"}}"#;
    for (text, prefix) in [(format!(r#"{{"servers":{inner}}}"#), "servers."), (inner.into(), "")] {
        let reading = own(&text);
        assert_eq!(reading.definitions.len(), 2, "{text}");
        let categories: Vec<Category> = reading.problems.iter().map(|p| p.category).collect();
        assert_eq!(categories, [Category::ForeignSection]);
        let broken = own(&text.replace("\"x\"", "5"));
        let key = format!("{prefix}a.command");
        assert!(broken.problems.iter().any(|p| p.key.as_deref() == Some(&key)), "{broken:?}");
    }
    let reading = own(r#"{"mcpServers":{"c":{"command":"x"}},"servers":{"d":{"command":"x"}}}"#);
    assert_eq!(reading.definitions.len(), 1);
    assert_eq!(found(&reading), ["1 servers - UnknownField"]);
}

#[test]
fn a_file_without_servers_is_worth_a_warning_only_if_the_user_named_it() {
    for (text, category) in [
        ("", Category::EmptyFile),
        (" // nothing\n", Category::EmptyFile),
        ("{}", Category::MissingSection),
        ("{\"theme\": \"dark\"}", Category::MissingSection),
        ("{\"mcpServers\": null}", Category::MissingSection),
    ] {
        for (level, severity) in
            [(Level::User, Severity::Info), (Level::Explicit, Severity::Warning)]
        {
            let reading = at(Provider::Tidegate, level, text);
            let found: Vec<_> = reading.problems.iter().map(|p| (p.severity, p.category)).collect();
            assert_eq!(found, [(severity, category)], "{text}");
        }
    }
}

#[test]
fn a_section_or_root_of_the_wrong_type_is_an_error() {
    for text in ["[]", "5", "\"x\"", "null"] {
        assert_eq!(found(&own(text)), ["1 - - WrongRootType"], "{text}");
    }
    for text in ["{\"mcpServers\": []}", "{\"mcpServers\": \"x\"}"] {
        assert_eq!(found(&own(text)), ["1 mcpServers - WrongSectionType"], "{text}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_mentioned() {
    let reading = own(r#"{"$schema":"s","theme":1,"mcpServers":{"a":{"command":"x","icon":"y"}}}"#);
    assert_eq!(found(&reading), ["1 theme - UnknownField", "1 mcpServers.a.icon a UnknownField"]);
    assert!(reading.problems.iter().all(|problem| problem.severity == Severity::Info));
}

#[test]
fn a_timeout_is_a_positive_number_of_milliseconds() {
    for (written, wanted) in [
        ("1500", Some(1_500)),
        ("0.5", Some(1)),
        ("1e3", Some(1_000)),
        ("1e300", Some(u64::MAX)),
        ("\"2500\"", Some(2_500)),
        ("0", None),
        ("-1", None),
        ("\"soon\"", None),
        ("\"inf\"", None),
        ("null", None),
        ("[1]", None),
    ] {
        let text = format!(r#"{{"mcpServers":{{"a":{{"command":"x","timeout":{written}}}}}}}"#);
        assert_eq!(own(&text).definitions[0].timeout_ms, wanted, "{written}");
    }
}

/// G67: a value may be a secret.
#[test]
fn no_message_quotes_a_value() {
    let entries = r#"{"mcpServers":{
        "a":{"command":"SECRET","url":"https://SECRET/","args":"SECRET 'SECRET","env":{"A":["SECRET"]}},
        "b":{"type":"http","url":"SECRET:SECRET","headers":{"A":{"B":"SECRET"}}},
        "c":{"command":["SECRET",{"x":"SECRET"}],"env":["SECRET"],"cwd":["SECRET"],"timeout":"SECRET"},
        "d":{"url":"http://SECRET.example.com","serverUrl":"http://SECRET","enabled":"SECRET"},
        "e":"SECRET"},"other":"SECRET","disabledServers":[["SECRET"]]}"#;
    let reading = own(entries);
    assert!(reading.problems.len() > 10);
    for problem in &reading.problems {
        assert!(!problem.message.contains("SECRET"), "{}", problem.message);
    }
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let seed = br#"// c
{"mcpServers": {'a': {command: "x", "args": ["--a", 1, null], "env": {"K": "v\u00e9\n"}}, "a": {"url": "https://h/"}}, "disabledServers": ["a"]}"#;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..10_000 {
        let mut bytes = seed.to_vec();
        for _ in 0..1 + state % 4 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 8) as usize % bytes.len();
            match state % 4 {
                0 => bytes[at] = (state >> 40) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"{}[]\"',:\\/*\xc3 0"[(state >> 48) as usize % 14]),
                _ => {
                    bytes.remove(at);
                    bytes.push(b' ');
                }
            }
        }
        let source = Source::inline("f", "");
        let reading = read(&source, &bytes);
        // Nothing is silently unusable (G36).
        if reading.definitions.iter().any(|definition| definition.transport.is_err()) {
            assert!(reading.problems.iter().any(|p| p.severity == Severity::Error));
        }
    }
}

#[test]
fn the_same_bytes_give_the_same_reading() {
    let text = r#"{"mcpServers":{"b":{"command":1},"a":{"command":"x","q":1},"a":{}}}"#;
    assert_eq!(vec![own(text)], vec![own(text)]);
}

#[test]
fn what_is_read_otherwise_than_written_is_said_with_the_server() {
    let text = r#"{"mcpServers":{"x":{"command":"c","args":[1],"env":{"A":2,"B":null}}}}"#;
    let reading = read(&Source::inline("t", text), text.as_bytes());
    let told: Vec<&str> = reading.problems.iter().map(|it| &*it.message).collect();
    let wanted = [
        "Server \"x\": \"args.0\" is a number; it is read as text",
        "Server \"x\": \"env.A\" is a number; it is read as text",
        "Server \"x\": \"env.B\" is null; it is left out",
    ];
    assert_eq!(told, wanted);
}
