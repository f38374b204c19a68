//! `initialize`: what we say about ourselves and what the server says about itself.
//!
//! Floor 1. May import floor 0.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Shape;
use crate::error::RpcError;
use crate::wire::dialect::Revision;
use crate::wire::json::{self, JsonError, Kind, NESTING_MAX, Scanner};

/// What a server says about itself.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Initialized {
    /// The revision that is spoken with it: the one it chose, as it spells it, or the one that
    /// was chosen of those it offered.
    pub revision: String,
    /// Whether it has tools.
    pub tools: bool,
    /// Whether it tells when its tools change.
    pub tools_list_changed: bool,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it tells when its resources change.
    pub resources_list_changed: bool,
    /// Whether one can subscribe to its resources.
    pub resources_subscribe: bool,
    /// Whether it has prompts.
    pub prompts: bool,
    /// Whether it tells when its prompts change.
    pub prompts_list_changed: bool,
    /// Whether it says what arguments could be.
    pub completions: bool,
    /// Whether it can send log entries.
    pub logging: bool,
    /// Its name and version, as `name version`, if it gave them.
    pub server_info: Option<String>,
    /// What it wants the model to know.
    pub instructions: Option<String>,
}

/// The parameters of `initialize`; `capabilities` is what
/// [`capabilities`](super::capabilities()) makes.
#[must_use]
pub fn initialize_params(
    revision: Revision,
    capabilities: &str,
    client_name: &str,
    client_version: &str,
) -> String {
    let mut params = format!(
        "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{capabilities},\
         \"clientInfo\":{{\"name\":"
    );
    json::push_quoted(&mut params, client_name);
    params.push_str(",\"version\":");
    json::push_quoted(&mut params, client_version);
    params.push_str("}}");
    params
}

/// Reads the result of `initialize`.
///
/// # Errors
/// If it is not an object with a text for `protocolVersion`. Whatever else is missing or of
/// another type counts as not said.
pub fn read_initialize(result: &str) -> Result<Initialized, Shape> {
    let mut scanner = Scanner::new(result, NESTING_MAX);
    let kind = scanner.kind()?;
    let Some(mut object) = scanner.object()? else {
        return Err(Shape::wrong("the result", kind, Kind::Object));
    };
    let mut server = Initialized::default();
    let mut revision = None;
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "protocolVersion" => {
                let kind = scanner.kind()?;
                revision = scanner.string()?;
                if revision.is_none() {
                    return Err(Shape::wrong("protocolVersion", kind, Kind::String));
                }
            }
            "capabilities" => drop(read_capabilities(&mut scanner, &mut server)?),
            "serverInfo" => server.server_info = read_info(&mut scanner)?,
            "instructions" => server.instructions = scanner.string()?.map(Into::into),
            _ => {}
        }
    }
    scanner.end()?;
    server.revision = revision.ok_or_else(|| Shape::missing("protocolVersion"))?.into_owned();
    Ok(server)
}

/// Reads the object of capabilities that comes next; whether it is one.
pub(super) fn read_capabilities(
    scanner: &mut Scanner<'_>,
    server: &mut Initialized,
) -> Result<bool, JsonError> {
    let Some(mut object) = scanner.object()? else { return Ok(false) };
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "tools" => {
                let tools = read_capability(scanner)?;
                server.tools = tools.offered;
                server.tools_list_changed = tools.list_changed;
            }
            "resources" => {
                let resources = read_capability(scanner)?;
                server.resources = resources.offered;
                server.resources_list_changed = resources.list_changed;
                server.resources_subscribe = resources.subscribe;
            }
            "prompts" => {
                let prompts = read_capability(scanner)?;
                server.prompts = prompts.offered;
                server.prompts_list_changed = prompts.list_changed;
            }
            "completions" => server.completions = read_capability(scanner)?.offered,
            "logging" => server.logging = read_capability(scanner)?.offered,
            _ => {}
        }
    }
    Ok(true)
}

/// What a server says about one capability.
#[derive(Default)]
struct Capability {
    offered: bool,
    list_changed: bool,
    subscribe: bool,
}

/// Whatever is neither null nor false offers the capability: servers are seen that write an empty
/// array for an empty object, and unknown members mean nothing (F-051).
fn read_capability(scanner: &mut Scanner<'_>) -> Result<Capability, JsonError> {
    if scanner.kind()? != Kind::Object {
        let value = scanner.skip()?;
        let offered = !matches!(scanner.slice(value), "null" | "false");
        return Ok(Capability { offered, ..Capability::default() });
    }
    let mut capability = Capability { offered: true, ..Capability::default() };
    if let Some(mut object) = scanner.object()? {
        while let Some(key) = scanner.key(&mut object)? {
            let value = scanner.skip()?;
            let holds = scanner.slice(value) == "true";
            match &*key {
                "listChanged" => capability.list_changed = holds,
                "subscribe" => capability.subscribe = holds,
                _ => {}
            }
        }
    }
    Ok(capability)
}

/// Reads the name and version that come next, as `name version`.
pub(super) fn read_info(scanner: &mut Scanner<'_>) -> Result<Option<String>, JsonError> {
    let Some(mut object) = scanner.object()? else { return Ok(None) };
    let (mut name, mut version) = (None, None);
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "name" => name = scanner.string()?,
            "version" => version = scanner.string()?,
            _ => {}
        }
    }
    Ok(name.map(|name| match version {
        Some(version) => format!("{name} {version}"),
        None => name.into_owned(),
    }))
}

/// The revisions a server offers when it refuses the one it was spoken to in (C-VER-02,
/// C-VER-24); empty if it does not say.
#[must_use]
pub fn supported_revisions(error: &RpcError) -> Vec<String> {
    let data = error.data.as_ref().map_or("", |data| data.as_str());
    let supported = json::members(data, NESTING_MAX)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .find(|member| member.key == "supported")
        .and_then(|member| data.get(member.value))
        .unwrap_or_default();
    texts(supported)
}

/// The texts in an array; none if it is something else.
pub(super) fn texts(array: &str) -> Vec<String> {
    json::elements(array, NESTING_MAX)
        .into_iter()
        .flatten()
        .filter_map(|element| json::string(array.get(element.ok()?)?).map(Into::into))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::bytes::Json;

    #[test]
    fn what_we_say_about_ourselves_is_one_valid_object() {
        let params = initialize_params(Revision::V2025_06_18, "{}", "tide\"gate", "0.1.0");
        assert_eq!(
            params,
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
             \"clientInfo\":{\"name\":\"tide\\\"gate\",\"version\":\"0.1.0\"}}"
        );
        assert_eq!(json::check(&params, NESTING_MAX), Ok(Kind::Object));
    }

    #[test]
    fn a_full_answer_is_read() {
        let answer = r#"{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"completions":{},
            "tools":{"listChanged":true},"prompts":{"listChanged":true},
            "resources":{"subscribe":true,"listChanged":false}},
            "serverInfo":{"version":"1.2","title":"T","name":"files"},"instructions":"Be kind.","_meta":{}}"#;
        assert_eq!(
            read_initialize(answer).unwrap(),
            Initialized {
                revision: "2025-06-18".into(),
                tools: true,
                tools_list_changed: true,
                resources: true,
                resources_list_changed: false,
                resources_subscribe: true,
                prompts: true,
                prompts_list_changed: true,
                completions: true,
                logging: true,
                server_info: Some("files 1.2".into()),
                instructions: Some("Be kind.".into()),
            }
        );
    }

    /// F-051.
    #[test]
    fn capabilities_are_read_whatever_else_stands_there() {
        for (capabilities, tools, list_changed, logging) in [
            (r#"{"tools":{}}"#, true, false, false),
            (r#"{"tools":{"x":1},"zzz":{},"experimental":{"q":true}}"#, true, false, false),
            (r#"{"tools":{"listChanged":false},"logging":{"y":[]}}"#, true, false, true),
            (r#"{"tools":{"listChanged":1}}"#, true, false, false),
            (r#"{"tools":[],"logging":true}"#, true, false, true),
            (r#"{"tools":null,"logging":false}"#, false, false, false),
            (r#"{"tools":{"listChanged":true}}"#, true, true, false),
            ("{}", false, false, false),
            ("[]", false, false, false),
            ("null", false, false, false),
        ] {
            let answer =
                format!(r#"{{"protocolVersion":"1","capabilities":{capabilities},"more":1}}"#);
            let read = read_initialize(&answer).unwrap();
            assert_eq!(
                (read.tools, read.tools_list_changed, read.logging),
                (tools, list_changed, logging),
                "{capabilities}"
            );
        }
    }

    #[test]
    fn what_is_not_said_or_of_another_type_is_absent() {
        for more in ["", r#","serverInfo":"x","instructions":5"#, r#","serverInfo":{"name":1}"#] {
            let read = read_initialize(&format!("{{\"protocolVersion\":\"x\"{more}}}")).unwrap();
            assert_eq!(read, Initialized { revision: "x".into(), ..Initialized::default() });
        }
        let read = read_initialize(r#"{"protocolVersion":"x","serverInfo":{"name":"n"}}"#).unwrap();
        assert_eq!(read.server_info, Some("n".into()));
    }

    /// G33.
    #[test]
    fn an_answer_without_a_revision_is_refused_by_name() {
        for (answer, wanted) in [
            ("null", "the result is null, not an object"),
            ("[]", "the result is an array, not an object"),
            ("{}", "protocolVersion is missing"),
            (r#"{"protocolVersion":null}"#, "protocolVersion is null, not a string"),
            (r#"{"protocolVersion":1}"#, "protocolVersion is a number, not a string"),
            ("{", "not JSON: it ends too early at byte 1"),
        ] {
            assert_eq!(read_initialize(answer).unwrap_err().to_string(), wanted);
        }
    }

    /// C-VER-24.
    #[test]
    fn the_revisions_of_a_refusal_are_found() {
        let of = |data: Option<&str>| {
            let data = data.map(Json::new);
            supported_revisions(&RpcError { code: -32602, message: String::new(), data })
        };
        let data = r#"{"requested":"x","supported":["2024-11-05",7,"2025-03-26"]}"#;
        assert_eq!(of(Some(data)), ["2024-11-05", "2025-03-26"]);
        for data in [None, Some("null"), Some("{}"), Some(r#"{"supported":"2024-11-05"}"#)] {
            assert_eq!(of(data), Vec::<String>::new(), "{data:?}");
        }
    }
}
