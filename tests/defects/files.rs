//! D51–D58: which servers there are.

use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::error::{Category, Severity};
use tidegate_core::event::ServerState;
use tidegate_core::hub::policy::{Filters, Trust};
use tidegate_sim::driver::content;
use tidegate_sim::scene::Scene;
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

use crate::{opens, state, status};

/// A file, whose it is and what it says.
type Page<'a> = (Provider, Level, &'a str, &'a str);

/// A run over these files, the strongest first.
fn over(pages: &[Page<'_>], filters: Filters) -> Result<World, Violation> {
    let mut scene = Scene::default();
    let sources =
        pages.iter().map(|(provider, level, path, _)| Source::file(*provider, *level, *path));
    scene.options.sources = sources.collect();
    scene.options.policy.trust = Trust::All;
    scene.options.policy.filters = filters;
    let mut world = scene.world();
    for (.., path, text) in pages {
        world.driver.set_file(path, content(text));
    }
    for command in ["project", "user", "good"] {
        world.driver.set_script(command, Script::default());
    }
    world.start()?;
    world.run_until_quiet()?;
    Ok(world)
}

/// Where the definition of a server stands that counts.
fn path(world: &World, server: &str) -> String {
    status(world, server).source.path
}

fn located(world: &World, category: Category) -> Vec<String> {
    let problems = world.machine().status().problems;
    let of = problems.into_iter().filter(|problem| problem.category == category);
    of.map(|p| format!("{}:{}", p.file.unwrap_or_default(), p.line.unwrap_or_default())).collect()
}

const GOOD: &str = r#"{"mcpServers":{"good":{"command":"good"}}}"#;

/// D51: a file is edited between two readings, and a second one appears; G53.
#[test]
fn a_reload_reads_what_was_edited() -> Result<(), Violation> {
    let pages = [
        (Provider::Cursor, Level::User, "/cursor", GOOD),
        (Provider::Codex, Level::User, "/config.toml", ""),
    ];
    let mut world = over(&pages, Filters::default())?;
    world.driver.set_file("/cursor", content("{}"));
    world.driver.set_file("/config.toml", content("[mcp_servers.other]\ncommand = \"user\"\n"));
    world.reload()?;
    world.run_until_quiet()?;
    assert_eq!(
        (state(&world, "other"), path(&world, "other")),
        ("connected", "/config.toml".into())
    );
    assert_eq!(world.machine().status().servers.len(), 1);
    world.finish()
}

/// D52: the configuration of projects is switched off, and everything is read again; G52.
#[test]
fn a_reload_leaves_out_what_the_start_left_out() -> Result<(), Violation> {
    let theirs = r#"{"mcpServers":{"theirs":{"command":"project"}}}"#;
    let pages = [(Provider::Shared, Level::Project, "/p/.mcp.json", theirs)];
    let filters = Filters { project_config: false, ..Filters::default() };
    let mut world = over(&pages, filters)?;
    world.reload()?;
    world.run_until_quiet()?;
    assert!(world.machine().status().servers.is_empty());
    assert_eq!(opens(&world, "theirs"), 0);
    world.finish()
}

/// D53: the stronger of two definitions of a name is not valid; G54.
#[test]
fn an_invalid_definition_hides_no_valid_one() -> Result<(), Violation> {
    let bad = r#"{"mcpServers":{"x":{"type":"http"}}}"#;
    let pages = [
        (Provider::Xcsh, Level::Project, "/p/.xcsh/mcp.json", bad),
        (
            Provider::Cursor,
            Level::User,
            "/h/.cursor/mcp.json",
            r#"{"mcpServers":{"x":{"command":"user"}}}"#,
        ),
    ];
    let mut world = over(&pages, Filters::default())?;
    assert_eq!(
        (state(&world, "x"), path(&world, "x")),
        ("connected", "/h/.cursor/mcp.json".into())
    );
    assert_eq!(located(&world, Category::Shadowed), ["/p/.xcsh/mcp.json:1"]);
    world.finish()
}

/// D54: the configuration of projects is switched off, and a project defines a server of the user's name; G54.
#[test]
fn a_project_that_does_not_count_takes_no_server_away() -> Result<(), Violation> {
    let text = |command| format!(r#"{{"mcpServers":{{"x":{{"command":"{command}"}}}}}}"#);
    let (theirs, own) = (text("project"), text("user"));
    let pages = [
        (Provider::Tidegate, Level::Project, "/p/.tidegate/mcp.json", &*theirs),
        (Provider::Tidegate, Level::User, "/h/mcp.json", &*own),
    ];
    let filters = Filters { project_config: false, ..Filters::default() };
    let mut world = over(&pages, filters)?;
    assert_eq!((state(&world, "x"), path(&world, "x")), ("connected", "/h/mcp.json".into()));
    assert_eq!(located(&world, Category::Filtered), ["/p/.tidegate/mcp.json:1"]);
    assert_eq!(path(&over(&pages, Filters::default())?, "x"), "/p/.tidegate/mcp.json");
    world.finish()
}

/// D55: the user's file is empty, cut off in the middle of `disabledServers`, or of another language; G55.
#[test]
fn a_file_that_cannot_be_read_hurts_only_itself() -> Result<(), Violation> {
    for broken in ["", "{\"mcpServers\":{},\n\"disabledServers\":[\"good\"", "\n[mcp_servers]\n"] {
        let pages = [
            (Provider::Xcsh, Level::User, "/h/.xcsh/agent/mcp.json", broken),
            (Provider::Shared, Level::Project, "/p/.mcp.json", GOOD),
        ];
        let mut world = over(&pages, Filters::default())?;
        assert_eq!(state(&world, "good"), "connected");
        let problems = world.machine().status().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].file.as_deref(), Some("/h/.xcsh/agent/mcp.json"));
        world.finish()?;
    }
    Ok(())
}

/// D56: one entry is null, in the file of every tool; G55.
#[test]
fn a_null_entry_hurts_only_itself() -> Result<(), Violation> {
    for provider in Provider::ALL {
        let sections = ["mcpServers", "servers", "mcp", "context_servers"];
        let text: Vec<String> = sections
            .iter()
            .map(|key| format!("\"{key}\":{{\n\"none\":null,\"good\":{{\"command\":\"good\"}}}}"))
            .collect();
        let text = format!("{{{}}}", text.join(","));
        // TOML has no null; YAML is the same as JSON here.
        // Settings have no servers.
        let without = [Provider::Codex, Provider::Goose, Provider::ClaudeCodeSettings];
        if without.contains(provider) {
            continue;
        }
        let mut world = over(&[(*provider, Level::User, "/f.json", &text)], Filters::default())?;
        assert_eq!(state(&world, "good"), "connected", "{provider:?}");
        let found = located(&world, Category::InvalidEntry);
        assert_eq!(found.len(), 1, "{provider:?}: {found:?}");
        world.finish()?;
    }
    Ok(())
}

/// D57: files of three languages have something in them that is worth a word; G36.
#[test]
fn what_a_file_has_wrong_is_said_with_its_line() -> Result<(), Violation> {
    let pages = [
        (
            Provider::Vscode,
            Level::User,
            "/mcp.json",
            "{\"servers\":{\n\"a\":{\"command\":\"good\",\"timeout\":\"soon\"}}}",
        ),
        (Provider::Codex, Level::User, "/config.toml", "[mcp_servers.b]\ncommand = 5\n"),
        (
            Provider::Goose,
            Level::User,
            "/config.yaml",
            "extensions:\n  c:\n    cmd: good\n    timeout: soon\n",
        ),
    ];
    let mut world = over(&pages, Filters::default())?;
    let wanted = ["/config.toml:2", "/config.yaml:4", "/mcp.json:2"];
    let mut found = located(&world, Category::InvalidField);
    found.sort();
    assert_eq!(found, wanted);
    world.finish()
}

/// D58: transports by the names that people give them, and one that nobody knows; G36.
#[test]
fn an_unknown_transport_is_reported_and_known_names_are_understood() -> Result<(), Violation> {
    let text = r#"{"mcpServers":{
        "pigeon":{"type":"carrier-pigeon","command":"good"},
        "hyphen":{"type":"streamable-http","url":"https://h.example.com/mcp"},
        "camel":{"type":"streamableHttp","url":"https://h.example.com/mcp"},
        "local":{"type":"local","command":"good"}}}"#;
    let mut world = over(&[(Provider::Shared, Level::User, "/f", text)], Filters::default())?;
    assert_eq!(state(&world, "local"), "connected");
    assert!(matches!(status(&world, "pigeon").state, ServerState::Failed { .. }));
    assert_eq!(located(&world, Category::UnknownTransport), ["/f:2"]);
    for server in ["hyphen", "camel"] {
        assert_eq!(status(&world, server).transport, "http");
    }
    let graver = world.machine().status().problems;
    assert_eq!(graver.iter().filter(|p| p.severity == Severity::Error).count(), 1);
    world.finish()
}
