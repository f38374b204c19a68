//! Why what never met did not meet.

use tidegate_sim::explore::Met;

/// Cells of the table that are empty, and why they have to be.
const CANNOT: &[(&[&str], &[&str], &str)] = &[
    (
        &["! change", "! complaint", "! crash", "! pipe"],
        &["absent", "idle", "opening"],
        "no process of it runs before its start is reported or after its end was",
    ),
    (
        &["! no start"],
        &["absent", "idle", "greeting", "listing", "ready"],
        "nothing is being started, or its start was reported",
    ),
    (&["< cancel"], &["absent"], "a call to a server that is not configured ends at once (L8)"),
    (
        &["closed", "complained", "input failed", "output ended", "received"],
        &["absent", "idle", "opening"],
        "a driver reports these between the start of a process and its end",
    ),
    (
        &["open failed", "opened"],
        &["absent", "idle", "greeting", "listing", "ready"],
        "a driver answers each Open once, and nothing of the attempt is heard before",
    ),
];

/// Empty cells without an explanation, and explained ones that are filled.
pub(crate) fn unexplained(met: &Met, phases: &[&str]) -> String {
    let rows: std::collections::BTreeSet<&str> = met.table.keys().map(|(row, _)| *row).collect();
    let explained = |row, phase| {
        CANNOT.iter().any(|(rows, phases, _)| rows.contains(row) && phases.contains(phase))
    };
    let mut complaints = String::new();
    for (row, phase) in rows.iter().flat_map(|row| phases.iter().map(move |phase| (row, phase))) {
        match (met.table.contains_key(&(*row, *phase)), explained(row, phase)) {
            (true, true) => complaints += &format!("{row} met {phase}, which cannot be\n"),
            (false, false) => complaints += &format!("{row} never met {phase}: why not?\n"),
            (true, false) | (false, true) => {}
        }
    }
    complaints
}
