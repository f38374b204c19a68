//! Asking once more what changes nothing, where there is no handshake: a request whose answer was
//! lost on its way, or that was refused for how it was put (C-MHTTP-07, C-VER-30).
//!
//! Floor 3. Under a new number (C-RPC-04), and once; whoever knows the request by its first number
//! is understood.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use crate::error::RpcError;
use crate::wire::dialect::Revision;
use crate::wire::mcp::{HEADER_MISMATCH, UNSUPPORTED_REVISION, supported_revisions};

use super::super::channel::Step;
use super::Session;

/// A request before it has a number. Whatever it asks for, it changes nothing but what we are
/// told.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Question {
    pub(super) method: &'static str,
    /// An object without `_meta`.
    pub(super) params: String,
    /// The prompt or the address it is about, for its headers.
    pub(super) name: Option<String>,
}

/// What may be asked once more, by number, and what was.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Again {
    fresh: BTreeMap<u64, Question>,
    /// The first number of a request that was asked once more → its second one.
    renamed: BTreeMap<u64, u64>,
    /// The calls that are made for the second time.
    calls: BTreeSet<u64>,
}

impl Again {
    /// It may be asked once more.
    pub(super) fn note(&mut self, request: u64, question: Question) {
        self.fresh.insert(request, question);
    }

    /// A call is made for the second time.
    pub(super) fn note_call(&mut self, request: u64) {
        self.calls.insert(request);
    }

    /// The number of a request, whichever of its numbers it is known by.
    pub(super) fn latest(&self, request: u64) -> u64 {
        self.renamed.get(&request).copied().unwrap_or(request)
    }

    /// A request is over.
    pub(super) fn over(&mut self, request: u64) {
        self.fresh.remove(&request);
        self.calls.remove(&request);
        self.renamed.retain(|_, second| *second != request);
    }

    /// Feeds the state to a hasher, requests counted from `newest`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, newest: u64, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        for (request, question) in &self.fresh {
            (newest - request, question).hash(state);
        }
        for (first, second) in &self.renamed {
            (newest - first, newest - second).hash(state);
        }
        self.calls.iter().for_each(|request| (newest - request).hash(state));
    }
}

impl Session {
    /// Asks a request once more that may be asked again; whether that was so.
    pub(super) fn ask_again(&mut self, request: u64, step: &mut Step<'_>) -> bool {
        let Some(question) = self.again.fresh.remove(&request) else { return false };
        let Some(asked) = self.take(request) else { return false };
        let id = self.next_id();
        self.asked.insert(id, asked);
        self.again.renamed.insert(request, id);
        self.put(id, &question, step);
        true
    }

    /// Whether an error only means that a request was put wrongly, and putting it again may help:
    /// nothing was done about it. A revision that both speak is the one it was put in, as there is
    /// one only.
    pub(super) fn is_misput(&self, request: u64, error: &RpcError) -> bool {
        match error.code {
            _ if self.again.calls.contains(&request) => false,
            HEADER_MISMATCH => true,
            UNSUPPORTED_REVISION => {
                let offered = supported_revisions(error);
                let mutual = self.revision.and_then(|own| Revision::mutual(&offered, own.era()));
                mutual.is_some() && mutual == self.revision
            }
            _ => false,
        }
    }
}
