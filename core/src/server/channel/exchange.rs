//! One exchange under way: what it is for, and how much of its answer is there.
//!
//! Floor 3.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Bytes;
use crate::time::Timestamp;
use crate::wire::http::Content;
use crate::wire::sse::Events;

use super::Kind;

/// The least time between two streams, in milliseconds, whatever the server says: one that wants
/// to be asked again at once would have us do nothing else.
const AGAIN_MS_MIN: u64 = 10;

/// How long a stream that ended stays closed, if the server does not say, in milliseconds
/// (C-LHTTP-11).
const AGAIN_MS: u64 = 1_000;

/// How long a stream that brings nothing stays closed in the end, in milliseconds.
const AGAIN_MS_MAX: u64 = 30_000;

/// An exchange.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Exchange {
    pub(super) role: Role,
    /// Where it was sent on to, one place after the other.
    pub(super) hops: Vec<String>,
    pub(super) thread: Thread,
    pub(super) stage: Stage,
}

/// What an exchange is for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Role {
    /// A message; its text as long as it may have to be sent again.
    Post { kind: Kind, labels: Vec<(String, String)>, text: Bytes },
    /// What the server says by itself; whether it ever could.
    Listen { opened: bool },
    /// The rest of what came by the stream of a request (C-LHTTP-09).
    Resume { request: u64 },
    /// Everything the server says, of the transport of 2024-11-05.
    Stream,
    /// The end of the session.
    Goodbye,
}

/// What is known of a stream across the exchanges that it comes by.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Thread {
    /// The last event that came.
    pub(super) last_id: Option<String>,
    retry_ms: Option<u64>,
    /// How often in a row it ended without having brought anything.
    quiet: u32,
    /// How often in a row it could not be had.
    pub(super) failed: u32,
    /// How long it waited so far to be asked for again, in milliseconds.
    pub(super) waited_ms: u64,
}

/// How much of the answer is there.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Stage {
    /// It was not asked for yet.
    Waiting { until: Timestamp },
    /// Nothing; when that is too little.
    Asked { until: Option<Timestamp> },
    /// A part of its body, which is no stream; when the next part has to be there.
    Text { status: u16, content: Content, bytes: Vec<u8>, until: Timestamp },
    /// A part of a stream. `until`: when it has to have said where messages go. `answered`: the
    /// request that it was for needs it no more.
    Events { events: Box<Events>, until: Option<Timestamp>, answered: bool },
}

impl Exchange {
    pub(super) const fn request(&self) -> Option<u64> {
        match &self.role {
            Role::Post { kind, .. } => kind.request(),
            Role::Resume { request } => Some(*request),
            Role::Listen { .. } | Role::Stream | Role::Goodbye => None,
        }
    }

    /// Whether the driver has it.
    pub(super) const fn is_ordered(&self) -> bool {
        !matches!(self.stage, Stage::Waiting { .. })
    }

    pub(super) const fn until(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::Waiting { until } | Stage::Text { until, .. } => Some(*until),
            Stage::Asked { until } | Stage::Events { until, .. } => *until,
        }
    }
}

impl Thread {
    /// An event was complete, perhaps one without data.
    pub(super) fn follow(&mut self, events: &Events) {
        self.retry_ms = events.retry_ms().or(self.retry_ms);
        if let Some(id) = events.last_id() {
            if self.last_id.as_deref() != Some(id) {
                self.last_id = Some(id.into());
            }
            self.quiet = 0;
        }
    }

    pub(super) const fn brought(&mut self) {
        self.quiet = 0;
    }

    /// It ended: when it is to be asked for again. What the server wants is what it gets, to the
    /// millisecond (C-LHTTP-10), unless the last time was in vain.
    pub(super) fn again(&mut self, now: Timestamp) -> Timestamp {
        let wanted_ms = self.retry_ms.unwrap_or(AGAIN_MS);
        let doubled_ms = AGAIN_MS.saturating_mul(1_u64.checked_shl(self.quiet).unwrap_or(u64::MAX));
        let in_vain = self.quiet > 0;
        self.quiet = self.quiet.saturating_add(1);
        let wait_ms = if in_vain { wanted_ms.max(doubled_ms.min(AGAIN_MS_MAX)) } else { wanted_ms };
        now.plus(wait_ms.max(AGAIN_MS_MIN))
    }
}

/// When to ask again who is busy, for the `failed`th time in a row, from 0.
pub(super) fn later(now: Timestamp, retry_after_ms: Option<u64>, failed: u32) -> Timestamp {
    let doubled_ms = AGAIN_MS.saturating_mul(1_u64.checked_shl(failed).unwrap_or(u64::MAX));
    let wait_ms = retry_after_ms.unwrap_or_else(|| doubled_ms.min(AGAIN_MS_MAX));
    now.plus(wait_ms.max(AGAIN_MS_MIN))
}
