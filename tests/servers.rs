//! Do real servers list, answer and end?
//!
//! They are installed by `tests/servers/install`, pinned, which `tests/run` does. The tests are
//! ignored unless asked for; asked for without the servers, they fail.

#[path = "servers/asking.rs"]
mod asking;
#[path = "servers/command.rs"]
mod command;
#[path = "servers/real.rs"]
mod real;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::event::Outcome;
use tidegate_core::hub::status::Status;
use tidegate_core::input::Target;
use tidegate_core::tools::catalog::Catalog;
use tidegate_smol::Host;
use tidegate_tests::live::{World, config};

use command::{run, tidegate};
use real::{Client, check, entry, real};

impl Client for Host {
    async fn look(&self) -> (Status, Arc<Catalog>) {
        (self.status().await, self.catalog().await)
    }

    async fn call(&self, target: Target, arguments: Json) -> Outcome {
        Self::call(self, target, arguments, None).await
    }
}

/// How package runners start what they have fetched: from a shell that waits for it (`npx`), and
/// from one that has gone when the server runs.
const RUNNERS: [(&str, &str); 2] = [
    ("waiting", r#"exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait"#),
    ("nested", r#"sh -c '"$@"; exit' sh "$@"; exit"#),
];

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

/// F-060, G25: what a server declares beside its tools arrives, and is followed.
#[test]
#[ignore = "needs tests/servers/install"]
fn resources_and_prompts_of_a_real_server_arrive_and_are_watched() {
    let world = World::default();
    let real = real(&world);
    let everything = real.iter().find(|server| server.name == "everything").expect("the server");
    let servers = [(everything.name, entry(&world, everything, None))];
    world.run(&servers, async |host| {
        let mut events = host.events();
        host.watch(true);
        while host.resources().await.servers.is_empty() || host.prompts().await.servers.is_empty() {
            assert!(events.next().await.is_some(), "the runtime ended");
        }
        let (resources, prompts) = (host.resources().await, host.prompts().await);
        let uris: Vec<_> = resources.servers[0].resources.iter().map(|one| &*one.uri).collect();
        assert!(!uris.is_empty() && uris.iter().all(|uri| uri.contains("://")), "{uris:?}");
        let names: Vec<_> = prompts.servers[0].prompts.iter().map(|one| &*one.name).collect();
        assert!(names.iter().any(|name| name.contains("prompt")), "{names:?}");
        while host.status().await.servers[0].subscriptions.len() < uris.len() {
            pause().await;
        }
    });
}

/// C-RES-01, C-PROM-01, C-COMP-01, C-COMP-02: what a real server has beside its tools can be had.
#[test]
#[ignore = "needs tests/servers/install"]
fn resources_prompts_and_completions_of_a_real_server_are_answered() {
    let world = World::default();
    let real = real(&world);
    let everything = real.iter().find(|server| server.name == "everything").expect("the server");
    let servers = [(everything.name, entry(&world, everything, None))];
    world.run(&servers, async |host| asking::fetch(host, everything.name).await);
}

/// G49: what a real server asks while a call is under way is asked of the host.
#[test]
#[ignore = "needs tests/servers/install"]
fn a_real_server_has_a_model_and_a_person_asked() {
    let world = World::default();
    let real = real(&world);
    let everything = real.iter().find(|server| server.name == "everything").expect("the server");
    let servers = [(everything.name, entry(&world, everything, None))];
    let (settings, mut inquiries) = world.settings(&servers).serving(asking::SERVICES);
    world.run_with(settings, async |host| {
        host.start().await;
        asking::check(host, &mut inquiries, everything.name).await;
    });
}

/// Lets the driver do something.
async fn pause() {
    async_io::Timer::after(Duration::from_millis(5)).await;
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
