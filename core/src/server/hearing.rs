//! What a server does with what it hears, and how it fails.
//!
//! Floor 3. Every transition goes through [`Server::enter`].

use alloc::string::{String, ToString as _};
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
use crate::wire::mcp::{self, List};

use super::channel::Step;
use super::era::Word;
use super::listen::Refused;
use super::listing::Turn;
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
            Heard::TooLong { asked, limit } => self.too_long(now, asked, limit, signals, out),
            Heard::Spoiled { asked, message } => self.spoiled(now, asked, message, signals, out),
            Heard::Answered { asked: Asked::List(list), reply } => {
                self.relisted(now, list, Ok(reply), signals, out);
            }
            Heard::Answered { asked: Asked::SetLevel, .. } => {}
            Heard::Answered { asked: Asked::Listen(request), reply } => {
                let refused = reply.err().map(|error| match error.code {
                    mcp::METHOD_NOT_FOUND => Refused::Unknown,
                    _ => Refused::Because(error.quoted().to_string()),
                });
                self.listened(now, request, refused, signals, out);
            }
            Heard::Answered { asked: Asked::Watch(request), reply } => {
                let refused = reply.err().map(|error| error.quoted().to_string());
                self.watch_answered(now, request, refused.as_deref(), signals, out);
            }
            Heard::Notified { method, params } => self.notified(now, method, params, signals, out),
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
            Heard::Answered { asked: Asked::Discover, reply } => {
                self.discovered(now, Ok(reply), signals, out);
            }
            Heard::Misput { call, error } => self.misput(now, call, error, signals, out),
            Heard::Wants { call, result } => signals.push(Signal::Wants { call, result }),
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

    /// L10: an answer too large for a call ends that call, any other too large a message ends the
    /// server, because nobody can say what was lost.
    fn too_long(
        &mut self,
        now: Timestamp,
        asked: Option<Asked>,
        limit: u64,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let cause = Cause::Limit { what: Excess::Message, limit };
        match asked {
            Some(Asked::Call(call)) => {
                signals.push(Signal::Answered { call, reply: Err(CallError::TooLarge { limit }) });
            }
            Some(Asked::List(list)) => self.relisted(now, list, Err(cause), signals, out),
            Some(Asked::SetLevel) => {}
            Some(Asked::Listen(request)) => {
                let why = Refused::Because("its answer is too long".into());
                self.listened(now, request, Some(why), signals, out);
            }
            Some(Asked::Watch(request)) => {
                self.watch_answered(now, request, Some("its answer is too long"), signals, out);
            }
            Some(Asked::Initialize | Asked::Discover | Asked::ListTools) | None => {
                self.give_up_here(now, cause, signals, out);
            }
        }
    }

    /// A request was answered, and nobody can read how.
    fn spoiled(
        &mut self,
        now: Timestamp,
        asked: Asked,
        message: String,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        match asked {
            Asked::Call(call) => {
                signals.push(Signal::Answered { call, reply: Err(CallError::Shape { message }) });
            }
            Asked::Initialize | Asked::ListTools => {
                self.give_up_here(now, Cause::Shape { message }, signals, out);
            }
            // Whatever it was, it was no answer to that.
            Asked::Discover => self.discovered(now, Ok(Ok(Json::new("null"))), signals, out),
            Asked::List(list) => {
                self.relisted(now, list, Err(Cause::Shape { message }), signals, out);
            }
            Asked::SetLevel => {}
            Asked::Listen(request) => {
                self.listened(now, request, Some(Refused::Because(message)), signals, out);
            }
            Asked::Watch(request) => {
                self.watch_answered(now, request, Some(&message), signals, out);
            }
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
            Asked::Call(call) if unsent => {
                signals.push(Signal::Unsent { call, error: CallError::Http { failure } });
            }
            Asked::Call(call) => {
                let reply = Err(CallError::Http { failure });
                signals.push(Signal::Answered { call, reply });
            }
            Asked::Discover => self.discovered(now, Err(failure), signals, out),
            Asked::Initialize | Asked::ListTools => {
                let cause = self.after_both(Cause::Http { failure });
                self.give_up_here(now, cause, signals, out);
            }
            Asked::List(list) => {
                self.relisted(now, list, Err(Cause::Http { failure }), signals, out);
            }
            Asked::SetLevel => {}
            Asked::Listen(request) => {
                let why = Refused::Because(failure.to_string());
                self.listened(now, request, Some(why), signals, out);
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

    pub(super) fn ready(
        &mut self,
        now: Timestamp,
        tools: Vec<mcp::ToolDef>,
        signals: &mut Vec<Signal>,
    ) {
        let again = match &self.phase {
            Phase::Listing { again, .. } => *again,
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Ready { .. }
            | Phase::Stopping { .. }
            | Phase::Gone => None,
        };
        let labelled = self.session.is_labelled();
        let tools = Held::new(Tools::new(tools, &self.name, labelled, signals));
        let connect_ms = now.since(self.started);
        self.enter(Phase::Ready { tools, connect_ms, live: Live::new(again) });
        signals.push(Signal::Ready);
    }

    /// Fails where it stands and stops.
    pub(super) fn give_up_here(
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
            Phase::Greeting { decision, .. } => Some(match decision.word() {
                Word::Discover(_) => Stage::Discover,
                Word::Initialize(_) => Stage::Initialize,
            }),
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
    /// `labelled`: headers say what is in a call.
    pub(super) fn new(
        mut tools: Vec<mcp::ToolDef>,
        server: &crate::id::ServerName,
        labelled: bool,
        signals: &mut Vec<Signal>,
    ) -> Self {
        if labelled {
            tools.retain(|tool| is_sayable(tool, server, signals));
        }
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

    /// The schema of what a tool is called with.
    pub(super) fn schema(&self, tool: &str) -> Option<&Json> {
        let at = self.by_name.binary_search_by_key(&Some(tool), |at| name_at(&self.list, *at));
        let at = self.by_name.get(at.ok()?)?;
        Some(&self.list.get(*at)?.input_schema)
    }

    /// Whether there is a tool with this name.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.by_name.binary_search_by_key(&Some(tool), |at| name_at(&self.list, *at)).is_ok()
    }
}

/// C-XHDR-05: whether headers can say what is in a call of this tool; told if not.
fn is_sayable(
    tool: &mcp::ToolDef,
    server: &crate::id::ServerName,
    signals: &mut Vec<Signal>,
) -> bool {
    let checked = mcp::check_mirrors(tool.input_schema.as_str());
    if let Err(why) = &checked {
        let message = alloc::format!("tool {:?} is left out: {}", Quoted(&tool.name), Quoted(why));
        signals.push(Signal::Found(problem(server, Category::InvalidTool, &message)));
    }
    checked.is_ok()
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
