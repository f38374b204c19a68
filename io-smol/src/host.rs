//! The handle a host holds: asks the driver's loop and waits for its answers.
//!
//! Whatever becomes of the driver, every future here resolves.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_lite::future::yield_now;
use tidegate_core::bytes::Json;
use tidegate_core::event::{OpResult, Outcome, StartReport};
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::hub::status::Status;
use tidegate_core::id::{CallId, ConnId, OpId, ServerName};
use tidegate_core::input::{Reference, Request, Target};
use tidegate_core::tools::catalog::Catalog;
use tidegate_core::tools::proxy::Scope;
use tidegate_core::tools::registry::Offering;

use crate::events::{Events, subscription};
use crate::inbox::{Inbox, Last, Message};
use crate::record::EarlyEnd;
use crate::reply::{Answer, Reply, reply};
use crate::subagent::Subagent;

/// A handle to a runtime. Cheap to clone; may be used from any task and thread.
///
/// A request takes effect in the order in which it was made. Dropping the last handle shuts
/// the runtime down.
#[derive(Clone, Debug)]
pub struct Host {
    handle: Arc<Handle>,
}

/// What all clones of a [`Host`] share; its end is the runtime's.
#[derive(Debug)]
struct Handle {
    inbox: Arc<Inbox>,
    ops: AtomicU64,
    /// Of the record of the run, if there is one.
    early_end: Arc<EarlyEnd>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.inbox.report(Message::Tell(Request::Shutdown));
    }
}

impl Host {
    pub(crate) fn new(inbox: Arc<Inbox>, early_end: Arc<EarlyEnd>) -> Self {
        let handle = Handle { inbox, ops: AtomicU64::new(0), early_end };
        Self { handle: Arc::new(handle) }
    }

    /// Reads the configuration, connects all it names, and resolves when the startup gate
    /// opens: after [`gate_ms`](tidegate_core::hub::policy::Policy::gate_ms) if every server
    /// that is still starting has cached tools, and later, bounded by the startup deadline, if
    /// one has not. An empty report if the runtime ends first, or if too many operations are open.
    pub async fn start(&self) -> StartReport {
        let op = self.op();
        let (reply, answer) = reply();
        self.handle.inbox.ask(Message::Start(op, reply));
        let none = || StartReport {
            op,
            elapsed_ms: 0,
            connected: Vec::new(),
            deferred: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
        };
        answer.await.unwrap_or_else(none)
    }

    /// Reads the configuration again and restarts only what changed; resolves when every server
    /// that was started has settled.
    pub async fn reload(&self) -> OpResult {
        self.operate(|op| Request::Reload { op }).await
    }

    /// Connects one configured server; resolves when it has settled.
    pub async fn connect(&self, server: impl Into<ServerName>) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Connect { op, server }).await
    }

    /// Disconnects one server until it is asked for by name; resolves when its process is gone.
    pub async fn disconnect(&self, server: impl Into<ServerName>) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Disconnect { op, server }).await
    }

    /// Disconnects every server; resolves when the last process is gone.
    pub async fn disconnect_all(&self) -> OpResult {
        self.operate(|op| Request::DisconnectAll { op }).await
    }

    /// Connects one server again; resolves when it has settled. `failed` is the attempt that
    /// failed the host, if it was one: if another one took its place, that one is left alone.
    pub async fn reconnect(
        &self,
        server: impl Into<ServerName>,
        failed: Option<ConnId>,
    ) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Reconnect { op, server, failed }).await
    }

    /// Stops one server, wherever it stands, and starts it anew; resolves when it has settled.
    pub async fn restart(&self, server: impl Into<ServerName>) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Restart { op, server }).await
    }

    /// Switches one server on for this run and connects it; resolves when it has settled.
    pub async fn enable(&self, server: impl Into<ServerName>) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Enable { op, server }).await
    }

    /// Switches one server off until it is enabled or no longer configured; resolves when its
    /// process is gone.
    pub async fn disable(&self, server: impl Into<ServerName>) -> OpResult {
        let server = server.into();
        self.operate(|op| Request::Disable { op, server }).await
    }

    /// Waits until one server is connected, at most so many milliseconds, and changes nothing;
    /// resolves earlier if nothing is under way that could connect it. Dropping the future ends
    /// the waiting.
    pub async fn await_connected(
        &self,
        server: impl Into<ServerName>,
        timeout_ms: Option<u64>,
    ) -> OpResult {
        let server = server.into();
        let mut waiting = Waiting { inbox: &self.handle.inbox, op: None };
        let request = |op| {
            waiting.op = Some(op);
            Request::AwaitConnected { op, server, timeout_ms }
        };
        let result = self.operate(request).await;
        waiting.op = None;
        result
    }

    /// Ends the runtime within the bounds of the stop ladder; resolves when every server is
    /// gone. Calls that are open fail, and so does everything asked from here on.
    pub async fn shutdown(&self) {
        let (reply, answer) = reply();
        self.handle.inbox.ask(Message::Shutdown(reply));
        answer.await;
    }

    /// Why the record of the run ([`trace`](crate::Settings::trace)) ended early: it lacks what
    /// came after that. Final once the driver has ended.
    #[must_use]
    pub fn trace_fault(&self) -> Option<&str> {
        self.handle.early_end.why()
    }

    /// Calls a tool with `arguments`, a JSON object. `timeout_ms` is the limit without
    /// progress, if not the server's own or the default. The call is under way when this
    /// returns; it ends when the future resolves or is dropped.
    pub fn call(&self, target: Target, arguments: Json, timeout_ms: Option<u64>) -> Call {
        Call::place(&self.handle.inbox, target, arguments, timeout_ms, None)
    }

    /// Asks a server for the content of a resource, which goes the way of a call: the answer is the
    /// `result` of `resources/read`.
    pub fn read_resource(&self, server: impl Into<ServerName>, uri: impl Into<String>) -> Call {
        let target = Target::Resource { server: server.into(), uri: uri.into() };
        self.call(target, Json::new("{}"), None)
    }

    /// Asks a server for a prompt with `arguments`, a JSON object of texts, which goes the way of a
    /// call: the answer is the `result` of `prompts/get`.
    pub fn prompt(
        &self,
        server: impl Into<ServerName>,
        prompt: impl Into<String>,
        arguments: Json,
    ) -> Call {
        let target = Target::Prompt { server: server.into(), prompt: prompt.into() };
        self.call(target, arguments, None)
    }

    /// Asks a server what an argument could be, which goes the way of a call: `arguments` is a JSON
    /// object with `argument` and perhaps `context`, and the answer is the `result` of
    /// `completion/complete`.
    pub fn complete(&self, server: impl Into<ServerName>, of: Reference, arguments: Json) -> Call {
        let target = Target::Completion { server: server.into(), of };
        self.call(target, arguments, None)
    }

    /// A handle for a subagent, which sees and calls the part of the tools that is in `scope`,
    /// through the connections of this runtime, and ends with it (G73). It is no handle that
    /// keeps the runtime alive.
    #[must_use]
    pub fn subagent(&self, scope: Scope) -> Subagent {
        Subagent::new(Arc::clone(&self.handle.inbox), scope)
    }

    /// What is known of the servers, after everything asked before took effect.
    pub async fn status(&self) -> Status {
        read(&self.handle.inbox, Message::Status, |last| last.status).await
    }

    /// What the agent may call, after everything asked before took effect. The same allocation
    /// as long as nothing changes.
    pub async fn catalog(&self) -> Arc<Catalog> {
        catalog(&self.handle.inbox).await
    }

    /// The keys in definitions of the Exa search that the settings leave out, after everything
    /// asked before took effect: a host with that search built in takes the first one for
    /// `EXA_API_KEY` if that is not set. Secrets; see
    /// [`Runtime::exa_keys`](tidegate_core::runtime::Runtime::exa_keys).
    pub async fn exa_keys(&self) -> Vec<String> {
        read(&self.handle.inbox, Message::ExaKeys, |last| last.exa_keys).await
    }

    /// The resources of all connected servers, after everything asked before took effect. The
    /// same allocation as long as nothing changes.
    pub async fn resources(&self) -> Arc<Resources> {
        read(&self.handle.inbox, Message::Resources, |last| last.resources).await
    }

    /// The prompts of all connected servers, after everything asked before took effect. The same
    /// allocation as long as nothing changes.
    pub async fn prompts(&self) -> Arc<Prompts> {
        read(&self.handle.inbox, Message::Prompts, |last| last.prompts).await
    }

    /// Follows changes of every listed resource from here on, or no more; they come as
    /// [`Event::ResourceUpdated`](tidegate_core::event::Event::ResourceUpdated).
    pub fn watch(&self, on: bool) {
        self.handle.inbox.ask(Message::Tell(Request::Watch { on }));
    }

    /// Tools and instructions of one and the same moment, for the
    /// [`Registry`](tidegate_core::tools::registry::Registry) of a session. When to ask for
    /// them: see [`Host::events`].
    pub async fn offering(&self) -> Offering {
        let left = |last: Last| Offering::new(&last.catalog, &last.status);
        read(&self.handle.inbox, Message::Offering, left).await
    }

    /// What happens from here on. Any number of observers may listen, from any moment on.
    ///
    /// What was offered before is not missed: the first news are the present revisions of the
    /// tools, the resources and the prompts, of those of which something was offered yet, and
    /// each change counts by one from there (G25). An observer that is too slow is told how many news it lost
    /// ([`News::Missed`](crate::News::Missed)). Outcomes of calls are not among the news: a
    /// result of many megabytes belongs to the one who called.
    #[must_use]
    pub fn events(&self) -> Events {
        let (observer, events) = subscription();
        self.handle.inbox.ask(Message::Observe(observer));
        events
    }

    async fn operate(&self, request: impl FnOnce(OpId) -> Request) -> OpResult {
        let op = self.op();
        let (reply, answer) = reply();
        self.handle.inbox.ask(Message::Operate(op, request(op), reply));
        answer.await.unwrap_or(OpResult::ShuttingDown)
    }

    fn op(&self) -> OpId {
        OpId::new(self.handle.ops.fetch_add(1, Ordering::Relaxed))
    }
}

/// An operation that somebody waits for, until it has ended.
struct Waiting<'a> {
    inbox: &'a Inbox,
    op: Option<OpId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(op) = self.op {
            self.inbox.report(Message::Tell(Request::StopWaiting { op }));
        }
    }
}

/// What may be called, after everything asked before took effect.
pub(crate) async fn catalog(inbox: &Inbox) -> Arc<Catalog> {
    read(inbox, Message::Catalog, |last| last.catalog).await
}

/// Asks the loop, or what it left behind.
async fn read<T>(
    inbox: &Inbox,
    question: impl Fn(Reply<T>) -> Message,
    left: impl Fn(Last) -> T,
) -> T {
    loop {
        let (reply, answer) = reply();
        inbox.ask(question(reply));
        if let Some(found) = answer.await {
            return found;
        }
        if let Some(last) = inbox.last() {
            return left(last);
        }
        yield_now().await;
    }
}

/// A tool call under way: a future of its [`Outcome`]. Dropping it unfinished cancels it.
#[derive(Debug)]
#[must_use = "dropping a call cancels it"]
pub struct Call {
    id: CallId,
    inbox: Arc<Inbox>,
    answer: Answer<Outcome>,
    /// Whether the driver need not hear of this call again.
    ended: AtomicBool,
}

impl Call {
    pub(crate) fn place(
        inbox: &Arc<Inbox>,
        target: Target,
        arguments: Json,
        timeout_ms: Option<u64>,
        scope: Option<Arc<Scope>>,
    ) -> Self {
        let (reply, answer) = reply();
        let inbox = Arc::clone(inbox);
        let (id, taken) = inbox.call(target, arguments, timeout_ms, scope, reply);
        Self { id, inbox, answer, ended: AtomicBool::new(!taken) }
    }

    /// The number of the call, as in [`Event::CallProgressed`].
    ///
    /// [`Event::CallProgressed`]: tidegate_core::event::Event::CallProgressed
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// Ends the call; its server is told. The future resolves with [`Outcome::Aborted`], unless
    /// the answer came first.
    pub fn cancel(&self) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            self.inbox.report(Message::Tell(Request::Cancel { call: self.id }));
        }
    }
}

impl Future for Call {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(cx));
        *self.ended.get_mut() = true;
        Poll::Ready(answer.unwrap_or_else(|| Outcome::Failed(self.inbox.refusal())))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::inbox::HOST_MESSAGES_MAX;

    /// L10: a host that never lets the driver run fills its queue up to the bound and no further,
    /// also if it gives up every call that it makes.
    #[test]
    fn calls_that_were_never_taken_leave_nothing_behind() {
        let inbox = Arc::new(Inbox::new());
        let target = || Target::Exposed("tool".into());
        let place = || Call::place(&inbox, target(), Json::new("{}"), None, None);
        let calls: Vec<Call> = (0..2 * HOST_MESSAGES_MAX).map(|_| place()).collect();
        drop(calls);
        let mut waiting = VecDeque::new();
        inbox.take(&mut waiting);
        assert_eq!(waiting.len(), 2 * HOST_MESSAGES_MAX, "each call that was taken, and its end");
    }
}
