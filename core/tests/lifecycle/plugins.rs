//! Files that lead to files.

use std::collections::BTreeSet;

use tidegate_core::command::Command;
use tidegate_core::config::{Level, Places, Provider, Source};
use tidegate_core::event::ServerState;
use tidegate_core::hub::policy::Watch;
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Listed, Request};
use tidegate_core::options::Options;

use crate::play::{Play, read_of};

const REGISTRY: &str = "/h/.claude/plugins/installed_plugins.json";
const PLUGIN: &str = "/one/.mcp.json";
const MANIFEST: &str = "/one/.claude-plugin/plugin.json";

/// Answers every read of the configuration, those that come of an answer too, and every
/// question for approvals with none.
fn answer(play: &mut Play, say: impl Fn(&str) -> Found) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let commands = play.take_commands();
        if commands.is_empty() {
            return asked;
        }
        for command in commands {
            match command {
                Command::ReadConfig { read, path, .. } => {
                    play.io(Fact::ConfigRead { read, origin: None, found: say(&path) });
                    asked.push(path);
                }
                Command::ListFolder { read, path, .. } => {
                    play.io(Fact::FolderListed { read, listed: list(&path) });
                    asked.push(path);
                }
                Command::ReadApprovals { read } => {
                    play.io(Fact::ApprovalsRead { read, approved: BTreeSet::new() });
                }
                _ => {}
            }
        }
    }
}

/// What is in the folders of these tests.
fn list(path: &str) -> Listed {
    let names: &[&str] = match path {
        "/p/.continue/mcpServers" => &["b.yaml", "one.json", "a.yml", "read.me"],
        "/h/.gemini/extensions" => &["ext"],
        _ => return Listed::Nothing,
    };
    Listed::Names { names: names.iter().map(ToString::to_string).collect(), surplus: 0 }
}

fn names(play: &Play) -> Vec<String> {
    let servers = play.runtime.status().servers;
    servers.iter().map(|server| server.name.to_string()).collect()
}

fn said(text: &str) -> Found {
    Found::Content(text.into())
}

/// Seed runtime 1.4.
#[test]
fn the_servers_of_plugins_stand_where_their_registry_stands() {
    let sources = vec![
        Source::file(Provider::ClaudePlugin, Level::User, REGISTRY),
        Source::file(Provider::Cursor, Level::User, "/h/.cursor/mcp.json"),
    ];
    let mut play = Play::with(Options::new("/p", sources));
    let installed = |plugins: &[&str]| {
        let one = |name: &&str| format!(r#""{name}@m":[{{"installPath":"/plugins/{name}"}}]"#);
        let plugins: Vec<String> = plugins.iter().map(one).collect();
        format!(r#"{{"version":1,"plugins":{{{}}}}}"#, plugins.join(","))
    };
    let server = r#"{"mcpServers":{"s":{"command":"s"}}}"#;
    let say = |plugins: &'static [&'static str]| {
        move |path: &str| match path {
            REGISTRY => said(&installed(plugins)),
            "/plugins/gone/.mcp.json" => Found::Nothing,
            "/plugins/two/.claude-plugin/plugin.json" => {
                said(r#"{"name":"two","mcpServers":"./more.json"}"#)
            }
            "/plugins/two/more.json" => said(r#"{"m":{"command":"m"}}"#),
            manifest if manifest.ends_with("/plugin.json") => Found::Nothing,
            _ => said(server),
        }
    };
    play.start();
    let asked = answer(&mut play, say(&["one", "gone", "two"]));
    let files = asked.iter().filter(|path| path.ends_with(".mcp.json")).map(String::as_str);
    let wanted = ["/plugins/one/.mcp.json", "/plugins/gone/.mcp.json", "/plugins/two/.mcp.json"];
    assert_eq!(files.collect::<Vec<_>>(), wanted);
    assert_eq!(names(&play), ["one:s", "two:s", "two:m", "s"]);
    play.host(Request::Reload { op: OpId::new(1) });
    answer(&mut play, say(&["two"]));
    let sources: Vec<&str> =
        play.runtime.sources().iter().map(|told| told.server.as_str()).collect();
    assert_eq!(sources, ["two:s", "two:m", "s"]);
}

/// Each file stands where what led to it stands, however many lead to some.
#[test]
fn files_of_two_registries_are_not_mixed_up() {
    let other = "/o/installed_plugins.json";
    let sources = vec![
        Source::file(Provider::ClaudePlugin, Level::User, REGISTRY),
        Source::file(Provider::Cursor, Level::User, "/h/.cursor/mcp.json"),
        Source::file(Provider::ClaudePlugin, Level::User, other),
    ];
    let mut play = Play::with(Options::new("/p", sources));
    let registry = |names: [&str; 2]| {
        let [one, two] = names.map(|name| format!(r#""{name}@m":[{{"installPath":"/{name}"}}]"#));
        said(&format!(r#"{{"version":1,"plugins":{{{one},{two}}}}}"#))
    };
    play.start();
    answer(&mut play, |path| match path {
        REGISTRY => registry(["one", "two"]),
        "/o/installed_plugins.json" => registry(["three", "four"]),
        _ => {
            let name = path.trim_matches('/').split('/').next().unwrap();
            said(&format!(r#"{{"mcpServers":{{"s-{name}":{{"command":"s"}}}}}}"#))
        }
    });
    let servers = play.runtime.status().servers;
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["one:s-one", "two:s-two", "s-h", "three:s-three", "four:s-four"]);
}

/// Issue 4, item 1: folders in which each file is a server, or each folder an extension.
#[test]
fn the_servers_in_a_folder_stand_where_the_folder_stands_and_a_project_s_ask_first() {
    let places = Places { cwd: "/p".into(), home: Some("/h".into()), ..Places::default() };
    let mut options = Options::new("/p", places.sources());
    options.policy.watch = Watch::follow();
    let mut play = Play::with(options);
    play.start();
    let asked = answer(&mut play, |path| match path {
        "/p/.continue/mcpServers/a.yml" => said("mcpServers:\n  - {name: a, command: a}\n"),
        "/p/.continue/mcpServers/b.yaml" => said("mcpServers:\n  - {name: b, command: b}\n"),
        "/p/.continue/mcpServers/one.json" => said(r#"{"command":"o","args":["${HOME}"]}"#),
        "/h/.gemini/extensions/ext/gemini-extension.json" => {
            said(r#"{"name":"ext","mcpServers":{"e":{"command":"${extensionPath}/e"}}}"#)
        }
        _ => Found::Nothing,
    });
    assert!(!asked.iter().any(|path| path.ends_with("read.me")), "{asked:?}");
    assert_eq!(names(&play), ["e", "a", "b", "one"]);
    let servers = play.runtime.status().servers;
    let waiting = servers.iter().filter(|server| server.state == ServerState::NeedsApproval);
    assert_eq!(waiting.count(), 3);
    let mut named = servers.iter().filter(|server| server.state == ServerState::Connecting);
    assert_eq!(named.next().map(|server| server.name.as_str()), Some("e"));
}

/// Issue 4, item 8: what files lead to is watched before it is read, and no longer than that.
#[test]
fn files_that_others_lead_to_are_watched_while_they_do() {
    let sources = vec![Source::file(Provider::ClaudePlugin, Level::User, REGISTRY)];
    let mut options = Options::new("/p", sources);
    options.policy.watch = Watch::follow();
    let mut play = Play::with(options);
    play.start();
    let registry = |plugin: &str| {
        said(&format!(r#"{{"version":1,"plugins":{{"x@m":[{{"installPath":"/{plugin}"}}]}}}}"#))
    };
    let watched = |commands: &[Command]| -> Vec<Vec<String>> {
        let paths = |order: &Command| match order {
            Command::Watch { paths } => Some(paths.clone()),
            _ => None,
        };
        commands.iter().filter_map(paths).collect()
    };
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, origin: None, found: registry("one") });
    let orders = play.take_commands();
    let [Command::Watch { paths }, reads @ ..] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(*paths, [REGISTRY, MANIFEST, PLUGIN]);
    for order in reads {
        let Command::ReadConfig { read, .. } = order else { panic!("{orders:?}") };
        play.io(Fact::ConfigRead { read: *read, origin: None, found: Found::Nothing });
    }
    play.host(Request::Reload { op: OpId::new(1) });
    let orders = play.take_commands();
    assert_eq!(watched(&orders), Vec::<Vec<String>>::new());
    let [Command::ReadConfig { read, .. }] = &orders[..] else { panic!("{orders:?}") };
    let found = said(r#"{"plugins":{}}"#);
    play.io(Fact::ConfigRead { read: *read, origin: None, found });
    assert_eq!(watched(&play.take_commands()), [[REGISTRY]]);
}
