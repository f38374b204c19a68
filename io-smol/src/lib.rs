//! Tidegate's driver: it does what the core orders and reports what happened.
//!
//! The only crate with clocks, processes, sockets and files. [`open`] gives two halves: a [`Driver`],
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
//! # A session that follows
//!
//! Servers come late, come again, and change what they offer. A session of an agent that is told
//! so offers the newest tools without a restart, keeps what its user switched, and has tools and
//! prompt of one and the same moment; a
//! [`Registry`](tidegate_core::tools::registry::Registry) is all it takes.
//!
//! ```no_run
//! use tidegate_core::event::Event;
//! use tidegate_core::id::OwnerId;
//! use tidegate_core::tools::registry::{Activation, Registry};
//! use tidegate_smol::{Host, News};
//!
//! async fn follow(host: Host, mut offer: impl FnMut(&Registry)) {
//!     let mut session = Registry::new(Activation::All, vec![]);
//!     // Whenever this begins: the first news is where things stand.
//!     let mut events = host.events();
//!     while let Some(news) = events.next().await {
//!         if matches!(news, News::Event(Event::ToolsChanged { .. }) | News::Missed(_)) {
//!             // Revisions may be skipped: this one is the newest.
//!             session.refresh(OwnerId::new(0), host.offering().await);
//!             offer(&session);
//!         }
//!     }
//! }
//! ```
//!
//! # A host that servers may ask
//!
//! A server may want a model or a person asked, in the course of a call or beside it. Only what a
//! host says it does is declared; what servers ask then comes as a stream, and each question may
//! take as long as it needs.
//!
//! ```no_run
//! use tidegate_core::inquiry::{Inquiry, Refusal, Reply, Service};
//! use tidegate_core::options::Options;
//! use tidegate_smol::{Inquiries, Settings};
//!
//! let settings = Settings::new(Options::new("/home/me/project", vec![]));
//! let (settings, inquiries) = settings.serving([Service::ElicitationForm]);
//!
//! async fn answer(mut inquiries: Inquiries, fill_in: impl Fn(&str) -> Option<String>) {
//!     while let Some(asked) = inquiries.next().await {
//!         let content = match &asked.what {
//!             Inquiry::Elicitation { params, .. } => fill_in(params.as_str()),
//!             _ => None,
//!         };
//!         let accept = |it| format!(r#"{{"action":"accept","content":{it}}}"#);
//!         asked.reply(match content.map(accept) {
//!             Some(answer) => Reply::Done(tidegate_core::bytes::Json::new(answer)),
//!             None => Reply::Refused(Refusal::Declined),
//!         });
//!     }
//! }
//! ```
//!
//! A [`Subagent`] is a handle for an agent that this one starts: it sees a part of the tools,
//! calls them through the same connections, and ends with them.
//!
//! Linux is what is tested. Elsewhere on Unix the same code runs with a thread per server that
//! waits for its end.

#![forbid(unsafe_code)]

mod answers;
mod approvals;
pub mod checkup;
pub mod config_file;
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
mod http;
mod inbox;
mod inquiries;
mod launch;
mod mark;
mod pipe;
pub mod places;
mod pollset;
mod process;
mod record;
mod reply;
mod run;
mod settings;
mod shell;
pub mod signals;
mod spawn;
mod subagent;
mod watcher;
pub mod whole_file;

pub use answers::Prompt;
pub use approvals::{Approvals, Granted};
pub use driver::{Driver, open};
pub use events::{Events, News};
pub use host::{Call, Host};
pub use http::network::Network;
pub use inquiries::{Asked, Inquiries};
pub use run::block_on;
pub use settings::{Guard, Settings};
pub use subagent::Subagent;
