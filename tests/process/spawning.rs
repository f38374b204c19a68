//! Command, environment, directory, standard error.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use tidegate_core::error::Failure;
use tidegate_core::event::ServerState;
use tidegate_smol::Host;
use tidegate_tests::live::{World, say};
use tidegate_tests::processes::{MARK, program};

async fn failure(host: &Host, server: &str) -> Failure {
    let state = state(host, server).await;
    let ServerState::Failed { failure } = state else { panic!("{server} is {}", state.name()) };
    failure
}

async fn state(host: &Host, server: &str) -> ServerState {
    let status = host.status().await;
    let server = status.servers.into_iter().find(|status| status.name.as_str() == server);
    server.expect("a configured server").state
}

async fn message(host: &Host, server: &str) -> String {
    failure(host, server).await.describe(&server.into())
}

/// The scripted server as a command of its own name in a directory of its own.
fn command_in(world: &World, folder: &str, name: &str) {
    let bin = world.dir().join(folder);
    fs::create_dir_all(&bin).expect("a folder");
    symlink(program("scripted-server"), bin.join(name)).expect("a link");
}

fn with_env(mut entry: Value, variables: &[(&str, &str)]) -> Value {
    for (name, value) in variables {
        entry["env"][*name] = json!(value);
    }
    entry
}

#[test]
fn a_command_is_looked_up_in_the_path_of_its_own_entry() {
    // F-016
    let world = World::default();
    command_in(&world, "bin", "tool-in-dir");
    let path = world.dir().join("bin").display().to_string();
    let found = with_env(world.entry("tool-in-dir", &[]), &[("PATH", &path)]);
    let lost = with_env(world.entry("no-such-cmd", &[]), &[("PATH", &path)]);
    world.run(&[("found", found), ("lost", lost)], async |host| {
        assert_eq!(say(host, "found", "echo", json!({"text": "hello"})).await, "hello");
        assert_eq!(
            message(host, "lost").await,
            "Server \"lost\": command \"no-such-cmd\" not found in the 1 directory of env.PATH in \
             its definition"
        );
    });
}

#[test]
fn a_whole_command_line_in_command_fails_with_a_hint_and_no_shell() {
    // F-023
    let world = World::default();
    world.run(&[("line", world.entry("touch made-by-a-shell", &[]))], async |host| {
        let message = message(host, "line").await;
        assert!(message.contains("put the words after the first one into \"args\""), "{message}");
    });
    assert!(!world.dir().join("made-by-a-shell").exists());
}

#[test]
fn a_file_that_must_not_be_run_says_so() {
    let world = World::default();
    let file = world.dir().join("plain");
    fs::write(&file, "no program").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let entry = world.entry(&file.display().to_string(), &[]);
    world.run(&[("plain", entry)], async |host| {
        let message = message(host, "plain").await;
        assert!(message.ends_with("is not executable"), "{message}");
    });
}

#[test]
fn a_child_inherits_the_environment_below_its_own() {
    let world = World::default();
    let entry = with_env(world.scripted(&[]), &[("OWN", "a b \"c\" $HOME")]);
    world.run(&[("a", entry)], async |host| {
        let home = std::env::var("PATH").unwrap();
        assert_eq!(say(host, "a", "env", json!({"name": "PATH"})).await, home);
        assert_eq!(say(host, "a", "env", json!({"name": "OWN"})).await, "a b \"c\" $HOME");
        assert_eq!(say(host, "a", "env", json!({"name": MARK})).await, world.mark());
        assert_eq!(say(host, "a", "env", json!({"name": "NOBODY_SET"})).await, "(unset)");
    });
}

#[test]
fn a_child_starts_in_the_project_or_where_its_entry_says() {
    // F-018, F-019
    let world = World::default();
    let project = fs::canonicalize(world.dir()).unwrap();
    fs::create_dir(project.join("sub")).unwrap();
    let inside = |cwd: &str| {
        let mut entry = world.scripted(&[]);
        entry["cwd"] = json!(cwd);
        entry
    };
    let servers = [
        ("default", world.scripted(&[])),
        ("relative", inside("sub")),
        ("absolute", inside("/")),
        ("home", inside("~")),
        ("missing", inside("nowhere")),
    ];
    let home = fs::canonicalize(std::env::home_dir().unwrap()).unwrap();
    world.run(&servers, async |host| {
        let cwd = async |server| say(host, server, "cwd", json!({})).await;
        assert_eq!(cwd("default").await, project.display().to_string());
        assert_eq!(cwd("relative").await, project.join("sub").display().to_string());
        assert_eq!(cwd("absolute").await, "/");
        assert_eq!(cwd("home").await, home.display().to_string());
        let missing = world.dir().join("nowhere");
        assert_eq!(
            message(host, "missing").await,
            format!("Server \"missing\": working directory {missing:?} does not exist")
        );
    });
}

#[test]
fn a_command_may_be_a_path_below_the_project_or_below_home() {
    let world = World::default();
    command_in(&world, "bin", "server");
    let relative = world.entry("./bin/server", &[]);
    let mut nested = world.entry("../bin/server", &[]);
    fs::create_dir(world.dir().join("sub")).unwrap();
    nested["cwd"] = json!("sub");
    world.run(&[("relative", relative), ("nested", nested)], async |host| {
        assert_eq!(say(host, "relative", "echo", json!({"text": "1"})).await, "1");
        assert_eq!(say(host, "nested", "echo", json!({"text": "2"})).await, "2");
    });
}

#[test]
fn standard_error_never_changes_the_state_of_a_server() {
    // F-020
    let world = World::default();
    let entry = world.scripted(&["--stderr", "WARNING: this is a banner"]);
    world.run(&[("chatty", entry)], async |host| {
        assert_eq!(state(host, "chatty").await, ServerState::Connected);
        assert_eq!(say(host, "chatty", "echo", json!({"text": "fine"})).await, "fine");
        let status = host.status().await;
        assert_eq!(status.servers[0].stderr_tail.trim(), "WARNING: this is a banner");
    });
}

#[test]
fn a_flood_on_standard_error_holds_nothing_up_and_only_its_end_is_kept() {
    let world = World::default();
    let entry = world.scripted(&["--stderr-bytes", "8000000"]);
    world.run(&[("flood", entry)], async |host| {
        assert_eq!(say(host, "flood", "echo", json!({"text": "fine"})).await, "fine");
        let status = host.status().await;
        let tail = &status.servers[0].stderr_tail;
        assert!((1..=64 * 1024).contains(&tail.len()), "{} bytes", tail.len());
        assert!(tail.contains("nobody can write it\n"), "{tail:?}");
    });
}

#[test]
fn a_server_that_dies_at_the_start_fails_with_its_last_words() {
    let world = World::default();
    let entry = world.scripted(&["--stderr", "no licence key", "--exit", "3"]);
    world.run(&[("dead", entry), ("alive", world.scripted(&[]))], async |host| {
        let failure = failure(host, "dead").await;
        assert_eq!(
            failure.describe(&"dead".into()),
            "Server \"dead\" exited with status 3 (initialize)"
        );
        assert_eq!(failure.stderr_tail.trim(), "no licence key");
        assert_eq!(state(host, "alive").await, ServerState::Connected);
    });
}
