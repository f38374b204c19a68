//! What the driver's loop hears, in the order in which it happened.
//!
//! The one door into the loop. Everything is stamped when it happens, not when the loop gets
//! to it: an answer that arrived at 249 ms counts as 249 ms even if the loop wakes at 260.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tidegate_core::bytes::Json;
use tidegate_core::error::{AskError, CallError, Exit, OpenError};
use tidegate_core::event::{OpResult, Outcome, StartReport};
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::status::Status;
use tidegate_core::id::{AnswerId, CallId, ConnId, InquiryId, OpId};
use tidegate_core::input::{Fact, NewCall, Request, Target};
use tidegate_core::inquiry;
use tidegate_core::time::Timestamp;
use tidegate_core::tools::catalog::Catalog;
use tidegate_core::tools::proxy::{SUBAGENT_CALL_MS, Scope};
use tidegate_core::tools::registry::Offering;

use crate::answers::Secret;
use crate::events::Observer;
use crate::http::Place;
use crate::reply::Reply;
use crate::spawn::Started;

/// How many messages may wait before the host's are refused: a host that never lets the driver
/// run must not grow the queue without bound. The driver's own are bounded by the number of
/// servers, each of which has one of a kind under way.
pub(crate) const HOST_MESSAGES_MAX: usize = 65_536;

/// One thing the loop hears.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request that nobody waits for.
    Tell(Request),
    /// A start, and who waits for the gate.
    Start(OpId, Reply<StartReport>),
    /// Another operation, and who waits for its end.
    Operate(OpId, Request, Reply<OpResult>),
    /// A shutdown, and who waits for it.
    Shutdown(Reply<()>),
    /// A call, the part of the tools that it must be in if it is not the host's own, and who
    /// waits for its outcome.
    Call(NewCall, Option<Arc<Scope>>, Reply<Outcome>),
    /// What the host answers a server that asked.
    Reply(InquiryId, inquiry::Reply),
    /// A question about the servers.
    Status(Reply<Status>),
    /// A question about the tools.
    Catalog(Reply<Arc<Catalog>>),
    /// A question about the resources.
    Resources(Reply<Arc<Resources>>),
    /// A question about the prompts.
    Prompts(Reply<Arc<Prompts>>),
    /// A question about the keys of a search that the host has itself.
    ExaKeys(Reply<Vec<String>>),
    /// A question about the tools and what their servers say.
    Offering(Reply<Offering>),
    /// Somebody wants to hear what happens.
    Observe(Observer),
    /// What was asked is known, or cannot be found out.
    Answered(AnswerId, Result<Secret, AskError>),
    /// Something happened.
    Fact(Fact),
    /// A server was started, or not.
    Started(ConnId, Result<Box<Started>, OpenError>),
    /// The leader of a server's group ended.
    Exited(ConnId, Exit),
    /// A guard stands; this is readable once it has ended.
    Guarded(OwnedFd),
    /// Where this place is.
    LookedUp(Place, io::Result<Vec<SocketAddr>>),
    /// These process groups have living members; `None` if nobody knows.
    Scanned(Option<BTreeSet<i32>>),
    /// Something of the driver's own does not work; the run goes on without it.
    Broken(&'static str, io::Error),
    /// One of the driver's own things has ended: the thread that starts servers, having ended
    /// what they left behind, and the writing of cache and trace.
    Ended,
}

/// A message and the moment it is about.
#[derive(Debug)]
pub(crate) struct Stamped {
    pub(crate) at: Timestamp,
    pub(crate) message: Message,
}

/// What is known of a runtime that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) status: Status,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) resources: Arc<Resources>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) exa_keys: Vec<String>,
}

/// The queue in front of the loop.
#[derive(Debug)]
pub(crate) struct Inbox {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Stamped>,
    /// How many calls there were.
    calls: u64,
    waker: Option<Waker>,
    last: Option<Last>,
}

impl Inbox {
    /// An empty inbox whose epoch is this moment.
    pub(crate) fn new() -> Self {
        Self { clock: Clock::new(), state: Mutex::default() }
    }

    /// This moment.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Puts in what the host wants. Dropped, so that who waits for an answer is told, if the
    /// runtime has ended or far too much is waiting.
    pub(crate) fn ask(&self, message: Message) {
        self.put(message, HOST_MESSAGES_MAX);
    }

    /// Puts in what the driver's own parts report.
    pub(crate) fn report(&self, message: Message) {
        self.put(message, usize::MAX);
    }

    /// Puts in a call and gives it its number, in one step: the machine takes numbers only as
    /// they rise. Also whether it was taken: nobody need be told the end of one that was not.
    pub(crate) fn call(
        &self,
        target: Target,
        arguments: Json,
        timeout_ms: Option<u64>,
        scope: Option<Arc<Scope>>,
        reply: Reply<Outcome>,
    ) -> (CallId, bool) {
        let mut state = self.lock();
        let call = CallId::new(state.calls);
        state.calls += 1;
        let max_ms = scope.is_some().then_some(SUBAGENT_CALL_MS);
        let new = NewCall { call, target, arguments, timeout_ms, max_ms };
        let taken = self.put_into(state, Message::Call(new, scope, reply), HOST_MESSAGES_MAX);
        (call, taken)
    }

    fn put(&self, message: Message, max: usize) {
        let _taken = self.put_into(self.lock(), message, max);
    }

    /// `false` if nothing is put in any more, or so many messages wait.
    fn put_into(&self, mut state: MutexGuard<'_, State>, message: Message, max: usize) -> bool {
        if state.last.is_some() || state.messages.len() >= max {
            // Outside of the lock: whoever waits for an answer is woken by this.
            drop(state);
            drop(message);
            return false;
        }
        state.messages.push_back(Stamped { at: self.clock.now(), message });
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Moves everything that waits into `into`, which is empty.
    pub(crate) fn take(&self, into: &mut VecDeque<Stamped>) {
        std::mem::swap(&mut self.lock().messages, into);
    }

    /// Ready when something waits.
    pub(crate) fn poll_waiting(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.messages.is_empty() {
            return Poll::Ready(());
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => state.waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Closes the inbox for good: all that waits is dropped, and so is all that comes.
    pub(crate) fn close(&self, last: Last) {
        let rest = {
            let mut state = self.lock();
            state.last = Some(last);
            state.waker = None;
            std::mem::take(&mut state.messages)
        };
        // Outside of the lock: whoever waits for an answer is woken by this.
        drop(rest);
    }

    /// What is known of the runtime, once it has ended.
    pub(crate) fn last(&self) -> Option<Last> {
        self.lock().last.clone()
    }

    /// Why a call was not taken: the runtime has ended, or far too much is waiting.
    pub(crate) fn refusal(&self) -> CallError {
        match self.last() {
            Some(_) => CallError::ShuttingDown,
            None => CallError::TooManyCalls { limit: HOST_MESSAGES_MAX as u64 },
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one place where the machine's time is made from the system's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    fn new() -> Self {
        Self { epoch: Instant::now() }
    }

    /// This moment, rounded down: what is due at a moment is due once this reaches it.
    pub(crate) fn now(self) -> Timestamp {
        let ms = self.epoch.elapsed().as_millis();
        Timestamp::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    /// The system's moment for one of the machine's; `None` if it is beyond the end of time.
    pub(crate) fn instant(self, at: Timestamp) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_millis(at.as_millis()))
    }
}
