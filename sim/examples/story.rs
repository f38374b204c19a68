//! Prints the trace of the story of a seed: `cargo run -p tidegate-sim --example story -- SEED`.
//!
//! The gate runs it twice and compares the bytes (L2).

#![expect(clippy::print_stdout, reason = "the trace is what the program is for")]

use std::process::ExitCode;

use tidegate_core::hub::policy::Policy;
use tidegate_sim::choices::Seeded;
use tidegate_sim::story::{self, Step};

/// How many things happen in a story.
const STEPS: usize = 400;

fn main() -> ExitCode {
    let Some(seed) = std::env::args().nth(1).and_then(|seed| seed.parse().ok()) else {
        eprintln!("usage: story SEED");
        return ExitCode::from(2);
    };
    let mut choices = Seeded::new(seed);
    let mut world = story::scene(&mut choices, Policy::default()).world();
    let told = (0..STEPS)
        .try_for_each(|_| world.apply(Step::choose(&mut choices)))
        .and_then(|()| world.settle());
    for line in world.trace() {
        println!("{}", serde_json::to_string(line).expect("a trace is JSON"));
    }
    if let Err(violation) = told {
        eprintln!("{violation}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
