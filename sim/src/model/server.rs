//! What the model knows of one server.

use std::collections::BTreeSet;

use tidegate_core::held::Held;
use tidegate_core::id::{ConnId, ReadId};

use crate::hashed::Hashed;
use crate::scene::Entry;
use crate::script::{Nature, Offered};

/// A configuration that was read.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// The read that will say what of it is approved.
    pub(super) read: ReadId,
    pub(super) entries: Hashed<Vec<Entry>>,
    /// What was approved when that was asked for.
    pub(super) approved: Held<BTreeSet<Approved>>,
}

/// How far a reading of the configuration goes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Reach {
    /// What changed is followed.
    #[default]
    Changes,
    /// What failed is tried again: the host asked for a reload.
    Retries,
    /// What rests is started: the host asked for a start.
    Wakes,
}

/// One version of a server.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Approved {
    pub(super) server: String,
    pub(super) version: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Server {
    /// The host has not disconnected it.
    pub(super) wanted: bool,
    /// The user approved it, or need not.
    pub(super) approved: bool,
    /// What the host said about its being on or off.
    pub(super) switch: Option<bool>,
    /// It is not wanted since the host disconnected every server: the next start brings it back.
    pub(super) rests: bool,
    /// The present attempt, and what it runs.
    pub(super) attempt: Option<(ConnId, Nature, Hashed<Offered>)>,
    /// Whether one can subscribe to the resources of the present attempt.
    pub(super) subscribe: bool,
    /// The version of the definition that the present attempt runs.
    pub(super) runs: Option<String>,
    /// The present attempt was lost, or cannot be expected to work.
    pub(super) lost: bool,
}

/// What must be true of one server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Must {
    BeConnected,
    HaveFailed,
    /// Either of the two.
    HaveSettled,
    BeDisconnected,
    BeOff,
    NeedApproval,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            wanted: true,
            approved: true,
            rests: false,
            switch: None,
            attempt: None,
            subscribe: false,
            runs: None,
            lost: false,
        }
    }
}

impl Server {
    /// The configuration says this of it; `known` is what it said before.
    pub(super) fn configure(
        &mut self,
        entry: &Entry,
        known: Option<&Entry>,
        (reach, resting): (Reach, bool),
        approved: bool,
    ) {
        let was_on = known.is_some_and(|known| self.is_on(known));
        self.wanted |= self.rests && reach == Reach::Wakes;
        self.rests &= reach != Reach::Wakes;
        // A file that changed starts nothing after the host let go of everything, and gives what
        // failed another try only if it says something else of it.
        if reach == Reach::Changes && resting && !was_on {
            self.rest();
        }
        self.lost &= reach == Reach::Changes && known == Some(entry);
        self.approved = approved;
    }

    /// The host disconnects every server: one that it disconnected by name does not come back with
    /// the others.
    pub(super) fn rest(&mut self) {
        self.rests |= self.wanted;
        self.wanted = false;
    }

    pub(super) fn is_on(&self, entry: &Entry) -> bool {
        self.approved && self.is_switched_on(entry)
    }

    fn is_switched_on(&self, entry: &Entry) -> bool {
        self.switch.unwrap_or(entry.enabled)
    }

    pub(super) fn must_be(&self, entry: &Entry, reconnects: bool) -> Must {
        let nature = self.attempt.as_ref().map(|(_, nature, _)| *nature);
        match nature {
            _ if !self.is_switched_on(entry) => Must::BeOff,
            _ if !self.approved => Must::NeedApproval,
            _ if !self.wanted => Must::BeDisconnected,
            Some(Nature::Fickle) => Must::HaveSettled,
            _ if self.lost && reconnects => Must::HaveSettled,
            _ if self.lost => Must::HaveFailed,
            Some(Nature::Sound) | None => Must::BeConnected,
            Some(Nature::Broken) => Must::HaveFailed,
        }
    }
}
