//! What a trace says in the place of what was read, approved, asked and run (G67).
//!
//! Floor 2. May import floors 0 and 1. A trace holds redacted files, and a machine that reads
//! those has to say what the trace says. So whatever follows from a definition is recorded as
//! what follows from its redacted form: which definition belongs to which is remembered with
//! each file.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::definition::Definition;
use super::environment::Environment;
use super::folder;
use super::launch::{Empty, Filling, Unresolved};
use super::parse::read_in;
use super::redact::Redactor;
use super::source::{Source, Surroundings};
use super::template::Part;
use crate::approval::Approval;
use crate::command::{Launch, Question, Remote, Text};
use crate::error::AskError;
use crate::id::{AnswerId, ServerName};
use crate::input::Listed;

/// How many definitions of one server are remembered: the present one, and those that attempts
/// under way were begun with.
const REMEMBERED: usize = 8;

/// Files, approvals, questions and launches without the secrets in them.
#[derive(Clone, Debug)]
pub struct Disguise {
    redactor: Redactor,
    environment: Environment,
    project: String,
    home: Option<String>,
    unresolved: Unresolved,
    empty: Empty,
    /// Definitions as they are and as they are redacted, the newest last.
    definitions: BTreeMap<ServerName, Vec<(Definition, Definition)>>,
    approvals: BTreeMap<Approval, Approval>,
    /// Command lines as they are and as they are redacted.
    lines: BTreeMap<String, String>,
    /// What is asked of people as it is and as it is redacted.
    inputs: BTreeMap<Question, Question>,
    asked: BTreeMap<AnswerId, (Question, Question)>,
    failed: BTreeMap<Question, AskError>,
    /// The files that files led to, by their paths.
    further: BTreeMap<String, Source>,
}

impl Disguise {
    /// What was recorded so far: nothing. The machine reads files in these surroundings and
    /// follows these rules.
    #[must_use]
    pub fn new(around: Surroundings<'_>, unresolved: Unresolved, empty: Empty) -> Self {
        Self {
            redactor: Redactor::around(around),
            environment: around.environment.clone(),
            project: around.project.into(),
            home: around.home.map(String::from),
            unresolved,
            empty,
            definitions: BTreeMap::new(),
            approvals: BTreeMap::new(),
            lines: BTreeMap::new(),
            inputs: BTreeMap::new(),
            asked: BTreeMap::new(),
            failed: BTreeMap::new(),
            further: BTreeMap::new(),
        }
    }

    /// Whose file it is that another one led to.
    #[must_use]
    pub fn source(&self, path: &str) -> Option<&Source> {
        self.further.get(path)
    }

    /// A folder was listed: whose files are in it is remembered.
    pub fn folder(&mut self, source: &Source, listed: &Listed) {
        self.lead(folder::read(source, listed).further);
    }

    fn lead(&mut self, further: Vec<Source>) {
        self.further.extend(further.into_iter().map(|source| (source.path.clone(), source)));
    }

    /// A file that really is at `origin`, without its secrets: the same lines with the same
    /// meaning.
    pub fn file(&mut self, source: &Source, origin: Option<&str>, bytes: &[u8]) -> Vec<u8> {
        let redacted = self.redactor.file(source, bytes);
        let around = Surroundings {
            environment: &self.environment,
            project: &self.project,
            home: self.home.as_deref(),
        };
        let [real, shown] =
            [bytes, &redacted].map(|bytes| read_in(source, bytes, around).at(origin));
        self.lead(real.further);
        for (real, shown) in real.definitions.into_iter().zip(shown.definitions) {
            self.approvals.insert(real.approval(), shown.approval());
            self.lines.extend(lines(&real).into_iter().zip(lines(&shown)));
            self.inputs.extend(inputs(&real).zip(inputs(&shown)));
            let known = self.definitions.entry(real.name.clone()).or_default();
            known.retain(|(before, _)| *before != real);
            known.push((real, shown));
            if known.len() > REMEMBERED {
                known.remove(0);
            }
        }
        redacted
    }

    /// The approvals of redacted definitions in the place of those of the real ones. What is
    /// approved elsewhere is nobody's business and left out.
    #[must_use]
    pub fn approvals(&self, approved: &BTreeSet<Approval>) -> BTreeSet<Approval> {
        approved.iter().filter_map(|approval| self.approvals.get(approval)).copied().collect()
    }

    /// A question without the secrets in it.
    pub fn ask(&mut self, ask: AnswerId, what: &Question) -> Question {
        let shown = match what {
            Question::Shell { line } => {
                Question::Shell { line: self.lines.get(line).cloned().unwrap_or_default() }
            }
            input @ Question::Input { .. } => self.inputs.get(input).unwrap_or(input).clone(),
        };
        self.failed.remove(what);
        self.failed.remove(&shown);
        self.asked.insert(ask, (what.clone(), shown.clone()));
        shown
    }

    /// What was asked is known, or cannot be found out.
    pub fn answered(&mut self, ask: AnswerId, result: &Result<(), AskError>) {
        if let Err(error) = result
            && let Some((what, shown)) = self.asked.remove(&ask)
        {
            self.failed.insert(what, error.clone());
            self.failed.insert(shown, error.clone());
        }
    }

    /// A launch without its secrets: the one that the redacted file leads to.
    #[must_use]
    pub fn launch(&self, server: &ServerName, launch: &Launch) -> Launch {
        let fill = |definition: &Definition, filling: &Filling<'_>| {
            definition.launch(filling)?.ok().map(|(launch, _)| launch)
        };
        // Nothing is better than a secret: a replay tells them apart here.
        self.shown(server, launch, fill)
            .unwrap_or_else(|| Launch { command: Text::from("<hidden>"), ..hidden(launch) })
    }

    /// Where a remote server is, without the secrets in it: where the redacted file says.
    #[must_use]
    pub fn remote(&self, server: &ServerName, remote: &Remote) -> Remote {
        let fill = |definition: &Definition, filling: &Filling<'_>| {
            let (place, _) = definition.remote(filling)?.ok()?;
            Some(Remote { connect_ms: remote.connect_ms, ..place })
        };
        self.shown(server, remote, fill).unwrap_or_else(|| {
            let names = remote.headers.keys().map(|name| (name.clone(), Text::default()));
            Remote { url: Text::from("<hidden>"), headers: names.collect(), ..*remote }
        })
    }

    /// What the redacted form of the definition leads to that leads to `real`.
    fn shown<T: PartialEq>(
        &self,
        server: &ServerName,
        real: &T,
        fill: impl Fn(&Definition, &Filling<'_>) -> Option<T>,
    ) -> Option<T> {
        let answer = |what: &Question| {
            let asked = self.asked.iter().find(|(_, (real, shown))| what == real || what == shown);
            let failed = || self.failed.get(what).cloned().unwrap_or(AskError::NobodyToAsk);
            asked.map(|(ask, _)| *ask).ok_or_else(failed)
        };
        let filling = Filling {
            environment: &self.environment,
            unresolved: self.unresolved,
            empty: self.empty,
            answer: &answer,
        };
        let known = self.definitions.get(server).into_iter().flatten().rev();
        let mut shown = known.filter_map(|(own, shown)| {
            (fill(own, &filling)? == *real).then(|| fill(shown, &filling)).flatten()
        });
        shown.next()
    }
}

fn hidden(launch: &Launch) -> Launch {
    let names = launch.env.keys().map(|name| (name.clone(), Text::default()));
    Launch { env: names.collect(), ..Launch::default() }
}

/// What is asked of people, in the order of the ids.
fn inputs(definition: &Definition) -> impl Iterator<Item = Question> {
    let asked = definition.questions().into_iter();
    asked.filter(|what| matches!(what, Question::Input { .. }))
}

fn lines(definition: &Definition) -> Vec<String> {
    let parts = definition.texts().flat_map(|(role, text)| definition.template(text, role).parts);
    let line = |part| if let Part::Command { line, .. } = part { Some(line) } else { None };
    parts.filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G67: a remote server's address and headers are recorded as its redacted file says.
    #[test]
    fn a_remote_server_is_recorded_without_its_secrets() {
        let environment = Environment::default();
        let around = Surroundings { environment: &environment, project: "/p", home: None };
        let (unresolved, empty) = (Unresolved::LeaveOut, Empty::Keep);
        let mut disguise = Disguise::new(around, unresolved, empty);
        let file = br#"{"mcpServers": {"far": {"url": "https://far.example/m?api_key=sesame-9f",
            "headers": {"Authorization": "Bearer hunter2-7c31"}}}}"#;
        let source = Source::inline("", "");
        let shown = disguise.file(&source, None, file);
        let filling = Filling {
            environment: &environment,
            unresolved,
            empty,
            answer: &|_| Err(AskError::NobodyToAsk),
        };
        let far = |bytes: &[u8]| {
            let definition = read_in(&source, bytes, around).definitions.pop().unwrap();
            let (place, _) = definition.remote(&filling).unwrap().unwrap();
            Remote { connect_ms: 7, ..place }
        };
        let name = ServerName::new("far");
        let recorded = disguise.remote(&name, &far(file));
        assert_eq!(recorded, far(&shown));
        let unknown = Remote { url: Text::from("https://else.example/hunter2"), ..far(file) };
        let text = alloc::format!("{recorded:?}{:?}", disguise.remote(&name, &unknown));
        assert!(!text.contains("hunter2") && !text.contains("sesame"), "{text}");
        assert!(text.contains("Authorization"), "{text}");
    }
}
