//! `add`: a server more in one of our files.

use serde_json::{Map, Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::edit::Edit;
use tidegate_core::config::{Level, Source};
use tidegate_smol::checkup;

use super::files::Files;
use super::{Changed, word};
use crate::args::{AddArgs, Global};
use crate::exit::{Exit, Trouble};
use crate::output::{self, json, visible};

/// Adds a server.
///
/// # Errors
/// If the flags make no server, the file has one of that name, or it cannot be written.
pub(crate) fn run(global: &Global, args: &AddArgs) -> Result<Exit, Trouble> {
    let level = scope(args.scope.as_deref())?.unwrap_or(Level::Project);
    let entry = entry(args)?;
    let mut files = Files::read(global)?;
    let source = files.of_scope(level)?;
    let change = Edit::Add { name: args.name.clone(), entry: Json::new(entry) };
    files.edit(&source, &change).map_err(|trouble| trouble.failed("add"))?;
    let mut notes = Vec::new();
    match shadowed(&files, &args.name, &source) {
        Some(note) => notes.push(note),
        None => {
            notes.extend(files.approve(&args.name).err());
            notes.extend(warnings(&files, &args.name));
        }
    }
    let told = if global.json {
        json::line(&Changed::new(&args.name, vec![&source.path], &notes.join("; ")))?
    } else {
        let place = place(&files, &source);
        let mut told = format!("✓ Added server \"{}\" to {place}\n", args.name);
        for note in notes {
            told.push_str(&format!("  {note}\n"));
        }
        told
    };
    output::data(&told)?;
    Ok(Exit::Done)
}

/// What its user should know about a server that was just added.
fn warnings(files: &Files, name: &str) -> Vec<String> {
    let Some(definition) = files.effective(name) else { return Vec::new() };
    let mut told = Vec::new();
    if let Some(fault) = checkup::fault(&files.places.cwd, definition) {
        told.push(format!("warning: {}", visible::one_line(&fault.to_string())));
    }
    if definition.source.level == Level::Project && definition.has_plain_secret() {
        told.push(
            "warning: what looks like a secret is in a file of the project; write ${NAME} and set \
             that variable, or use --scope user"
                .to_owned(),
        );
    }
    told
}

/// What `--scope` says.
///
/// # Errors
/// If it says neither of the two.
pub(super) fn scope(written: Option<&str>) -> Result<Option<Level>, Trouble> {
    match written {
        None => Ok(None),
        Some("project") => Ok(Some(Level::Project)),
        Some("user") => Ok(Some(Level::User)),
        Some(_) => Err(usage("Invalid --scope value. Use project or user.")),
    }
}

fn usage(words: &str) -> Trouble {
    Trouble::Usage(words.into())
}

/// `project config (.tidegate/mcp.json)`.
pub(super) fn place(files: &Files, source: &Source) -> String {
    let path = files.short.short(&source.path);
    match word(source.level) {
        Some(word) => format!("{word} config ({path})"),
        None => path,
    }
}

/// That another definition of the name is used, if one is (G58).
pub(super) fn shadowed(files: &Files, name: &str, source: &Source) -> Option<String> {
    let effective = files.effective(name).filter(|it| it.source.path != source.path)?;
    let at = files.at(effective);
    Some(format!("\"{name}\" is defined in {at} too, and that definition is used"))
}

/// The entry that the flags describe, in the order people write one.
fn entry(args: &AddArgs) -> Result<String, Trouble> {
    let is_remote = args.url.is_some();
    match (&args.url, &args.command[..]) {
        (Some(_), [_, ..]) => {
            return Err(usage("Use either --url or -- <command...>, not both."));
        }
        (None, []) => return Err(usage("Use either --url or -- <command...>.")),
        _ => {}
    }
    for (given, words) in [
        (args.token.is_some(), "--token requires --url (HTTP/SSE transport)."),
        (args.transport.is_some(), "--transport requires --url."),
        (!args.header.is_empty(), "--header requires --url."),
    ] {
        if given && !is_remote {
            return Err(usage(words));
        }
    }
    if is_remote && !args.env.is_empty() {
        return Err(usage("--env requires -- <command...>."));
    }
    let fields = if is_remote { remote(args)? } else { stdio(args)? };
    let members: Vec<String> =
        fields.into_iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
    Ok(format!("{{{}}}", members.join(",")))
}

/// The fields of an entry in their order.
type Fields = Vec<(&'static str, Value)>;

fn stdio(args: &AddArgs) -> Result<Fields, Trouble> {
    let [command, rest @ ..] = &args.command[..] else { return Ok(Vec::new()) };
    let mut fields = vec![("type", json!("stdio")), ("command", json!(command))];
    if !rest.is_empty() {
        fields.push(("args", json!(rest)));
    }
    if !args.env.is_empty() {
        let env = pairs(&args.env, &['='], "Invalid --env value. Use NAME=VALUE.")?;
        fields.push(("env", Value::Object(env)));
    }
    Ok(fields)
}

fn remote(args: &AddArgs) -> Result<Fields, Trouble> {
    let kind = match args.transport.as_deref() {
        None | Some("http") => "http",
        Some("sse") => "sse",
        Some(_) => return Err(usage("Invalid --transport value. Use http or sse.")),
    };
    let url = args.url.as_deref().unwrap_or_default();
    let lower = url.to_ascii_lowercase();
    // What a variable starts with is its own affair.
    let whole = ["http://", "https://", "${"].iter().any(|start| lower.starts_with(start));
    if !whole && url.contains(":/") {
        return Err(usage("Invalid --url value. Use an address with http:// or https://."));
    }
    let url = if whole { url.to_owned() } else { format!("https://{url}") };
    let mut fields = vec![("type", json!(kind)), ("url", json!(url))];
    let mut headers = pairs(
        &args.header,
        &['=', ':'],
        "Invalid --header value. Use NAME=VALUE or 'NAME: VALUE'.",
    )?;
    if let Some(token) = &args.token {
        headers.insert("Authorization".into(), json!(format!("Bearer {token}")));
    }
    if !headers.is_empty() {
        fields.push(("headers", Value::Object(headers)));
    }
    Ok(fields)
}

/// `NAME=VALUE` as an object, by the first of the separators; the value is never told.
fn pairs(
    written: &[String],
    separators: &[char],
    refusal: &str,
) -> Result<Map<String, Value>, Trouble> {
    let mut map = Map::new();
    for pair in written {
        let Some((name, value)) = pair.split_once(separators).filter(|(name, _)| !name.is_empty())
        else {
            return Err(usage(refusal));
        };
        let colon = pair.as_bytes().get(name.len()) == Some(&b':');
        let value = if colon { value.trim_start() } else { value };
        map.insert(name.to_owned(), json!(value));
    }
    Ok(map)
}
