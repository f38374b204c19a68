//! What a server answers before the body of its answer.
//!
//! Floor 0.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The head of an answer.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct HttpHead {
    /// The status; one that only informs (1xx) is no head.
    pub status: u16,
    /// Those of the headers that are asked for ([`WANTED`](Self::WANTED)), their names in lower
    /// case, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Whether the driver keeps the id of a session for this attempt from here on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub session: bool,
}

impl HttpHead {
    /// The headers that a driver passes on; every other one stays with it.
    pub const WANTED: [&'static str; 6] =
        ["allow", "content-length", "content-type", "location", "retry-after", "www-authenticate"];

    /// The first value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
