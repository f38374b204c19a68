//! Configuration files as people and programs leave them, and what is made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tidegate_core::config::environment::Setting;
use tidegate_core::config::parse::{Reading, read, read_in};
use tidegate_core::config::resolve::{Resolved, resolve};
use tidegate_core::config::{
    Auth, Definition, Environment, Level, Part, Provider, Role, Source, Surroundings, Transport,
};
use tidegate_core::error::{Category, Severity};

/// The folders with cases.
const FOLDERS: [&str; 2] = ["config", "config-more"];

/// One case of the corpus.
struct Case {
    name: String,
    expected: Value,
    bytes: Vec<u8>,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for folder in FOLDERS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
            for case in fs::read_dir(folder).expect("the corpus") {
                let case = case.expect("a case").path();
                if !case.is_dir() {
                    continue;
                }
                let text = fs::read_to_string(case.join("expected.json")).expect("an expectation");
                let expected: Value = serde_json::from_str(&text).expect("JSON");
                let file = expected["file"].as_str().expect("a file");
                let bytes = fs::read(case.join(file)).expect("an input");
                cases.push(Self { name: case.display().to_string(), expected, bytes });
            }
        }
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        cases
    }

    fn source(&self) -> Source {
        let word = |key: &str| self.expected[key].as_str().expect("text");
        let level = match word("scope") {
            "project" => Level::Project,
            "local" => Level::Local,
            _ => Level::User,
        };
        let provider = Provider::named(word("tool")).expect("a tool");
        let constants = self.map("vars");
        Source { constants, ..Source::file(provider, level, word("file")) }
    }

    fn map(&self, key: &str) -> BTreeMap<String, String> {
        let map = self.expected[key].as_object().expect("an object");
        map.iter().map(|(name, text)| (name.clone(), text.as_str().expect("text").into())).collect()
    }

    fn environment(&self) -> Environment {
        let setting = |text: &str| if text.is_empty() { Setting::Empty } else { Setting::Filled };
        self.map("env").into_iter().map(|(name, text)| (name, setting(&text))).collect()
    }

    fn reading(&self, bytes: &[u8]) -> Reading {
        let environment = self.environment();
        let project = self.expected["project"].as_str().unwrap_or_default();
        let around = Surroundings { environment: &environment, project, home: None };
        read_in(&self.source(), bytes, around)
    }

    fn resolved(&self) -> Resolved {
        resolve(vec![self.reading(&self.bytes)], usize::MAX)
    }

    /// A definition in the form of `expected.json`; `None` if it is not valid.
    fn neutral(&self, definition: &Definition) -> Option<Value> {
        let env = self.map("env");
        let fill = |text: &str, role| {
            definition.template(text, role).filled(|name| env.get(name).cloned())
        };
        let words = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| fill(text, Role::Word)).collect()
        };
        let values = |map: &BTreeMap<String, String>, role| -> BTreeMap<String, String> {
            map.iter().map(|(name, text)| (name.clone(), fill(text, role))).collect()
        };
        let mut server = Map::new();
        let mut put = |key: &str, value: Value| {
            let is_default = match &value {
                Value::Null => true,
                Value::Array(list) => list.is_empty(),
                Value::Object(map) => map.is_empty(),
                Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            };
            if !is_default {
                server.insert(key.into(), value);
            }
        };
        let transport = definition.transport.as_ref().ok()?;
        put("name", json!(definition.name));
        put("transport", json!(transport.name()));
        put("enabled", if definition.enabled { Value::Null } else { json!(false) });
        put("timeout_ms", json!(definition.timeout_ms));
        put("startup_timeout_ms", json!(definition.startup_timeout_ms));
        put("tools", json!(definition.tools));
        put("auto_approve", json!(definition.auto_approve));
        put("auth", definition.auth.as_ref().map_or(Value::Null, |auth| sign_in(auth, fill)));
        match transport {
            Transport::Stdio(stdio) => {
                put("command", json!(fill(&stdio.command, Role::Word)));
                put("args", json!(words(&stdio.args)));
                put("env", json!(values(&stdio.env, Role::Env)));
                put("env_unset", json!(stdio.env_unset));
                put("env_inherit", json!(stdio.env_inherit));
                put("env_file", json!(stdio.env_file.as_ref().map(|text| fill(text, Role::Word))));
                put("cwd", json!(stdio.cwd.as_ref().map(|text| fill(text, Role::Word))));
            }
            Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote) => {
                put("url", json!(fill(&remote.url, Role::Word)));
                put("headers", json!(values(&remote.headers, Role::Header)));
                put("headers_env", json!(remote.headers_env));
                put("env_inherit", json!(remote.env_inherit));
            }
        }
        put("inputs", json!(inputs(definition, transport)));
        let local = self.expected["servers"].as_array().into_iter().flatten();
        if local.into_iter().any(|server| server.get("scope").is_some()) {
            put("scope", json!(definition.source.level));
        }
        Some(Value::Object(server))
    }
}

fn inputs(definition: &Definition, transport: &Transport) -> BTreeSet<String> {
    let texts: Vec<&String> = match transport {
        Transport::Stdio(stdio) => stdio.args.iter().chain(stdio.env.values()).collect(),
        Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote) => {
            remote.headers.values().chain([&remote.url]).collect()
        }
    };
    let parts = texts.into_iter().flat_map(|text| definition.template(text, Role::Word).parts);
    let id = |part| if let Part::Input { id, .. } = part { Some(id) } else { None };
    parts.filter_map(id).collect()
}

fn sign_in(auth: &Auth, fill: impl Fn(&str, Role) -> String) -> Value {
    let mut said = json!(auth);
    let Some(members) = said.as_object_mut() else { return said };
    // Not part of the neutral form.
    for key in ["callback_path", "credential_id", "token_url"] {
        members.remove(key);
    }
    members.retain(|_, value| !value.is_null());
    for (key, value) in members.iter_mut() {
        if let (Value::String(text), false) = (&*value, key == "kind") {
            *value = json!(fill(text, Role::Word));
        }
    }
    said
}

/// An expected server without what is at its default.
fn shortened(server: &Value) -> Value {
    let mut server = server.as_object().expect("an object").clone();
    let is_default = |key: &str, value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(value) => key == "enabled" && *value,
        Value::Number(_) | Value::String(_) => false,
    };
    server.retain(|key, value| !is_default(key, value));
    Value::Object(server)
}

fn graver(problems: &[tidegate_core::error::Problem]) -> BTreeSet<String> {
    let graver = problems.iter().filter(|problem| problem.severity != Severity::Info);
    graver
        .map(|problem| json!([problem.severity, problem.category, problem.server]).to_string())
        .collect()
}

/// Issue 4, items 1 to 4.
#[test]
fn every_file_of_the_corpus_is_read_as_expected() {
    let cases = Case::all();
    let mut complaints = Vec::new();
    for case in &cases {
        let resolved = case.resolved();
        let servers: BTreeSet<String> = resolved
            .definitions
            .iter()
            .filter_map(|d| case.neutral(d))
            .map(|s| s.to_string())
            .collect();
        let list = case.expected["servers"].as_array().expect("a list");
        let wanted: BTreeSet<String> = list.iter().map(|s| shortened(s).to_string()).collect();
        if servers != wanted {
            complaints.push(format!("{}: {servers:#?} instead of {wanted:#?}", case.name));
        }

        let diagnostics = case.expected["diagnostics"].as_array().expect("a list");
        let wanted: BTreeSet<String> = diagnostics
            .iter()
            .filter(|each| each["severity"] != "info")
            .map(|each| json!([each["severity"], each["category"], each["server"]]).to_string())
            .collect();
        let found = graver(&resolved.problems);
        if found != wanted {
            complaints.push(format!("{}: {found:#?} instead of {wanted:#?}", case.name));
        }
        if let Some(line) = case.expected.get("line") {
            let lines: Vec<_> = resolved.problems.iter().map(|p| json!(p.line)).collect();
            assert!(lines.contains(line), "{lines:?} of {}", case.name);
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(cases.len(), 39 + 59, "cases in the corpus");
}

/// 38-depth-bomb.
#[test]
fn a_file_that_is_nested_too_deeply_is_one_problem_and_no_overflow() {
    for open in ["{\"a\":", "["] {
        let mut text = String::from("{\"mcpServers\":{\"deep\":{\"command\":\"x\",\"env\":");
        text.push_str(&open.repeat(20_000));
        let source = Source::file(Provider::Shared, Level::Project, "mcp.json");
        let reading = read(&source, text.as_bytes());
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
    let source = Source::file(Provider::Shared, Level::Project, "mcp.json");
    let reading = read(&source, text.as_bytes());
    assert_eq!(reading.problems, []);
    assert_eq!(reading.definitions.len(), 10_000);
    let sample = &reading.definitions[4_711];
    assert_eq!(sample.name.as_str(), "s04711");
    let Ok(Transport::Stdio(stdio)) = &sample.transport else { panic!("{sample:?}") };
    assert_eq!((stdio.command.as_str(), &stdio.args[..]), ("node", &["s4711.js".into()][..]));
    assert_eq!(stdio.env.get("K").map(String::as_str), Some("4711"));
}
