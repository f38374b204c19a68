//! Why what never met did not meet.

use tidegate_sim::explore::Met;

/// Cells of a table that are empty, and why they have to be.
pub(crate) struct Empty {
    rows: &'static [&'static str],
    phases: &'static [&'static str],
    /// For who reads this.
    _why: &'static str,
}

const fn empty(
    rows: &'static [&'static str],
    phases: &'static [&'static str],
    why: &'static str,
) -> Empty {
    Empty { rows, phases, _why: why }
}

/// Those of every table.
const ALWAYS: &[Empty] = &[
    empty(
        &["! change", "! complaint", "! crash", "! pipe"],
        &["absent", "idle", "resolving", "opening"],
        "no process of it runs before its start is reported or after its end was",
    ),
    empty(
        &["! no start"],
        &["absent", "idle", "resolving", "greeting", "listing", "ready"],
        "nothing is being started, or its start was reported",
    ),
    empty(
        &["< cancel"],
        &["absent"],
        "a call to a server that is not configured ends at once (L8)",
    ),
    empty(
        &["closed", "complained", "input failed", "output ended", "received"],
        &["absent", "idle", "resolving", "opening"],
        "a driver reports these between the start of a process and its end",
    ),
    empty(
        &["open failed", "opened"],
        &["absent", "idle", "resolving", "greeting", "listing", "ready"],
        "a driver answers each Open once, and nothing of the attempt is heard before",
    ),
];

const INPUT: Empty = empty(
    &["input failed"],
    &["greeting", "listing"],
    "nobody closes the pipe of a process that goes on, and one that crashed is only written to \
     when it is called or closed",
);

/// Those of the table of servers whose file is saved.
pub(crate) const SAVED: &[Empty] = &[INPUT];

/// Those of the table of servers of a project.
pub(crate) const APPROVED: &[Empty] = &[
    INPUT,
    empty(
        &["! approve"],
        &["absent", "opening", "greeting", "listing", "ready"],
        "what runs or is not known waits for no approval; what is being ended may again",
    ),
    empty(&["! revoke"], &["absent"], "nothing is approved before it is known"),
    empty(
        &["cache read"],
        &["absent", "stopping"],
        "no file leaves a server out, and the cache is asked only once a start, an approval and \
         someone slow have come together, after which nothing more may happen",
    ),
];

/// Those of the table of servers with a value that has to be found out.
pub(crate) const ASKED: &[Empty] = &[
    INPUT,
    empty(
        &["! no answer"],
        &["absent", "opening", "greeting", "listing", "ready", "stopping"],
        "both need the one value, so that none gets further while it is being found out",
    ),
    empty(
        &["answered"],
        &["absent", "stopping"],
        "who needs the value is configured, and what was started has it already",
    ),
    empty(
        &["~ tick"],
        &["absent", "resolving", "opening", "greeting", "listing", "stopping"],
        "nobody is slow: time passes when nothing else is to come, and something is",
    ),
];

/// Empty cells without an explanation, and explained ones that are filled.
pub(crate) fn unexplained(met: &Met, phases: &[&str], further: &[Empty]) -> String {
    let rows: std::collections::BTreeSet<&str> = met.table.keys().map(|(row, _)| *row).collect();
    let explained = |row, phase| {
        let mut all = ALWAYS.iter().chain(further);
        all.any(|empty| empty.rows.contains(row) && empty.phases.contains(phase))
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
