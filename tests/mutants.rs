//! Do the laws catch what they are there for? Bugs are planted in front of the machine, and each
//! must be caught, by the law that is meant for it.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a bug spoils the few things it is about and leaves the others alone"
)]

#[path = "mutants/bugs.rs"]
mod bugs;
#[path = "mutants/mutant.rs"]
mod mutant;
#[path = "mutants/spoil.rs"]
mod spoil;

use tidegate_core::hub::policy::Policy;
use tidegate_sim::choices::Seeded;
use tidegate_sim::explore::{Kind, Scope, explore_any};
use tidegate_sim::laws::Law;
use tidegate_sim::scene::Scene;
use tidegate_sim::script::Script;
use tidegate_sim::story::{self, Step};
use tidegate_sim::violation::Violation;

use crate::mutant::{Mutant, Plant};

/// How many stories the machine and each mutant are told at most.
const STORIES: u64 = 400;
/// How many steps a story has before it settles.
const STEPS: usize = 60;

/// Tells one story to a machine with something planted in front of it, and tells it again.
fn tell(seed: u64, plants: &'static [Plant]) -> Result<(), Violation> {
    let mut choices = Seeded::new(seed);
    let policy = if seed.is_multiple_of(2) { Policy::default() } else { Policy::documented() };
    let scene = story::scene(&mut choices, policy);
    let mut world = scene.world_of(Mutant::new(scene.options.clone(), plants));
    let told = (0..STEPS)
        .try_for_each(|_| world.apply(Step::choose(&mut choices)))
        .and_then(|()| world.settle())
        .and_then(|()| world.tell_again());
    told.map_err(|violation| violation.in_story(format!("SEED={seed}")))
}

/// Tells a start in which every server is slow and every tool known, and in which more is called
/// than may be.
fn tell_start(plants: &'static [Plant]) -> Result<(), Violation> {
    let slow = Script::default().taking(600);
    let mut scene =
        Scene::default().server("alpha", slow.clone()).cached().server("beta", slow).cached();
    scene.options.limits.open_calls = 3;
    let mut world = scene.world_of(Mutant::new(scene.options.clone(), plants));
    world.start()?;
    world.run_for(10)?;
    (0..5).try_for_each(|_| world.apply(Step::Call(0, 0)))?;
    world.run_until_quiet()
}

/// Tells of a server that is lost again and again.
fn tell_losses(plants: &'static [Plant]) -> Result<(), Violation> {
    let scene = Scene::default().server("alpha", Script::default());
    let mut world = scene.world_of(Mutant::new(scene.options.clone(), plants));
    world.start()?;
    for _ in 0..8 {
        world.run_until_quiet()?;
        world.apply(Step::Crash(0, true))?;
    }
    world.run_until_quiet()
}

#[test]
fn the_machine_itself_keeps_every_law_in_the_same_stories() -> Result<(), Violation> {
    tell_start(&[])?;
    tell_losses(&[])?;
    (0..STORIES).try_for_each(|seed| tell(seed, &[]))
}

/// What the explorer finds in a small scope, its reduction switched on and off.
fn explored(bug: &bugs::Bug, scope: &Scope) -> Option<Law> {
    let scene = Scene::default().server("alpha", Script::default()).cached();
    let world = scene.world_of(Mutant::new(scene.options.clone(), bug.plants));
    explore_any(&world, scope, 2).err().map(|violation| violation.law())
}

/// Some bugs need more than a small scope has; none is lost by the reduction.
#[test]
fn the_explorer_catches_the_same_bugs_with_and_without_its_reduction() {
    let kinds = [Kind::Start, Kind::Call, Kind::Crash, Kind::Cancel, Kind::Shutdown, Kind::Late];
    let scope = kinds.into_iter().fold(Scope::new(), |scope, kind| scope.with(kind, 1));
    let mut caught = 0;
    for bug in bugs::all() {
        let (reduced, whole) = (explored(bug, &scope), explored(bug, &scope.clone().unreduced()));
        assert_eq!(reduced, whole, "{}", bug.name);
        caught += usize::from(reduced.is_some());
    }
    println!("{caught} of {} planted bugs are caught by the explorer", bugs::all().count());
    assert!(caught > bugs::all().count() / 2);
}

#[test]
fn every_planted_bug_is_caught_by_the_law_that_is_meant_for_it() {
    let (mut table, mut missed) = (String::new(), String::new());
    for bug in bugs::all() {
        // Another law may catch it in an earlier story: a bug shows in more than one way.
        let mut others = None;
        let caught = (0..=STORIES + 1).find_map(|number| {
            let told = match number {
                0 => tell_start(bug.plants),
                1 => tell_losses(bug.plants),
                _ => tell(number - 2, bug.plants),
            };
            let violation = told.err()?;
            let meant = violation.law() == bug.law;
            others = others.take().or_else(|| (!meant).then(|| violation.how().to_owned()));
            meant.then_some((number, violation))
        });
        let (law, told) = match &caught {
            Some((number, violation)) => (violation.law().name(), format!("{}", number + 1)),
            None => ("not caught", "-".into()),
        };
        table += &format!("| {} | {law} | {told} |\n", bug.name);
        if caught.is_none() {
            missed += &format!("{} ({}): {others:?}\n", bug.name, bug.law.name());
        }
    }
    println!("| a machine that … | is caught by | stories |\n|---|---|---|\n{table}");
    assert!(missed.is_empty(), "not caught as they must be:\n{missed}");
}
