//! How often a server was lost, and when it is started again.
//!
//! Floor 4. Design section 5. Every loss waits longer than the one before (G50); after a number
//! of automatic starts the server is suspended. Only a server that stayed ready for a while
//! begins anew, so that one that crashes right after each handshake is not started for ever.

use crate::entropy::Entropy;
use crate::error::{Cause, HttpFailure, Stage};
use crate::id::ServerName;
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::Hub;
use super::policy::{Backoff, Reconnect};
use super::slot::{Cached, Standing};

/// The losses of one server since it was stable or somebody acted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Losses {
    starts: u32,
    ready_since: Option<Timestamp>,
}

impl Losses {
    /// How many automatic starts there were or are to come.
    pub(super) const fn starts(self) -> u32 {
        self.starts
    }

    /// It is ready.
    pub(super) const fn note_ready(&mut self, now: Timestamp) {
        self.ready_since = Some(now);
    }

    /// It was lost: when to start it again, if it is to be. `prompt`: only its session was lost,
    /// and for the first time, so that nothing has to be waited for (F-070).
    fn note_loss(
        &mut self,
        now: Timestamp,
        backoff: &Backoff,
        prompt: bool,
        entropy: &mut Entropy,
    ) -> Option<Timestamp> {
        let ready_since = self.ready_since.take();
        if ready_since.is_some_and(|since| now.since(since) >= backoff.stable_ms) {
            self.starts = 0;
        }
        if self.starts >= backoff.starts_max {
            return None;
        }
        // L4: never at once, so that a deadline is always ahead.
        let prompt = prompt && self.starts == 0;
        let delay_ms = if prompt { 1 } else { backoff.delay_ms(self.starts).max(1) };
        self.starts += 1;
        let jitter_ms = entropy.below(Backoff::jitter_ms(delay_ms).saturating_add(1));
        // At the end of time there is no later.
        Some(now.plus(delay_ms.saturating_add(jitter_ms))).filter(|at| *at > now)
    }

    /// What tells these losses from others, times relative to `now`: only where there are some
    /// does it matter how long the server has been ready, and not beyond what makes it stable.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(
        self,
        now: Timestamp,
        policy: &Reconnect,
        state: &mut impl core::hash::Hasher,
    ) {
        use core::hash::Hash as _;
        let Reconnect::OnLoss(backoff) = policy else { return };
        let ready_ms = self.ready_since.map(|since| now.since(since).min(backoff.stable_ms));
        let count = if ready_ms == Some(backoff.stable_ms) { 0 } else { self.starts };
        (count, ready_ms.filter(|_| count > 0)).hash(state);
    }
}

impl Hub {
    /// A server failed: starts it again later, if it was lost and policy says so. One that never
    /// was ready has failed for good, unless it is being started again already.
    pub(super) fn recover(&mut self, name: &ServerName, now: Timestamp) {
        let Reconnect::OnLoss(backoff) = &self.options.policy.reconnect else { return };
        let Some(slot) = self.slots.get_mut(name) else { return };
        let was_ready = slot.failure.as_ref().is_some_and(|failure| failure.stage == Stage::Ready);
        if slot.standing != Standing::Wanted || !(was_ready || slot.losses.starts() > 0) {
            return;
        }
        if let Some(tools) = slot.live.take() {
            slot.cached = Cached::Hit(tools);
        }
        let session_lost = Cause::Http { failure: HttpFailure::SessionLost };
        let prompt = slot.failure.as_ref().is_some_and(|failure| failure.cause == session_lost);
        slot.standing = match slot.losses.note_loss(now, backoff, prompt, &mut self.entropy) {
            Some(at) => Standing::Later(at),
            None => Standing::Suspended,
        };
    }

    /// Starts the lost servers whose time has come.
    pub(super) fn start_again(&mut self, now: Timestamp, out: &mut Outbox) {
        while let Some((at, name)) = self.retries.first().cloned()
            && at <= now
        {
            self.retries.remove(&(at, name.clone()));
            if self.slots.get(&name).is_some_and(|slot| slot.standing == Standing::Later(at)) {
                self.bring_up(&name, now, out);
            }
        }
    }

    /// Forgets a server that is neither configured nor running any more.
    pub(super) fn forget(&mut self, name: &ServerName) {
        let armed = self.slots.remove(name).and_then(|slot| slot.armed);
        if let Some(at) = armed {
            self.retries.remove(&(at, name.clone()));
        }
    }

    /// Follows when a server wants to be started again.
    pub(super) fn arm_retry(&mut self, name: &ServerName) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let at = if let Standing::Later(at) = slot.standing { Some(at) } else { None };
        if slot.armed != at {
            if let Some(before) = slot.armed {
                self.retries.remove(&(before, name.clone()));
            }
            slot.armed = at;
            self.retries.extend(at.map(|at| (at, name.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// G50: later and later, then not at all; a stable time begins anew.
    #[test]
    fn losses_wait_longer_each_time_until_the_server_is_suspended() {
        let (backoff, mut entropy) = (Backoff::default(), Entropy::from_bytes([3; 32]));
        let (mut losses, now) = (Losses::default(), Timestamp::from_millis(1_000));
        let waits: Vec<u64> =
            core::iter::from_fn(|| losses.note_loss(now, &backoff, false, &mut entropy))
                .map(|at| at.since(now))
                .collect();
        assert_eq!(waits.len(), 5);
        for (wait, least) in waits.iter().zip([500, 1_000, 2_000, 4_000, 8_000]) {
            assert!((least..=least * 5 / 4).contains(wait), "{wait} for {least}");
        }
        losses.note_ready(now);
        assert_eq!(losses.note_loss(now.plus(29_999), &backoff, false, &mut entropy), None);
        losses.note_ready(now);
        assert!(losses.note_loss(now.plus(30_000), &backoff, false, &mut entropy).is_some());
        assert_eq!(losses.starts(), 1);
    }

    /// L4: a time to start again is later than the loss, also of a delay of nothing, and at the end
    /// of time there is none.
    #[test]
    fn nothing_is_started_again_at_once() {
        let (mut losses, mut entropy) = (Losses::default(), Entropy::from_bytes([3; 32]));
        let at_once = Backoff { delays_ms: alloc::vec![0], ..Backoff::default() };
        let now = Timestamp::from_millis(7);
        assert_eq!(losses.note_loss(now, &at_once, false, &mut entropy), Some(now.plus(1)));
        let end = Timestamp::from_millis(u64::MAX);
        assert_eq!(losses.note_loss(end, &at_once, false, &mut entropy), None);
    }
}
