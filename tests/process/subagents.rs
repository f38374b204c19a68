//! Subagents of a host with real processes.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::CallError;
use tidegate_core::event::Outcome;
use tidegate_core::input::Target;
use tidegate_core::tools::content;
use tidegate_core::tools::proxy::{SUBAGENT_CALL_MS, Scope};
use tidegate_smol::{Host, Subagent, block_on, open};
use tidegate_tests::live::{World, say};
use tidegate_tests::processes::marked;

fn target(server: &str, tool: &str) -> Target {
    Target::Tool { server: server.into(), tool: tool.into() }
}

async fn call(subagent: &Subagent, target: Target, arguments: Value) -> Outcome {
    subagent.call(target, Json::new(arguments.to_string()), None).await
}

async fn direct(host: &Host, target: Target, arguments: Value) -> Outcome {
    host.call(target, Json::new(arguments.to_string()), None).await
}

/// D80.
#[test]
fn a_subagent_uses_its_parents_processes_and_starts_none() {
    // G73
    let world = World::default();
    world.run(&[("a", world.scripted(&[])), ("b", world.scripted(&[]))], async |host| {
        let processes = marked(world.mark());
        let subagent = host.subagent(Scope::All);
        let of_parent = say(host, "a", "pid", json!({})).await;
        for subagent in [subagent.clone(), subagent] {
            let pid = call(&subagent, target("a", "pid"), json!({})).await;
            let Outcome::Answered(pid) = pid else { panic!("{pid:?}") };
            assert_eq!(content::flatten(&pid).unwrap().text, of_parent);
        }
        // What its parent has stopped stays stopped, whatever a subagent calls.
        let subagent = host.subagent(Scope::All);
        host.disconnect("b").await;
        let refused = call(&subagent, target("b", "pid"), json!({})).await;
        assert!(matches!(refused, Outcome::Failed(CallError::NotConnected { .. })), "{refused:?}");
        assert_eq!(marked(world.mark()).len(), processes.len() - 1);
    });
    // Each call has the limit of a subagent's, and the parent's own has not.
    let trace = std::fs::read_to_string(world.dir().join("trace.jsonl")).unwrap();
    let limited = format!("\"max_ms\":{SUBAGENT_CALL_MS}");
    assert_eq!(trace.lines().filter(|line| line.contains(&limited)).count(), 3);
}

/// D81.
#[test]
fn a_proxied_call_ends_with_the_same_text_error_and_details_as_a_direct_one() {
    // G74
    let world = World::default();
    world.run(&[("a", world.scripted(&[]))], async |host| {
        let subagent = host.subagent(Scope::Servers(["a".into()].into()));
        let calls = [
            (target("a", "echo"), json!({"text": "hello"})),
            (Target::Exposed("mcp_a_echo".into()), json!({"text": "hello"})),
            (target("a", "fail"), json!({})),
            (target("a", "reject"), json!({})),
            (target("a", "gone"), json!({})),
            (Target::Exposed("mcp_a_gone".into()), json!({})),
            (target("a", "echo"), json!([])),
        ];
        for (target, arguments) in calls {
            let wanted = direct(host, target.clone(), arguments.clone()).await;
            let proxied = call(&subagent, target, arguments).await;
            assert_eq!(proxied, wanted);
            assert_eq!(content::text_for_model(&proxied), content::text_for_model(&wanted));
        }
        let napping = subagent.call(target("a", "wait"), Json::new(r#"{"ms":3600000}"#), None);
        napping.cancel();
        assert_eq!(napping.await, Outcome::Aborted);
    });
}

#[test]
fn a_subagent_sees_and_calls_its_part_of_the_tools_as_they_come_and_go() {
    let world = World::default();
    world.run(&[("a", world.scripted(&[])), ("b", world.scripted(&[]))], async |host| {
        let echo = host.subagent(Scope::Tools([("a".into(), "echo".into())].into()));
        let names = async || -> Vec<String> {
            let catalog = echo.catalog().await;
            catalog.tools.iter().map(|tool| tool.exposed.clone()).collect()
        };
        assert_eq!(names().await, ["mcp_a_echo"]);
        assert_eq!(echo.catalog().await.revision, host.catalog().await.revision);
        let unknown = |tool: &str| Outcome::Failed(CallError::UnknownTool { tool: tool.into() });
        assert_eq!(call(&echo, target("a", "pid"), json!({})).await, unknown("pid"));
        let exposed = Target::Exposed("mcp_b_echo".into());
        assert_eq!(call(&echo, exposed, json!({})).await, unknown("mcp_b_echo"));
        host.disconnect("a").await;
        assert_eq!(names().await, [] as [&str; 0]);
        host.connect("a").await;
        assert_eq!(names().await, ["mcp_a_echo"]);
    });
}

#[test]
fn a_subagent_ends_with_its_parent_and_keeps_nothing_alive() {
    // G73
    let world = World::default();
    let settings = world.settings(&[("a", world.scripted(&[]))]);
    let (host, driver) = open(settings).unwrap();
    let subagent = host.subagent(Scope::All);
    let ended = Outcome::Failed(CallError::ShuttingDown);
    block_on(driver, async {
        host.start().await;
        let open = subagent.call(target("a", "wait"), Json::new(r#"{"ms":3600000}"#), None);
        // The last handle of the parent's: a subagent is none.
        drop(host);
        assert_eq!(open.await, ended);
        // While the servers are still going, and at once.
        assert_eq!(call(&subagent, target("a", "pid"), json!({})).await, ended);
    })
    .unwrap();
    world.check_nothing_left(Duration::ZERO);
    async_io::block_on(async {
        assert_eq!(call(&subagent, target("a", "pid"), json!({})).await, ended);
        assert!(subagent.catalog().await.tools.is_empty());
    });
}
