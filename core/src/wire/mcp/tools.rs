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
use crate::bytes::Json;
use crate::wire::json::{self, JsonError, Kind, NESTING_MAX, Scanner};

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

/// One page of a server's tools.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct ToolsPage {
    /// The tools, in the server's order.
    pub tools: Vec<ToolDef>,
    /// The entries that are none: they were left out (G33).
    pub bad: Vec<Shape>,
    /// Where the next page starts; `None` at the end. An empty text is a cursor (C-PAGE-03,
    /// F-058).
    pub next_cursor: Option<String>,
}

/// The parameters of a list request.
#[must_use]
pub fn list_params(cursor: Option<&str>) -> String {
    let Some(cursor) = cursor else { return "{}".into() };
    let mut params = String::from("{\"cursor\":");
    json::push_quoted(&mut params, cursor);
    params.push('}');
    params
}

/// Reads one page of tools.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_tools_page(result: &str) -> Result<ToolsPage, Shape> {
    let mut scanner = Scanner::new(result, NESTING_MAX);
    let kind = scanner.kind()?;
    let Some(mut object) = scanner.object()? else {
        return Err(Shape::wrong("the result", kind, Kind::Object));
    };
    let mut entries = None;
    let mut next_cursor = None;
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "tools" => entries = Some(read_entries(&mut scanner)?),
            "nextCursor" => next_cursor = read_cursor(&mut scanner)?,
            _ => {}
        }
    }
    scanner.end()?;
    let Entries { tools, bad } = entries.ok_or_else(|| Shape::missing("tools"))?;
    Ok(ToolsPage { tools, bad, next_cursor })
}

fn read_cursor(scanner: &mut Scanner<'_>) -> Result<Option<String>, Shape> {
    let kind = scanner.kind()?;
    match scanner.string()? {
        Some(cursor) => Ok(Some(cursor.into_owned())),
        None if kind == Kind::Null => Ok(None),
        None => Err(Shape::wrong("nextCursor", kind, Kind::String)),
    }
}

/// The entries of a list, sorted into tools and others.
#[derive(Default)]
struct Entries {
    tools: Vec<ToolDef>,
    bad: Vec<Shape>,
}

fn read_entries(scanner: &mut Scanner<'_>) -> Result<Entries, Shape> {
    let kind = scanner.kind()?;
    let Some(mut array) = scanner.array()? else {
        return Err(Shape::wrong("tools", kind, Kind::Array));
    };
    let mut entries = Entries::default();
    let mut at = 0;
    while scanner.element(&mut array)? {
        match read_entry(scanner, at)? {
            Ok(tool) => entries.tools.push(tool),
            Err(shape) => entries.bad.push(shape),
        }
        at += 1;
    }
    Ok(entries)
}

/// Reads the entry that comes next, the one at `at` of its list. The outer error is that it is
/// not JSON.
fn read_entry(scanner: &mut Scanner<'_>, at: usize) -> Result<Result<ToolDef, Shape>, JsonError> {
    let kind = scanner.kind()?;
    let start = scanner.position();
    let Some(mut object) = scanner.object()? else {
        return Ok(Err(Shape::wrong(&format!("tools[{at}]"), kind, Kind::Object)));
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
    Ok(entry.tool(scanner, raw).map_err(|name_kind| {
        let member = format!("tools[{at}].name");
        match name_kind {
            None => Shape::missing(&member),
            Some(Kind::String) => Shape { message: format!("{member} is empty") },
            Some(kind) => Shape::wrong(&member, kind, Kind::String),
        }
    }))
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
    let Entries { tools, bad } = read_entries(&mut scanner)?;
    scanner.end()?;
    match bad.into_iter().next() {
        Some(shape) => Err(shape),
        None => Ok(tools),
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    fn page(text: &str) -> ToolsPage {
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
        let [first, second] = page.tools.as_slice() else { panic!("{page:?}") };
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
        let names: Vec<_> = page.tools.iter().map(|tool| &*tool.name).collect();
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
            let [tool] = page.tools.as_slice() else { panic!("{page:?}") };
            assert_eq!((tool.input_schema.as_str(), &tool.usable), (kept, &Err(why.into())));
        }
    }

    #[test]
    fn optional_members_of_another_type_are_ignored() {
        let page =
            page(r#"{"tools":[{"name":"a","title":1,"description":null,"inputSchema":{}}]}"#);
        let [tool] = page.tools.as_slice() else { panic!("{page:?}") };
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

    #[test]
    fn a_cursor_is_sent_back_as_it_came() {
        assert_eq!(list_params(None), "{}");
        assert_eq!(list_params(Some("")), r#"{"cursor":""}"#);
        assert_eq!(list_params(Some("a\"\u{e9}\n")), "{\"cursor\":\"a\\\"\u{e9}\\n\"}");
    }

    /// G34: the cache is validated like a server's answer.
    #[test]
    fn cached_tools_read_back_and_bad_ones_are_refused() {
        let page = page(r#"{"tools":[{"name":"a", "inputSchema":{}},{"name":"b"}]}"#);
        let text = encode_tools(&page.tools);
        assert_eq!(text, r#"[{"name":"a", "inputSchema":{}},{"name":"b"}]"#);
        assert_eq!(text.capacity(), text.len() + 1, "one allocation");
        assert_eq!(read_tools(&text).unwrap(), page.tools);
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
