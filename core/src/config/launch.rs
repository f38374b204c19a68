//! A definition, and what is known by name → what the driver is asked to run.
//!
//! Floor 2. May import floors 0 and 1. Pure, and one pass: what stands for a placeholder is
//! never looked at again (G61). Values are not known here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::definition::{Auth, Definition, Remote, Stdio, Transport};
use super::environment::{Environment, Setting};
use super::inputs::Input;
use super::template::{Part, Role, Template};
use crate::command::{Fill, Launch, Question, Remote as Place, Text};
use crate::error::{AskError, Missing};
use crate::id::AnswerId;

/// What becomes of a value with something in it that is missing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unresolved {
    /// A variable for the server is left out, and a server that needs it in its command, its
    /// arguments or its directory is not started (default).
    LeaveOut,
    /// A placeholder without a value is passed on as it is written (documented). What a command
    /// or a person was to give is left out all the same.
    AsWritten,
}

/// What becomes of a variable for the server whose value is empty.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Empty {
    /// It is set to nothing (default).
    Keep,
    /// It is left out, so that the server has the host's if there is one (documented).
    LeaveOut,
}

/// What a definition is filled in with.
pub struct Filling<'a> {
    /// Which variables the host has.
    pub environment: &'a Environment,
    /// What becomes of what is missing.
    pub unresolved: Unresolved,
    /// What becomes of what is empty.
    pub empty: Empty,
    /// What came of a question.
    pub answer: &'a dyn Fn(&Question) -> Result<AnswerId, AskError>,
}

/// A field of a definition in which something is missing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Gap {
    /// Where: `command`, `args.1`, `env.TOKEN`.
    pub field: String,
    /// What.
    pub missing: Missing,
}

impl Definition {
    /// Everything that has to be found out before it can be filled in.
    #[must_use]
    pub fn questions(&self) -> BTreeSet<Question> {
        let parts = self.texts().flat_map(|(role, text)| self.template(text, role).parts);
        parts.filter_map(|part| self.question(&part)).collect()
    }

    /// What the driver is asked to run for a stdio server, and what had to be left out of its
    /// environment; `None` for any other server.
    ///
    /// # Errors
    /// What is missing in a field that it cannot do without.
    pub fn launch(&self, filling: &Filling<'_>) -> Option<Result<(Launch, Vec<Gap>), Gap>> {
        let Ok(Transport::Stdio(stdio)) = &self.transport else { return None };
        Some(self.fill(stdio, filling))
    }

    /// Where the driver is to find a remote server, and what had to be left out of its headers;
    /// `None` for any other server. How long a connection may take is not said.
    ///
    /// # Errors
    /// What is missing in its address.
    pub fn remote(&self, filling: &Filling<'_>) -> Option<Result<(Place, Vec<Gap>), Gap>> {
        let Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) =
            &self.transport
        else {
            return None;
        };
        let url = match self.text(&remote.url, Role::Word, filling) {
            Ok(url) => url,
            Err(missing) => return Some(Err(Gap { field: "url".into(), missing })),
        };
        let (headers, gaps) = self.headers(remote, filling);
        Some(Ok((Place { url, headers, connect_ms: 0 }, gaps)))
    }

    fn headers(
        &self,
        remote: &Remote,
        filling: &Filling<'_>,
    ) -> (BTreeMap<String, Text>, Vec<Gap>) {
        let (mut headers, mut gaps) = (BTreeMap::new(), Vec::new());
        for (name, value) in &remote.headers {
            match self.text(value, Role::Header, filling) {
                Ok(text) if filling.empty == Empty::LeaveOut && filling.is_empty(&text) => {}
                Ok(text) => drop(headers.insert(name.clone(), text)),
                Err(missing) => gaps.push(Gap { field: format!("headers.{name}"), missing }),
            }
        }
        let own = remote.headers_env.iter().map(|(name, variable)| (name.as_str(), "", variable));
        let bearer = match &self.auth {
            Some(Auth::BearerEnv { var }) => Some(("Authorization", "Bearer ", var)),
            Some(Auth::None | Auth::Oauth(_) | Auth::Apikey) | None => None,
        };
        for (name, before, variable) in own.chain(bearer) {
            if headers.keys().any(|own: &String| own.eq_ignore_ascii_case(name)) {
                continue;
            }
            if filling.environment.is_filled(variable) {
                let value = [Fill::Plain(before.into()), Fill::Variable(variable.clone())];
                headers.insert(name.into(), value.into_iter().collect());
            } else {
                let missing = Missing::Variable { name: variable.clone() };
                gaps.push(Gap { field: format!("headers.{name}"), missing });
            }
        }
        (headers, gaps)
    }

    fn fill(&self, stdio: &Stdio, filling: &Filling<'_>) -> Result<(Launch, Vec<Gap>), Gap> {
        let word = |field: &str, text: &str| {
            let filled = self.text(text, Role::Word, filling);
            filled.map_err(|missing| Gap { field: field.into(), missing })
        };
        let optional = |field: &str, text: &Option<String>| {
            text.as_ref().map(|text| word(field, text)).transpose()
        };
        let args = stdio.args.iter().enumerate();
        let args = args.map(|(at, arg)| {
            let filled = self.argument(arg, stdio, filling);
            filled.map_err(|missing| Gap { field: format!("args.{at}"), missing })
        });
        let (env, gaps) = self.env(stdio, filling);
        let launch = Launch {
            command: word("command", &stdio.command)?,
            args: args.collect::<Result<_, Gap>>()?,
            env,
            env_unset: stdio.env_unset.clone(),
            env_file: optional("env_file", &stdio.env_file)?,
            cwd: optional("cwd", &stdio.cwd)?,
        };
        Ok((launch, gaps))
    }

    fn env(&self, stdio: &Stdio, filling: &Filling<'_>) -> (BTreeMap<String, Text>, Vec<Gap>) {
        let inherited = stdio.env_inherit.iter().filter(|name| filling.environment.is_set(name));
        let own = |name: &String| [Fill::Variable(name.clone())].into_iter().collect();
        let mut env: BTreeMap<String, Text> =
            inherited.map(|name| (name.clone(), own(name))).collect();
        let mut gaps = Vec::new();
        for (name, value) in &stdio.env {
            match self.text(value, Role::Env, filling) {
                Ok(text) if filling.empty == Empty::LeaveOut && filling.is_empty(&text) => {}
                Ok(text) => drop(env.insert(name.clone(), text)),
                Err(missing) => gaps.push(Gap { field: format!("env.{name}"), missing }),
            }
        }
        (env, gaps)
    }

    /// As [`text`](Self::text); but what the host does not have and the entry sets for its server
    /// is for the server to fill in: `"args": ["--header", "A:${A}"], "env": {"A": "b"}`.
    fn argument(&self, text: &str, stdio: &Stdio, filling: &Filling<'_>) -> Result<Text, Missing> {
        let Template { parts } = self.template(text, Role::Word);
        let fill = |part: &Part| {
            if let Part::Variable { name, default: None, written } = part
                && !filling.environment.is_set(name)
                && stdio.env.contains_key(name)
            {
                return Ok(Fill::Plain(written.clone()));
            }
            self.part(part, filling)
        };
        parts.iter().map(fill).collect()
    }

    fn text(&self, text: &str, role: Role, filling: &Filling<'_>) -> Result<Text, Missing> {
        let Template { parts } = self.template(text, role);
        parts.iter().map(|part| self.part(part, filling)).collect()
    }

    fn part(&self, part: &Part, filling: &Filling<'_>) -> Result<Fill, Missing> {
        let keeps = filling.unresolved == Unresolved::AsWritten;
        let missing = |missing| {
            if keeps { Ok(Fill::Plain(part.written().to_string())) } else { Err(missing) }
        };
        match part {
            Part::Text(text) => Ok(Fill::Plain(text.clone())),
            Part::Variable { name, .. } if filling.environment.is_set(name) => {
                Ok(Fill::Variable(name.clone()))
            }
            Part::Variable { default: Some(default), .. } => Ok(Fill::Plain(default.clone())),
            Part::Variable { name, .. } => missing(Missing::Variable { name: name.clone() }),
            Part::Named(name) if filling.environment.is_filled(name) => {
                Ok(Fill::Variable(name.clone()))
            }
            Part::Named(name) => Ok(Fill::Plain(name.clone())),
            Part::File { .. } | Part::Foreign { .. } => missing(Missing::Foreign),
            Part::Input { id, .. } => {
                self.answer(part, filling).map_err(|error| Missing::Input { id: id.clone(), error })
            }
            Part::Command { .. } => {
                self.answer(part, filling).map_err(|error| Missing::Output { error })
            }
        }
    }

    fn answer(&self, part: &Part, filling: &Filling<'_>) -> Result<Fill, AskError> {
        let question = self.question(part).ok_or(AskError::NobodyToAsk)?;
        (filling.answer)(&question).map(Fill::Answer)
    }

    fn question(&self, part: &Part) -> Option<Question> {
        match part {
            Part::Command { line, .. } => Some(Question::Shell { line: line.clone() }),
            Part::Input { id, .. } => {
                // What is not known to be harmless is not shown.
                let unknown = || Input { password: true, ..Input::default() };
                let Input { description, password, default, options } =
                    self.inputs.get(id).cloned().unwrap_or_else(unknown);
                let (file, id) = (self.source.path.clone(), id.clone());
                Some(Question::Input { file, id, description, password, default, options })
            }
            Part::Text(_)
            | Part::Variable { .. }
            | Part::Named(_)
            | Part::File { .. }
            | Part::Foreign { .. } => None,
        }
    }
}

impl Filling<'_> {
    /// Whether a text comes out empty, as far as the names tell: an answer never is.
    fn is_empty(&self, text: &Text) -> bool {
        text.fills().iter().all(|fill| match fill {
            Fill::Plain(text) => text.is_empty(),
            Fill::Variable(name) => self.environment.setting(name) != Some(Setting::Filled),
            Fill::Answer(_) => false,
        })
    }
}
