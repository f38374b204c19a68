//! What is asked on a connection.
//!
//! Floor 3. One place puts a request into words: it adds to each what the revision asks for.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::id::CallId;
use crate::wire::dialect::{Era, Revision};
use crate::wire::http::labels;
use crate::wire::mcp::{self, Changes, Job, List, LogLevel, Meta};
use crate::wire::rpc;

use super::super::channel::{Close, Kind, Outgoing, Step};
use super::again::Question;
use super::{Asked, Session};

impl Session {
    /// Opens the handshake with a given revision.
    pub(in super::super) fn initialize(&mut self, revision: Revision, step: &mut Step<'_>) {
        self.meta = Meta::default();
        self.channel.turn(None);
        self.declared = revision;
        let (name, version) = (&step.setting.client_name, &step.setting.client_version);
        let capabilities = mcp::capabilities(revision, &step.setting.services);
        let params = mcp::initialize_params(revision, &capabilities, name, version);
        let id = self.ask(Asked::Initialize);
        let line = rpc::request(id, mcp::INITIALIZE, &params);
        self.send(line, Vec::new(), Kind::Initialize(id), step);
    }

    /// Asks the question that needs no handshake, in a given revision.
    pub(in super::super) fn discover(&mut self, revision: Revision, step: &mut Step<'_>) {
        self.speak(revision, step);
        let id = self.ask(Asked::Discover);
        let line = mcp::request(id, mcp::DISCOVER, "{}", &self.meta);
        self.send(line, labels(mcp::DISCOVER, None), Kind::Discover(id), step);
    }

    fn speak(&mut self, revision: Revision, step: &Step<'_>) {
        let who = (&*step.setting.client_name, &*step.setting.client_version);
        let capabilities = mcp::capabilities(revision, &step.setting.services);
        let level = step.setting.log_level.map(LogLevel::as_str);
        self.meta = Meta::modern(revision, &capabilities, who, level);
        self.channel.turn(Some(revision));
    }

    /// What is spoken is known without a handshake. A handshake that may be under way is of no
    /// use any more.
    pub(in super::super) fn discovered(&mut self, revision: Revision, step: &Step<'_>) {
        self.speak(revision, step);
        self.revision = Some(revision);
    }

    /// Ends the handshake, and asks for the first page of tools in the same breath.
    pub(in super::super) fn initialized(
        &mut self,
        revision: Revision,
        lists_tools: bool,
        step: &mut Step<'_>,
    ) {
        self.revision = Some(revision);
        self.channel.agreed(revision);
        let line = rpc::notification(mcp::INITIALIZED, "{}");
        let end = Outgoing { line, labels: Vec::new(), kind: Kind::Initialized };
        if lists_tools {
            let id = self.ask(Asked::ListTools);
            let line = rpc::request(id, mcp::TOOLS_LIST, &mcp::list_params(None));
            let list = Outgoing { line, labels: Vec::new(), kind: Kind::Harmless(id) };
            self.channel.send_both(self.conn, end, list, step);
        } else {
            self.channel.send(self.conn, end, step);
        }
    }

    /// Asks for a page of tools.
    pub(in super::super) fn list_tools(&mut self, cursor: Option<&str>, step: &mut Step<'_>) {
        self.list_for(Asked::ListTools, List::Tools, cursor, step);
    }

    /// Asks for a page of a list that is followed; the number of the request.
    pub(in super::super) fn list(
        &mut self,
        list: List,
        cursor: Option<&str>,
        step: &mut Step<'_>,
    ) -> u64 {
        self.list_for(Asked::List(list), list, cursor, step)
    }

    fn list_for(
        &mut self,
        asked: Asked,
        list: List,
        cursor: Option<&str>,
        step: &mut Step<'_>,
    ) -> u64 {
        let (method, params) = (list.method(), mcp::list_params(cursor));
        self.request(asked, Question { method, params, name: None }, step)
    }

    /// Asks to be told of changes of a resource, or no more; the number of the request.
    pub(in super::super) fn watch(
        &mut self,
        method: &'static str,
        uri: &str,
        step: &mut Step<'_>,
    ) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, Asked::Watch(id));
        let question = Question { method, params: mcp::uri_params(uri), name: None };
        self.put(id, &question, step);
        id
    }

    /// Says from which level on the server is to tell what it logs, once for the whole connection;
    /// whatever it answers (C-LOG-02).
    pub(in super::super) fn set_level(&mut self, level: LogLevel, step: &mut Step<'_>) {
        let params = alloc::format!("{{\"level\":\"{level}\"}}");
        let question = Question { method: mcp::SET_LEVEL, params, name: None };
        self.request(Asked::SetLevel, question, step);
    }

    /// Asks to be told of changes; the number of the request.
    pub(in super::super) fn listen(&mut self, changes: &Changes, step: &mut Step<'_>) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, Asked::Listen(id));
        let question = Question { method: mcp::LISTEN, params: changes.params(), name: None };
        self.put(id, &question, step);
        id
    }

    /// Asks something that may be asked again; the number of the request.
    fn request(&mut self, asked: Asked, question: Question, step: &mut Step<'_>) -> u64 {
        let id = self.ask(asked);
        self.put(id, &question, step);
        if self.era() == Some(Era::Modern) {
            self.again.note(id, question);
        }
        id
    }

    /// Puts a question into words, under a number that it has already.
    pub(super) fn put(&mut self, id: u64, question: &Question, step: &mut Step<'_>) {
        let Question { method, params, name } = question;
        let line = mcp::request(id, method, params, &self.meta);
        let labels = self.labels(method, name.as_deref());
        self.send(line, labels, Kind::Harmless(id), step);
    }

    /// Sends a call, perhaps for the second time; the number of its request.
    pub(in super::super) fn call(
        &mut self,
        call: CallId,
        job: &Job,
        schema: Option<&Json>,
        again: bool,
        step: &mut Step<'_>,
    ) -> u64 {
        let id = self.ask(Asked::Call(call));
        if again {
            self.again.note_call(id);
        }
        let mut labels = self.labels(job.method(), job.name());
        if self.is_labelled() {
            let schema = schema.map_or("", Json::as_str);
            labels.extend(mcp::mirrors(schema, job.arguments.as_str()));
        }
        let kind = if job.is_harmless() { Kind::Harmless(id) } else { Kind::Call(id, again) };
        self.send(job.line(id, &self.meta), labels, kind, step);
        id
    }

    /// Nobody waits for a request any more: its answer will be one nobody asked for, and the
    /// server is told, if it was under way and does not know (C-CANC-01 to C-CANC-03).
    pub(in super::super) fn cancel(&mut self, request: u64, reason: &str, step: &mut Step<'_>) {
        let request = self.again.latest(request);
        if self.take(request).is_some() && self.channel.drop_request(request, step) {
            self.send(mcp::cancelled(request, reason), Vec::new(), Kind::Aside, step);
        }
    }

    /// Forgets every request and what was received of a message, and says nothing more but
    /// goodbye; what has to be waited for then.
    pub(in super::super) fn close(&mut self, step: &mut Step<'_>) -> Close {
        self.asked.clear();
        self.last_progress.clear();
        self.inquiries.clear();
        self.again = super::Again::default();
        self.channel.close(step)
    }

    /// What the headers of a request say of it, where that is asked for.
    fn labels(&self, method: &str, name: Option<&str>) -> Vec<(String, String)> {
        if self.is_labelled() { labels(method, name) } else { Vec::new() }
    }

    /// Whether the headers of a request say what is in it.
    pub(in super::super) fn is_labelled(&self) -> bool {
        self.is_remote() && self.era() == Some(Era::Modern)
    }

    fn ask(&mut self, asked: Asked) -> u64 {
        let id = self.next_id();
        self.asked.insert(id, asked);
        id
    }

    /// Numbered from 1: a server that answers everything with 0 answers nothing of ours (F-044).
    pub(super) fn next_id(&mut self) -> u64 {
        self.next.next() + 1
    }

    pub(super) fn send(
        &mut self,
        line: Vec<u8>,
        labels: Vec<(String, String)>,
        kind: Kind,
        step: &mut Step<'_>,
    ) {
        self.channel.send(self.conn, Outgoing { line, labels, kind }, step);
    }
}
