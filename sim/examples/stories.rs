//! How many random stories a minute are told, every law checked after every step, under both
//! policies in turn: `cargo run --release -p tidegate-sim --example stories -- [SECONDS]`.

#![expect(clippy::print_stdout, reason = "the rate is what the program is for")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tidegate_core::hub::policy::Policy;
use tidegate_sim::choices::{Choices, Seeded};
use tidegate_sim::story::{self, Step};
use tidegate_sim::violation::Violation;

/// How many things happen in a story at most; as many as in the property tests.
const STEPS: u32 = 60;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let (start, limit) = (Instant::now(), Duration::from_secs(seconds));
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let teller = || {
        while start.elapsed() < limit {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            tell(seed).map_err(|violation| violation.in_story(format!("seed {seed}")))?;
        }
        Ok(())
    };
    let told: Result<Vec<()>, Violation> = thread::scope(|scope| {
        let tellers: Vec<_> = (0..threads).map(|_| scope.spawn(teller)).collect();
        tellers.into_iter().map(|teller| teller.join().expect("no panic")).collect()
    });
    if let Err(violation) = told {
        eprintln!("{violation}");
        return ExitCode::FAILURE;
    }
    let (stories, took) = (next.into_inner(), start.elapsed().as_secs_f64());
    let rate = stories as f64 * 60.0 / took;
    println!("{stories} stories in {took:.1} s on {threads} threads: {rate:.0} a minute");
    ExitCode::SUCCESS
}

fn tell(seed: u64) -> Result<(), Violation> {
    let mut choices = Seeded::new(seed);
    let policy = if seed.is_multiple_of(2) { Policy::default() } else { Policy::documented() };
    let mut world = story::scene(&mut choices, policy).world();
    for _ in 0..choices.choose(STEPS) {
        world.apply(Step::choose(&mut choices))?;
    }
    world.settle()
}
