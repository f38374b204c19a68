//! Operations: each is answered exactly once, and nothing comes after the end.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use tidegate_core::event::{Event, OpResult};
use tidegate_core::id::OpId;
use tidegate_core::input::{Input, Request};
use tidegate_core::time::Timestamp;

use super::{Breach, Law, Seen};

/// How long a shutdown may take, in milliseconds (design, section 5).
const SHUTDOWN_MS: u64 = 5_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Ops {
    open: BTreeMap<OpId, Kind>,
    /// When those that only wait have to end.
    due: BTreeMap<OpId, Timestamp>,
    shutdown: Option<Timestamp>,
    stopped: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Kind {
    Start,
    Other,
}

impl Ops {
    pub(super) fn check(&mut self, seen: &Seen<'_>, overslept: bool) -> Result<(), Breach> {
        if self.stopped {
            let quiet = seen.commands.is_empty() && seen.events.is_empty();
            return Law::ExactlyOnce.demands(quiet && seen.deadline.is_none(), || {
                "something came after Stopped (G9)".into()
            });
        }
        if let Some(Input::Host(request)) = seen.input {
            self.accept(request, seen.now);
        }
        for event in seen.events {
            Law::ExactlyOnce.demands(!self.stopped, || format!("{event:?} after Stopped (G9)"))?;
            match event {
                Event::GateOpened(report) => self.answer(report.op, Kind::Start)?,
                Event::Done { op, result: OpResult::TooMany { .. } } => self.refuse(*op)?,
                Event::Done { op, .. } => self.answer(*op, Kind::Other)?,
                Event::Stopped => self.stop()?,
                _ => {}
            }
        }
        Law::ExactlyOnce
            .demands(self.stopped == seen.stopped, || "is_stopped and Stopped disagree".into())?;
        if let Some(Input::Host(Request::StopWaiting { op })) = seen.input {
            Law::ExactlyOnce.demands(self.open.get(op) != Some(&Kind::Other), || {
                format!("{op} is not waited for any more and was not ended")
            })?;
        }
        let late = self.due.iter().find(|(_, due)| **due <= seen.now && !seen.stopped);
        Law::HonestDeadline
            .demands(late.is_none(), || format!("{late:?} was to end by then and waits"))?;
        let Some(since) = self.shutdown.filter(|_| !self.stopped && !overslept) else {
            return Ok(());
        };
        Law::NoOrphan.demands(seen.now <= since.plus(SHUTDOWN_MS), || {
            format!("the shutdown of {since} is not done at {}", seen.now)
        })
    }

    /// Whether Stopped was said.
    pub(super) const fn is_over(&self) -> bool {
        self.stopped
    }

    /// Those that a host can stop waiting for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = OpId> {
        self.open.iter().filter(|(_, kind)| **kind == Kind::Other).map(|(op, _)| *op)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = String> {
        let stopping = self.shutdown.is_some() && !self.stopped;
        let ops = self.open.iter().map(|(op, kind)| format!("{kind:?} {op}"));
        ops.chain(stopping.then(|| "Shutdown".into()))
    }

    pub(super) fn digest(&self, now: Timestamp, state: &mut impl Hasher) {
        // Which of two operations of one kind has which number matters to nobody.
        let starts = self.open.values().filter(|kind| **kind == Kind::Start).count();
        (starts, self.open.len(), self.stopped).hash(state);
        self.due.values().for_each(|due| due.since(now).hash(state));
        self.shutdown.map(|since| now.since(since)).hash(state);
    }

    fn accept(&mut self, request: &Request, now: Timestamp) {
        let (op, kind) = match request {
            Request::Start { op } => (op, Kind::Start),
            Request::Reload { op }
            | Request::Connect { op, .. }
            | Request::Disconnect { op, .. }
            | Request::Reconnect { op, .. }
            | Request::Restart { op, .. }
            | Request::Enable { op, .. }
            | Request::Disable { op, .. }
            | Request::AwaitConnected { op, .. }
            | Request::DisconnectAll { op } => (op, Kind::Other),
            Request::Shutdown => {
                self.shutdown = self.shutdown.or(Some(now));
                return;
            }
            _ => return,
        };
        if let Request::AwaitConnected { op, timeout_ms: Some(limit_ms), .. } = request {
            self.due.insert(*op, now.plus(*limit_ms));
        }
        assert_eq!(self.open.insert(*op, kind), None, "the story used {op} twice");
    }

    fn answer(&mut self, op: OpId, kind: Kind) -> Result<(), Breach> {
        self.due.remove(&op);
        Law::ExactlyOnce.demands(self.open.remove(&op) == Some(kind), || {
            format!("{op} was answered and does not wait for such an answer")
        })
    }

    /// Whatever it is, it is one too many.
    fn refuse(&mut self, op: OpId) -> Result<(), Breach> {
        let kind = self.open.get(&op).copied().unwrap_or(Kind::Other);
        self.answer(op, kind)
    }

    fn stop(&mut self) -> Result<(), Breach> {
        self.stopped = true;
        Law::ExactlyOnce.demands(self.shutdown.is_some(), || "Stopped without Shutdown".into())?;
        Law::ExactlyOnce.demands(self.open.is_empty(), || {
            format!("Stopped and these have no answer: {:?}", self.open)
        })
    }
}
