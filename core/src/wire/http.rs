//! What requests and answers of HTTP say beside the messages in them.
//!
//! Floor 1. May import floor 0. Of an answer only its head is read here; which exchange it
//! belongs to and what follows from it, the server's machine decides.

mod head;
mod request;
mod value;

pub use head::{Answer, Content, read};
pub use request::{EVENTS, delete, get, labels, post};
pub use value::mirrored;
