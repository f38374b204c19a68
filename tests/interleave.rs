//! Every order of the events of small stories: two servers, one of them with cached tools, and a
//! host that starts, calls, cancels, connects, disconnects, reloads and shuts down while servers
//! start, fail, answer, are slow and crash.
//!
//! `DEEP=1` searches what takes minutes instead of seconds.

#[path = "interleave/empty.rs"]
mod empty;
#[path = "interleave/scopes.rs"]
mod scopes;

use std::collections::BTreeSet;
use std::time::Instant;

use tidegate_sim::explore::{Met, Scope, explore};
use tidegate_sim::scene::Scene;
use tidegate_sim::sometimes;
use tidegate_sim::violation::Violation;

/// The columns of the table: the phases of an attempt, and none.
const PHASES: [&str; 7] = ["absent", "idle", "opening", "greeting", "listing", "ready", "stopping"];

#[test]
fn no_order_of_a_small_story_breaks_a_law() -> Result<(), Violation> {
    let mut met = Met::default();
    for (name, scene, scope) in scopes::pushed() {
        met.add(search(name, &scene, &scope)?);
    }
    if std::env::var_os("DEEP").is_some() {
        for (name, scene, scope) in scopes::deep() {
            met.add(search(name, &scene, &scope)?);
        }
        return Ok(());
    }
    insta::assert_snapshot!("phases_and_facts", met.table(&PHASES));
    assert_eq!(empty::unexplained(&met, &PHASES), "", "\n{}", met.table(&PHASES));
    let wanted = BTreeSet::from(sometimes::ALL);
    let came: BTreeSet<&str> = met.witnesses.keys().copied().collect();
    let never: Vec<_> = wanted.symmetric_difference(&came).collect();
    assert!(never.is_empty(), "wanted and never met, or met and not wanted: {never:?}");
    for (what, witness) in met.witnesses {
        insta::assert_snapshot!(what.replace(' ', "_"), witness.timeline);
    }
    Ok(())
}

/// The soundness of the reduction, on scopes that are small enough to be searched without it.
#[test]
fn a_reduced_search_meets_what_the_whole_one_meets() -> Result<(), Violation> {
    for (name, scene, scope) in scopes::small() {
        let reduced = search(name, &scene, &scope)?;
        let whole = search("the same, unreduced", &scene, &scope.unreduced())?;
        assert!(reduced.worlds < whole.worlds, "{name}: nothing was reduced");
        assert!(reduced.table.keys().eq(whole.table.keys()), "{name}: other cells");
        assert!(reduced.witnesses.keys().eq(whole.witnesses.keys()), "{name}: other witnesses");
        for (what, witness) in &reduced.witnesses {
            let shortest = whole.witnesses[what].length;
            assert_eq!(witness.length, shortest, "{name}: {what} was seen late");
        }
    }
    Ok(())
}

/// L2 for the explorer: which thread is faster makes no difference.
#[test]
fn a_search_finds_the_same_on_any_number_of_threads() -> Result<(), Violation> {
    let (_, scene, scope) = scopes::small().remove(0);
    let of = |threads| explore(&scene.world(), &scope, threads).map(|met| format!("{met:?}"));
    let alone = of(1)?;
    assert_eq!(of(2)?, alone);
    assert_eq!(of(5)?, alone);
    Ok(())
}

fn search(name: &str, scene: &Scene, scope: &Scope) -> Result<Met, Violation> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let begun = Instant::now();
    let met = explore(&scene.world(), scope, threads)?;
    let Met { worlds, searched, steps, ends, .. } = met;
    let took = begun.elapsed().as_secs_f64();
    eprintln!("{name}: {worlds} worlds ({searched}), {steps} steps, {ends} ends, {took:.1}s");
    Ok(met)
}
