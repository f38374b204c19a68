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
//!
//! # Test your own host
//!
//! What a program does with servers that come, fail and change is hard to test with real ones. A
//! host that is a value, a [`Host`](host::Host), is played against scripted ones instead: with
//! commands and laws of its own, after every step of as many random stories as one likes. This
//! one lets two calls be open at most:
//!
//! ```
//! use proptest::prelude::*;
//! use tidegate_core::bytes::Json;
//! use tidegate_core::event::Event;
//! use tidegate_core::id::{CallId, OpId};
//! use tidegate_core::input::{NewCall, Request, Target};
//! use tidegate_core::runtime::Runtime;
//! use tidegate_sim::host::{Host, Play};
//! use tidegate_sim::laws::{Breach, Law};
//! use tidegate_sim::scene::Scene;
//! use tidegate_sim::script::Script;
//! use tidegate_sim::violation::Violation;
//!
//! /// What the program decides, without the doing.
//! #[derive(Default)]
//! struct Patient {
//!     made: u64,
//!     queue: usize,
//! }
//!
//! impl Patient {
//!     fn next(&mut self, machine: &Runtime) -> Vec<Request> {
//!         if self.queue == 0 || machine.status().open_calls >= 2 {
//!             return vec![];
//!         }
//!         self.queue -= 1;
//!         self.made += 1;
//!         let target = Target::Tool { server: "db".into(), tool: "query".into() };
//!         let (call, arguments) = (CallId::new(self.made), Json::new("{}"));
//!         let (timeout_ms, max_ms) = (Some(5_000), None);
//!         vec![Request::Call(NewCall { call, target, arguments, timeout_ms, max_ms })]
//!     }
//! }
//!
//! impl Host for Patient {
//!     fn hear(&mut self, event: &Event, machine: &Runtime) -> Vec<Request> {
//!         if let Event::CallFinished { .. } = event { self.next(machine) } else { vec![] }
//!     }
//!
//!     fn check(&self, machine: &Runtime) -> Result<(), Breach> {
//!         let open = machine.status().open_calls;
//!         Law::Own("two at a time").demands(open <= 2, || format!("{open} calls are open"))
//!     }
//!
//!     fn check_quiet(&self, _: &Runtime) -> Result<(), Breach> {
//!         let left = self.queue;
//!         Law::Own("nobody is forgotten").demands(left == 0, || format!("{left} still wait"))
//!     }
//! }
//!
//! /// A story: so many milliseconds pass, and then somebody wants a query.
//! fn tell(slow: u64, wants: &[u64]) -> Result<(), Violation> {
//!     let scene = Scene::default().server("db", Script::tools(["query"]).taking(slow));
//!     let mut play = Play::new(scene, Patient::default());
//!     play.act(|_, _| vec![Request::Start { op: OpId::new(0) }])?;
//!     for ms in wants {
//!         play.run_for(*ms)?;
//!         play.act(|host, machine| {
//!             host.queue += 1;
//!             host.next(machine)
//!         })?;
//!     }
//!     play.finish().map(drop)
//! }
//!
//! proptest!(|(slow in 0..900_u64, wants in proptest::collection::vec(0..300_u64, 0..6))| {
//!     // Prints the timeline of the shortest story that breaks a law.
//!     prop_assert!(tell(slow, &wants).is_ok(), "{}", tell(slow, &wants).unwrap_err());
//! });
//! ```
//!
//! The example `own_host` goes on from there: servers that crash and change, a failure that is
//! made on purpose and shrinks to a timeline of a few lines, the seed that tells it again, and
//! the trace to look at. A trace holds the machine's inputs and not the host's decisions: it is
//! evidence of a failure, drawn by `tidegate timeline`. The regression is the story itself, kept
//! as a test with the arguments that it shrank to.
#![forbid(unsafe_code)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a law looks at the few things it binds, and a new one must not touch every law"
)]

mod changes;
pub mod choices;
pub mod crowd;
mod digest;
pub mod driver;
pub mod explore;
pub mod front;
pub mod fuzz;
mod hashed;
pub mod host;
pub mod laws;
mod lists;
pub mod machine;
pub mod model;
mod operations;
mod peer;
mod process;
pub mod replay;
pub mod scene;
pub mod script;
pub mod sometimes;
pub mod story;
pub mod violation;
mod web;
pub mod world;
