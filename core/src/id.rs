//! Names and numbers of things. Ids the core makes come from counters and are never reused.
//!
//! Floor 0.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! counted_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The id with this number.
            #[must_use]
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// The number behind the id.
            #[must_use]
            pub const fn number(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

counted_id!(
    /// One attempt to run one server: made by the core with each `Open`, never reused, so that
    /// a fact about an attempt that is over can be told from one about the present attempt (L6).
    ConnId,
    "c"
);
counted_id!(
    /// One tool call. Chosen by the host: each number must be higher than every one before it,
    /// gaps do not matter. One that was used before, or is lower than the last, is refused with
    /// [`Event::CallRefused`](crate::event::Event::CallRefused), even if no call ever had it; a
    /// call under way with the same number is not touched.
    CallId,
    "k"
);
counted_id!(
    /// One operation the host asked for (start, reload, disconnect, …). Chosen by the host and
    /// returned in the event that ends the operation. While one is open, another with the same
    /// number is refused with [`Event::OpRefused`](crate::event::Event::OpRefused); afterwards
    /// the number may be used again.
    OpId,
    "o"
);
counted_id!(
    /// One read the core asked the driver for: a configuration file or a cache entry.
    ReadId,
    "r"
);
counted_id!(
    /// One HTTP exchange of an attempt. Never reused by it; two attempts may use the same.
    ExchangeId,
    "x"
);
counted_id!(
    /// One answer the core asked the driver for: what a command prints, or what a person says.
    /// Never reused; the driver keeps the text under it.
    AnswerId,
    "a"
);
counted_id!(
    /// One thing that a server asks the host: made by the core, never reused.
    InquiryId,
    "q"
);
counted_id!(
    /// One runtime, or whatever else offers a session tools, among those that share a
    /// [`Registry`](crate::tools::registry::Registry). Chosen by the host and not used again
    /// once it was released; where two offer a tool of the same name, the lower number has it.
    OwnerId,
    "w"
);

/// The counter behind the ids the core makes.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counter(u64);

impl Counter {
    /// The next number: 0, 1, 2, …; never the same twice in one run.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: it never ends")]
    pub fn next(&mut self) -> u64 {
        let number = self.0;
        self.0 = self.0.saturating_add(1);
        number
    }
}

impl Counter {
    /// How many numbers it has given out.
    #[cfg(feature = "_explore")]
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.0
    }
}

/// The name of a server, as its definition spells it. Cheap to clone.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "alloc::string::String")]
pub struct ServerName(Arc<str>);

impl ServerName {
    /// The name with this spelling; any text is a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<alloc::string::String> for ServerName {
    fn from(name: alloc::string::String) -> Self {
        Self(Arc::from(name))
    }
}

impl From<&str> for ServerName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
