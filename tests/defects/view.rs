//! D1–D15: what the agent may call.

use std::collections::BTreeSet;
use std::sync::Arc;

use tidegate_core::command::Command;
use tidegate_core::error::{Category, Exit};
use tidegate_core::event::{Event, OpResult, Skip};
use tidegate_core::id::OwnerId;
use tidegate_core::input::Target;
use tidegate_core::tools::registry::{Activation, Offering, Registry};
use tidegate_core::trace::TraceLine;
use tidegate_sim::driver::content;
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::{Fault, Script, Stopping};
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

use crate::{
    comes_before, is_answered, names, offered, offered_of, opens, outcome, processes, report,
    result, started, state, status, throughout, told,
};

fn slow() -> Script {
    Script::default().taking(600)
}

/// How often a list was stored.
fn stored(world: &World) -> Vec<String> {
    let content = |line: &TraceLine| match line {
        TraceLine::Command { command: Command::WriteCache { content, .. }, .. } => {
            Some(String::from_utf8_lossy(content).into_owned())
        }
        _ => None,
    };
    world.trace().iter().filter_map(content).collect()
}

fn problems(world: &World, category: Category) -> usize {
    let status = world.machine().status();
    status.problems.iter().filter(|problem| problem.category == category).count()
}

/// D1: B is connected while A is, and then everything is started again; G19, G25.
#[test]
fn connecting_one_server_leaves_the_tools_of_the_others() -> Result<(), Violation> {
    let scene = Scene::default().server("a", Script::default()).server("b", slow());
    let mut world = started(&scene, 1_000)?;
    world.disconnect("b")?;
    world.run_until_quiet()?;
    world.connect("b")?;
    throughout(&mut world, |world| assert_eq!(offered_of(world, "a"), ["mcp_a_echo live"]))?;
    let both = ["mcp_a_echo live", "mcp_b_echo live"];
    assert_eq!(offered(&world), both);
    let revision = world.machine().catalog().revision;
    world.start()?;
    throughout(&mut world, |world| assert_eq!(offered(world), both))?;
    assert_eq!(world.machine().catalog().revision, revision);
    let already = |name: &str| (name.into(), Skip::AlreadyConnected);
    assert_eq!(report(&world).skipped, [already("a"), already("b")]);
    tell!(world)
}

/// D2: a server is added and tried out beside another one, and the configuration is read again;
/// G19, G60.
#[test]
fn trying_out_one_server_keeps_tools_and_source_of_the_others() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("a", Script::default()), 1_000)?;
    let source = status(&world, "a").source;
    world.driver.set_script("tried", slow());
    world.set_config(vec![Entry::new("a"), Entry::new("tried")]);
    world.reload()?;
    throughout(&mut world, |world| assert_eq!(offered_of(world, "a"), ["mcp_a_echo live"]))?;
    world.restart("tried")?;
    throughout(&mut world, |world| assert_eq!(offered_of(world, "a"), ["mcp_a_echo live"]))?;
    assert_eq!(offered_of(&world, "tried"), ["mcp_tried_echo live"]);
    assert_eq!(status(&world, "a").source, source);
    assert_eq!(status(&world, "tried").source.path, source.path);
    assert_eq!(opens(&world, "a"), 1);
    tell!(world)
}

/// D3: two servers are connected one over the other, and one of them twice; G19, G31.
#[test]
fn overlapping_connects_each_get_their_server_and_lose_no_tools() -> Result<(), Violation> {
    let scene = Scene::default().server("a", Script::default().taking(100)).server("b", slow());
    let mut world = started(&scene, 1_000)?;
    world.disconnect_all()?;
    world.run_until_quiet()?;
    let a = world.connect("a")?;
    let b = world.connect("b")?;
    let again = world.connect("a")?;
    world.run_until_quiet()?;
    let once_more = world.connect("a")?;
    world.run_until_quiet()?;
    for op in [a, b, again, once_more] {
        assert_eq!(result(&world, op), Some(&OpResult::Done), "{op}");
    }
    assert_eq!(offered(&world), ["mcp_a_echo live", "mcp_b_echo live"]);
    assert_eq!((opens(&world, "a"), opens(&world, "b")), (2, 2));
    tell!(world)
}

/// D4: A is switched off while the start waits for a slow server, and then that one is there;
/// G20, G4.
#[test]
fn a_server_that_is_disabled_at_the_gate_has_no_tools_after_it() -> Result<(), Violation> {
    let scene = Scene::default().server("a", Script::default()).server("slow", slow());
    let mut world = started(&scene, 300)?;
    assert_eq!(offered_of(&world, "a"), ["mcp_a_echo live"]);
    world.disable("a")?;
    throughout(&mut world, |world| assert!(offered_of(world, "a").is_empty()))?;
    assert_eq!(report(&world).connected, ["slow".into()]);
    assert_eq!(report(&world).skipped, [("a".into(), Skip::Disabled)]);
    assert_eq!(offered(&world), ["mcp_slow_echo live"]);
    tell!(world)
}

/// D4: everything is disconnected while the start waits, and the slow server answers all the
/// same; G20, G4.
#[test]
fn nothing_comes_back_at_a_gate_after_everything_was_disconnected() -> Result<(), Violation> {
    let stubborn = slow().stopping(Stopping::IgnoresTerm);
    let scene = Scene::default().server("a", Script::default()).server("slow", stubborn);
    let mut world = started(&scene, 300)?;
    world.disconnect_all()?;
    throughout(&mut world, |world| assert!(offered(world).is_empty()))?;
    assert!(report(&world).connected.is_empty());
    assert_eq!((state(&world, "a"), state(&world, "slow")), ("disconnected", "disconnected"));
    assert_eq!(processes(&world), 0);
    tell!(world)
}

/// D5: A is ready, lost and started again while the start waits for a slow server; G22, G26.
#[test]
fn tools_are_bound_to_the_connection_there_is_when_the_gate_opens() -> Result<(), Violation> {
    let scene = Scene::default()
        .server("a", Script::default())
        .server("slow", Script::default().taking(3_000));
    let mut world = started(&scene, 100)?;
    let first = status(&world, "a").conn.expect("a connection");
    world.crash("a", Exit::Code(1));
    world.run_until_quiet()?;
    let second = status(&world, "a").conn.expect("a connection");
    assert_ne!(first, second);
    assert!(comes_before(&world, &format!("Open {second} a"), "GateOpened"));
    let call = world.call_target(Target::Exposed("mcp_a_echo".into()), None)?;
    world.run_until_quiet()?;
    assert!(is_answered(&world, call));
    assert_eq!(told(&world, &format!("Send {second} tools/call")), 1);
    assert_eq!(opens(&world, "a"), 2);
    tell!(world)
}

/// D6: a server whose name is no part of its tools' names refreshes, is lost, comes back and is
/// disconnected; G19, G21.
#[test]
fn tools_belong_to_their_server_whatever_it_is_called() -> Result<(), Violation> {
    let scene = Scene::default().server("My-Server.2", Script::default());
    let mut world = started(&scene, 1_000)?;
    let own = |world: &World| -> Vec<String> {
        world.machine().catalog().tools.iter().map(|tool| tool.tool.clone()).collect()
    };
    world.change("My-Server.2", |offers| offers.tools = names(&["echo", "more"]));
    world.run_until_quiet()?;
    assert_eq!(own(&world), ["echo", "more"]);
    world.crash("My-Server.2", Exit::Code(1));
    throughout(&mut world, |world| assert_eq!(own(world), ["echo", "more"]))?;
    assert!(offered(&world).iter().all(|tool| tool.ends_with(" live")), "{:?}", offered(&world));
    let revision = world.machine().catalog().revision;
    world.disconnect("My-Server.2")?;
    world.run_until_quiet()?;
    assert!(own(&world).is_empty());
    let changed = Event::ToolsChanged { revision: revision + 1 };
    assert!(world.events().contains(&changed));
    assert_eq!(status(&world, "My-Server.2").instructions, None);
    tell!(world)
}

/// D7: servers `a` and `a_b`; `a` refreshes and is disconnected; G19, G21.
#[test]
fn a_server_whose_name_begins_like_another_ones_keeps_its_tools() -> Result<(), Violation> {
    let scene = Scene::default().server("a", Script::default()).server("a_b", Script::default());
    let mut world = started(&scene, 1_000)?;
    let keeps = |world: &World| assert_eq!(offered_of(world, "a_b"), ["mcp_a_b_echo live"]);
    world.change("a", |offers| offers.tools = names(&["other"]));
    throughout(&mut world, keeps)?;
    assert_eq!(offered_of(&world, "a"), ["mcp_a_other live"]);
    world.disconnect("a")?;
    throughout(&mut world, keeps)?;
    assert_eq!(offered(&world), ["mcp_a_b_echo live"]);
    tell!(world)
}

/// D8: names that come out alike, with servers that are ready in one order and in the other;
/// G23, G24.
#[test]
fn tools_that_come_out_alike_are_told_apart_the_same_in_every_order() -> Result<(), Violation> {
    let forwards = told_apart([0, 10, 20, 30, 40, 50, 60])?;
    let backwards = told_apart([60, 50, 40, 30, 20, 10, 0])?;
    assert_eq!(offered(&forwards), offered(&backwards));
    tell!(forwards)
}

/// Servers and tools whose names come out alike, ready after these times; each tool is called by
/// the name it is offered under and has to be the one that hears it.
fn told_apart(delays: [u64; 7]) -> Result<World, Violation> {
    let servers: [(&str, &[&str]); 7] = [
        ("server1", &["read"]),
        ("server2", &["read"]),
        ("my-server", &["read"]),
        ("my.server", &["read"]),
        ("a", &["b_c"]),
        ("a_b", &["c"]),
        ("files", &["read_file2", "read_file3"]),
    ];
    let scene = servers.into_iter().zip(delays).fold(Scene::default(), |scene, (it, ms)| {
        scene.server(it.0, Script::tools(it.1.iter().copied()).taking(ms))
    });
    let mut world = started(&scene, 1_000)?;
    let tools = world.machine().catalog().tools.clone();
    let exposed: BTreeSet<&str> = tools.iter().map(|tool| tool.exposed.as_str()).collect();
    assert_eq!((tools.len(), exposed.len()), (8, 8), "{exposed:?}");
    for tool in &tools {
        let conn = status(&world, tool.server.as_str()).conn.expect("a connection");
        let sent = |world: &World| {
            world.last_commands().iter().any(|command| {
                matches!(command, Command::Send { conn: to, bytes } if *to == conn
                    && String::from_utf8_lossy(bytes).contains(&format!("\"{}\"", tool.tool)))
            })
        };
        let call = world.call_target(Target::Exposed(tool.exposed.clone()), None)?;
        assert!(sent(&world), "{} is {} of {}", tool.exposed, tool.tool, tool.server);
        world.run_until_quiet()?;
        assert!(is_answered(&world, call), "{}", tool.exposed);
    }
    assert!(problems(&world, Category::ToolNameCollision) > 0);
    Ok(world)
}

/// D9: a live list arrives while a conversation is being built, and only then the conversation
/// looks; G25.
#[test]
fn who_looks_late_sees_the_present_tools() -> Result<(), Violation> {
    let mut world = Scene::default().server("slow", slow()).cached().world();
    world.driver.set_script("slow", Script::tools(["fresh"]).taking(600));
    world.start()?;
    world.run_for(300)?;
    let offering = |world: &World| {
        let catalog = Arc::new(world.machine().catalog().clone());
        Offering::new(&catalog, &world.machine().status())
    };
    let early = offering(&world);
    assert_eq!(offered(&world), ["mcp_slow_echo deferred"]);
    world.run_until_quiet()?;
    let mut session = Registry::new(Activation::default(), Vec::new());
    session.refresh(OwnerId::new(0), offering(&world));
    // What was seen early comes last and changes nothing.
    session.refresh(OwnerId::new(0), early);
    let view = session.view();
    let seen: Vec<&str> = view.active.iter().map(|entry| entry.name()).collect();
    assert_eq!(seen, ["mcp_slow_fresh"]);
    let last = world.events().iter().rev().find_map(|event| match event {
        Event::ToolsChanged { revision } => Some(*revision),
        _ => None,
    });
    assert_eq!(last, Some(world.machine().catalog().revision));
    tell!(world)
}

/// D10: tools are offered from the cache, and then the handshake fails; G20, G36.
#[test]
fn calls_to_tools_of_a_server_that_failed_late_start_nothing() -> Result<(), Violation> {
    let failing = slow().with(Fault::refuses("initialize", -32_603, "no licence"));
    let mut world = started(&Scene::default().server("slow", failing).cached(), 300)?;
    assert_eq!(offered(&world), ["mcp_slow_echo deferred"]);
    world.run_until_quiet()?;
    assert_eq!(offered(&world), ["mcp_slow_echo failed"]);
    assert!(comes_before(&world, "GateOpened", "ServerChanged slow failed"));
    let (call, now) = (world.call("slow", "echo")?, world.now());
    assert!(outcome(&world, call).is_some(), "it ends at once");
    world.run_until_quiet()?;
    assert_eq!(world.now(), now);
    assert_eq!(opens(&world, "slow"), 1);
    tell!(world)
}

/// D11: one server lists a tool that is null and one without a name; G32, G33.
#[test]
fn a_malformed_tool_is_left_out_alone() -> Result<(), Violation> {
    let list = r#"{"tools":[null,{"name":7},{"name":"good","inputSchema":{"type":"object"}}]}"#;
    let scene = Scene::default()
        .server("odd", Script::default().with(Fault::results("tools/list", list)))
        .server("fine", Script::default());
    let mut world = started(&scene, 1_000)?;
    assert_eq!(report(&world).connected, ["odd".into(), "fine".into()]);
    assert_eq!(offered(&world), ["mcp_odd_good live", "mcp_fine_echo live"]);
    assert!(problems(&world, Category::InvalidTool) > 0);
    world.run_until_quiet()?;
    tell!(world)
}

/// D12: the cache holds a list of tools of which one is a number; G34, G32.
#[test]
fn a_corrupt_cache_entry_is_dropped_and_hurts_nobody() -> Result<(), Violation> {
    let healthy = Scene::default().server("slow", slow());
    let mut before = started(&healthy, 1_000)?;
    let entry = stored(&before).pop().expect("a stored list");
    let corrupt = entry.replacen("\"tools\":[", "\"tools\":[7,", 1);
    assert_ne!(entry, corrupt);
    before.finish()?;
    let scene = Scene::default().server("slow", slow()).cached().server("fine", Script::default());
    let mut world = scene.world();
    world.driver.spoil_cache(&content(&corrupt));
    world.start()?;
    world.run_until_quiet()?;
    assert_eq!(report(&world).connected, ["slow".into(), "fine".into()]);
    assert!(report(&world).deferred.is_empty());
    assert_eq!(offered(&world), ["mcp_slow_echo live", "mcp_fine_echo live"]);
    assert_eq!(told(&world, "> DropCache"), 1);
    assert_eq!(problems(&world, Category::InvalidCache), 1);
    tell!(world)
}

/// D13: the list changes while the first one is read, and the second answer would be the faster
/// one; G26, G27.
#[test]
fn the_newest_list_stays_although_an_older_one_is_slower() -> Result<(), Violation> {
    let mut world = Scene::default().server("one", Script::default().lists_taking(500)).world();
    world.start()?;
    world.run_for(100)?;
    world.driver.set_script("one", Script::default());
    world.change("one", |offers| offers.tools = names(&["echo", "newer"]));
    world.run_until_quiet()?;
    assert_eq!(offered(&world), ["mcp_one_echo live", "mcp_one_newer live"]);
    assert!(stored(&world).pop().is_some_and(|list| list.contains("newer")));
    tell!(world)
}

/// D13: the list changes twice, and the first answer is the slower one; G26, G27.
#[test]
fn of_two_changes_the_second_stays_although_the_first_answer_is_slower() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("one", Script::default()), 1_000)?;
    world.driver.set_script("one", Script::default().lists_taking(900));
    world.change("one", |offers| offers.tools = names(&["first"]));
    world.run_for(400)?;
    world.driver.set_script("one", Script::tools(["first"]));
    world.change("one", |offers| offers.tools = names(&["second"]));
    world.run_until_quiet()?;
    assert_eq!(offered(&world), ["mcp_one_second live"]);
    assert!(stored(&world).pop().is_some_and(|list| list.contains("second")));
    tell!(world)
}

/// D14: resources change while they are read, twice; then neither they nor the prompts can be
/// read; G27, G28.
#[test]
fn the_last_change_is_followed_and_a_failure_blanks_nothing() -> Result<(), Violation> {
    let script = Script::default().resources(["file:///a"]).prompts(["greet"]).lists_taking(400);
    let mut world = started(&Scene::default().server("one", script), 3_000)?;
    let before = told(&world, "Send c0 resources/list");
    world.change("one", |offers| offers.resources = names(&["file:///b"]));
    world.run_for(500)?;
    assert_eq!(told(&world, "Send c0 resources/list"), before + 1, "it is being read");
    world.change("one", |offers| offers.resources = names(&["file:///c"]));
    world.storm("one", "resources", 2);
    world.run_until_quiet()?;
    assert_eq!(told(&world, "Send c0 resources/list"), before + 2, "and once more after it");
    let kept = |world: &World| {
        let resources = world.machine().resources().servers.iter();
        let uris = resources.flat_map(|of| of.resources.iter().map(|it| it.uri.to_string()));
        let prompts = world.machine().prompts().servers.iter();
        let prompts = prompts.flat_map(|of| of.prompts.iter().map(|it| it.name.clone()));
        assert_eq!(uris.chain(prompts).collect::<Vec<_>>(), ["file:///c", "greet"]);
    };
    let failing = world.driver.script("one").cloned().expect("its script");
    let busy = |script: Script, list| script.with(Fault::refuses(list, -32_603, "busy"));
    world.driver.set_script("one", busy(busy(failing, "resources/list"), "prompts/list"));
    world.storm("one", "resources", 1);
    world.storm("one", "prompts", 1);
    throughout(&mut world, kept)?;
    assert_eq!(problems(&world, Category::StaleList), 2);
    tell!(world)
}

/// D15: the same server in two projects, then with another definition and with the first again;
/// G35, G26. That a secret that rotates is no other definition is
/// `rotating_a_secret_does_not_change_a_fingerprint`.
#[test]
fn a_cached_list_is_of_one_project_and_one_definition() -> Result<(), Violation> {
    let scene = |cwd: &str, version: u32| {
        let mut scene = Scene::default().entry(Entry { version, ..Entry::new("db") }, slow());
        scene.options.cwd = cwd.into();
        scene
    };
    let mut left = scene("/project", 1).world();
    let mut deferred = Vec::new();
    for (cwd, version) in [("/project", 1), ("/other", 1), ("/project", 2), ("/project", 1)] {
        let mut world = scene(cwd, version).world();
        world.driver.set_cache(&left.driver);
        world.start()?;
        world.run_until_quiet()?;
        deferred.push(report(&world).deferred.len());
        left = world;
    }
    assert_eq!(deferred, [0, 0, 0, 1], "only what is the same in every respect is a hit");
    tell!(left)
}
