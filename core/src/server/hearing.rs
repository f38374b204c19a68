//! What a server does with what it hears, and how it fails.
//!
//! Floor 3. Every transition goes through [`Server::enter`].

use alloc::string::ToString as _;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::{
    CallError, Category, Cause, Excess, Failure, HttpFailure, Problem, RpcError, Severity, Stage,
};
use crate::held::Held;
use crate::outbox::Outbox;
use crate::quote::Quoted;
use crate::time::Timestamp;
use crate::wire::dialect::Revision;
use crate::wire::mcp::{self, List};

use super::channel::Step;
use super::listing::{Listing, Turn};
use super::live::Live;
use super::session::Session;
use super::stop::{Climb, Stop};
use super::{Asked, Heard, Phase, Server, Signal, Tools, Why};

impl Server {
    /// Hears what the session takes from `bytes`, up to where the hub has to act (G44).
    pub(super) fn hear_bytes(
        &mut self,
        now: Timestamp,
        bytes: &mut &[u8],
        out: &mut Outbox,
        take: impl Fn(&mut Session, &mut &[u8], &mut Step<'_>) -> Vec<Heard>,
    ) -> Vec<Signal> {
        let mut signals = Vec::new();
        while self.stage().is_some() && !bytes.is_empty() {
            let before = signals.len();
            let mut step = Step { now, setting: &self.setting, out };
            for heard in take(&mut self.session, bytes, &mut step) {
                self.hear(now, heard, &mut signals, out);
            }
            if signals.iter().skip(before).any(Signal::is_turn) {
                return signals;
            }
        }
        // Nobody listens any more.
        *bytes = &[];
        signals
    }

    pub(super) fn hear(
        &mut self,
        now: Timestamp,
        heard: Heard,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        match heard {
            // L10: an answer too large for a call ends that call, any other too large a message
            // ends the server, because nobody can say what was lost.
            Heard::TooLong { asked: Some(Asked::Call(call)), limit } => {
                signals.push(Signal::Answered { call, reply: Err(CallError::TooLarge { limit }) });
            }
            Heard::TooLong { asked: Some(Asked::List(list)), limit } => {
                let cause = Cause::Limit { what: Excess::Message, limit };
                self.relisted(now, list, Err(cause), signals, out);
            }
            Heard::TooLong { asked: Some(Asked::Watch(request)), limit: _ } => {
                self.watch_answered(now, request, Some("its answer is too long"), signals, out);
            }
            Heard::TooLong { limit, .. } => {
                let cause = Cause::Limit { what: Excess::Message, limit };
                self.give_up_here(now, cause, signals, out);
            }
            Heard::Spoiled { asked: Asked::Call(call), message } => {
                signals.push(Signal::Answered { call, reply: Err(CallError::Shape { message }) });
            }
            Heard::Spoiled { asked: Asked::Initialize | Asked::ListTools, message } => {
                self.give_up_here(now, Cause::Shape { message }, signals, out);
            }
            Heard::Spoiled { asked: Asked::List(list), message } => {
                self.relisted(now, list, Err(Cause::Shape { message }), signals, out);
            }
            Heard::Spoiled { asked: Asked::Watch(request), message } => {
                self.watch_answered(now, request, Some(&message), signals, out);
            }
            Heard::Answered { asked: Asked::List(list), reply } => {
                self.relisted(now, list, Ok(reply), signals, out);
            }
            Heard::Answered { asked: Asked::Watch(request), reply } => {
                let refused = reply.err().map(|error| error.quoted().to_string());
                self.watch_answered(now, request, refused.as_deref(), signals, out);
            }
            Heard::Notified { method, params } => self.notified(now, method, params, signals),
            Heard::Answered { asked: Asked::Call(call), reply } => {
                let reply = reply.map_err(|error| CallError::Rpc { error });
                signals.push(Signal::Answered { call, reply });
            }
            // A batch is heard to its end, also after something in it ended the conversation:
            // then nobody waits for the handshake any more.
            Heard::Answered { asked: Asked::Initialize, reply } => {
                if let Phase::Greeting { .. } = self.phase {
                    match reply {
                        Ok(result) => self.greeted(now, &result, signals, out),
                        Err(error) => self.refused(now, error, signals, out),
                    }
                }
            }
            Heard::Answered { asked: Asked::ListTools, reply } => {
                self.listed(now, reply, signals, out);
            }
            Heard::Lost { asked, failure, unsent } => {
                self.lost(now, asked, failure, unsent, signals, out);
            }
            Heard::Broken(failure) => {
                self.give_up_here(now, Cause::Http { failure }, signals, out);
            }
            Heard::Progressed { call, progress } => {
                signals.push(Signal::Progressed { call, progress });
            }
            Heard::Inquired { id, inquiry, call } => {
                signals.push(Signal::Inquired { id, inquiry, call });
            }
            Heard::Withdrawn(id) => signals.push(Signal::Withdrawn(id)),
            Heard::Logged(message) => signals.push(Signal::Logged(message)),
            Heard::Odd(message) => signals.push(Signal::Found(self.problem(
                Severity::Info,
                Category::ProtocolViolation,
                &message,
            ))),
        }
    }

    /// A request is lost that went by an exchange of its own.
    fn lost(
        &mut self,
        now: Timestamp,
        asked: Asked,
        failure: HttpFailure,
        unsent: bool,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        match asked {
            Asked::Call(call) if unsent => signals.push(Signal::Unsent { call, failure }),
            Asked::Call(call) => {
                let reply = Err(CallError::Http { failure });
                signals.push(Signal::Answered { call, reply });
            }
            Asked::Initialize | Asked::ListTools => {
                self.give_up_here(now, Cause::Http { failure }, signals, out);
            }
            Asked::List(list) => {
                self.relisted(now, list, Err(Cause::Http { failure }), signals, out);
            }
            Asked::Watch(request) => {
                let why = failure.to_string();
                self.watch_answered(now, request, Some(&why), signals, out);
            }
        }
    }

    /// Hears what stands at the end of the output without a line end.
    pub(super) fn hear_the_rest(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        if self.stage().is_some() {
            let mut step = Step { now, setting: &self.setting, out };
            for heard in self.session.handle_end(&mut step) {
                self.hear(now, heard, signals, out);
            }
        }
    }

    fn greeted(
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
        let Some(revision) = Revision::parse(&hello.revision) else {
            let cause = Cause::Revision { offered: Quoted(&hello.revision).to_string() };
            return self.give_up_here(now, cause, signals, out);
        };
        let lists_tools = hello.tools;
        self.hello = Some(Held::new(hello));
        signals.push(Signal::Greeted);
        let mut step = Step { now, setting: &self.setting, out };
        self.session.initialized(revision, lists_tools, &mut step);
        if lists_tools {
            let deadline = now.plus(self.timeout_ms.unwrap_or(self.setting.list_ms));
            self.enter(Phase::Listing { deadline, listing: Listing::default(), again: None });
        } else {
            // F-048: what was not declared is not asked for.
            self.ready(now, Vec::new(), signals);
        }
    }

    /// `initialize` was refused; one more try if the server names a revision we speak
    /// (C-VER-24).
    fn refused(
        &mut self,
        now: Timestamp,
        error: RpcError,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        if let Phase::Greeting { deadline, retried: false } = self.phase {
            let offered = mcp::supported_revisions(&error);
            let mutual = offered.iter().filter_map(|text| Revision::parse(text)).max();
            if let Some(revision) = mutual {
                let mut step = Step { now, setting: &self.setting, out };
                self.session.initialize_with(revision, &mut step);
                self.enter(Phase::Greeting { deadline, retried: true });
                return;
            }
        }
        self.give_up_here(now, Cause::Refused { error: error.quoted() }, signals, out);
    }

    fn listed(
        &mut self,
        now: Timestamp,
        reply: Result<Json, RpcError>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let Phase::Listing { listing, .. } = &mut self.phase else { return };
        let (limits, mut bad) = (&self.setting.limits, Vec::new());
        let turn = listing.answered(List::Tools, reply, mcp::read_tools_page, limits, &mut bad);
        signals.extend(bad.iter().map(|shape| {
            Signal::Found(problem(&self.name, Category::InvalidTool, &shape.message))
        }));
        match turn {
            Ok(Turn::Next(cursor)) => {
                let mut step = Step { now, setting: &self.setting, out };
                self.session.list_tools(Some(&cursor), &mut step);
            }
            Ok(Turn::Done(tools)) => self.ready(now, tools, signals),
            Err(cause) => self.give_up_here(now, cause, signals, out),
        }
    }

    fn ready(&mut self, now: Timestamp, tools: Vec<mcp::ToolDef>, signals: &mut Vec<Signal>) {
        let again = match &self.phase {
            Phase::Listing { again, .. } => *again,
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Ready { .. }
            | Phase::Stopping { .. }
            | Phase::Gone => None,
        };
        let tools = Held::new(Tools::new(tools, &self.name, signals));
        let connect_ms = now.since(self.started);
        self.enter(Phase::Ready { tools, connect_ms, live: Live::new(again) });
        signals.push(Signal::Ready);
    }

    /// Fails where it stands and stops.
    fn give_up_here(
        &mut self,
        now: Timestamp,
        cause: Cause,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        if let Some(stage) = self.stage() {
            self.give_up(now, stage, cause, signals, out);
        }
    }

    pub(super) fn give_up(
        &mut self,
        now: Timestamp,
        stage: Stage,
        cause: Cause,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        signals.push(Signal::Deaf);
        self.fail(now, stage, cause, signals);
        self.begin_stop(now, Why::Failed, out);
    }

    pub(super) fn fail(
        &mut self,
        now: Timestamp,
        stage: Stage,
        cause: Cause,
        signals: &mut Vec<Signal>,
    ) {
        self.failure = Some(Failure {
            stage,
            cause,
            after_ms: now.since(self.started),
            stderr_tail: self.stderr.text(),
        });
        signals.push(Signal::Failed);
    }

    /// What is due of a stop: that a pipe ended is told as the failure, since its process still
    /// runs, and after the first rung for good; or the next rung is entered.
    pub(super) fn fire_stop(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let Phase::Stopping { stop, why } = &mut self.phase else { return };
        let rung_passed = stop.deadline().at <= now;
        let climb =
            rung_passed.then(|| stop.handle_timeout(self.conn, now, &self.setting.ladder, out));
        if let Why::Ending { stage, cause, untold } = why {
            let untold = untold.take().map(|_| (*stage, cause.clone()));
            if rung_passed {
                *why = Why::Failed;
            }
            if let Some((stage, cause)) = untold {
                self.fail(now, stage, cause, signals);
            }
        }
        if climb == Some(Climb::GaveUp) {
            self.enter(Phase::Gone);
            signals.push(Signal::Gone);
        }
    }

    pub(super) fn begin_stop(&mut self, now: Timestamp, why: Why, out: &mut Outbox) {
        let opened = !matches!(self.phase, Phase::Resolving { .. } | Phase::Opening { .. });
        let close = self.session.close(&mut Step { now, setting: &self.setting, out });
        let stop = Stop::begin(opened, close, self.conn, now, &self.setting.ladder, out);
        self.enter(Phase::Stopping { stop, why });
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The stage of an attempt that can still be spoken to.
    pub(super) const fn stage(&self) -> Option<Stage> {
        match &self.phase {
            Phase::Resolving { .. } => Some(Stage::Resolve),
            Phase::Opening { .. } => Some(Stage::Spawn),
            Phase::Greeting { .. } => Some(Stage::Initialize),
            Phase::Listing { .. } => Some(Stage::ListTools),
            Phase::Ready { .. } => Some(Stage::Ready),
            Phase::Stopping { .. } | Phase::Gone => None,
        }
    }

    fn problem(&self, severity: Severity, category: Category, message: &str) -> Problem {
        Problem { severity, ..problem(&self.name, category, message) }
    }
}

impl Tools {
    /// The first of two tools with one name stays; the names are the server's only handle.
    pub(super) fn new(
        mut tools: Vec<mcp::ToolDef>,
        server: &crate::id::ServerName,
        signals: &mut Vec<Signal>,
    ) -> Self {
        let mut by_name = in_order_of_names(&tools);
        let repeated = repeated(&mut by_name, &tools);
        if !repeated.is_empty() {
            let mut places = 0..;
            tools.retain(|tool| {
                let again = places.next().is_some_and(|at| repeated.binary_search(&at).is_ok());
                if again {
                    let message = alloc::format!("tool {:?} is listed twice", Quoted(&tool.name));
                    signals.push(Signal::Found(problem(server, Category::InvalidTool, &message)));
                }
                !again
            });
            by_name = in_order_of_names(&tools);
        }
        Self { list: Arc::from(tools), by_name }
    }

    /// Whether there is a tool with this name.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.by_name.binary_search_by_key(&Some(tool), |at| name_at(&self.list, *at)).is_ok()
    }
}

fn name_at(tools: &[mcp::ToolDef], at: usize) -> Option<&str> {
    tools.get(at).map(|tool| tool.name.as_str())
}

/// The places in a list in the order of the names that stand there, equal ones in the order of
/// the list.
fn in_order_of_names(tools: &[mcp::ToolDef]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..tools.len()).collect();
    places.sort_by(|a, b| name_at(tools, *a).cmp(&name_at(tools, *b)));
    places
}

/// Takes out the places whose name stands in an earlier one; which they are, in order.
fn repeated(by_name: &mut Vec<usize>, tools: &[mcp::ToolDef]) -> Vec<usize> {
    let mut repeated = Vec::new();
    by_name.dedup_by(|at, first| {
        let same = name_at(tools, *at) == name_at(tools, *first);
        if same {
            repeated.push(*at);
        }
        same
    });
    repeated.sort_unstable();
    repeated
}

fn problem(server: &crate::id::ServerName, category: Category, message: &str) -> Problem {
    Problem::of_server(server, category, alloc::format!("Server \"{server}\": {message}"))
}
