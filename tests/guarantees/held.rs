//! Stories of guarantees that no other file tells.

use std::collections::BTreeSet;

use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::error::Exit;
use tidegate_core::event::{Event, OpResult, ServerState, Skip};
use tidegate_core::id::{ConnId, OpId, ReadId};
use tidegate_core::input::{Fact, Found, Input};
use tidegate_core::trace::TraceLine;
use tidegate_sim::driver::{Lane, content};
use tidegate_sim::scene::{Entry, Scene, config};
use tidegate_sim::script::{Delays, Fault, Script, Stopping};
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

fn started(scene: &Scene, ms: u64) -> Result<World, Violation> {
    let mut world = scene.world();
    world.start()?;
    world.run_for(ms)?;
    Ok(world)
}

/// How many lines of the timeline contain this.
fn told(world: &World, text: &str) -> usize {
    world.trace().iter().filter(|line| line.to_string().contains(text)).count()
}

fn is_done(world: &World, op: OpId) -> bool {
    world.events().contains(&Event::Done { op, result: OpResult::Done })
}

/// G8: what is being closed is not closed again, and who asks again is answered with the first.
#[test]
fn a_second_disconnect_orders_nothing_and_ends_with_the_first() -> Result<(), Violation> {
    let script = Script::default().stopping(Stopping::IgnoresEof);
    let mut world = started(&Scene::default().server("one", script), 100)?;
    let first = world.disconnect("one")?;
    world.run_for(100)?;
    let second = world.disconnect("one")?;
    assert_eq!(world.last_commands(), []);
    let all = world.disconnect_all()?;
    assert_eq!(world.last_commands(), []);
    world.run_until(|world| is_done(world, first))?;
    assert!(is_done(&world, second) && is_done(&world, all));
    assert_eq!((told(&world, "CloseInput c0"), told(&world, "Terminate c0")), (1, 1));
    world.finish()
}

/// L10, G42: nothing is kept of a call that has ended, whatever it reported on its way.
#[test]
fn what_a_call_reported_is_forgotten_with_it() -> Result<(), Violation> {
    let silent = Script::tools(["echo"]);
    let reporting =
        Script { faults: vec![Fault::Progress { every: 10, times: 5 }], ..silent.clone() };
    let ended = |script: Script| -> Result<World, Violation> {
        let script = Script { delays: Delays { call: 100, ..script.delays }, ..script };
        let mut world = started(&Scene::default().server("one", script), 1_000)?;
        world.call("one", "echo")?;
        world.run_for(1_000)?;
        Ok(world)
    };
    let (silent, reporting) = (ended(silent)?, ended(reporting)?);
    assert_eq!(told(&silent, "CallProgressed"), 0);
    assert!(told(&reporting, "CallProgressed") > 0);
    let state = |world: &World| world.machine().fingerprint(world.now());
    assert_eq!(state(&silent), state(&reporting));
    Ok(())
}

/// G10, G11: with nothing running and nothing asked for, nothing that is reported leads to an
/// order or is seen anywhere.
#[test]
fn with_nothing_running_no_news_leads_to_an_order() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("one", Script::default()), 1_000)?;
    world.disconnect_all()?;
    world.run_until_quiet()?;
    let before = world.machine().status();
    let (conn, read) = (ConnId::new(0), ReadId::new(0));
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
    let facts = [
        Fact::Opened { conn, pid: None },
        Fact::Received { conn, bytes: format!("{answer}\n").as_str().into() },
        Fact::Complained { conn, bytes: "late".into() },
        Fact::InputFailed { conn },
        Fact::OutputEnded { conn },
        Fact::Closed { conn, exit: Exit::Code(1) },
        Fact::ConfigRead { read, origin: None, found: content("{\"mcpServers\":{}}") },
        Fact::ApprovalsRead { read, approved: BTreeSet::new() },
        Fact::CacheRead { read, found: Found::Nothing, age_ms: 0 },
        Fact::FilesChanged,
    ];
    for fact in facts {
        world.feed(Some(Input::Io(fact.clone())))?;
        assert!(world.last_commands().is_empty() && world.last_events().is_empty(), "{fact:?}");
        world.feed(None)?;
        assert!(world.last_commands().is_empty() && world.last_events().is_empty(), "a tick");
    }
    let mut after = world.machine().status();
    after.stale_facts = before.stale_facts;
    assert_eq!(after, before);
    world.finish()
}

/// What is told of the servers `a` and `b`, each for itself, with its moments.
fn of_the_sound(world: &World) -> Vec<Vec<String>> {
    let of = |name: &'static str| {
        let said = world.trace().iter().filter_map(move |line| {
            let TraceLine::Event { at, event: Event::ServerChanged { server, state } } = line
            else {
                return None;
            };
            (server.as_str() == name).then(|| format!("{at:?} {}", state.name()))
        });
        let catalog = world.machine().catalog().tools.iter();
        let tools = catalog.filter(move |tool| tool.server.as_str() == name);
        said.chain(tools.map(|tool| format!("{} {:?}", tool.exposed, tool.state))).collect()
    };
    vec![of("a"), of("b")]
}

/// G32: whatever one server does, the others have the same states at the same moments and the
/// same tools as without it.
#[test]
fn a_faulty_server_changes_nothing_for_the_others() -> Result<(), Violation> {
    let faulty = |fault| Script::default().with(fault);
    let scripts = [
        Script::missing(3),
        Script::silent(),
        Script { chunk_bytes: 1, ..Script::default() },
        Script { revision: Some("1999-12-31".into()), ..Script::default() },
        faulty(Fault::Crashes { after_bytes: 30, exit: Exit::Signal(11) }),
        faulty(Fault::Crashes { after_bytes: 250, exit: Exit::Code(1) }),
        faulty(Fault::refuses("initialize", -32_603, "no licence")),
        faulty(Fault::refuses("tools/list", -32_603, "not yet")),
        faulty(Fault::results("tools/list", "{\"tools\":[null,7,{}]}")),
        faulty(Fault::results("tools/list", "[]")),
        faulty(Fault::EndlessPages),
        faulty(Fault::RepeatsCursor),
        faulty(Fault::line(0, "Server running on stdio")),
        faulty(Fault::answers_unasked(1)),
        faulty(Fault::FloodsStderr { bytes: 1 << 20 }),
        faulty(Fault::ClosesOutput { before: 1 }).stopping(Stopping::Unkillable),
        faulty(Fault::notifies(0, "notifications/tools/list_changed", 100)),
    ];
    let told = |faulty: Option<&Script>| -> Result<Vec<Vec<String>>, Violation> {
        let mut scene = Scene::default().server("a", Script::default().taking(40));
        if let Some(script) = faulty {
            scene = scene.server("faulty", script.clone());
        }
        let mut world = started(&scene.server("b", Script::default().taking(600)), 5_000)?;
        let call = world.call("a", "echo")?;
        world.run_for(0)?;
        let finished = told_of_call(&world, call.number());
        let sound = of_the_sound(&world);
        world.shutdown()?;
        world.run_until_quiet()?;
        Ok(sound.into_iter().chain([finished]).collect())
    };
    let alone = told(None)?;
    assert!(alone.iter().all(|said| !said.is_empty()), "{alone:?}");
    for script in &scripts {
        assert_eq!(told(Some(script))?, alone, "{script:?}");
    }
    Ok(())
}

fn told_of_call(world: &World, number: u64) -> Vec<String> {
    let wanted = format!("CallFinished k{number}");
    let lines = world.trace().iter().map(ToString::to_string);
    lines.filter(|line| line.contains(&wanted)).collect()
}

/// G52, G15: what limits the start limits every later reading, and every way to start a server.
#[test]
fn a_reload_is_limited_like_the_start() -> Result<(), Violation> {
    let mut scene = Scene::default().server("one", Script::default());
    scene.options.only = ["one".into()].into();
    let mut world = started(&scene, 100)?;
    world.driver.set_script("two", Script::default());
    world.set_config(vec![Entry::new("one"), Entry::new("two")]);
    world.reload()?;
    world.run_until_quiet()?;
    for op in [world.connect("two")?, world.restart("two")?, world.enable("two")?] {
        let skipped = OpResult::Skipped { reason: Skip::Filtered };
        assert!(world.events().contains(&Event::Done { op, result: skipped }), "{op}");
    }
    world.start()?;
    world.run_until_quiet()?;
    assert_eq!(told(&world, "> Open"), 1);
    let status = world.machine().status();
    assert_eq!(status.servers[1].state, ServerState::Skipped { reason: Skip::Filtered });
    world.finish()
}

/// G56: the files are read in any order, and what is found is the same.
#[test]
fn the_order_in_which_files_are_read_does_not_matter() -> Result<(), Violation> {
    let other = "/host/other.json";
    let found = |order: [u64; 2]| -> Result<World, Violation> {
        let mut scene = Scene::default()
            .server("a", Script::default())
            .server("b", Script::default())
            .reads_taking(10);
        scene.options.sources.push(Source::file(Provider::Explicit, Level::Explicit, other));
        let mut world = scene.world();
        world.driver.set_script("c", Script::default());
        let hidden = Entry { version: 2, ..Entry::new("b") };
        let text = config(&[Entry { enabled: false, ..Entry::new("c") }, hidden]);
        world.driver.set_file(other, content(&text));
        world.start()?;
        for read in order {
            world.deliver(Lane::Read(ReadId::new(read)))?;
        }
        world.run_until_quiet()?;
        Ok(world)
    };
    let (forwards, backwards) = (found([0, 1])?, found([1, 0])?);
    assert_eq!(forwards.machine().status(), backwards.machine().status());
    assert_eq!(forwards.machine().catalog(), backwards.machine().catalog());
    let of = |world: &World| world.machine().status().servers.len();
    assert_eq!((of(&forwards), told(&forwards, "> Open")), (3, 2));
    Ok(())
}

/// G60: the source of a server stays, whatever happens to it.
#[test]
fn the_source_of_a_server_survives_refresh_reconnect_restart_and_reload() -> Result<(), Violation> {
    let mut world = started(&Scene::default().server("one", Script::default()), 100)?;
    let source = world.machine().status().servers[0].source.clone();
    let same = |world: &mut World| -> Result<(), Violation> {
        while world.step()? {
            assert_eq!(world.machine().status().servers[0].source, source);
        }
        Ok(())
    };
    world.change("one", |offers| offers.tools.push("more".into()));
    same(&mut world)?;
    world.crash("one", Exit::Code(1));
    same(&mut world)?;
    world.restart("one")?;
    same(&mut world)?;
    world.set_config(vec![Entry { version: 2, ..Entry::new("one") }]);
    world.reload()?;
    same(&mut world)?;
    world.disconnect("one")?;
    same(&mut world)?;
    world.start()?;
    same(&mut world)?;
    world.finish()
}
