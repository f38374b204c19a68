//! What an entry says about how its server is reached.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::definition::Remote;
use super::entry::Found;
use super::field::Fields;
use super::format::dialect::{AddressAlone, Ease, Field};
use super::syntax::{Member, Value};
use super::validate::{Address, Fault, address, validate};
use super::words;
use crate::error::Category;

/// How a server is reached.
pub(super) enum Endpoint {
    /// A process.
    Process {
        command: String,
        /// What a `command` that is a list or a line has after its first item.
        words: Vec<String>,
    },
    /// An address, and nothing known yet but that.
    Address { remote: Remote, spoken: Spoken },
}

/// What is spoken at an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spoken {
    Http,
    Sse,
    Auto,
}

/// What an entry calls its transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Stdio,
    Remote(Spoken),
}

impl Kind {
    fn named(written: &str) -> Option<Self> {
        Some(match written.to_ascii_lowercase().as_str() {
            "stdio" | "local" => Self::Stdio,
            "http" | "streamable-http" | "streamablehttp" | "streamable_http" => {
                Self::Remote(Spoken::Http)
            }
            "sse" => Self::Remote(Spoken::Sse),
            "remote" => Self::Remote(Spoken::Auto),
            _ => return None,
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Remote(Spoken::Http) => "http",
            Self::Remote(Spoken::Sse) => "sse",
            Self::Remote(Spoken::Auto) => "remote",
        }
    }
}

/// The endpoints of an entry, as far as they could be read.
#[derive(Default)]
struct Endpoints {
    command: String,
    words: Vec<String>,
    url: String,
    /// The key the address was given by, and its line.
    url_at: (String, u32),
}

/// What is wrong, and where.
struct Wrong {
    line: u32,
    key: String,
    faults: Vec<Fault>,
}

/// Reads the transport and its endpoint; `Err` with every message of the validation.
pub(super) fn read(found: &Found<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Endpoint, String> {
    judged(found, fields).map_err(|wrong| {
        let messages: Vec<String> =
            wrong.faults.iter().map(|fault| fault.message.clone()).collect();
        for fault in wrong.faults {
            fields.error(wrong.line, &wrong.key, fault.category, fault.message);
        }
        messages.join("; ")
    })
}

fn judged(found: &Found<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Endpoint, Wrong> {
    let name = fields.server.as_str();
    let kind_member = found.first(Field::Kind);
    let written = match kind_member.map(|member| (member, &member.node.value)) {
        None => None,
        Some((_, Value::Text(text))) => Some(text.to_string()),
        Some((member, value)) => {
            let (key, noun) = (member.key.to_string(), value.noun());
            let message = format!("Server \"{name}\": \"{key}\" should be text and is {noun}");
            let fault = Fault { category: Category::UnknownTransport, message };
            return Err(Wrong { line: member.line, key, faults: Vec::from([fault]) });
        }
    };
    let mut ends = endpoints(found, fields)?;
    let kind = written.as_deref().and_then(Kind::named);
    if let Some(kind) = kind {
        drop_superfluous(kind, &mut ends, found.line, fields);
    }
    let alone = ends.command.is_empty() && !ends.url.is_empty();
    let implied = if alone && written.is_none() { Some(implied(&ends, found)) } else { None };
    let word = match (kind, &written) {
        (Some(kind), _) => Some(kind.word()),
        (None, Some(written)) => Some(written.as_str()),
        (None, None) => implied.map(|spoken| Kind::Remote(spoken).word()),
    };
    let faults = validate(name, word, &ends.command, &ends.url);
    if !faults.is_empty() {
        let (line, key) = kind_member.map_or_else(
            || (found.line, "type".into()),
            |member| (member.line, member.key.to_string()),
        );
        return Err(Wrong { line, key, faults });
    }
    let spoken = match kind {
        Some(Kind::Remote(spoken)) => Some(spoken),
        Some(Kind::Stdio) => None,
        None => implied,
    };
    let Some(spoken) = spoken else {
        return Ok(Endpoint::Process { command: ends.command, words: ends.words });
    };
    let (key, line) = ends.url_at;
    if let Some(fault) = verdict(&ends.url, found, line, &key, fields) {
        return Err(Wrong { line, key, faults: Vec::from([fault]) });
    }
    let refused = found.dialect.address == AddressAlone::AutoThoughRefused;
    if implied.is_some() && refused && key != "httpUrl" {
        let message = "there is no \"type\", which the tool itself requires; streamable HTTP is \
                       tried first, then SSE";
        fields.warning(line, &key, Category::ImpliedTransport, message.into());
    }
    Ok(Endpoint::Address { remote: Remote { url: ends.url, ..Remote::default() }, spoken })
}

/// What is spoken at an address without a type.
fn implied(ends: &Endpoints, found: &Found<'_, '_>) -> Spoken {
    match found.dialect.address {
        _ if ends.url_at.0 == "httpUrl" => Spoken::Http,
        AddressAlone::Http => Spoken::Http,
        AddressAlone::Sse => Spoken::Sse,
        AddressAlone::Auto | AddressAlone::AutoThoughRefused => Spoken::Auto,
    }
}

/// An address that cannot be used, or a warning about one that can.
fn verdict(
    url: &str,
    found: &Found<'_, '_>,
    line: u32,
    key: &str,
    fields: &mut Fields<'_, '_>,
) -> Option<Fault> {
    let server = fields.server;
    let (category, message) = match address(&found.dialect.variables.veiled(url)) {
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

/// Reads the command and the address; `Err` if one of them is no text.
fn endpoints(found: &Found<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Endpoints, Wrong> {
    let server = fields.server;
    let mut ends = Endpoints::default();
    let wrong = |member: &Member<'_>| {
        let (key, noun) = (member.key.to_string(), member.node.value.noun());
        let message = format!("Server \"{server}\": \"{key}\" should be text and is {noun}");
        let fault = Fault { category: Category::InvalidField, message };
        Err(Wrong { line: member.line, key, faults: Vec::from([fault]) })
    };
    if let Some(member) = found.first(Field::Command) {
        match &member.node.value {
            Value::Text(text) if fields.ease == Ease::CommandLine => {
                let without_args = found.first(Field::Args).is_none();
                let mut split = words::split(text).into_iter().map(|word| word.text);
                if without_args {
                    ends.command = split.next().unwrap_or_default();
                    ends.words = split.collect();
                } else {
                    ends.command = text.to_string();
                }
            }
            Value::Text(text) => ends.command = text.to_string(),
            Value::List(items) => {
                let mut words = fields.items(items, &member.key).into_iter();
                ends.command = words.next().unwrap_or_default();
                ends.words = words.collect();
                let usual = matches!(fields.ease, Ease::CommandList | Ease::CommandLine);
                if !ends.command.is_empty() && !usual {
                    let message = "\"command\" is a list; its first item is read as the command \
                                   and the others as arguments";
                    let category = Category::CoercedValue;
                    fields.warning(member.node.line, "command", category, message.into());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
                return wrong(member);
            }
        }
    }
    for member in found.all(Field::Url) {
        let Value::Text(text) = &member.node.value else { return wrong(member) };
        if ends.url.is_empty() {
            (ends.url, ends.url_at) = (text.to_string(), (member.key.to_string(), member.line));
        } else if !text.is_empty() && *text != ends.url {
            let (used, key) = (&ends.url_at.0, &member.key);
            let message = format!("\"{used}\" and \"{key}\" differ; \"{used}\" is used");
            fields.warning(member.line, key, Category::ConflictingEndpoint, message);
        }
    }
    Ok(ends)
}

/// Of two endpoints the one that the transport named in the entry needs stays (F-026).
fn drop_superfluous(kind: Kind, ends: &mut Endpoints, line: u32, fields: &mut Fields<'_, '_>) {
    if ends.command.is_empty() || ends.url.is_empty() {
        return;
    }
    let url = ends.url_at.0.as_str();
    let stdio = kind == Kind::Stdio;
    let (dropped, used) = if stdio { (url, "command") } else { ("command", url) };
    let message = format!(
        "both \"command\" and \"{url}\" are set; the type is {}, so \"{used}\" is used and \
         \"{dropped}\" is ignored",
        kind.word()
    );
    fields.warning(line, dropped, Category::ConflictingEndpoint, message);
    if stdio {
        ends.url.clear();
    } else {
        ends.command.clear();
    }
}
