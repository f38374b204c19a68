//! Does the core run elsewhere than on smol? Two drivers to read, both held to the driver's duties.
//!
//! - `embedding/std_threads`: blocking calls, threads and channels, nothing but `std`;
//! - `embedding/tokio_tasks`: tasks of a tokio runtime.
//!
//! The tests with published servers are ignored unless asked for, as those of `servers.rs` are.

#[path = "servers/real.rs"]
mod real;
#[path = "embedding/std_threads/mod.rs"]
mod std_threads;
#[path = "embedding/system.rs"]
mod system;
#[path = "embedding/tokio_tasks/mod.rs"]
mod tokio_tasks;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::error::CallError;
use tidegate_core::event::{Outcome, ServerState, StartReport};
use tidegate_core::hub::policy::StopLadder;
use tidegate_core::hub::status::Status;
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::tools::catalog::Catalog;
use tidegate_core::tools::content;
use tidegate_tests::live::World;
use tidegate_tests::processes::marked;

use real::{Client, Real, check, entry, real};

impl Client for std_threads::Host {
    async fn look(&self) -> (Status, Arc<Catalog>) {
        Self::look(self).expect("the runtime goes on")
    }

    async fn call(&self, target: Target, arguments: Json) -> Outcome {
        Self::call(self, target, arguments)
    }
}

impl Client for tokio_tasks::Host {
    async fn look(&self) -> (Status, Arc<Catalog>) {
        Self::look(self).await.expect("the runtime goes on")
    }

    async fn call(&self, target: Target, arguments: Json) -> Outcome {
        Self::call(self, target, arguments).await
    }
}

/// What is done with a host once it has started.
trait Story {
    async fn tell(&self, host: &impl Client, report: StartReport);
}

fn on_threads(options: Options, story: &impl Story) {
    let host = std_threads::Host::new(options);
    let report = host.start().expect("a gate");
    futures_lite::future::block_on(story.tell(&host, report));
}

fn on_tokio(options: Options, story: &impl Story) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let host = tokio_tasks::Host::new(options);
        let report = host.start().await.expect("a gate");
        story.tell(&host, report).await;
        host.stop().await;
    });
}

/// Published servers list and answer.
struct Published(Vec<Real>);

impl Story for Published {
    async fn tell(&self, host: &impl Client, _report: StartReport) {
        for server in &self.0 {
            check(host, server).await;
        }
    }
}

fn published(run: impl Fn(Options, &Published)) {
    let world = World::default();
    let real = real(&world);
    let servers: Vec<_> =
        real.iter().map(|server| (server.name, entry(&world, server, None))).collect();
    run(world.settings(&servers).options, &Published(real));
    world.check_nothing_left(Duration::ZERO);
}

#[test]
#[ignore = "needs tests/servers/install"]
fn published_servers_are_listed_called_and_torn_down_by_threads() {
    published(on_threads);
}

#[test]
#[ignore = "needs tests/servers/install"]
fn published_servers_are_listed_called_and_torn_down_on_tokio() {
    published(on_tokio);
}

/// Servers with all kinds of manners, of which most stay to the end.
struct Manners {
    world: World,
}

impl Manners {
    fn options(&self) -> Options {
        let world = &self.world;
        let servers = [
            ("good", world.scripted(&[])),
            ("crash", world.scripted(&["--exit-at", "tools/list", "--stderr", "no luck"])),
            ("missing", world.entry("no-such-program", &[])),
            ("deaf", world.scripted(&["--ignore-eof"])),
            ("grandchild", world.scripted(&["--grandchild"])),
            // It ignores everything, and so does what it leaves behind.
            ("stubborn", world.wrapped(r#"trap '' TERM; "$@" & "$@""#, &["--ignore-eof"])),
            ("nested", world.wrapped(r#"sh -c 'exec 3<&0; "$@" <&3 & exit' sh "$@"; exit"#, &[])),
        ];
        let mut options = world.settings(&servers).options;
        // Rungs short enough for a test.
        options.policy.stop = StopLadder { polite_ms: 100, terminate_ms: 200, kill_ms: 1_000 };
        options
    }
}

async fn text(host: &impl Client, server: &str, tool: &str, arguments: Value) -> String {
    let target = Target::Tool { server: server.into(), tool: tool.into() };
    match host.call(target, Json::new(arguments.to_string())).await {
        Outcome::Answered(result) => content::flatten(&result).expect("a result").text,
        other @ (Outcome::Failed(_) | Outcome::Aborted) => panic!("{server}: {other:?}"),
    }
}

impl Story for Manners {
    async fn tell(&self, host: &impl Client, report: StartReport) {
        let failed: Vec<&str> = report.failed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((report.connected.len(), failed), (5, vec!["crash", "missing"]));
        let tail = &report.failed[0].1.stderr_tail;
        assert!(tail.contains("no luck"), "{tail}");
        for server in ["good", "deaf", "grandchild", "stubborn", "nested"] {
            assert_eq!(text(host, server, "echo", json!({"text": server})).await, server);
        }
        let big = text(host, "good", "blob", json!({"bytes": 3_000_000})).await;
        assert_eq!(big.len(), 3_000_000);
        // One that dies in the middle of an answer ends its calls and nothing else.
        let half = Target::Exposed("mcp_good_half".into());
        assert_eq!(host.call(half, Json::new("{}")).await, Outcome::Failed(CallError::Closed));
        assert_eq!(text(host, "deaf", "echo", json!({"text": "fine"})).await, "fine");
        let (status, _) = host.look().await;
        let good = status.servers.iter().find(|server| server.name.as_str() == "good");
        assert_ne!(good.expect("its status").state, ServerState::Connected);
        assert!(marked(self.world.mark()).len() >= 6);
    }
}

fn manners(run: impl Fn(Options, &Manners)) {
    let story = Manners { world: World::default() };
    run(story.options(), &story);
    // L9, F-010
    story.world.check_nothing_left(Duration::ZERO);
}

#[test]
fn servers_with_bad_manners_answer_and_are_all_ended_by_threads() {
    manners(on_threads);
}

#[test]
fn servers_with_bad_manners_answer_and_are_all_ended_on_tokio() {
    manners(on_tokio);
}
