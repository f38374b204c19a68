//! From bytes to definitions.
//!
//! Floor 2. May import floors 0 and 1. Pure: which files to ask for is a function of places
//! ([`source`]), what they say a function of their bytes ([`parse`]), which definition of a name
//! wins a function of the order of the files ([`resolve`]), and what a reload has to do a
//! function of two sets of definitions ([`diff`]). One bad entry never hurts another (G55).

pub mod assignment;
mod auth;
pub mod consent;
pub mod definition;
pub mod diff;
pub mod disguise;
pub mod edit;
mod encoding;
mod endpoint;
mod entry;
pub mod environment;
mod field;
pub mod filter;
pub mod folder;
mod format;
pub mod inputs;
pub mod launch;
mod manifest;
mod mask;
mod nearest;
pub mod organisation;
pub mod parse;
pub mod redact;
mod registry;
mod report;
pub mod resolve;
pub mod schema;
mod secret;
mod section;
pub mod settings;
pub mod source;
mod switched;
mod syntax;
pub mod template;
pub mod validate;
mod values;
mod variables;
mod words;

pub use definition::{Auth, Definition, Protocol, Remote, SourceRef, Stdio, ToolFilter, Transport};
pub use environment::Environment;
pub use filter::Filters;
pub use folder::Entries;
pub use source::{Level, Places, Provider, Source, Surroundings};
pub use template::{Part, Role, Template, Variables};
