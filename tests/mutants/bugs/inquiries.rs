//! Bugs of what servers ask the host.

use tidegate_core::event::Event;
use tidegate_core::inquiry::Service;
use tidegate_sim::laws::Law;

use crate::bugs::{Bug, bug};
use crate::mutant::Plant;

pub(super) const BUGS: &[Bug] = &[
    bug(
        "asks the host twice",
        Law::ExactlyOnce,
        &[Plant::Output(|step| step.double_event(|event| matches!(event, Event::Inquired { .. })))],
    ),
    bug(
        "never says that an answer is of no use any more",
        Law::Prompt,
        &[Plant::Output(|step| {
            step.events.retain(|event| !matches!(event, Event::InquiryEnded { .. }))
        })],
    ),
    bug(
        "declares what the host does not do",
        Law::Wire,
        &[Plant::Options(|options| {
            let all = [Service::SamplingTools, Service::ElicitationForm, Service::ElicitationUrl];
            options.services = all.into_iter().collect();
        })],
    ),
];
