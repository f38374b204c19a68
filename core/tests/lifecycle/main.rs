//! The machine from the outside, one story a test: what a host and a driver would see.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test looks for one thing and fails loudly on any other"
)]

mod approving;
mod asking;
mod calls;
mod connecting;
mod eras;
mod events;
mod fetching;
mod flooding;
mod following;
mod gathering;
mod inquiring;
mod letting_go;
mod limiting;
mod lists;
mod losing;
mod modern;
mod overlapping;
mod play;
mod plugins;
mod recovering;
mod reloading;
mod remote;
mod resolving;
mod rounds;
mod starting;
mod telling;
mod watching;
mod web;
