//! G79, G80: a state that was put away and taken out again goes on as if nothing had been.

use proptest::prelude::*;
use tidegate_core::command::Command;
use tidegate_core::event::Event;
use tidegate_core::hub::policy::Policy;
use tidegate_core::runtime::Runtime;
use tidegate_core::trace::TraceLine;
use tidegate_sim::choices::Seeded;
use tidegate_sim::story::{self, Step};
use tidegate_sim::violation::jsonl;

/// What a machine says to one line.
fn say(machine: &mut Runtime, line: &TraceLine) -> (Vec<Command>, Vec<Event>) {
    match line {
        TraceLine::Input { at, input } => machine.handle(*at, input.clone()),
        TraceLine::Tick { at } => machine.handle_timeout(*at),
        TraceLine::Head { .. } | TraceLine::Command { .. } | TraceLine::Event { .. } => {}
    }
    let commands = std::iter::from_fn(|| machine.poll_command()).collect();
    let events = std::iter::from_fn(|| machine.poll_event()).collect();
    (commands, events)
}

/// What a run says from a line on, by its record.
fn recorded(lines: &[TraceLine]) -> (Vec<Command>, Vec<Event>) {
    let mut said = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            TraceLine::Command { command, .. } => said.0.push(command.clone()),
            TraceLine::Event { event, .. } => said.1.push(event.clone()),
            TraceLine::Head { .. } | TraceLine::Input { .. } | TraceLine::Tick { .. } => {}
        }
    }
    said
}

/// A machine in the state that the text stands for: its options and what it heard.
fn restored(text: &str) -> Runtime {
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("a line"));
    let Some(TraceLine::Head { options, .. }) = lines.next() else { panic!("no head") };
    let mut machine = Runtime::new(*options);
    lines.for_each(|line| drop(say(&mut machine, &line)));
    machine
}

fn go_on(mut machine: Runtime, lines: &[TraceLine]) -> (Vec<Command>, Vec<Event>) {
    let mut said = (Vec::new(), Vec::new());
    for line in lines {
        let (commands, events) = say(&mut machine, line);
        said.0.extend(commands);
        said.1.extend(events);
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// G80: a state is its options and its inputs, so that is how it is stored; it is also a
    /// value, so a copy goes on alike.
    #[test]
    fn a_state_that_was_stored_goes_on_like_the_one_that_was_not(
        seed in any::<u64>(),
        documented in any::<bool>(),
        cut in 0..1_000_usize,
    ) {
        let policy = if documented { Policy::documented() } else { Policy::default() };
        let mut choices = Seeded::new(seed);
        let mut world = story::scene(&mut choices, policy).world();
        let told = (0..40)
            .try_for_each(|_| world.apply(Step::choose(&mut choices)))
            .and_then(|()| world.settle());
        prop_assert!(told.is_ok(), "{}", told.unwrap_err());
        let trace = world.trace();
        // Between two inputs: what one of them led to is drained before the next comes.
        let ends: Vec<usize> = (1..trace.len())
            .filter(|at| matches!(trace[*at], TraceLine::Input { .. } | TraceLine::Tick { .. }))
            .collect();
        let at = ends[cut * ends.len() / 1_000];
        let machine = restored(&jsonl(&trace[..at]));
        let copy = machine.clone();
        let rest = recorded(&trace[at..]);
        prop_assert!(go_on(machine, &trace[at..]) == rest, "stored after line {at} of SEED={seed}");
        prop_assert!(go_on(copy, &trace[at..]) == rest, "copied after line {at} of SEED={seed}");
    }
}
