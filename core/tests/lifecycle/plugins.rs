//! Files that lead to files.

use tidegate_core::command::Command;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::Play;

const REGISTRY: &str = "/h/.claude/plugins/installed_plugins.json";

/// Answers every read of the configuration, those that come of an answer too.
fn answer(play: &mut Play, say: impl Fn(&str) -> Found) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let before = asked.len();
        for command in play.take_commands() {
            if let Command::ReadConfig { read, path, .. } = command {
                play.io(Fact::ConfigRead { read, origin: None, found: say(&path) });
                asked.push(path);
            }
        }
        if asked.len() == before {
            return asked;
        }
    }
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
            _ => said(server),
        }
    };
    play.start();
    let asked = answer(&mut play, say(&["one", "gone", "two"]));
    let files = ["/plugins/one/.mcp.json", "/plugins/gone/.mcp.json", "/plugins/two/.mcp.json"];
    assert_eq!(asked[2..], files);
    let names = |play: &Play| -> Vec<String> {
        let servers = play.runtime.status().servers;
        servers.iter().map(|server| server.name.to_string()).collect()
    };
    assert_eq!(names(&play), ["one:s", "two:s", "s"]);
    play.host(Request::Reload { op: OpId::new(1) });
    answer(&mut play, say(&["two"]));
    let sources: Vec<&str> =
        play.runtime.sources().iter().map(|told| told.server.as_str()).collect();
    assert_eq!(sources, ["two:s", "s"]);
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
