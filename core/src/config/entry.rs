//! One entry of a section → a definition.
//!
//! Floor 2. May import floors 0 and 1. A bad entry never hurts another (F-024, G55): whatever it
//! holds, it becomes a definition that says what is wrong with it, unless it has no usable name.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::auth;
use super::definition::{Definition, Protocol, SourceRef, Stdio, ToolFilter, Transport};
use super::endpoint;
use super::field::Fields;
use super::format::dialect::{Dialect, Ease, Field};
use super::nearest::nearest;
use super::report::{About, Report};
use super::source::{Level, Source, Surroundings};
use super::syntax::{Member, Value, last};
use super::values;
use crate::error::Category;
use crate::id::ServerName;

/// What the entries of one section have in common.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) source: &'a Source,
    pub(super) dialect: &'static Dialect,
    pub(super) surroundings: Surroundings<'a>,
    /// The keys that lead to the section.
    pub(super) section: &'a str,
    pub(super) level: Level,
    /// See [`constants`].
    pub(super) constants: &'a Arc<BTreeMap<String, String>>,
}

/// Reads one entry; `None` if its name cannot be a server's, or if it is no server.
pub(super) fn read(
    entry: &Member<'_>,
    place: Place<'_>,
    report: &mut Report<'_>,
) -> Option<Definition> {
    let server = ServerName::new(&entry.key);
    let section = place.section;
    let prefix =
        if section.is_empty() { server.to_string() } else { format!("{section}.{server}") };
    let about = About { line: Some(entry.line), key: Some(&prefix), server: Some(&server) };
    if entry.key.is_empty() || entry.key.chars().any(char::is_control) {
        let message = format!("{:?} cannot be the name of a server; it is left out", &*entry.key);
        report.error(about, Category::InvalidName, message);
        return None;
    }
    let source = place.source;
    let at = SourceRef {
        provider: source.provider,
        level: place.level,
        path: source.path.clone(),
        line: entry.line,
        origin: None,
    };
    let mut definition = Definition::new(server.clone(), at);
    let Value::Map(members) = &entry.node.value else {
        let noun = entry.node.value.noun();
        let message = format!("Server \"{server}\": the entry should be an object and is {noun}");
        report.error(about, Category::InvalidEntry, message.clone());
        definition.transport = Err(message);
        return Some(definition);
    };
    if (place.dialect.is_foreign)(members) {
        let message = format!("\"{server}\" is an extension of the tool and no MCP server");
        report.info(about, Category::NotMcpProcess, message);
        return None;
    }
    let members = &*flattened(members, place.dialect);
    unknown_fields(members, place.dialect, &prefix, &server, report);
    definition.variables = place.dialect.variables;
    definition.constants = Arc::clone(place.constants);
    definition.overlay = place.dialect.overlays && is_overlay(members, place.dialect);
    // What an overlay lacks is said where nothing is under it.
    let mut unheard = Report::of(report.file);
    let report = if definition.overlay { &mut unheard } else { report };
    let mut fields = Fields { report, server: &server, prefix, ease: place.dialect.ease };
    let found = Found { members, dialect: place.dialect, line: entry.line };
    definition.transport = transport(&found, &mut fields);
    limits(&mut definition, &found, &mut fields);
    definition.auth = auth::read(&found, &mut definition.transport, &mut fields);
    if definition.transport.is_ok() {
        values::report(&definition, &found, place.surroundings.environment, &mut fields);
    }
    Some(definition)
}

/// Whether an entry says nothing but whether the server is on.
fn is_overlay(members: &[Member<'_>], dialect: &Dialect) -> bool {
    let switch = |key: &str| matches!(dialect.field(key), Some(Field::Enabled | Field::Disabled));
    !members.is_empty() && members.iter().all(|member| switch(&member.key))
}

/// The fields of one entry.
#[derive(Clone, Copy)]
pub(super) struct Found<'t, 'a> {
    pub(super) members: &'t [Member<'a>],
    pub(super) dialect: &'static Dialect,
    /// The line of the entry.
    pub(super) line: u32,
}

impl<'t, 'a> Found<'t, 'a> {
    /// The first field that is there under any of its names.
    pub(super) fn first(&self, wanted: Field) -> Option<&'t Member<'a>> {
        self.all(wanted).next()
    }

    /// The field under each of its names, in the order of preference.
    pub(super) fn all(&self, wanted: Field) -> impl Iterator<Item = &'t Member<'a>> + use<'t, 'a> {
        let members = self.members;
        self.dialect.names_of(wanted).filter_map(move |name| last(members, name))
    }
}

/// The members of an entry, with those of its flattened fields among them.
pub(super) fn flattened<'t, 'a>(
    members: &'t [Member<'a>],
    dialect: &Dialect,
) -> Cow<'t, [Member<'a>]> {
    let is_flat = |member: &Member<'_>| {
        dialect.flattened.contains(&&*member.key) && matches!(member.node.value, Value::Map(_))
    };
    if !members.iter().any(is_flat) {
        return Cow::Borrowed(members);
    }
    let mut inner = Vec::new();
    let mut outer = Vec::new();
    for member in members {
        if let (Value::Map(below), true) = (&member.node.value, is_flat(member)) {
            inner.extend(below.iter().cloned());
        } else {
            outer.push(member.clone());
        }
    }
    // The entry's own fields are the last and count.
    inner.append(&mut outer);
    Cow::Owned(inner)
}

/// What stands for the variables of a tool itself in one of its files.
pub(super) fn constants(
    source: &Source,
    dialect: &Dialect,
    surroundings: Surroundings<'_>,
) -> BTreeMap<String, String> {
    let mut constants = source.constants.clone();
    if dialect.variables.has_constants() {
        for (name, text) in surroundings.constants() {
            constants.entry(name).or_insert(text);
        }
    }
    constants
}

fn unknown_fields(
    members: &[Member<'_>],
    dialect: &'static Dialect,
    prefix: &str,
    server: &ServerName,
    report: &mut Report<'_>,
) {
    let is_known = |key: &str| dialect.field(key).is_some() || dialect.silent.contains(&key);
    for member in members.iter().filter(|member| !is_known(&member.key)) {
        let key = format!("{prefix}.{}", member.key);
        let about = About { line: Some(member.line), key: Some(&key), server: Some(server) };
        let names = dialect.names().map(|(name, _)| name);
        report.unread(about, &member.key, nearest(&member.key, names));
    }
}

fn transport(found: &Found<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Transport, String> {
    let end = endpoint::read(found, fields)?;
    match end {
        endpoint::Endpoint::Process { command, words } => {
            let mut args = words;
            let written = found.first(Field::Args);
            args.extend(written.map(|member| fields.texts(member)).unwrap_or_default());
            let env = found.first(Field::Env);
            let names = |fields: &mut Fields<'_, '_>, field| {
                found.first(field).and_then(|member| fields.names(member)).unwrap_or_default()
            };
            Ok(Transport::Stdio(Stdio {
                command,
                args,
                env: env.map(|member| fields.map(member)).unwrap_or_default(),
                env_unset: env.map(|member| unset(member, fields.ease)).unwrap_or_default(),
                env_inherit: names(fields, Field::EnvInherit),
                env_file: found.first(Field::EnvFile).and_then(|member| fields.text(member)),
                cwd: found.first(Field::Cwd).and_then(|member| fields.text(member)),
            }))
        }
        endpoint::Endpoint::Address { mut remote, spoken } => {
            if let Some(member) = found.first(Field::Headers) {
                remote.headers = fields.map(member);
            }
            if let Some(member) = found.first(Field::HeadersEnv) {
                remote.headers_env = fields.map(member);
            }
            if let Some(member) = found.first(Field::EnvInherit) {
                remote.env_inherit = fields.names(member).unwrap_or_default();
            }
            Ok(match spoken {
                endpoint::Spoken::Http => Transport::Http(remote),
                endpoint::Spoken::Sse => Transport::Sse(remote),
                endpoint::Spoken::Auto => Transport::Auto(remote),
            })
        }
    }
}

/// The variables that are there as null, where that means something.
fn unset(member: &Member<'_>, ease: Ease) -> Vec<String> {
    let (Value::Map(members), Ease::EnvValues) = (&member.node.value, ease) else {
        return Vec::new();
    };
    let nulls = members.iter().filter(|each| each.node.value == Value::Null);
    nulls.map(|each| each.key.to_string()).collect()
}

/// Whether it is on, how long it may take and which of its tools are wanted.
fn limits(definition: &mut Definition, found: &Found<'_, '_>, fields: &mut Fields<'_, '_>) {
    let flag = |fields: &mut Fields<'_, '_>, field| {
        found.first(field).and_then(|member| fields.flag(member))
    };
    let enabled = flag(fields, Field::Enabled).unwrap_or(true);
    let disabled = flag(fields, Field::Disabled).unwrap_or(false);
    definition.enabled = enabled && !disabled;
    let mut tools = ToolFilter::default();
    for (name, field) in found.dialect.names() {
        let Some(member) = last(found.members, name) else { continue };
        match field {
            Field::Timeout(unit) => {
                let read = fields.millis(member, unit);
                definition.timeout_ms = definition.timeout_ms.or(read);
            }
            Field::StartupTimeout(unit) => {
                let read = fields.millis(member, unit);
                definition.startup_timeout_ms = definition.startup_timeout_ms.or(read);
            }
            Field::Protocol => definition.protocol = fields.choice(member, &Protocol::NAMES),
            Field::Include => tools.include = fields.names(member),
            Field::IncludeSome => {
                tools.include = fields.names(member).filter(|names| !names.is_empty());
            }
            Field::IncludeOrStar => {
                tools.include = fields.names(member).filter(|names| *names != ["*"]);
            }
            Field::Exclude => tools.exclude = fields.names(member).unwrap_or_default(),
            Field::Approved => {
                definition.auto_approve = fields.names(member).unwrap_or_default();
            }
            Field::Kind
            | Field::Url
            | Field::Command
            | Field::Args
            | Field::Env
            | Field::EnvFile
            | Field::EnvInherit
            | Field::Cwd
            | Field::Headers
            | Field::HeadersEnv
            | Field::Enabled
            | Field::Disabled
            | Field::Auth
            | Field::Oauth
            | Field::ClientId
            | Field::ClientSecret
            | Field::CallbackPort
            | Field::Scopes
            | Field::BearerEnv
            | Field::Bearer
            | Field::RefusedToken
            | Field::HeadersCommand => {}
        }
    }
    definition.tools = tools;
}
