//! Observers of a host, and the session that follows its servers, with real processes.

use futures_lite::future;
use serde_json::json;
use tidegate_core::event::Event;
use tidegate_core::id::OwnerId;
use tidegate_core::tools::catalog::ToolState;
use tidegate_core::tools::registry::{Activation, Entry, OwnTool, Registry, Switch, View};
use tidegate_smol::{Events, Host, News, Settings};
use tidegate_tests::live::{World, say};

const OWNER: OwnerId = OwnerId::new(0);

fn revision(news: &News) -> Option<u64> {
    match news {
        News::Event(Event::ToolsChanged { revision }) => Some(*revision),
        News::Event(_) => None,
        News::Missed(_) => panic!("news were missed"),
    }
}

/// The revisions an observer has heard of so far.
fn heard(events: &mut Events) -> Vec<u64> {
    std::iter::from_fn(|| events.try_next()).filter_map(|news| revision(&news)).collect()
}

/// D9: whenever an observer comes, and however many there are.
#[test]
fn every_observer_hears_the_present_revision_and_then_each_change() {
    // G25
    let world = World::default();
    let servers = [("a", world.scripted(&[])), ("b", world.scripted(&[]))];
    world.run_with(world.settings(&servers), async |host| {
        let mut observers = vec![host.events()];
        host.start().await;
        for _ in 0..10 {
            // While it is under way.
            let disconnect = host.disconnect("a");
            observers.push(future::zip(disconnect, async { host.events() }).await.1);
            observers.push(future::zip(host.connect("a"), async { host.events() }).await.1);
        }
        observers.push(host.events());
        let last = host.catalog().await.revision;
        assert!(last > 20, "{last}");
        for (at, events) in observers.iter_mut().enumerate() {
            let revisions = heard(events);
            let first = revisions[0];
            assert_eq!(revisions, (first..=last).collect::<Vec<_>>(), "observer {at}");
        }
    });
}

/// The states of the servers' tools, each once.
fn states(view: &View) -> Vec<&ToolState> {
    let mut states = Vec::new();
    for entry in view.active.iter().chain(&view.inactive) {
        if let Entry::Served { tool, .. } = entry {
            states.push(&tool.state);
        }
    }
    states.dedup();
    states
}

/// Keeps a session up to date, until it is as it is wanted.
async fn follow(
    host: &Host,
    events: &mut Events,
    session: &mut Registry,
    wanted: impl Fn(&View) -> bool,
) {
    while !wanted(session.view()) {
        match events.next().await.expect("the runtime goes on") {
            News::Event(Event::ToolsChanged { .. }) | News::Missed(_) => {
                session.refresh(OWNER, host.offering().await);
            }
            News::Event(_) => {}
        }
    }
}

fn settings(world: &World, delay_ms: u64) -> Settings {
    // In the environment, so that the definition is the one that was cached.
    let mut entry = world.wrapped(r#"exec "$@" --init-delay-ms "$DELAY""#, &[]);
    entry["env"]["DELAY"] = json!(delay_ms.to_string());
    world.settings(&[("slow", entry)]).with_cache_dir(world.dir().join("cache"))
}

/// D76: nobody restarts anything.
#[test]
fn the_tools_of_a_server_that_connects_after_the_gate_are_bound_anew_in_the_session() {
    // G29, G71
    let world = World::default();
    world.run_with(settings(&world, 0), async |host| {
        host.start().await;
    });
    world.run_with(settings(&world, 700), async |host| {
        let mut session = Registry::new(Activation::All, vec![OwnTool::new("read", "Reads.")]);
        let report = host.start().await;
        assert_eq!(report.deferred, ["slow".into()], "{report:?}");
        let mut events = host.events();
        follow(host, &mut events, &mut session, |view| view.active.len() > 1).await;
        assert_eq!(states(session.view()), [&ToolState::Deferred]);
        let before = session.view().active.len();
        let fail = session.view().active.iter().find(|tool| tool.name() == "mcp_slow_fail");
        session.switch(fail.expect("a tool").key(), Switch::Off);

        let live = |view: &View| states(view) == [&ToolState::Live];
        follow(host, &mut events, &mut session, live).await;
        let view = session.view();
        assert_eq!((view.active.len(), view.inactive.len()), (before - 1, 1));
        assert_eq!(view.owners, [(OWNER, host.catalog().await.revision)]);
        assert!(view.prompt.contains("slow (16 tools)"), "{}", view.prompt);
        // And what was bound can be called.
        let echo = view.active.iter().find(|tool| tool.name() == "mcp_slow_echo");
        assert!(echo.and_then(Entry::target).is_some());
        assert_eq!(say(host, "slow", "echo", json!({"text": "here"})).await, "here");

        // A list that comes again is the session's without a restart, and what was off is off.
        host.disconnect("slow").await;
        follow(host, &mut events, &mut session, |view| view.active.len() == 1).await;
        host.connect("slow").await;
        follow(host, &mut events, &mut session, |view| view.active.len() == before - 1).await;
        assert_eq!(session.view().inactive.len(), 1);
        // The runtime ends, and a refresh that is late brings nothing back.
        let late = host.offering().await;
        session.release(OWNER);
        session.refresh(OWNER, late);
        assert_eq!(session.view().active.len(), 1);
    });
}
