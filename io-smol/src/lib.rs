//! Tidegate's driver: it does what the core orders and reports what happened.
//!
//! The only crate with clocks, processes and files. [`open`] gives two halves: a [`Driver`],
//! whose [`run`](Driver::run) is one future that owns the machine and must be polled, and a
//! [`Host`], a handle that any number of tasks and threads may clone and ask. [`block_on`] runs
//! both on the calling thread.
//!
//! ```no_run
//! use tidegate_core::bytes::Json;
//! use tidegate_core::config::Source;
//! use tidegate_core::input::Target;
//! use tidegate_core::options::Options;
//! use tidegate_smol::{Settings, block_on, open};
//!
//! # fn main() -> std::io::Result<()> {
//! let config = r#"{ "mcpServers": { "time": { "command": "mcp-server-time" } } }"#;
//! let options = Options::new("/home/me/project", vec![Source::inline("example", config)]);
//! let (host, driver) = open(Settings::new(options))?;
//! block_on(driver, async {
//!     let report = host.start().await;
//!     println!("{} connected, {} deferred", report.connected.len(), report.deferred.len());
//!     let tool = Target::Exposed("mcp_time_get_current_time".into());
//!     let outcome = host.call(tool, Json::new(r#"{"timezone":"UTC"}"#), None).await;
//!     println!("{outcome:?}");
//! })
//! # }
//! ```
//!
//! Linux is what is tested. Elsewhere on Unix the same code runs with a thread per server that
//! waits for its end.

#![forbid(unsafe_code)]

mod connection;
mod connections;
mod descendants;
mod desk;
mod driver;
mod errands;
mod events;
mod files;
mod guard;
mod host;
mod inbox;
mod launch;
mod pipe;
pub mod places;
mod pollset;
mod process;
mod record;
mod reply;
mod run;
mod settings;
pub mod signals;
mod spawn;

pub use driver::{Driver, open};
pub use events::{Events, News};
pub use host::{Call, Host};
pub use run::block_on;
pub use settings::{Guard, Settings};
