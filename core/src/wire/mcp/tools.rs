//! `tools/list`: pages of tools, and the same tools in the cache.
//!
//! Floor 1. May import floor 0.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::Shape;
use super::list::{self, Entries, List, Page};
use crate::bytes::Json;
use crate::wire::json::{JsonError, Kind, NESTING_MAX, Scanner};

/// One tool, as its server describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ToolDef {
    /// Its name; never empty.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<Arc<str>>,
    /// Its `inputSchema`, byte for byte (C-TOOL-15); `null` if there is none.
    pub input_schema: Json,
    /// The whole entry, byte for byte.
    pub raw: Json,
    /// Whether it can be offered, or why not (C-TOOL-12, F-055).
    pub usable: Result<(), String>,
}

/// Reads one page of tools.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_tools_page(result: &str) -> Result<Page<ToolDef>, Shape> {
    list::read_page(result, List::Tools, read_entry)
}

/// Reads the entry that comes next, the one at `at` of its list. The outer error is that it is
/// not JSON.
fn read_entry<'a>(
    scanner: &mut Scanner<'a>,
    at: usize,
) -> Result<Result<ToolDef, Shape>, JsonError> {
    let kind = scanner.kind()?;
    let start = scanner.position();
    let Some(mut object) = scanner.object()? else {
        return Ok(Err(list::bad_entry(List::Tools, at, kind)));
    };
    let mut entry = Entry::default();
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "name" => {
                entry.name_kind = Some(scanner.kind()?);
                entry.name = scanner.string()?;
            }
            "title" => entry.title = scanner.string()?,
            "description" => entry.description = scanner.string()?,
            "inputSchema" => {
                let kind = scanner.kind()?;
                entry.schema = Some((kind, scanner.skip()?));
            }
            _ => {}
        }
    }
    let raw = start..scanner.position();
    Ok(entry.tool(scanner, raw).map_err(|found| list::bad_handle(List::Tools, at, found)))
}

/// What matters of an entry, where it stands in the page.
#[derive(Default)]
struct Entry<'a> {
    name: Option<Cow<'a, str>>,
    /// What was found under `name`.
    name_kind: Option<Kind>,
    title: Option<Cow<'a, str>>,
    description: Option<Cow<'a, str>>,
    schema: Option<(Kind, Range<usize>)>,
}

impl<'a> Entry<'a> {
    /// The tool, with one copy of its entry: a page must not stay in memory for the sake of one
    /// tool. The error is what stands in the place of its name.
    fn tool(self, scanner: &Scanner<'a>, raw: Range<usize>) -> Result<ToolDef, Option<Kind>> {
        let name = self.name.filter(|name| !name.is_empty()).ok_or(self.name_kind)?.into_owned();
        let text: Arc<str> = scanner.slice(raw.clone()).into();
        let within = |range: Range<usize>| {
            let start = range.start.saturating_sub(raw.start);
            Json::shared(&text, start..range.end.saturating_sub(raw.start))
        };
        let (input_schema, usable) = match self.schema {
            Some((Kind::Object, range)) => (within(range), Ok(())),
            Some((kind, range)) => {
                (within(range), Err(format!("inputSchema is {kind}, not an object")))
            }
            None => (Json::new("null"), Err("inputSchema is missing".into())),
        };
        Ok(ToolDef {
            name,
            title: self.title.map(Cow::into_owned),
            description: self.description.map(Arc::from),
            input_schema,
            raw: Json::shared(&text, 0..text.len()),
            usable,
        })
    }
}

/// Tools as the tool cache keeps them: an array of their entries.
#[must_use]
pub fn encode_tools(tools: &[ToolDef]) -> String {
    let bytes: usize = tools.iter().map(|tool| tool.raw.as_str().len() + 1).sum();
    let mut text = String::with_capacity(bytes + 2);
    text.push('[');
    for (at, tool) in tools.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(tool.raw.as_str());
    }
    text.push(']');
    text
}

/// Reads what [`encode_tools`] wrote, as suspicious as of a server's answer (G34).
///
/// # Errors
/// If it is not an array or any entry is not a tool.
pub fn read_tools(text: &str) -> Result<Vec<ToolDef>, Shape> {
    let mut scanner = Scanner::new(text, NESTING_MAX);
    let Entries { good, bad } = list::read_entries(&mut scanner, List::Tools, read_entry)?;
    scanner.end()?;
    match bad.into_iter().next() {
        Some(shape) => Err(shape),
        None => Ok(good),
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    fn page(text: &str) -> Page<ToolDef> {
        read_tools_page(text).unwrap()
    }

    #[test]
    fn a_page_is_read_in_the_servers_order_and_byte_for_byte() {
        let one = r#"{ "name":"b", "description":"d\n", "title":"T", "inputSchema": {"type" : "object", "$defs":{"x":1.0}} }"#;
        let two = r#"{"inputSchema":{},"annotations":{"name":"not this"},"name":"\u0061"}"#;
        let text =
            format!("{{\"_meta\":{{}},\"tools\":[ {one} ,{two}],\"nextCursor\":\"p\\\"2\"}}");
        let page = page(&text);
        assert_eq!(page.bad, []);
        assert_eq!(page.next_cursor.as_deref(), Some("p\"2"));
        let [first, second] = page.entries.as_slice() else { panic!("{page:?}") };
        assert_eq!((&*first.name, first.title.as_deref()), ("b", Some("T")));
        assert_eq!(first.description.as_deref(), Some("d\n"));
        assert_eq!(
            first.input_schema.as_str(),
            r#"{"type" : "object", "$defs":{"x":1.0}}"#,
            "C-TOOL-15"
        );
        assert_eq!(first.raw.as_str(), one);
        assert_eq!((&*second.name, &second.title, &second.description), ("a", &None, &None));
        assert_eq!((second.raw.as_str(), &second.usable), (two, &Ok(())));
    }

    /// C-PAGE-03, F-058.
    #[test]
    fn only_null_and_absence_end_the_pages() {
        for (member, wanted) in [
            ("", None),
            (",\"nextCursor\":null", None),
            (",\"nextCursor\":\"\"", Some("")),
            (",\"nextCursor\":\"a\"", Some("a")),
        ] {
            assert_eq!(page(&format!("{{\"tools\":[]{member}}}")).next_cursor.as_deref(), wanted);
        }
    }

    /// G33, D11.
    #[test]
    fn a_bad_entry_is_left_out_by_name_and_its_siblings_stay() {
        let text = r#"{"tools":[{"name":"a","inputSchema":{}},7,{"inputSchema":{}},
            {"name":null},{"name":["x"]},{"name":""},null,{"name":"z","inputSchema":{}}]}"#;
        let page = page(text);
        let names: Vec<_> = page.entries.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "z"]);
        let bad: Vec<_> = page.bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            bad,
            [
                "tools[1] is a number, not an object",
                "tools[2].name is missing",
                "tools[3].name is null, not a string",
                "tools[4].name is an array, not a string",
                "tools[5].name is empty",
                "tools[6] is null, not an object",
            ]
        );
    }

    /// C-TOOL-12, F-055.
    #[test]
    fn a_tool_without_a_schema_is_kept_and_called_unusable() {
        for (schema, kept, why) in [
            ("", "null", "inputSchema is missing"),
            (r#","inputSchema":null"#, "null", "inputSchema is null, not an object"),
            (r#","inputSchema":[ ]"#, "[ ]", "inputSchema is an array, not an object"),
            (r#","inputSchema":"x""#, "\"x\"", "inputSchema is a string, not an object"),
        ] {
            let page = page(&format!(r#"{{"tools":[{{"name":"a"{schema}}}]}}"#));
            let [tool] = page.entries.as_slice() else { panic!("{page:?}") };
            assert_eq!((tool.input_schema.as_str(), &tool.usable), (kept, &Err(why.into())));
        }
    }

    /// F-056, F-057: neither what a schema calls itself nor a broken one of results hides a tool.
    #[test]
    fn a_tool_stays_whatever_its_schemas_are_of() {
        for (schema, output) in [
            (
                r#""$schema":"https://json-schema.org/draft/2020-12/schema","#,
                r#"{"type":"object"}"#,
            ),
            (r#""$schema":"http://json-schema.org/draft-07/schema#","#, r#"{"type":5}"#),
            (r#""$schema":"http://json-schema.org/draft-04/schema#","#, "[]"),
            (r#""$schema":"https://nobody.example/knows","#, "null"),
            (r#""$schema":7,"#, "\"x\""),
        ] {
            let input = format!(r#"{{{schema}"type":"object"}}"#);
            let page = page(&format!(
                r#"{{"tools":[{{"name":"a","inputSchema":{input},"outputSchema":{output}}}]}}"#
            ));
            let [tool] = page.entries.as_slice() else { panic!("{page:?}") };
            assert_eq!((tool.input_schema.as_str(), &tool.usable), (input.as_str(), &Ok(())));
        }
    }

    #[test]
    fn optional_members_of_another_type_are_ignored() {
        let page =
            page(r#"{"tools":[{"name":"a","title":1,"description":null,"inputSchema":{}}]}"#);
        let [tool] = page.entries.as_slice() else { panic!("{page:?}") };
        assert_eq!((&tool.title, &tool.description, &tool.usable), (&None, &None, &Ok(())));
    }

    #[test]
    fn a_page_that_is_none_is_refused_by_name() {
        for (text, wanted) in [
            ("[]", "the result is an array, not an object"),
            ("{}", "tools is missing"),
            (r#"{"tools":null}"#, "tools is null, not an array"),
            (r#"{"tools":{}}"#, "tools is an object, not an array"),
            (r#"{"tools":[],"nextCursor":7}"#, "nextCursor is a number, not a string"),
            (r#"{"tools":[}"#, "not JSON: unexpected character at byte 10"),
            (r#"{"tools":[]} x"#, "not JSON: something follows the value at byte 13"),
        ] {
            assert_eq!(read_tools_page(text).unwrap_err().to_string(), wanted, "{text}");
        }
    }

    /// G34: the cache is validated like a server's answer.
    #[test]
    fn cached_tools_read_back_and_bad_ones_are_refused() {
        let page = page(r#"{"tools":[{"name":"a", "inputSchema":{}},{"name":"b"}]}"#);
        let text = encode_tools(&page.entries);
        assert_eq!(text, r#"[{"name":"a", "inputSchema":{}},{"name":"b"}]"#);
        assert_eq!(text.capacity(), text.len() + 1, "one allocation");
        assert_eq!(read_tools(&text).unwrap(), page.entries);
        assert_eq!(read_tools(&encode_tools(&[])).unwrap(), []);
        for (text, wanted) in [
            ("", "not JSON: it ends too early at byte 0"),
            ("{}", "tools is an object, not an array"),
            ("[{\"name\":\"a\"},{}]", "tools[1].name is missing"),
            ("[{\"name\":\"a\"}", "not JSON: it ends too early at byte 13"),
            ("[] x", "not JSON: something follows the value at byte 3"),
        ] {
            assert_eq!(read_tools(text).unwrap_err().to_string(), wanted, "{text}");
        }
    }
}
