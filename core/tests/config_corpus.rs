//! Configuration files as people and programs leave them, and what is made of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tidegate_core::config::parse::{Reading, read};
use tidegate_core::config::{Definition, Level, Provider, Source, Transport};
use tidegate_core::error::{Category, Severity};

fn source(tool: &str, scope: &str) -> Source {
    Source {
        // Files of our own may have comments; those that strict programs share may not.
        provider: if tool == "cursor" { Provider::Tidegate } else { Provider::Shared },
        level: if scope == "user" { Level::User } else { Level::Project },
        path: "mcp.json".into(),
        text: None,
    }
}

/// A definition in the form of `expected.json`; `None` if it is not valid.
fn neutral(definition: &Definition) -> Option<Value> {
    let mut server = Map::new();
    server.insert("name".into(), json!(definition.name));
    server.insert("enabled".into(), json!(definition.enabled));
    if let Some(ms) = definition.timeout_ms {
        server.insert("timeout_ms".into(), json!(ms));
    }
    let transport = definition.transport.as_ref().ok()?;
    server.insert("transport".into(), json!(transport.name()));
    match transport {
        Transport::Stdio(stdio) => {
            server.insert("command".into(), json!(stdio.command));
            server.insert("args".into(), json!(stdio.args));
            server.insert("env".into(), json!(stdio.env));
            if let Some(cwd) = &stdio.cwd {
                server.insert("cwd".into(), json!(cwd));
            }
        }
        Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote) => {
            server.insert("url".into(), json!(remote.url));
            server.insert("headers".into(), json!(remote.headers));
        }
    }
    Some(Value::Object(server))
}

/// An expected server with every default written out.
fn complete(server: &Value) -> Value {
    let mut server = server.as_object().expect("an object").clone();
    server.entry("enabled").or_insert(json!(true));
    if server["transport"] == "stdio" {
        server.entry("args").or_insert(json!([]));
        server.entry("env").or_insert(json!({}));
    } else {
        server.entry("headers").or_insert(json!({}));
    }
    if server["transport"] == "auto" {
        server["transport"] = json!("http");
    }
    Value::Object(server)
}

fn problems(reading: &Reading) -> BTreeSet<String> {
    let graver = reading.problems.iter().filter(|problem| problem.severity != Severity::Info);
    graver
        .map(|problem| json!([problem.severity, problem.category, problem.server]).to_string())
        .collect()
}

#[test]
fn every_file_of_the_corpus_is_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/config");
    let mut cases = 0;
    for case in fs::read_dir(folder).expect("the corpus") {
        let case = case.expect("a case").path();
        if !case.is_dir() {
            continue;
        }
        cases += 1;
        let text = fs::read_to_string(case.join("expected.json")).expect("an expectation");
        let expected: Value = serde_json::from_str(&text).expect("JSON");
        let word = |key: &str| expected[key].as_str().expect("text");
        let bytes = fs::read(case.join(word("file"))).expect("an input");
        let reading = read(&source(word("tool"), word("scope")), &bytes);

        let servers: BTreeSet<String> =
            reading.definitions.iter().filter_map(neutral).map(|s| s.to_string()).collect();
        let list = expected["servers"].as_array().expect("a list");
        let wanted: BTreeSet<String> = list.iter().map(|s| complete(s).to_string()).collect();
        assert_eq!(servers, wanted, "servers of {}", case.display());

        let diagnostics = expected["diagnostics"].as_array().expect("a list");
        let wanted: BTreeSet<String> = diagnostics
            .iter()
            .filter(|each| each["severity"] != "info")
            .map(|each| json!([each["severity"], each["category"], each["server"]]).to_string())
            .collect();
        assert_eq!(problems(&reading), wanted, "problems of {}", case.display());
    }
    assert_eq!(cases, 14, "cases in the corpus");
}

/// 38-depth-bomb.
#[test]
fn a_file_that_is_nested_too_deeply_is_one_problem_and_no_overflow() {
    for open in ["{\"a\":", "["] {
        let mut text = String::from("{\"mcpServers\":{\"deep\":{\"command\":\"x\",\"env\":");
        text.push_str(&open.repeat(20_000));
        let reading = read(&source("mcp-json", "project"), text.as_bytes());
        assert!(reading.definitions.is_empty());
        let categories: Vec<Category> =
            reading.problems.iter().map(|problem| problem.category).collect();
        assert_eq!(categories, [Category::DepthLimit]);
    }
}

/// 41-ten-thousand-servers.
#[test]
fn ten_thousand_servers_are_read() {
    let mut text = String::from("{\"mcpServers\":{");
    for n in 0..10_000 {
        let comma = if n > 0 { "," } else { "" };
        write!(
            text,
            "{comma}\"s{n:05}\":{{\"command\":\"node\",\"args\":[\"s{n}.js\"],\"env\":{{\"K\":\"{n}\"}}}}"
        )
        .expect("writing to a string");
    }
    text.push_str("}}");
    let reading = read(&source("mcp-json", "project"), text.as_bytes());
    assert_eq!(reading.problems, []);
    assert_eq!(reading.definitions.len(), 10_000);
    let sample = neutral(&reading.definitions[4_711]).expect("a valid one");
    let wanted = json!({"name": "s04711", "transport": "stdio", "enabled": true,
        "command": "node", "args": ["s4711.js"], "env": {"K": "4711"}});
    assert_eq!(sample, wanted);
}
