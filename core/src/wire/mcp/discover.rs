//! `server/discover`: what a server says about itself where there is no handshake.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;

use super::Shape;
use super::handshake::{Initialized, read_capabilities, read_info, texts};
use crate::wire::json::{JsonError, Kind, NESTING_MAX, Scanner};

/// The key under which a result says who it comes from (C-META-05).
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What a server answers to `server/discover`.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Discovered {
    /// The revisions it speaks, as it spells them; at least one.
    pub supported: Vec<String>,
    /// What it says about itself, without a revision.
    pub hello: Initialized,
}

/// Reads the result of `server/discover`.
///
/// # Errors
/// If it is not one: an object with texts for `supportedVersions`, at least one, and an object
/// for `capabilities` (C-VER-29). Whatever else is missing or of another type counts as not said.
pub fn read_discover(result: &str) -> Result<Discovered, Shape> {
    let mut scanner = Scanner::new(result, NESTING_MAX);
    let kind = scanner.kind()?;
    let Some(mut object) = scanner.object()? else {
        return Err(Shape::wrong("the result", kind, Kind::Object));
    };
    let mut discovered = Discovered::default();
    let mut capable = false;
    let mut meta = None;
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "supportedVersions" => {
                let array = scanner.skip()?;
                discovered.supported = texts(scanner.slice(array));
            }
            "capabilities" => capable = read_capabilities(&mut scanner, &mut discovered.hello)?,
            // The older place (T-10).
            "serverInfo" => discovered.hello.server_info = read_info(&mut scanner)?,
            "instructions" => {
                discovered.hello.instructions = scanner.string()?.map(Into::into);
            }
            "_meta" => meta = read_meta(&mut scanner)?,
            _ => {}
        }
    }
    scanner.end()?;
    if discovered.supported.is_empty() {
        return Err(Shape::missing("supportedVersions"));
    }
    if !capable {
        return Err(Shape::missing("capabilities"));
    }
    discovered.hello.server_info = meta.or(discovered.hello.server_info);
    Ok(discovered)
}

fn read_meta(scanner: &mut Scanner<'_>) -> Result<Option<String>, JsonError> {
    let Some(mut object) = scanner.object()? else { return Ok(None) };
    let mut info = None;
    while let Some(key) = scanner.key(&mut object)? {
        if key == SERVER_INFO {
            info = read_info(scanner)?;
        }
    }
    Ok(info)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    /// C-META-05, T-10.
    #[test]
    fn a_full_answer_is_read() {
        let answer = r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],
            "capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},
            "serverInfo":{"name":"old","version":"0"},"instructions":"Be kind.","ttlMs":5,
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"files","version":"2"}}}"#;
        let hello = Initialized {
            tools: true,
            tools_list_changed: true,
            resources: true,
            resources_subscribe: true,
            server_info: Some("files 2".into()),
            instructions: Some("Be kind.".into()),
            ..Initialized::default()
        };
        let supported = alloc::vec!["2026-07-28".into(), "2025-11-25".into()];
        assert_eq!(read_discover(answer), Ok(Discovered { supported, hello }));
        let older = r#"{"supportedVersions":["x"],"capabilities":{},"serverInfo":{"name":"old"}}"#;
        assert_eq!(read_discover(older).unwrap().hello.server_info, Some("old".into()));
    }

    /// C-VER-29.
    #[test]
    fn what_is_no_such_answer_is_refused_by_name() {
        for (answer, wanted) in [
            ("{}", "supportedVersions is missing"),
            ("[]", "the result is an array, not an object"),
            (r#"{"supportedVersions":[],"capabilities":{}}"#, "supportedVersions is missing"),
            (r#"{"supportedVersions":[7],"capabilities":{}}"#, "supportedVersions is missing"),
            (r#"{"supportedVersions":"x","capabilities":{}}"#, "supportedVersions is missing"),
            (r#"{"supportedVersions":["x"]}"#, "capabilities is missing"),
            (r#"{"supportedVersions":["x"],"capabilities":[]}"#, "capabilities is missing"),
        ] {
            assert_eq!(read_discover(answer).unwrap_err().to_string(), wanted, "{answer}");
        }
    }
}
