//! One entry of `mcpServers` → a definition.
//!
//! Floor 2. May import floors 0 and 1. A bad entry never hurts another (F-024, G55): whatever it
//! holds, it becomes a definition that says what is wrong with it, unless it has no usable name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::definition::{Definition, Remote, SourceRef, Stdio, Transport};
use super::field::Fields;
use super::jsonc::{Member, Value, last};
use super::nearest::nearest;
use super::report::{About, Report};
use super::source::Source;
use super::validate::{Address, Fault, address, validate};
use super::variables;
use crate::error::Category;
use crate::id::ServerName;

/// Every field that is read. The three for the transport and the three for the address stand in
/// their order of preference.
pub(super) const KNOWN: [&str; 14] = [
    "type",
    "transport",
    "transportType",
    "httpUrl",
    "serverUrl",
    "url",
    "command",
    "args",
    "env",
    "cwd",
    "headers",
    "enabled",
    "disabled",
    "timeout",
];

/// Reads one entry; `None` if its name cannot be a server's.
pub(super) fn read(
    entry: &Member<'_>,
    section: &str,
    source: &Source,
    report: &mut Report<'_>,
) -> Option<Definition> {
    let server = ServerName::new(&entry.key);
    let prefix =
        if section.is_empty() { server.to_string() } else { format!("{section}.{server}") };
    let about = About { line: Some(entry.line), key: Some(&prefix), server: Some(&server) };
    if entry.key.is_empty() || entry.key.chars().any(char::is_control) {
        let message = format!("{:?} cannot be the name of a server; it is left out", &*entry.key);
        report.error(about, Category::InvalidName, message);
        return None;
    }
    let place = SourceRef {
        provider: source.provider,
        level: source.level,
        path: source.path.clone(),
        line: entry.line,
        origin: None,
    };
    let mut definition = Definition::new(server.clone(), place);
    let Value::Map(members) = &entry.node.value else {
        let noun = entry.node.value.noun();
        let message = format!("Server \"{server}\": the entry should be an object and is {noun}");
        report.error(about, Category::InvalidEntry, message.clone());
        definition.transport = Err(message);
        return Some(definition);
    };
    unknown_fields(members, &prefix, &server, report);
    let mut fields = Fields { report, server: &server, prefix };
    definition.transport = transport(members, entry.line, &mut fields);
    if let Ok(transport) = &definition.transport {
        variables::report(members, transport, &fields.prefix, &server, fields.report);
    }
    let flag = |fields: &mut Fields<'_, '_>, key| last(members, key).and_then(|m| fields.flag(m));
    let enabled = flag(&mut fields, "enabled").unwrap_or(true);
    let disabled = flag(&mut fields, "disabled").unwrap_or(false);
    definition.enabled = enabled && !disabled;
    definition.timeout_ms = last(members, "timeout").and_then(|member| fields.millis(member));
    Some(definition)
}

fn unknown_fields(
    members: &[Member<'_>],
    prefix: &str,
    server: &ServerName,
    report: &mut Report<'_>,
) {
    for member in members.iter().filter(|member| !KNOWN.contains(&&*member.key)) {
        let key = format!("{prefix}.{}", member.key);
        let about = About { line: Some(member.line), key: Some(&key), server: Some(server) };
        report.unread(about, &member.key, nearest(&member.key, KNOWN));
    }
}

/// The endpoints of an entry, as far as they could be read.
#[derive(Default)]
struct Endpoints {
    command: String,
    /// What a `command` that is a list has after its first item.
    words: Vec<String>,
    url: String,
    /// The key the address was given by.
    url_key: &'static str,
}

fn transport(
    members: &[Member<'_>],
    line: u32,
    fields: &mut Fields<'_, '_>,
) -> Result<Transport, String> {
    let name = fields.server.clone();
    let refuse = |fields: &mut Fields<'_, '_>, line, key: &str, faults: Vec<Fault>| {
        let messages: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        for fault in faults {
            fields.error(line, key, fault.category, fault.message);
        }
        Err(messages.join("; "))
    };
    let kind_member = KNOWN[..3].iter().find_map(|key| last(members, key));
    let written = match kind_member.map(|member| (member, &member.node.value)) {
        None => None,
        Some((_, Value::Text(text))) => Some(text.to_string()),
        Some((member, value)) => {
            let (key, noun) = (&*member.key, value.noun());
            let message = format!("Server \"{name}\": \"{key}\" should be text and is {noun}");
            let fault = Fault { category: Category::UnknownTransport, message };
            return refuse(fields, member.line, key, Vec::from([fault]));
        }
    };
    let mut ends = match endpoints(members, fields) {
        Ok(ends) => ends,
        Err((line, key, fault)) => return refuse(fields, line, key, Vec::from([fault])),
    };
    let kind = written.as_deref().map(canonical_kind);
    if let Some(kind @ ("stdio" | "http" | "sse")) = kind {
        drop_superfluous(kind, &mut ends, line, fields);
    }
    let implied = if ends.command.is_empty() && !ends.url.is_empty() { Some("http") } else { None };
    let kind = kind.or(implied);
    let faults = validate(name.as_str(), kind, &ends.command, &ends.url);
    if !faults.is_empty() {
        let at = kind_member.map_or((line, "type"), |member| (member.line, &*member.key));
        return refuse(fields, at.0, at.1, faults);
    }
    let read = |fields: &mut Fields<'_, '_>, key| last(members, key).map(|m| fields.map(m));
    match kind {
        None | Some("stdio") => {
            let mut args = ends.words;
            args.extend(last(members, "args").map(|m| fields.texts(m)).unwrap_or_default());
            Ok(Transport::Stdio(Stdio {
                command: ends.command,
                args,
                env: read(fields, "env").unwrap_or_default(),
                cwd: last(members, "cwd").and_then(|member| fields.text(member)),
                ..Stdio::default()
            }))
        }
        Some(kind) => {
            let headers = read(fields, "headers").unwrap_or_default();
            let remote = Remote { url: ends.url, headers, ..Remote::default() };
            let line = last(members, ends.url_key).map_or(line, |member| member.line);
            if let Some(fault) = judged(&remote.url, line, ends.url_key, fields) {
                return refuse(fields, line, ends.url_key, Vec::from([fault]));
            }
            Ok(if kind == "sse" { Transport::Sse(remote) } else { Transport::Http(remote) })
        }
    }
}

/// The documented spelling of a transport, if it has one.
fn canonical_kind(written: &str) -> &str {
    match written.to_ascii_lowercase().as_str() {
        "stdio" | "local" => "stdio",
        "http" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote" => "http",
        "sse" => "sse",
        _ => written,
    }
}

/// An address that cannot be used, or a warning about one that can.
fn judged(url: &str, line: u32, key: &str, fields: &mut Fields<'_, '_>) -> Option<Fault> {
    let server = fields.server;
    let (category, message) = match address(url) {
        Address::Good => return None,
        Address::Insecure => {
            let message =
                "the address is http to another machine: what is sent there can be read by others";
            fields.warning(line, key, Category::InsecureUrl, message.into());
            return None;
        }
        Address::Unsupported => (
            Category::UnsupportedTransport,
            format!("Server \"{server}\": \"{key}\" is for a transport that is not supported"),
        ),
        Address::Invalid => (
            Category::InvalidUrl,
            format!("Server \"{server}\": \"{key}\" is not an http or https address"),
        ),
    };
    Some(Fault { category, message })
}

/// Reads `command` and the address; `Err` with the line, the key and what is wrong if one of
/// them is no text.
fn endpoints(
    members: &[Member<'_>],
    fields: &mut Fields<'_, '_>,
) -> Result<Endpoints, (u32, &'static str, Fault)> {
    let server = fields.server;
    let mut ends = Endpoints { url_key: "url", ..Endpoints::default() };
    let wrong = |member: &Member<'_>, key| {
        let noun = member.node.value.noun();
        let message = format!("Server \"{server}\": \"{key}\" should be text and is {noun}");
        Err((member.line, key, Fault { category: Category::InvalidField, message }))
    };
    if let Some(member) = last(members, "command") {
        match &member.node.value {
            Value::Text(text) => ends.command = text.to_string(),
            Value::List(items) => {
                let mut words = fields.items(items, "command").into_iter();
                ends.command = words.next().unwrap_or_default();
                ends.words = words.collect();
                if !ends.command.is_empty() {
                    let message = "\"command\" is a list; its first item is read as the command \
                                   and the others as arguments";
                    let category = Category::CoercedValue;
                    fields.warning(member.node.line, "command", category, message.into());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
                return wrong(member, "command");
            }
        }
    }
    for key in ["httpUrl", "serverUrl", "url"] {
        let Some(member) = last(members, key) else { continue };
        let Value::Text(text) = &member.node.value else { return wrong(member, key) };
        if ends.url.is_empty() {
            (ends.url, ends.url_key) = (text.to_string(), key);
        } else if !text.is_empty() && *text != ends.url {
            let message =
                format!("\"{}\" and \"{key}\" differ; \"{}\" is used", ends.url_key, ends.url_key);
            fields.warning(member.line, key, Category::ConflictingEndpoint, message);
        }
    }
    Ok(ends)
}

/// Of two endpoints the one that the transport named in the entry needs stays (F-026).
fn drop_superfluous(kind: &str, ends: &mut Endpoints, line: u32, fields: &mut Fields<'_, '_>) {
    if ends.command.is_empty() || ends.url.is_empty() {
        return;
    }
    let url = ends.url_key;
    let (dropped, used) = if kind == "stdio" { (url, "command") } else { ("command", url) };
    let message = format!(
        "both \"command\" and \"{url}\" are set; the type is {kind}, so \"{used}\" is used and \
         \"{dropped}\" is ignored"
    );
    fields.warning(line, dropped, Category::ConflictingEndpoint, message);
    if kind == "stdio" {
        ends.url.clear();
    } else {
        ends.command.clear();
    }
}
