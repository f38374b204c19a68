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

mod block_on;
mod desk;
mod driver;
mod events;
mod host;
mod inbox;
pub mod places;
mod reply;
mod settings;
pub mod signals;

pub use block_on::block_on;
pub use driver::{Driver, open};
pub use events::{Events, News};
pub use host::{Call, Host};
pub use settings::{Guard, Settings};
