//! What of an entry's values is to be filled in, and what of that cannot be.
//!
//! Floor 2. May import floors 0 and 1. Only names are looked at; nothing is put anywhere here.

use alloc::format;
use alloc::string::String;

use super::definition::{Definition, Transport};
use super::entry::Found;
use super::environment::Environment;
use super::field::Fields;
use super::format::dialect::Field;
use super::syntax::{Node, Value};
use super::template::{Part, Role, Variables};
use super::variables;
use crate::error::{Category, Severity};

/// Reports every value of an entry that something stands in for which nothing can be put, or for
/// which somebody else has to be asked.
pub(super) fn report(
    definition: &Definition,
    found: &Found<'_, '_>,
    environment: &Environment,
    fields: &mut Fields<'_, '_>,
) {
    let process: &[(Field, Role)] = &[
        (Field::Command, Role::Word),
        (Field::Args, Role::Word),
        (Field::Env, Role::Env),
        (Field::EnvFile, Role::Word),
        (Field::Cwd, Role::Word),
    ];
    let remote: &[(Field, Role)] =
        &[(Field::Url, Role::Word), (Field::Headers, Role::Header), (Field::Bearer, Role::Header)];
    let sign_in: &[(Field, Role)] = &[
        (Field::Auth, Role::Word),
        (Field::Oauth, Role::Word),
        (Field::ClientId, Role::Word),
        (Field::ClientSecret, Role::Word),
    ];
    let used = match &definition.transport {
        Ok(Transport::Stdio(_)) => process,
        Ok(Transport::Http(_) | Transport::Sse(_) | Transport::Auto(_)) => remote,
        Err(_) => return,
    };
    for (field, role) in used.iter().chain(sign_in) {
        for member in found.all(*field) {
            let mut walk = Walk { definition, environment, role: *role, fields: &mut *fields };
            walk.node(&member.node, &member.key);
        }
    }
}

struct Walk<'w, 'r, 'f> {
    definition: &'w Definition,
    environment: &'w Environment,
    role: Role,
    fields: &'w mut Fields<'r, 'f>,
}

impl Walk<'_, '_, '_> {
    fn node(&mut self, node: &Node<'_>, field: &str) {
        match &node.value {
            Value::Text(text) => self.text(text, node.line, field),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.node(item, &format!("{field}.{at}"));
                }
            }
            Value::Map(members) => {
                for member in members {
                    self.node(&member.node, &format!("{field}.{}", member.key));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, line: u32, field: &str) {
        let mut told: alloc::collections::BTreeSet<(Category, String)> = Default::default();
        for part in self.definition.template(text, self.role).parts {
            let Some((severity, category, message)) = self.verdict(&part, field) else { continue };
            if told.insert((category, message.clone())) {
                self.fields.note(severity, line, field, category, message);
            }
        }
    }

    /// Whether an argument's variable is one that the entry itself sets for its server.
    fn is_for_server(&self, name: &str, field: &str) -> bool {
        let Ok(Transport::Stdio(stdio)) = &self.definition.transport else { return false };
        field.starts_with("args.") && stdio.env.contains_key(name)
    }

    /// What is to be said about one part.
    fn verdict(&self, part: &Part, field: &str) -> Option<(Severity, Category, String)> {
        let at = format!("Server \"{}\": \"{field}\"", self.fields.server);
        let empty = self.definition.variables == Variables::Curly;
        Some(match part {
            Part::Variable { name, default: None, written }
                if !self.environment.is_set(name) && self.is_for_server(name, field) =>
            {
                let message =
                    format!("{at} has {written} in it, which is left for the server to fill in");
                (Severity::Info, Category::UnexpandedVariable, message)
            }
            Part::Variable { name, default, .. }
                if !self.environment.is_set(name) && (default.is_none() || empty) =>
            {
                let then = if empty { "nothing stands for it" } else { "it has no default" };
                let message =
                    format!("{at} has the variable {name} in it, which is not set; {then}");
                (Severity::Warning, Category::UnresolvedVariable, message)
            }
            Part::Input { id, .. } => {
                let message = format!("{at} has the input {id:?} in it, which has to be asked for");
                (Severity::Info, Category::NeedsInput, message)
            }
            Part::Command { .. } if self.definition.variables != Variables::Native => {
                let message = format!("{at} is what a command prints, which is run for it");
                (Severity::Warning, Category::NeedsCommand, message)
            }
            Part::Foreign { .. } => {
                let message =
                    format!("{at} has a command of the tool's own shell in it, which is not run");
                (Severity::Warning, Category::NeedsCommand, message)
            }
            Part::File { .. } => {
                let message = format!("{at} has a file in it, which is not read");
                (Severity::Warning, Category::NeedsFile, message)
            }
            Part::Text(text) => {
                let name = *variables::names(text).first()?;
                let message = format!(
                    "{at} has ${{{name}}} in it, which is not expanded but passed on as it stands"
                );
                (Severity::Info, Category::UnexpandedVariable, message)
            }
            Part::Variable { .. } | Part::Named(_) | Part::Command { .. } => return None,
        })
    }
}
