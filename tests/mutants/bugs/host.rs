//! Bugs that a host would meet: answers, the catalogue, the gate, what it all leads to.

use std::sync::Arc;

use tidegate_core::bytes::{Bytes, Json};
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, OpResult, Outcome, ServerState};
use tidegate_core::hub::policy::LateFailure;
use tidegate_core::input::{Fact, Found, Input, Request};
use tidegate_core::tools::catalog::ToolState;
use tidegate_sim::laws::Law;

use crate::bugs::{Bug, bug};
use crate::mutant::Plant;

pub(super) const BUGS: &[Bug] = &[
    // Answers.
    bug(
        "ends a call twice",
        Law::ExactlyOnce,
        &[Plant::Output(|step| {
            step.double_event(|event| matches!(event, Event::CallFinished { .. }))
        })],
    ),
    bug(
        "answers a call with the answer to another",
        Law::ExactlyOnce,
        &[Plant::Output(|step| {
            for event in step.events.iter_mut() {
                if let Event::CallFinished { outcome: Outcome::Answered(result), .. } = event {
                    *result = Json::new(result.as_str().replace("{\"n\":", "{\"n\":4"));
                }
            }
        })],
    ),
    bug(
        "goes on with a cancelled call",
        Law::ExactlyOnce,
        &[Plant::Input(|_, input| {
            let cancels = matches!(input, Input::Host(Request::Cancel { .. }));
            (!cancels).then_some(input)
        })],
    ),
    bug(
        "answers a start twice",
        Law::ExactlyOnce,
        &[Plant::Output(|step| step.double_event(|event| matches!(event, Event::GateOpened(_))))],
    ),
    bug(
        "answers a reload twice",
        Law::ExactlyOnce,
        &[Plant::Output(|step| step.double_event(|event| matches!(event, Event::Done { .. })))],
    ),
    bug(
        "never answers a reload",
        Law::HonestDeadline,
        &[Plant::Output(|step| {
            step.events.retain(|event| {
                !matches!(event, Event::Done { result: OpResult::Reloaded { .. }, .. })
            });
        })],
    ),
    bug(
        "never ends a call that its server answered",
        Law::HonestDeadline,
        &[
            Plant::Output(|step| {
                step.lose_calls(|outcome| matches!(outcome, Outcome::Answered(_)))
            }),
            Plant::Status(|memory, status| status.open_calls += memory.lost_calls),
        ],
    ),
    bug(
        "forgets the calls of a failed server",
        Law::Prompt,
        &[
            Plant::Output(|step| {
                step.lose_calls(|outcome| {
                    use CallError::{Closed, NotConnected};
                    matches!(outcome, Outcome::Failed(Closed | NotConnected { .. }))
                });
            }),
            Plant::Status(|memory, status| status.open_calls += memory.lost_calls),
        ],
    ),
    bug(
        "miscounts its open calls",
        Law::Bounded,
        &[Plant::Status(|_, status| status.open_calls = status.open_calls.saturating_sub(1))],
    ),
    // The catalogue and the states.
    bug(
        "skips every second revision",
        Law::View,
        &[
            Plant::Output(|step| {
                for event in step.events.iter_mut() {
                    if let Event::ToolsChanged { revision } = event {
                        *revision *= 2;
                    }
                }
            }),
            Plant::Catalog(|catalog| catalog.revision *= 2),
        ],
    ),
    bug(
        "changes the catalogue in silence",
        Law::View,
        &[Plant::Output(|step| {
            step.events.retain(|event| !matches!(event, Event::ToolsChanged { .. }))
        })],
    ),
    bug(
        "lists the last server first",
        Law::View,
        &[Plant::Catalog(|catalog| catalog.tools.reverse())],
    ),
    bug(
        "offers what is cached as if it were live",
        Law::View,
        &[Plant::Catalog(|catalog| {
            for tool in &mut catalog.tools {
                if tool.state == ToolState::Deferred {
                    Arc::make_mut(tool).state = ToolState::Live;
                }
            }
        })],
    ),
    bug(
        "says every state twice",
        Law::View,
        &[Plant::Output(|step| {
            step.double_event(|event| matches!(event, Event::ServerChanged { .. }))
        })],
    ),
    bug(
        "does not say that a server failed",
        Law::View,
        &[Plant::Output(|step| {
            step.events.retain(|event| {
                let Event::ServerChanged { state, .. } = event else { return true };
                !matches!(state, ServerState::Failed { .. })
            });
        })],
    ),
    bug(
        "tells of an update that nobody follows",
        Law::Live,
        &[Plant::Output(|step| {
            if step.events.iter().any(|event| matches!(event, Event::ResourcesChanged { .. })) {
                let (server, uri) = ("alpha".into(), "file:///other".into());
                step.events.push(Event::ResourceUpdated { server, uri });
            }
        })],
    ),
    bug(
        "forgets to say that prompts changed",
        Law::Live,
        &[Plant::Output(|step| {
            step.events.retain(|event| !matches!(event, Event::PromptsChanged { .. }));
        })],
    ),
    bug(
        "loses the last tool of the list",
        Law::Live,
        &[Plant::Catalog(|catalog| {
            let last = catalog.tools.iter().rev().take(2).map(|tool| &tool.server);
            if let [last, before] = last.collect::<Vec<_>>()[..]
                && last == before
            {
                catalog.tools.pop();
            }
        })],
    ),
    // The gate.
    bug(
        "never says that the gate opened",
        Law::Gate,
        &[
            Plant::Output(|step| {
                let opens = |event: &Event| matches!(event, Event::GateOpened(_));
                step.memory.lost_gate |= step.events.iter().any(opens);
                step.events.retain(|event| !opens(event));
            }),
            Plant::Status(|memory, status| status.gate_shut |= memory.lost_gate),
        ],
    ),
    bug(
        "leaves a server out of the report of a start",
        Law::Gate,
        &[Plant::Output(|step| {
            for event in step.events.iter_mut() {
                if let Event::GateOpened(report) = event {
                    report.connected.pop();
                }
            }
        })],
    ),
    bug(
        "reports a deferred server as connected",
        Law::Gate,
        &[Plant::Output(|step| {
            for event in step.events.iter_mut() {
                if let Event::GateOpened(report) = event {
                    report.connected.append(&mut report.deferred);
                }
            }
        })],
    ),
    // Where it all leads.
    bug(
        "reloads what it read first",
        Law::Model,
        &[Plant::Input(|memory, input| {
            let first = memory.first_config.clone();
            match (input, first) {
                (Input::Io(Fact::ConfigRead { read, origin, .. }), Some(found)) => {
                    Some(Input::Io(Fact::ConfigRead { read, origin, found }))
                }
                (input, _) => Some(input),
            }
        })],
    ),
    bug(
        "does not restart what changed",
        Law::Model,
        &[Plant::Input(|_, input| match input {
            Input::Io(Fact::ConfigRead { read, origin, found: Found::Content(bytes) }) => {
                let text = String::from_utf8_lossy(&bytes).replace("\"v2\"", "\"v1\"");
                let found = Found::Content(Bytes::from(text.as_str()));
                Some(Input::Io(Fact::ConfigRead { read, origin, found }))
            }
            input => Some(input),
        })],
    ),
    bug(
        "connects nothing that was disconnected",
        Law::Model,
        &[
            Plant::Input(|_, input| {
                let connects = matches!(input, Input::Host(Request::Connect { .. }));
                (!connects).then_some(input)
            }),
            Plant::Output(|step| {
                if let Some(Input::Host(Request::Connect { op, .. })) = step.input
                    && !step.memory.stopped
                {
                    step.events.push(Event::Done { op: *op, result: OpResult::Done });
                }
            }),
        ],
    ),
    // Bounds.
    bug(
        "keeps all that is written to standard error",
        Law::Bounded,
        &[Plant::Options(|options| options.limits.stderr_tail_bytes = usize::MAX)],
    ),
    bug(
        "keeps every problem",
        Law::Bounded,
        &[Plant::Status(|_, status| status.problems = vec![status.problems.clone(); 20].concat())],
    ),
    bug(
        "opens calls without end",
        Law::Bounded,
        &[Plant::Options(|options| options.limits.open_calls = usize::MAX)],
    ),
    bug(
        "takes messages without end",
        Law::Bounded,
        &[Plant::Options(|options| options.limits.message_bytes = usize::MAX)],
    ),
    // The policy.
    bug(
        "opens the gate at once",
        Law::Gate,
        &[Plant::Options(|options| options.policy.gate_ms = 0)],
    ),
    bug(
        "waits for a start without end",
        Law::Gate,
        &[Plant::Options(|options| options.policy.startup_deadline_ms = None)],
    ),
    bug(
        "gives every rung of a stop a second more",
        Law::NoOrphan,
        &[Plant::Options(|options| {
            options.policy.stop.polite_ms += 1_000;
            options.policy.stop.terminate_ms += 1_000;
        })],
    ),
    bug(
        "mistakes one policy on late failures for the other",
        Law::View,
        &[Plant::Options(|options| {
            options.policy.late_failure = match options.policy.late_failure {
                LateFailure::Keep => LateFailure::MarkFailed,
                LateFailure::MarkFailed => LateFailure::Keep,
            };
        })],
    ),
];
