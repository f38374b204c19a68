//! Every order of the events of small stories: two servers, one of them with cached tools, and a
//! host that starts, calls, cancels, connects, reconnects, restarts, switches, disconnects, reloads
//! and shuts down while servers start, fail, answer, change, are slow, crash and come back.
//!
//! # What is complete
//!
//! Nine things can happen in a story: a start, a call, a cancellation, a crash, a start that fails,
//! a connect, a disconnect, a reload and a shutdown. With the other operations on a server, and
//! with servers that change, there are fourteen. One more is that somebody is slow: a deadline
//! passes while a fact is on its way, so that the gate opens before all are there. On every push
//! two servers are searched with
//!
//! | what may happen | worlds | steps |
//! |---|---|---|
//! | each of the nine once, nobody slow | 528,415 | 3,173,172 |
//! | a start and any four of the others, being slow among them | 1,067,448 | 4,167,778 |
//! | a start and any three of the fourteen, of being slow, of waiting and waiting no more for a server and of the end of all servers | 1,422,966 | 5,155,481 |
//! | a start and one thing, everybody slow as often as can be | 117,604 | 428,665 |
//!
//! beside one server with all nine and being slow at once (36,326 worlds) and with any four of the
//! fourteen. Two servers of a project meet approvals and what takes them back, two with one value
//! to be found out meet answers and none, and two with a file that is watched meet one that is
//! saved: a start and any two or three things (292,000 steps). All of it takes 96 s on two quiet
//! cores (`cargo test -p tidegate-tests --test interleave`).
//!
//! # What is not
//!
//! Two servers with all nine and being slow at once are about eight million worlds and fifty
//! million steps, which is reckoned from how the searches grow that end, and not measured: levels
//! that no 8 GB hold. So a story of two servers in which somebody is slow *and* four things more
//! happen beside the start is left to the random stories of `model.rs`.
//!
//! `DEEP=1` searches what takes minutes instead of seconds, among it three servers, a start and any
//! two of the nine and of being slow: 257,700 worlds and 909,345 steps (15 s of processor time,
//! 0.6 GB). With any three, 6.7 GB were not enough.

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

/// The same, with the phase of a server for which something has to be found out.
const ALL_PHASES: [&str; 8] =
    ["absent", "idle", "resolving", "opening", "greeting", "listing", "ready", "stopping"];

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
    expect("phases_and_facts", met, &sometimes::ALL);
    Ok(())
}

/// The same with every operation on a server, and with servers that change and are lost.
#[test]
fn no_order_of_operations_on_servers_breaks_a_law() -> Result<(), Violation> {
    let mut met = Met::default();
    for (name, scene, scope) in scopes::operations() {
        met.add(search(name, &scene, &scope)?);
    }
    expect("phases_and_operations", met, &sometimes::OF_OPERATIONS);
    Ok(())
}

/// The same with a file that is watched and saved, with servers that a project brought along and
/// the user approves or not, and with a value that has to be found out.
#[test]
fn no_order_of_approvals_answers_and_saved_files_breaks_a_law() -> Result<(), Violation> {
    let tables = [
        (&PHASES[..], empty::SAVED),
        (&PHASES[..], empty::APPROVED),
        (&ALL_PHASES[..], empty::ASKED),
    ];
    for ((name, scene, scope), (phases, cannot)) in scopes::consents().into_iter().zip(tables) {
        let met = search(name, &scene, &scope)?;
        let table = met.table(phases);
        assert_eq!(empty::unexplained(&met, phases, cannot), "", "\n{table}");
        insta::assert_snapshot!(name.replace(", ", "_").replace(' ', "_"), table);
    }
    Ok(())
}

/// No cell is empty that need not be, and everything that is wanted was met.
fn expect(table: &str, met: Met, wanted: &[&'static str]) {
    insta::assert_snapshot!(table, met.table(&PHASES));
    for what in wanted {
        let story = met.witnesses.get(what).map(|witness| witness.timeline.as_str());
        insta::assert_snapshot!(what.replace(' ', "_"), story.unwrap_or("never met"));
    }
    assert_eq!(empty::unexplained(&met, &PHASES, &[]), "", "\n{}", met.table(&PHASES));
    let wanted: BTreeSet<&str> = wanted.iter().copied().collect();
    let known: BTreeSet<&str> =
        sometimes::ALL.into_iter().chain(sometimes::OF_OPERATIONS).collect();
    let came: BTreeSet<&str> = met.witnesses.keys().copied().collect();
    assert!(wanted.is_subset(&came), "never met: {:?}", wanted.difference(&came));
    assert!(came.is_subset(&known), "met and not wanted: {:?}", came.difference(&known));
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
