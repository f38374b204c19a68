//! A simulator for the machine in `tidegate-core`: virtual time, scripted servers, faults.
//!
//! A [`World`](world::World) is a runtime, a clock and a simulated driver. It sleeps exactly
//! until the next thing is due, and after every step it checks the laws of
//! [`laws`]. A [`Scene`](scene::Scene) says how a story begins:
//!
//! ```
//! use tidegate_sim::scene::Scene;
//! use tidegate_sim::script::Script;
//! use tidegate_sim::violation::Violation;
//!
//! # fn main() -> Result<(), Violation> {
//! let mut world = Scene::default()
//!     .server("fast", Script::default())
//!     .server("slow", Script::default().taking(600))
//!     .cached()
//!     .world();
//! world.start()?;
//! world.run_for(250)?;
//! let call = world.call("slow", "echo")?; // waits: `slow` is still starting
//! world.run_until_quiet()?;
//! world.finish()
//! # }
//! ```
#![forbid(unsafe_code)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a law looks at the few things it binds, and a new one must not touch every law"
)]

mod changes;
pub mod choices;
pub mod driver;
pub mod explore;
pub mod fuzz;
mod hashed;
pub mod laws;
mod lists;
pub mod machine;
pub mod model;
mod peer;
mod process;
pub mod replay;
pub mod scene;
pub mod script;
mod sometimes;
pub mod story;
pub mod violation;
pub mod world;
