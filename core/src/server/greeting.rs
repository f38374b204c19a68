//! Getting to know a server: first words, and what its answers to them lead to.
//!
//! Floor 3. What an answer means is decided in [`era`](super::era); here it is done.

use alloc::string::ToString as _;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::config::Protocol;
use crate::error::{Cause, HttpFailure, RpcError};
use crate::held::Held;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::quote::Quoted;
use crate::time::Timestamp;
use crate::wire::dialect::{Era, Revision};
use crate::wire::mcp::{self, Discovered, Initialized};

use super::channel::{Speech, Step};
use super::era::{Answer, Decision, Next, Word};
use super::listing::Listing;
use super::{Approach, Phase, Server, Signal};

/// How long an attempt waits, in milliseconds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Patience {
    /// For the server to have started.
    pub(super) start_ms: u64,
    /// For an answer to `server/discover` before something else is asked, which needs time too.
    pub(super) probe_ms: u64,
}

impl Patience {
    pub(super) fn new(start_ms: u64, limits: &Limits) -> Self {
        Self { start_ms, probe_ms: limits.probe_ms.min(start_ms / 2) }
    }
}

impl Server {
    /// Says the first word.
    pub(super) fn greet(&mut self, now: Timestamp, deadline: Timestamp, out: &mut Outbox) {
        let Approach { speech, protocol, remembered, timeout_ms: _ } = self.approach;
        let (protocol, over_http) = match speech {
            Speech::Lines => (protocol, false),
            Speech::Http => (protocol, true),
            Speech::Events => (Protocol::Legacy, true),
        };
        let decision = Decision::new(protocol, remembered, over_http, self.setting.offered);
        let word = decision.word();
        self.enter(Phase::Greeting { deadline, decision, silence: None });
        self.say(now, word, out);
    }

    fn say(&mut self, now: Timestamp, word: Word, out: &mut Outbox) {
        let Phase::Greeting { decision, silence, .. } = &mut self.phase else { return };
        decision.said(word);
        // C-VER-20: over HTTP the exchange has this limit itself, as it may have to be repeated.
        let waits = decision.has_another() && !self.session.is_remote();
        *silence = waits.then(|| now.plus(self.patience.probe_ms));
        let mut step = Step { now, setting: &self.setting, out };
        match word {
            Word::Discover(revision) => self.session.discover(revision, &mut step),
            Word::Initialize(revision) => self.session.initialize(revision, &mut step),
        }
    }

    /// `server/discover` came to something.
    pub(super) fn discovered(
        &mut self,
        now: Timestamp,
        answer: Result<Result<Json, RpcError>, HttpFailure>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let Phase::Greeting { decision, .. } = &mut self.phase else { return };
        let read = match &answer {
            Ok(Ok(result)) => mcp::read_discover(result.as_str()).ok(),
            Ok(Err(_)) | Err(_) => None,
        };
        let next = decision.discovered(match (&read, &answer) {
            (Some(discovered), _) => Answer::Supported(&discovered.supported),
            (None, Ok(Ok(_))) => Answer::Other,
            (None, Ok(Err(error))) => Answer::Error(error),
            (None, Err(failure)) => Answer::Lost(failure),
        });
        match (next, read) {
            (Next::Settled(revision), Some(Discovered { hello, .. })) => {
                self.session.discovered(revision, &Step { now, setting: &self.setting, out });
                signals.extend(self.session.take_inquiries().map(Signal::Withdrawn));
                let hello = Initialized { revision: revision.as_str().into(), ..hello };
                let lists_tools = hello.tools;
                self.hello = Some(Held::new(hello));
                signals.push(Signal::Greeted);
                if lists_tools {
                    let mut step = Step { now, setting: &self.setting, out };
                    self.session.list_tools(None, &mut step);
                }
                self.known(now, lists_tools, signals);
            }
            (next, _) => self.follow(now, next, signals, out),
        }
    }

    /// Whether it has been silent long enough to be asked something else.
    pub(super) fn is_silent(&self, now: Timestamp) -> bool {
        matches!(&self.phase, Phase::Greeting { deadline, silence: Some(at), .. }
            if *at <= now && now < *deadline)
    }

    /// It is asked something else.
    pub(super) fn heard_nothing(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        if let Phase::Greeting { decision, silence, .. } = &mut self.phase {
            *silence = None;
            let next = decision.discovered(Answer::Silence);
            self.follow(now, next, signals, out);
        }
    }

    /// Its process ended: whether it was spoken to in the wrong era, which is told if so.
    pub(super) fn is_spoken_to_wrongly(&mut self, signals: &mut Vec<Signal>) -> bool {
        let Phase::Greeting { decision, .. } = &mut self.phase else { return false };
        let Next::Again(era) = decision.discovered(Answer::End) else { return false };
        signals.push(Signal::Again(era));
        true
    }

    fn follow(&mut self, now: Timestamp, next: Next, signals: &mut Vec<Signal>, out: &mut Outbox) {
        match next {
            Next::Say(word) => self.say(now, word, out),
            Next::Failed(cause) => self.give_up_here(now, cause, signals, out),
            Next::Settled(_) | Next::Again(_) | Next::Nothing => {}
        }
    }

    /// `initialize` was answered.
    pub(super) fn greeted(
        &mut self,
        now: Timestamp,
        result: &Json,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let hello = match mcp::read_initialize(result.as_str()) {
            Ok(hello) => hello,
            Err(shape) => {
                let cause = Cause::Shape { message: shape.message };
                return self.give_up_here(now, cause, signals, out);
            }
        };
        // C-VER-23: any revision we speak is adopted, also an older one than we asked for.
        let revision = Revision::parse(&hello.revision);
        let Some(revision) = revision.filter(|revision| revision.era() == Era::Legacy) else {
            let cause = Cause::Revision { offered: Quoted(&hello.revision).to_string() };
            return self.give_up_here(now, cause, signals, out);
        };
        let lists_tools = hello.tools;
        let level = self.setting.log_level.filter(|_| hello.logging);
        self.hello = Some(Held::new(hello));
        signals.push(Signal::Greeted);
        let mut step = Step { now, setting: &self.setting, out };
        self.session.initialized(revision, lists_tools, &mut step);
        if let Some(level) = level {
            self.session.set_level(level, &mut step);
        }
        self.known(now, lists_tools, signals);
    }

    /// It is known what it speaks and what it has, and its tools are asked for if it has any:
    /// what was not declared is not (F-048).
    fn known(&mut self, now: Timestamp, lists_tools: bool, signals: &mut Vec<Signal>) {
        if lists_tools {
            let deadline = now.plus(self.timeout_ms.unwrap_or(self.setting.list_ms));
            self.enter(Phase::Listing { deadline, listing: Listing::default(), again: None });
        } else {
            self.ready(now, Vec::new(), signals);
        }
    }

    /// Why it fails, with what it said before to something else, if it did.
    pub(super) fn after_both(&self, cause: Cause) -> Cause {
        match &self.phase {
            Phase::Greeting { decision, .. } => decision.with_both(cause),
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Listing { .. }
            | Phase::Ready { .. }
            | Phase::Stopping { .. }
            | Phase::Gone => cause,
        }
    }

    /// `initialize` was refused.
    pub(super) fn refused(
        &mut self,
        now: Timestamp,
        error: RpcError,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let Phase::Greeting { decision, .. } = &mut self.phase else { return };
        if self.session.is_older() {
            decision.has_no_other();
        }
        let next = decision.refused(error);
        self.follow(now, next, signals, out);
    }
}
