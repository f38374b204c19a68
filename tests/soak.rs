//! Does a host hold more the longer it lives, whatever happens to its servers?
//!
//! A program of its own with one test: what is counted is the whole process's. `ROUNDS=200` plays
//! so many rounds, otherwise as many as fit into a quarter of a minute; `SEED=17` draws the same
//! ones again.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future::poll_once;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Places;
use tidegate_core::event::OpResult;
use tidegate_core::hub::policy::{Backoff, Reconnect};
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_sim::choices::{Choices, Seeded};
use tidegate_smol::{Host, Settings};
use tidegate_tests::live::{World, config};
use tidegate_tests::processes;

/// What ten servers do.
const MANNERS: [&[&str]; 10] = [
    &[],
    &[],
    &["--page-size", "3"],
    &["--ignore-eof"],
    &["--init-delay-ms", "30"],
    &["--list-delay-ms", "30"],
    &["--grandchild"],
    &["--garbage"],
    &["--stderr-bytes", "4000"],
    &["--early-notes"],
];
/// How long rounds go on if nobody says how many.
const SHORT: Duration = Duration::from_secs(15);
/// How many rounds fill what is kept for good: buffers and the allocator's own stock.
const WARM_UP: usize = 20;
/// How much more memory may be resident after the rounds than before. Two hundred of them open
/// more than six hundred connections; if each left what an idle server may take, 8 KiB, it would
/// be more.
const GROWN_KIB_MAX: usize = 4 * 1024;

/// How the threads are named that do short jobs, of which the pool keeps as many as once were
/// busy at the same time, and how many that may be.
const POOL: &str = "blocking-";
const POOL_MAX: usize = 16;

/// What this process has, the pool's threads left out.
#[derive(Clone, Copy, Debug)]
struct Held {
    descriptors: usize,
    threads: usize,
    resident_kib: usize,
}

impl Held {
    fn now() -> Self {
        let folder = |of| fs::read_dir(format!("/proc/self/{of}")).expect("a folder").flatten();
        let names = folder("task").map(|task| fs::read_to_string(task.path().join("comm")));
        let (pool, threads): (Vec<String>, Vec<String>) =
            names.flatten().partition(|name| name.starts_with(POOL));
        assert!(pool.len() <= POOL_MAX, "{pool:?}");
        let status = fs::read_to_string("/proc/self/status").expect("a status");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        Self {
            descriptors: folder("fd").count(),
            threads: threads.len(),
            resident_kib: resident.expect("a number"),
        }
    }

    /// What is held when nothing happens.
    async fn rested() -> Self {
        Timer::after(Duration::from_secs(1)).await;
        Self::now()
    }

    /// What is held once it is at most as much as then, if that ever is.
    async fn settled(then: Self) -> Self {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let now = Self::now();
            let fits = now.descriptors <= then.descriptors && now.threads <= then.threads;
            if fits || Instant::now() > end {
                return now;
            }
            Timer::after(Duration::from_millis(50)).await;
        }
    }

    fn check(self, then: Self) {
        assert!(self.descriptors <= then.descriptors, "{then:?} became {self:?}");
        assert!(self.threads <= then.threads, "{then:?} became {self:?}");
        let most = then.resident_kib + GROWN_KIB_MAX;
        assert!(self.resident_kib <= most, "{then:?} became {self:?}");
    }
}

/// A host with ten servers, and what is drawn.
struct Soak<'a> {
    world: &'a World,
    host: Host,
    numbers: Seeded,
    /// An argument of each server that changes with its definition.
    versions: [u32; MANNERS.len()],
}

impl Soak<'_> {
    /// A few things at once, none of which waits for another.
    async fn round(&mut self) {
        let mut waiting = Vec::new();
        for _ in 0..2 + self.numbers.choose(4) {
            let mut answer = self.ask();
            if poll_once(&mut answer).await.is_none() {
                waiting.push(answer);
            }
        }
        for answer in waiting {
            answer.await;
        }
    }

    fn ask(&mut self) -> Pin<Box<dyn Future<Output = ()>>> {
        let at = self.numbers.choose(MANNERS.len() as u32) as usize;
        let (host, server) = (self.host.clone(), name(at));
        match self.numbers.choose(14) {
            0 | 1 => {
                self.versions[at] += 1;
                write(self.world, &self.versions);
                Box::pin(async move { drop(host.reload().await) })
            }
            2 => Box::pin(async move { drop(host.reload().await) }),
            3..=6 => self.call(&server),
            7 | 8 => {
                let mark = self.world.mark().to_owned();
                Box::pin(async move { kill(&host, &server, &mark).await })
            }
            9 => Box::pin(async move { drop(host.restart(server).await) }),
            10 => Box::pin(async move { drop(host.disable(server).await) }),
            11 => Box::pin(async move { drop(host.enable(server).await) }),
            12 => Box::pin(async move { drop(host.disconnect(server).await) }),
            _ => Box::pin(async move { drop(host.reconnect(server, None).await) }),
        }
    }

    fn call(&mut self, server: &str) -> Pin<Box<dyn Future<Output = ()>>> {
        let (tool, arguments) = [
            ("echo", json!({"text": "hello"})),
            ("wait", json!({"ms": 30})),
            ("blob", json!({"bytes": 100_000})),
            ("grow", json!({})),
            ("exit", json!({"code": 1})),
        ][self.numbers.choose(5) as usize]
            .clone();
        let target = Target::Tool { server: server.into(), tool: tool.into() };
        let call = self.host.call(target, Json::new(arguments.to_string()), Some(2_000));
        if self.numbers.once_in(6) {
            call.cancel();
        }
        Box::pin(async move { drop(call.await) })
    }

    /// Every server connected, and nothing under way.
    async fn quiet(&self) {
        for at in 0..MANNERS.len() {
            self.host.enable(name(at)).await;
            let result = self.host.restart(name(at)).await;
            assert_eq!(result, OpResult::Done, "{}", name(at));
        }
    }
}

fn name(at: usize) -> String {
    format!("s{at}")
}

fn file(world: &World) -> PathBuf {
    world.dir().join("servers.json")
}

fn write(world: &World, versions: &[u32]) {
    let entry = |(at, (manner, version)): (usize, (&&[&str], &u32))| -> (String, Value) {
        let mut entry = world.scripted(&[*manner, &["--max-life-ms", "3600000"]].concat());
        entry["env"]["VERSION"] = json!(version.to_string());
        (name(at), entry)
    };
    let servers: Vec<_> = MANNERS.iter().zip(versions).enumerate().map(entry).collect();
    let servers: Vec<_> =
        servers.iter().map(|(name, entry)| (name.as_str(), entry.clone())).collect();
    fs::write(file(world), config(&servers)).expect("a file");
}

/// Kills the process of a server, if it has one.
async fn kill(host: &Host, server: &str, mark: &str) {
    let servers = host.status().await.servers;
    let pid = servers.iter().find(|status| status.name.as_str() == server).and_then(|s| s.pid);
    // Only what is ours for certain.
    if let Some(pid) = pid.filter(|pid| processes::marked(mark).contains(pid))
        && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
    {
        // It may have ended meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn settings(world: &World) -> Settings {
    let cwd = world.dir().display().to_string();
    let explicit = vec![file(world).display().to_string()];
    let places = Places { cwd: cwd.clone(), explicit, ..Places::default() };
    let mut settings = Settings::new(Options::new(&cwd, places.sources()));
    settings = settings.with_cache_dir(world.dir().join("cache"));
    let backoff = Backoff { delays_ms: vec![20, 50], starts_max: 4, stable_ms: 1_000 };
    settings.options.policy.reconnect = Reconnect::OnLoss(backoff);
    settings.options.policy.stop.polite_ms = 50;
    settings
}

/// Plays so many rounds, or for a while; what was played and held.
async fn play(world: &World, host: &Host, seed: u64, rounds: Option<usize>) -> String {
    let versions = [0; MANNERS.len()];
    let numbers = Seeded::new(seed);
    let mut soak = Soak { world, host: host.clone(), numbers, versions };
    host.start().await;
    for _ in 0..WARM_UP {
        soak.round().await;
    }
    soak.quiet().await;
    let before = Held::rested().await;
    let start = Instant::now();
    let mut played = 0;
    while rounds.map_or_else(|| start.elapsed() < SHORT, |rounds| played < rounds) {
        soak.round().await;
        played += 1;
    }
    soak.quiet().await;
    let after = Held::settled(before).await;
    after.check(before);
    format!("{played} rounds in {:?}: {before:?} became {after:?}", start.elapsed())
}

#[test]
fn whatever_happens_to_ten_servers_a_host_holds_no_more_afterwards() {
    // L9, L10
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("SEED").unwrap_or_else(|| RandomState::new().hash_one(0) % 100_000);
    println!("SEED={seed}");
    let rounds = number("ROUNDS").map(|rounds| rounds as usize);
    let limit = Duration::from_secs(120 + rounds.unwrap_or(0) as u64 * 5);
    let host = |rounds| {
        let world = World::default();
        write(&world, &[0; MANNERS.len()]);
        let played = world.run_within(limit, settings(&world), async |host| {
            play(&world, host, seed, rounds).await
        });
        println!("{played}");
        let left = processes::children();
        assert!(left.is_empty(), "children are left:\n{}", processes::describe(&left));
    };
    // What the process keeps for good once it has had a host.
    host(Some(0));
    let before = futures_lite::future::block_on(Held::rested());
    host(rounds);
    let after = futures_lite::future::block_on(Held::settled(before));
    println!("{before:?} became {after:?} without a host");
    assert!(after.descriptors <= before.descriptors, "{before:?} became {after:?}");
    assert!(after.threads <= before.threads, "{before:?} became {after:?}");
}
