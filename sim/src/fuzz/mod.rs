//! What the fuzz targets call: each asserts more than that nothing panics.
//!
//! libFuzzer drives them in `fuzz/`, and a plain test replays the corpus of `fuzz/corpus`. They
//! panic on a violation, because that is how a fuzz target reports one.

mod config;
mod edit;
mod formats;
mod http;
mod lines;
mod rpc;
mod story;

pub use config::config;
pub use edit::edit;
pub use formats::{toml, tools, yaml};
pub use http::{http_head, session, sse};
pub use lines::lines;
pub use rpc::rpc;
pub use story::story;
