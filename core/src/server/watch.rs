//! Which resources of a server are subscribed to, and which are to be.
//!
//! Floor 3. One request at a time for each address, and what an answer comes to is compared with
//! what is wanted *then*: a subscription that succeeds after it was switched off, or after its
//! resource left the list, is taken back. Recorded is what was subscribed on this connection and
//! is still wanted (G51); it goes with the connection (D34, D35).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::Category;
use crate::time::{Deadline, Timestamp};
use crate::wire::mcp::{self, ResourceDef};

use super::talk::Talk;

/// The subscriptions on one connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Watch {
    on: bool,
    wanted: BTreeSet<Arc<str>>,
    /// What is not here is not subscribed.
    links: BTreeMap<Arc<str>, Link>,
    /// What is not as wanted and has no request under way.
    todo: BTreeSet<Arc<str>>,
    /// The requests under way, by number.
    pending: BTreeMap<u64, Pending>,
}

/// How far one subscription is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Link {
    /// It was asked for.
    Subscribing,
    /// It stands.
    Subscribed,
    /// It stands, is not wanted, and is to be taken back.
    Leaving,
    /// It is being taken back.
    Unsubscribing,
    /// The server refused it; it is not asked for again with this list.
    Refused,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Pending {
    uri: Arc<str>,
    deadline: Timestamp,
}

impl Watch {
    pub(super) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// The host switched it on or off.
    pub(super) fn switch(&mut self, on: bool, resources: &[ResourceDef], talk: &mut Talk<'_>) {
        self.on = on;
        self.aim(resources, talk);
    }

    /// The list was read anew: what was refused is tried again.
    pub(super) fn relisted(&mut self, resources: &[ResourceDef], talk: &mut Talk<'_>) {
        self.links.retain(|_, link| *link != Link::Refused);
        self.aim(resources, talk);
    }

    /// A request was answered; with why it was refused, if it was.
    pub(super) fn answered(&mut self, request: u64, refused: Option<&str>, talk: &mut Talk<'_>) {
        let Some(Pending { uri, deadline: _ }) = self.pending.remove(&request) else { return };
        match (self.links.get(&uri), refused) {
            (Some(Link::Subscribing), None) => {
                self.links.insert(Arc::clone(&uri), Link::Subscribed);
            }
            (Some(Link::Subscribing), Some(why)) => {
                self.links.insert(Arc::clone(&uri), Link::Refused);
                let message = format!("changes of a resource cannot be followed: {why}");
                talk.found(Category::NotSubscribed, &message);
            }
            (_, _) => drop(self.links.remove(&uri)),
        }
        self.compare(&uri);
        self.pump(talk);
    }

    /// Lets time pass.
    pub(super) fn fire(&mut self, now: Timestamp, talk: &mut Talk<'_>) {
        let due = |(_, pending): &(&u64, &Pending)| pending.deadline <= now;
        let late: Vec<u64> = self.pending.iter().take_while(due).map(|(id, _)| *id).collect();
        for request in late {
            talk.call_off(Some(request));
            self.answered(request, Some("no answer in time"), talk);
        }
    }

    /// Requests are numbered in the order they were made, so the first is due first.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let (_, pending) = self.pending.first_key_value()?;
        Some(Deadline { at: pending.deadline, why: "subscribe" })
    }

    /// The addresses that are subscribed to, in order.
    pub(super) fn recorded(&self) -> impl Iterator<Item = &Arc<str>> {
        let stands = |(_, link): &(&Arc<str>, &Link)| **link == Link::Subscribed;
        self.links.iter().filter(stands).map(|(uri, _)| uri)
    }

    pub(super) fn is_recorded(&self, uri: &str) -> bool {
        self.links.get(uri) == Some(&Link::Subscribed)
    }

    /// Feeds the state to a hasher, times relative to `now`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        (self.on, &self.wanted, &self.links, &self.todo).hash(state);
        // In the order of the requests, which the session knows.
        for pending in self.pending.values() {
            (&pending.uri, pending.deadline.since(now)).hash(state);
        }
    }

    /// Wants what is listed, or nothing.
    fn aim(&mut self, resources: &[ResourceDef], talk: &mut Talk<'_>) {
        let most = talk.step.setting.limits.subscriptions_per_server;
        if self.on && resources.len() > most {
            let message = format!(
                "it has {} resources, of which changes of the first {most} are followed \
                 (Limits::subscriptions_per_server)",
                resources.len()
            );
            talk.found(Category::NotSubscribed, &message);
        }
        let listed = resources.iter().take(if self.on { most } else { 0 });
        let wanted = listed.map(|resource| Arc::clone(&resource.uri)).collect();
        let before = core::mem::replace(&mut self.wanted, wanted);
        let mut concerned: BTreeSet<Arc<str>> = self.links.keys().cloned().collect();
        concerned.extend(before);
        concerned.extend(self.wanted.iter().cloned());
        concerned.iter().for_each(|uri| self.compare(uri));
        self.pump(talk);
    }

    /// Compares what is with what is wanted.
    fn compare(&mut self, uri: &Arc<str>) {
        let link = self.links.get(uri).copied();
        match (self.wanted.contains(uri), link) {
            (true, None) => drop(self.todo.insert(Arc::clone(uri))),
            (false, Some(Link::Subscribed | Link::Leaving)) => {
                self.links.insert(Arc::clone(uri), Link::Leaving);
                self.todo.insert(Arc::clone(uri));
            }
            (true, Some(Link::Leaving)) => {
                self.links.insert(Arc::clone(uri), Link::Subscribed);
                self.todo.remove(uri);
            }
            (false, Some(Link::Refused) | None) => {
                self.links.remove(uri);
                self.todo.remove(uri);
            }
            (true, Some(Link::Subscribed | Link::Refused))
            | (_, Some(Link::Subscribing | Link::Unsubscribing)) => {}
        }
    }

    /// Asks for as much of what is to be done as may be under way at once.
    fn pump(&mut self, talk: &mut Talk<'_>) {
        while self.pending.len() < talk.step.setting.limits.subscribing_at_once.max(1)
            && let Some(uri) = self.todo.pop_first()
        {
            let (method, link) = match self.links.get(&uri) {
                None => (mcp::SUBSCRIBE, Link::Subscribing),
                Some(_) => (mcp::UNSUBSCRIBE, Link::Unsubscribing),
            };
            let request = talk.session.watch(method, &uri, &mut talk.step);
            self.links.insert(Arc::clone(&uri), link);
            self.pending.insert(request, Pending { uri, deadline: talk.deadline });
        }
    }
}

/// The recorded addresses as plain text.
pub(super) fn recorded(watch: Option<&Watch>) -> Vec<String> {
    watch.map(|watch| watch.recorded().map(|uri| (**uri).into()).collect()).unwrap_or_default()
}
