//! What has to be found out before a server can be started: asked once, known from then on.
//!
//! Floor 4. Each distinct question is asked at most once per answer and never twice at once,
//! however many servers need it (G66). What failed is asked again by the next attempt. An
//! attempt waits within its own connect limit; a command has a limit of its own as well. What no
//! definition asks for any more is forgotten, so that no secret is kept for nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use crate::command::{Command, Launch, Question, Remote};
use crate::config::launch::{Filling, Gap};
use crate::error::{AskError, Category, Cause, Failure, Problem, Stage};
use crate::id::{AnswerId, Counter, ServerName};
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};

use super::Hub;

/// What was asked, and what is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    next: Counter,
    known: BTreeMap<Question, AnswerId>,
    asked: BTreeMap<AnswerId, Asked>,
}

/// A question that is not answered yet.
#[derive(Clone, Debug, Hash)]
struct Asked {
    what: Question,
    /// When a command has to have ended; a person may take as long as they like.
    until: Option<Timestamp>,
    /// The servers that cannot be started before.
    waiting: BTreeSet<ServerName>,
}

impl Answers {
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let until = self.asked.values().filter_map(|asked| asked.until).min()?;
        Some(Deadline { at: until, why: "answer" })
    }

    fn is_waiting(&self, server: &ServerName) -> bool {
        self.asked.values().any(|asked| asked.waiting.contains(server))
    }

    /// A server waits no more; what was asked for it goes on, for the next attempt.
    fn let_go(&mut self, server: &ServerName) {
        for asked in self.asked.values_mut() {
            asked.waiting.remove(server);
        }
    }

    /// What tells these from others: answers that are known are told apart by nothing but what
    /// they answer.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.known.keys().for_each(|what| what.hash(state));
        for asked in self.asked.values() {
            (&asked.what, asked.until.map(|until| until.since(now)), &asked.waiting).hash(state);
        }
    }
}

impl Hub {
    /// Has everything found out that a server needs to be started, and starts it if that is
    /// known already.
    pub(super) fn resolve(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        slot.refused.clear();
        for what in slot.definition().questions() {
            if self.answers.known.contains_key(&what) {
                continue;
            }
            let mut asked = self.answers.asked.values_mut();
            if let Some(asked) = asked.find(|asked| asked.what == what) {
                asked.waiting.insert(name.clone());
                continue;
            }
            let ask = AnswerId::new(self.answers.next.next());
            let shell_ms = self.options.setting.limits.shell_ms;
            let until = match &what {
                Question::Shell { .. } => Some(now.plus(shell_ms)),
                Question::Input { .. } => None,
            };
            out.command(Command::Ask { ask, what: what.clone() });
            let waiting = BTreeSet::from([name.clone()]);
            self.answers.asked.insert(ask, Asked { what, until, waiting });
        }
        if !self.answers.is_waiting(name) {
            self.launch(name, now, out);
        }
    }

    /// The driver knows an answer, or that there is none.
    pub(super) fn handle_answered(
        &mut self,
        now: Timestamp,
        ask: AnswerId,
        result: &Result<(), AskError>,
        out: &mut Outbox,
    ) {
        let Some(Asked { what, waiting, .. }) = self.answers.asked.remove(&ask) else {
            self.stale_facts += 1;
            return;
        };
        match result {
            Ok(()) => drop(self.answers.known.insert(what, ask)),
            Err(error) => {
                for name in &waiting {
                    if let Some(slot) = self.slots.get_mut(name) {
                        slot.refused.insert(what.clone(), error.clone());
                    }
                }
            }
        }
        for name in waiting {
            if !self.answers.is_waiting(&name) {
                self.launch(&name, now, out);
            }
        }
    }

    /// Gives up what was not answered in time.
    pub(super) fn expire_answers(&mut self, now: Timestamp, out: &mut Outbox) {
        let asked = self.answers.asked.iter();
        let due = |asked: &Asked| asked.until.is_some_and(|until| until <= now);
        let due: Vec<AnswerId> =
            asked.filter(|(_, asked)| due(asked)).map(|(ask, _)| *ask).collect();
        let limit_ms = self.options.setting.limits.shell_ms;
        for ask in due {
            out.command(Command::StopAsking { ask });
            self.handle_answered(now, ask, &Err(AskError::TimedOut { limit_ms }), out);
        }
    }

    /// An attempt is over before its server was started: nothing waits for its answers.
    pub(super) fn stop_resolving(&mut self, name: &ServerName) {
        self.answers.let_go(name);
    }

    /// The configuration changed: forgets what no definition asks for any more, and stops finding
    /// it out.
    pub(super) fn forget_answers(&mut self, out: &mut Outbox) {
        let Answers { known, asked, .. } = &mut self.answers;
        if known.is_empty() && asked.is_empty() {
            return;
        }
        let slots = self.order.iter().filter_map(|name| self.slots.get(name));
        let wanted: BTreeSet<Question> =
            slots.flat_map(|slot| slot.definition().questions()).collect();
        known.retain(|what, ask| {
            let keep = wanted.contains(what);
            if !keep {
                out.command(Command::StopAsking { ask: *ask });
            }
            keep
        });
        asked.retain(|ask, asked| {
            let keep = wanted.contains(&asked.what);
            if !keep {
                out.command(Command::StopAsking { ask: *ask });
            }
            keep
        });
    }

    /// Nothing has to be found out any more.
    pub(super) fn stop_asking(&mut self, out: &mut Outbox) {
        for ask in core::mem::take(&mut self.answers.asked).into_keys() {
            out.command(Command::StopAsking { ask });
        }
    }

    /// Everything is known that can be: the server is started, or cannot be.
    fn launch(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let answer = |what: &Question| match self.answers.known.get(what) {
            Some(ask) => Ok(*ask),
            None => Err(slot.refused.get(what).cloned().unwrap_or(AskError::NobodyToAsk)),
        };
        let filling = Filling {
            environment: &self.options.environment,
            unresolved: self.options.policy.unresolved,
            empty: self.options.policy.empty,
            answer: &answer,
        };
        let setting = &self.options.setting;
        let place = match slot.definition().launch(&filling) {
            Some(launch) => Some(launch.map(|(launch, gaps)| (Place::Here(launch), gaps))),
            None => slot.definition().remote(&filling).map(|remote| {
                remote.map(|(mut remote, gaps)| {
                    let attempt_ms = slot.attempt_ms().unwrap_or(setting.connect_ms);
                    remote.connect_ms = setting.limits.http_connect_ms.min(attempt_ms);
                    (Place::There(remote), gaps)
                })
            }),
        };
        match place {
            Some(Ok((place, gaps))) => {
                for gap in gaps {
                    self.problems.add(left_out(slot.definition(), &gap), out);
                }
                let Some(server) = &mut slot.server else { return };
                let (conn, before) = (server.conn(), server.deadline());
                match place {
                    Place::Here(launch) => server.launch(launch, out),
                    Place::There(remote) => server.connect(remote, out),
                }
                let after = server.deadline();
                self.set_alarm(conn, before, after);
            }
            Some(Err(Gap { field, missing })) => {
                let Some(server) = &slot.server else { return };
                let (conn, after_ms) = (server.conn(), server.age_ms(now));
                let alarm = server.deadline();
                slot.failure = Some(Failure {
                    stage: Stage::Resolve,
                    cause: Cause::Unresolved { field, missing },
                    after_ms,
                    stderr_tail: alloc::string::String::new(),
                });
                self.set_alarm(conn, alarm, None);
                self.recover(name, now);
                self.gone(name, conn, now, out);
                if self.slots.get(name).is_some_and(|slot| !slot.is_connecting()) {
                    self.fail_waiting(name, out);
                }
            }
            None => {}
        }
    }
}

/// Where a server is to be had.
enum Place {
    /// It is run.
    Here(Launch),
    /// It runs.
    There(Remote),
}

/// A value that the server does not get, named and never shown.
fn left_out(definition: &crate::config::Definition, Gap { field, missing }: &Gap) -> Problem {
    let server = &definition.name;
    let message = format!("Server \"{server}\": \"{field}\" is left out: {missing}");
    let mut problem = Problem::of_server(server, Category::LeftOut, message);
    problem.file = Some(definition.source.path.clone());
    problem.line = Some(definition.source.line);
    problem.key = Some(field.clone());
    problem
}
