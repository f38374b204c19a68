//! Bugs in starting servers again, or in not doing so.

use tidegate_core::hub::policy::{Backoff, Reconnect};
use tidegate_core::input::{Input, Request};
use tidegate_core::options::Options;
use tidegate_sim::laws::Law;

use crate::bugs::{Bug, bug};
use crate::mutant::Plant;

pub(super) const BUGS: &[Bug] = &[
    bug(
        "starts a lost server at once",
        Law::Starts,
        &[Plant::Options(|options| {
            change(options, |backoff| backoff.delays_ms = vec![0]);
        })],
    ),
    bug(
        "does not wait longer each time",
        Law::Starts,
        &[Plant::Options(|options| change(options, |backoff| backoff.delays_ms = vec![500]))],
    ),
    bug(
        "starts a lost server for ever",
        Law::Starts,
        &[Plant::Options(|options| change(options, |backoff| backoff.starts_max = u32::MAX))],
    ),
    bug(
        "suspends too early",
        Law::Starts,
        &[Plant::Options(|options| change(options, |backoff| backoff.starts_max = 1))],
    ),
    bug(
        "forgets losses as soon as a server is ready",
        Law::Starts,
        &[Plant::Options(|options| change(options, |backoff| backoff.stable_ms = 0))],
    ),
    bug(
        "never starts a lost server again",
        Law::Starts,
        &[Plant::Options(|options| options.policy.reconnect = Reconnect::Off)],
    ),
    bug(
        "connects what it is to restart",
        Law::Orders,
        &[Plant::Input(|_, input| {
            let Input::Host(Request::Restart { op, server }) = input else { return Some(input) };
            Some(Input::Host(Request::Connect { op, server }))
        })],
    ),
    bug(
        "does not disable",
        Law::Model,
        &[Plant::Input(|_, input| {
            let Input::Host(Request::Disable { op, server }) = input else { return Some(input) };
            Some(Input::Host(Request::AwaitConnected { op, server, timeout_ms: Some(0) }))
        })],
    ),
    bug(
        "enables nothing",
        Law::Model,
        &[Plant::Input(|_, input| {
            let Input::Host(Request::Enable { op, server }) = input else { return Some(input) };
            Some(Input::Host(Request::AwaitConnected { op, server, timeout_ms: Some(0) }))
        })],
    ),
    bug(
        "does not stop waiting in time",
        Law::HonestDeadline,
        &[Plant::Input(|_, input| {
            let Input::Host(Request::AwaitConnected { op, server, timeout_ms: _ }) = input else {
                return Some(input);
            };
            Some(Input::Host(Request::AwaitConnected { op, server, timeout_ms: None }))
        })],
    ),
];

fn change(options: &mut Options, how: impl FnOnce(&mut Backoff)) {
    if let Reconnect::OnLoss(backoff) = &mut options.policy.reconnect {
        how(backoff);
    }
}
