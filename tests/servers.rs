//! Do real servers list, answer and end?
//!
//! They are installed by `tests/servers/install`, pinned, which `tests/run` does. The tests are
//! ignored unless asked for; asked for without the servers, they fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::event::ServerState;
use tidegate_smol::Host;
use tidegate_tests::live::{World, config, say};
use tidegate_tests::processes::program;

/// How package runners start what they have fetched: from a shell that waits for it (`npx`), and
/// from one that has gone when the server runs.
const RUNNERS: [(&str, &str); 2] = [
    ("waiting", r#"exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait"#),
    ("nested", r#"sh -c '"$@"; exit' sh "$@"; exit"#),
];

struct Real {
    name: &'static str,
    /// The command line.
    words: Vec<String>,
    /// Some of its tools.
    tools: &'static [&'static str],
    /// One call, and what its answer must contain.
    call: (&'static str, Value, String),
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
fn real(world: &World) -> Vec<Real> {
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
fn entry(world: &World, server: &Real, runner: Option<&str>) -> Value {
    let mut words: Vec<&str> = server.words.iter().map(String::as_str).collect();
    if let Some(script) = runner {
        words.splice(0..0, ["sh", "-c", script, "sh"]);
    }
    let mut entry = world.entry(words[0], &words[1..]);
    // It would write into its own package otherwise.
    entry["env"]["MEMORY_FILE_PATH"] = json!(world.dir().join("memory.jsonl"));
    entry
}

async fn check(host: &Host, server: &Real) {
    let status = host.status().await;
    let own = status.servers.iter().find(|status| status.name.as_str() == server.name);
    assert_eq!(own.expect("its status").state, ServerState::Connected, "{}", server.name);
    let catalog = host.catalog().await;
    let own = catalog.tools.iter().filter(|tool| tool.server.as_str() == server.name);
    let offered: Vec<&str> = own.map(|tool| tool.tool.as_str()).collect();
    for tool in server.tools {
        assert!(offered.contains(tool), "{} offers {offered:?}", server.name);
    }
    let (tool, arguments, wanted) = &server.call;
    let text = say(host, server.name, tool, arguments.clone()).await;
    assert!(text.contains(wanted), "{}: {text}", server.name);
}

#[test]
#[ignore = "needs tests/servers/install"]
fn real_servers_are_listed_called_and_torn_down() {
    let world = World::default();
    let real = real(&world);
    let servers: Vec<_> =
        real.iter().map(|server| (server.name, entry(&world, server, None))).collect();
    world.run(&servers, async |host| {
        for server in &real {
            check(host, server).await;
        }
    });
}

#[test]
#[ignore = "needs tests/servers/install"]
fn real_servers_behind_package_runners_leave_no_grandchildren() {
    // F-010
    for (runner, script) in RUNNERS {
        let world = World::default();
        let real = real(&world);
        let servers: Vec<_> =
            real.iter().map(|server| (server.name, entry(&world, server, Some(script)))).collect();
        println!("{runner}");
        world.run(&servers, async |host| {
            for server in &real {
                check(host, server).await;
            }
        });
    }
}

/// The command, built for the test that runs.
fn tidegate() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--locked", "--package", "tidegate"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo").success());
    program("tidegate")
}

fn run(world: &World, tidegate: &Path, words: &[&str]) -> Output {
    let output = Command::new(tidegate)
        .args(["--config", "servers.json"])
        .args(words)
        .current_dir(world.dir())
        .env("TIDEGATE_CACHE_DIR", world.dir().join("cache"))
        .env("TIDEGATE_CONFIG_DIR", world.dir().join("config"))
        .env("TIDEGATE_STATE_DIR", world.dir().join("state"))
        .output()
        .expect("the command");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {}\n{errors}", output.status);
    output
}

#[test]
#[ignore = "needs tests/servers/install"]
fn the_command_lists_and_calls_real_servers_and_leaves_nothing() {
    let world = World::default();
    let real = real(&world);
    let servers: Vec<_> =
        real.iter().map(|server| (server.name, entry(&world, server, None))).collect();
    fs::write(world.dir().join("servers.json"), config(&servers)).unwrap();
    let tidegate = tidegate();

    let list = run(&world, &tidegate, &["list", "--wait", "--json"]);
    world.check_nothing_left(Duration::ZERO);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    for (own, server) in list["servers"].as_array().unwrap().iter().zip(&real) {
        assert_eq!(own["name"], server.name);
        assert_eq!(own["state"], "connected", "{own}");
        let tools: Vec<_> = own["tools"].as_array().unwrap().iter().map(|t| &t["tool"]).collect();
        assert!(server.tools.iter().all(|tool| tools.contains(&&json!(tool))), "{tools:?}");
    }

    for server in &real {
        let (tool, arguments, wanted) = &server.call;
        let arguments = arguments.to_string();
        let call = run(&world, &tidegate, &["call", server.name, tool, &arguments, "--json"]);
        world.check_nothing_left(Duration::ZERO);
        let call: Value = serde_json::from_slice(&call.stdout).unwrap();
        assert_eq!(call["outcome"], "ok", "{call}");
        assert!(call["text"].as_str().unwrap().contains(wanted), "{call}");
    }
}
