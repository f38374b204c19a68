//! Exchanges with servers on loopback that do what servers should not.

mod answers;
mod proxies;
mod secured;
mod server;
mod sockets;
mod world;
