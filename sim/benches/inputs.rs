//! How many inputs a second one core takes, every output drained: simulated runs are recorded
//! once and told to fresh runtimes.

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_core::input::Input;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;
use tidegate_core::trace::TraceLine;
use tidegate_sim::scene::Scene;
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

fn main() {
    divan::main();
}

/// Four servers start, answer 500 calls between them, and stop.
#[divan::bench]
fn calls(bencher: Bencher<'_, '_>) {
    run(bencher, 4, 500);
}

/// Fifty servers start and stop.
#[divan::bench]
fn starts(bencher: Bencher<'_, '_>) {
    run(bencher, 50, 0);
}

fn run(bencher: Bencher<'_, '_>, servers: usize, calls: usize) {
    let scene = (0..servers).fold(Scene::default(), |scene, at| {
        scene.server(&format!("server{at}"), Script::default())
    });
    let turns = turns(&record(&scene, servers, calls).expect("a healthy run breaks no law"));
    bencher
        .counter(ItemsCount::new(turns.len()))
        .with_inputs(|| (Runtime::new(scene.options.clone()), turns.clone()))
        .bench_local_values(|(mut runtime, turns)| {
            for (at, input) in turns {
                match input {
                    Some(input) => runtime.handle(at, input),
                    None => runtime.handle_timeout(at),
                }
                while let Some(command) = runtime.poll_command() {
                    divan::black_box(command);
                }
                while let Some(event) = runtime.poll_event() {
                    divan::black_box(event);
                }
                divan::black_box(runtime.poll_timeout());
            }
            runtime
        });
}

fn record(scene: &Scene, servers: usize, calls: usize) -> Result<World, Violation> {
    let mut world = scene.world();
    world.start()?;
    world.run_until_quiet()?;
    for call in 0..calls {
        world.call(&format!("server{}", call % servers), "echo")?;
        world.run_until_quiet()?;
    }
    world.finish()?;
    Ok(world)
}

fn turns(world: &World) -> Vec<(Timestamp, Option<Input>)> {
    let turn = |line: &TraceLine| match line {
        TraceLine::Input { at, input } => Some((*at, Some(input.clone()))),
        TraceLine::Tick { at } => Some((*at, None)),
        TraceLine::Head { .. } | TraceLine::Command { .. } | TraceLine::Event { .. } => None,
    };
    world.trace().iter().filter_map(turn).collect()
}
