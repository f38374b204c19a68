//! What a server tells of by itself where there is no handshake: one subscription, kept alive.
//!
//! Floor 3. Of another wish a new subscription is made, and the old one is given up once that
//! stands (C-SUB-10). One that ends is made again, less often each time it lived for a short while,
//! and what may have changed meanwhile is read again (C-SUB-07).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::Category;
use crate::time::{Deadline, Timestamp};
use crate::wire::mcp::Changes;

use super::refresh::ListChanged;
use super::talk::Talk;

/// A subscription that stood for so long was no failure, in milliseconds.
const STABLE_MS: u64 = 10_000;

/// The subscription of one connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Listen {
    wanted: Changes,
    /// What stands.
    standing: Option<Standing>,
    /// What was asked for and was not acknowledged, and when it has to be.
    asked: Option<(u64, Timestamp)>,
    /// When it is asked for again.
    again: Option<Timestamp>,
    failures: usize,
    /// Whether there was one before.
    was: bool,
    /// Whether nothing more is tried.
    off: bool,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Standing {
    request: u64,
    since: Timestamp,
    contents: BTreeSet<Arc<str>>,
}

impl Listen {
    /// Listens for something else from here on.
    pub(super) fn want(&mut self, wanted: Changes, talk: &mut Talk<'_>) {
        if self.wanted == wanted {
            return;
        }
        self.wanted = wanted;
        if self.again.is_none() && !self.off {
            self.ask(talk);
        }
    }

    /// The same, only what resources hold.
    pub(super) fn want_contents(&mut self, contents: BTreeSet<Arc<str>>, talk: &mut Talk<'_>) {
        self.want(Changes { contents, ..self.wanted.clone() }, talk);
    }

    fn ask(&mut self, talk: &mut Talk<'_>) {
        self.again = None;
        talk.call_off(self.asked.take().map(|(request, _)| request));
        if self.wanted.is_empty() {
            talk.call_off(self.standing.take().map(|standing| standing.request));
        } else {
            let request = talk.session.listen(&self.wanted, &mut talk.step);
            self.asked = Some((request, talk.deadline));
        }
    }

    /// A subscription stands. Whether something may have been missed before it did.
    pub(super) fn acknowledged(
        &mut self,
        request: u64,
        accepted: Changes,
        talk: &mut Talk<'_>,
    ) -> bool {
        if self.asked.is_none_or(|(asked, _)| asked != request) {
            return false;
        }
        self.asked = None;
        let missed = self.was && self.standing.is_none();
        let contents = accepted.contents.intersection(&self.wanted.contents).cloned().collect();
        let standing = Standing { request, since: talk.step.now, contents };
        let before = self.standing.replace(standing);
        talk.call_off(before.map(|standing| standing.request));
        self.was = true;
        missed
    }

    /// A subscription is over; `refused`: why there is none.
    pub(super) fn over(&mut self, request: u64, refused: Option<Refused>, talk: &mut Talk<'_>) {
        let now = talk.step.now;
        if let Some(standing) = self.standing.take_if(|standing| standing.request == request) {
            if now.since(standing.since) >= STABLE_MS {
                self.failures = 0;
            }
            if self.asked.is_some() {
                return;
            }
        } else if self.asked.take_if(|(asked, _)| *asked == request).is_none() {
            return;
        }
        self.failures += 1;
        let pause = match (&talk.step.setting.list_changed, &refused) {
            (_, Some(Refused::Unknown)) => None,
            (pace @ ListChanged::Refresh { .. }, _) => pace.pause(self.failures),
            // Only contents are listened for, at the pace that lists have by default.
            (ListChanged::Ignore, _) => ListChanged::default().pause(self.failures),
        };
        self.again = pause.map(|ms| now.plus(ms));
        self.off = pause.is_none();
        if let (true, Some(Refused::Because(why))) = (self.off, refused) {
            talk.found(Category::NotSubscribed, &format!("changes cannot be followed: {why}"));
        }
    }

    /// Lets time pass.
    pub(super) fn fire(&mut self, now: Timestamp, talk: &mut Talk<'_>) {
        if self.again.is_some_and(|at| at <= now) {
            self.ask(talk);
        } else if let Some((request, _)) = self.asked.filter(|(_, due)| *due <= now) {
            talk.call_off(Some(request));
            self.over(request, Some(Refused::Because("no answer in time".into())), talk);
        }
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let again = self.again.map(|at| Deadline { at, why: "listen again" });
        let asked = self.asked.map(|(_, at)| Deadline { at, why: "listen" });
        Deadline::earlier(again, asked)
    }

    /// The addresses of the resources of which it is told what they hold, in order.
    pub(super) fn contents(&self) -> Vec<String> {
        let standing = self.standing.iter().flat_map(|standing| &standing.contents);
        standing.map(|uri| (**uri).into()).collect()
    }

    pub(super) fn is_told(&self, uri: &str) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.contents.contains(uri))
    }

    /// Feeds the state to a hasher, times relative to `now`; the session knows the requests.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        (&self.wanted, self.failures, self.was, self.off).hash(state);
        self.standing.as_ref().map(|it| (now.since(it.since), &it.contents)).hash(state);
        self.asked.map(|(_, at)| at.since(now)).hash(state);
        self.again.map(|at| at.since(now)).hash(state);
    }
}

/// Why there is no subscription.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// The server knows none (C-SUB-10).
    Unknown,
    /// For this reason.
    Because(String),
}
