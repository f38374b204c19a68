//! Talking about lists: a page taken in, the next one asked for, what is wrong with one.
//!
//! Floor 3.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::{Category, Cause, Problem, RpcError};
use crate::id::ServerName;
use crate::quote::Quoted;
use crate::time::Timestamp;
use crate::wire::mcp::{List, Page, Shape};

use super::Signal;
use super::channel::Step;
use super::listing::{Listing, Turn};
use super::refresh::Refresh;
use super::session::Session;

/// What is needed to talk about lists, beside the lists.
pub(super) struct Talk<'a> {
    pub(super) name: &'a ServerName,
    pub(super) session: &'a mut Session,
    /// When a request that is made at this moment has to be answered.
    pub(super) deadline: Timestamp,
    pub(super) signals: &'a mut Vec<Signal>,
    pub(super) step: Step<'a>,
}

impl Talk<'_> {
    /// Takes a page in; the whole list or why there is none, once that is known.
    pub(super) fn page<D>(
        &mut self,
        refresh: &mut Refresh,
        listing: &mut Listing<D>,
        list: List,
        reply: Result<Result<Json, RpcError>, Cause>,
        read: impl Fn(&str) -> Result<Page<D>, Shape>,
    ) -> Option<Result<Vec<D>, Cause>> {
        let mut bad = Vec::new();
        let turn = reply.and_then(|reply| {
            listing.answered(list, reply, read, &self.step.setting.limits, &mut bad)
        });
        for shape in bad {
            self.found(category(list), &shape.message);
        }
        match turn {
            Ok(Turn::Next(cursor)) => {
                refresh.asked_on(self.session.list(list, Some(&cursor), &mut self.step));
                None
            }
            Ok(Turn::Done(entries)) => Some(Ok(entries)),
            Err(cause) => Some(Err(cause)),
        }
    }

    /// The entries without those whose handle came before: it is the server's only handle.
    pub(super) fn unique<D>(
        &mut self,
        entries: Vec<D>,
        list: List,
        handle: fn(&D) -> &str,
    ) -> Arc<[D]> {
        let mut seen = BTreeSet::new();
        let mut twice = Vec::new();
        let keep: Vec<bool> = entries
            .iter()
            .map(|entry| {
                let first = seen.insert(handle(entry));
                if !first {
                    let handle = Quoted(handle(entry));
                    twice.push(format!("{}: {handle:?} is listed twice", list.member()));
                }
                first
            })
            .collect();
        for message in twice {
            self.found(category(list), &message);
        }
        let kept = entries.into_iter().zip(keep).filter_map(|(entry, keep)| keep.then_some(entry));
        kept.collect()
    }

    /// The list stays as it was; told once for failures in a row.
    pub(super) fn failed(&mut self, refresh: &mut Refresh, list: List, cause: &Cause) {
        if refresh.failed(self.step.now, &self.step.setting.list_changed) {
            let message = format!("{list} could not be read and stays as it was: {}", why(cause));
            self.found(Category::StaleList, &message);
        }
    }

    pub(super) fn call_off(&mut self, request: Option<u64>) {
        if let Some(request) = request {
            self.session.cancel(request, "it took too long", &mut self.step);
        }
    }

    pub(super) fn found(&mut self, category: Category, message: &str) {
        let message = format!("Server \"{}\": {message}", self.name);
        self.signals.push(Signal::Found(Problem::of_server(self.name, category, message)));
    }
}

const fn category(list: List) -> Category {
    match list {
        List::Tools => Category::InvalidTool,
        List::Resources | List::Templates => Category::InvalidResource,
        List::Prompts => Category::InvalidPrompt,
    }
}

fn why(cause: &Cause) -> String {
    match cause {
        Cause::TimedOut { limit_ms } => format!("no answer within {limit_ms}ms"),
        Cause::Refused { error } => error.to_string(),
        Cause::Shape { message } => message.clone(),
        Cause::Limit { what, limit } => format!("it {}", what.describe(*limit)),
        Cause::RepeatedCursor => "it repeated a page cursor".into(),
        Cause::Http { failure } => failure.to_string(),
        Cause::Invalid { .. }
        | Cause::Unresolved { .. }
        | Cause::Open { .. }
        | Cause::NeitherEra { .. }
        | Cause::Revision { .. }
        | Cause::Exited { .. }
        | Cause::OutputClosed
        | Cause::InputClosed
        | Cause::StartupDeadline { .. } => "it ended".into(),
    }
}
