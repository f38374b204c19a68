//! Operations that overlap in every way.

use std::thread;
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::{block_on, poll_once};
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::input::Target;
use tidegate_smol::Host;
use tidegate_tests::live::World;

/// How many threads ask at once, and how often each.
const ASKERS: u64 = 8;
const REQUESTS: u64 = 40;

/// Numbers that are the same in every run: splitmix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % bound
    }
}

fn servers(world: &World) -> Vec<(String, Value)> {
    let manners: [&[&str]; 5] =
        [&[], &[], &["--ignore-eof"], &["--start-delay-ms", "100"], &["--silent"]];
    let named = |(at, args): (usize, &&[&str])| {
        let mut entry = world.scripted(args);
        entry["timeout"] = json!(1_000);
        (format!("s{at}"), entry)
    };
    manners.iter().cycle().take(10).enumerate().map(named).collect()
}

fn ask(host: &Host, numbers: &mut Numbers) {
    let server = format!("s{}", numbers.below(10));
    let target = Target::Tool { server: server.as_str().into(), tool: "echo".into() };
    let call = || host.call(target, Json::new(r#"{"text":"hello"}"#), Some(500));
    match numbers.below(12) {
        0 => drop(block_on(host.start())),
        1 => drop(block_on(host.reload())),
        2 => drop(block_on(host.disconnect_all())),
        3 | 4 => drop(block_on(host.disconnect(server.as_str()))),
        5 | 6 => drop(block_on(host.connect(server.as_str()))),
        // Asked for, and nobody waits for the answer.
        7 => drop(block_on(poll_once(host.connect(server.as_str())))),
        8 => drop(call()),
        9 => {
            let call = call();
            call.cancel();
            drop(block_on(call));
        }
        10 => drop(block_on(host.status())),
        _ => drop(block_on(call())),
    }
}

#[test]
fn whatever_overlaps_every_request_is_answered_and_nothing_is_left() {
    // L7, L9, G16
    let world = World::default();
    let servers = servers(&world);
    let servers: Vec<_> =
        servers.iter().map(|(name, entry)| (name.as_str(), entry.clone())).collect();
    world.run(&servers, async |host| {
        let asker = |seed| {
            let host = host.clone();
            move || {
                let mut numbers = Numbers(seed);
                (0..REQUESTS).for_each(|_| ask(&host, &mut numbers));
            }
        };
        let askers: Vec<_> = (0..ASKERS).map(|seed| thread::spawn(asker(seed))).collect();
        let joined = move || askers.into_iter().for_each(|asker| asker.join().expect("no panic"));
        let joined = blocking::unblock(joined);
        // The end comes in the middle of it all.
        Timer::after(Duration::from_secs(4)).await;
        host.shutdown().await;
        joined.await;
    });
}
