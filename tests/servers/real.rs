//! Published servers, and what each must do, whichever driver runs them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::hub::status::Status;
use tidegate_core::input::Target;
use tidegate_core::tools::catalog::Catalog;
use tidegate_core::tools::content;
use tidegate_tests::live::World;

/// A host, whichever driver it is of.
pub(crate) trait Client {
    async fn look(&self) -> (Status, Arc<Catalog>);
    async fn call(&self, target: Target, arguments: Json) -> Outcome;
}

pub(crate) struct Real {
    pub(crate) name: &'static str,
    /// The command line.
    pub(crate) words: Vec<String>,
    /// Some of its tools.
    pub(crate) tools: &'static [&'static str],
    /// One call, and what its answer must contain.
    pub(crate) call: (&'static str, Value, String),
}

fn installed(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".servers").join(path);
    assert!(file.exists(), "{} is missing: run tests/servers/install", file.display());
    file.display().to_string()
}

fn node(name: &str) -> String {
    installed(&format!("node_modules/.bin/{name}"))
}

fn python(name: &str) -> String {
    installed(&format!("python/bin/{name}"))
}

/// Every real server, in a project that has a file and a repository for them.
pub(crate) fn real(world: &World) -> Vec<Real> {
    let dir = fs::canonicalize(world.dir()).expect("a directory");
    fs::write(dir.join("note.txt"), "written for the test").expect("a file");
    let init = Command::new("git").args(["init", "--quiet"]).arg(&dir).status();
    assert!(init.expect("git").success());
    let dir = dir.display().to_string();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let note = format!("{dir}/note.txt");
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["counts"]});
    vec![
        Real {
            name: "everything",
            words: words(&[&node("mcp-server-everything"), "stdio"]),
            tools: &["echo", "get-sum", "get-structured-content"],
            call: ("get-sum", json!({"a": 19, "b": 23}), "42".into()),
        },
        Real {
            name: "filesystem",
            words: words(&[&node("mcp-server-filesystem"), &dir]),
            tools: &["read_text_file", "list_directory"],
            call: ("read_text_file", json!({"path": note}), "written for the test".into()),
        },
        Real {
            name: "memory",
            words: words(&[&node("mcp-server-memory")]),
            tools: &["create_entities", "read_graph"],
            call: ("create_entities", json!({"entities": [entity]}), "Ada".into()),
        },
        Real {
            name: "time",
            words: words(&[&python("mcp-server-time"), "--local-timezone", "UTC"]),
            tools: &["get_current_time", "convert_time"],
            call: ("get_current_time", json!({"timezone": "UTC"}), "UTC".into()),
        },
        Real {
            name: "git",
            words: words(&[&python("mcp-server-git"), "--repository", &dir]),
            tools: &["git_status", "git_log"],
            call: ("git_status", json!({"repo_path": dir}), "note.txt".into()),
        },
    ]
}

/// An entry for a real server, run directly or by a shell with this script.
pub(crate) fn entry(world: &World, server: &Real, runner: Option<&str>) -> Value {
    let mut words: Vec<&str> = server.words.iter().map(String::as_str).collect();
    if let Some(script) = runner {
        words.splice(0..0, ["sh", "-c", script, "sh"]);
    }
    let mut entry = world.entry(words[0], &words[1..]);
    // It would write into its own package otherwise.
    entry["env"]["MEMORY_FILE_PATH"] = json!(world.dir().join("memory.jsonl"));
    entry
}

/// Is the server connected, with its tools, and does it answer?
pub(crate) async fn check(host: &impl Client, server: &Real) {
    let (status, catalog) = host.look().await;
    let own = status.servers.iter().find(|status| status.name.as_str() == server.name);
    assert_eq!(own.expect("its status").state, ServerState::Connected, "{}", server.name);
    let own = catalog.tools.iter().filter(|tool| tool.server.as_str() == server.name);
    let offered: Vec<&str> = own.map(|tool| tool.tool.as_str()).collect();
    for tool in server.tools {
        assert!(offered.contains(tool), "{} offers {offered:?}", server.name);
    }
    let (tool, arguments, wanted) = &server.call;
    let target = Target::Tool { server: server.name.into(), tool: (*tool).into() };
    let outcome = host.call(target, Json::new(arguments.to_string())).await;
    let Outcome::Answered(result) = &outcome else { panic!("{}: {outcome:?}", server.name) };
    let text = content::flatten(result).expect("a result").text;
    assert!(text.contains(wanted), "{}: {text}", server.name);
}
