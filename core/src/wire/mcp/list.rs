//! Lists in pages: what can be listed, how a page is asked for and read.
//!
//! Floor 1. May import floor 0. What an entry is, the file of its list says.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::Shape;
use crate::wire::json::{self, JsonError, Kind, NESTING_MAX, Scanner};

/// One of the lists of a server.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum List {
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// The templates of its resources.
    Templates,
    /// Its prompts.
    Prompts,
}

impl List {
    /// The method that asks for a page of it.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => super::TOOLS_LIST,
            Self::Resources => super::RESOURCES_LIST,
            Self::Templates => super::TEMPLATES_LIST,
            Self::Prompts => super::PROMPTS_LIST,
        }
    }

    /// The member of a page that holds its entries.
    #[must_use]
    pub const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The member by which an entry is told from its siblings.
    pub(super) const fn handle(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())
    }
}

/// One page of a list.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Page<D> {
    /// The entries, in the server's order.
    pub entries: Vec<D>,
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

/// Entries sorted into good and bad ones.
pub(super) struct Entries<D> {
    pub(super) good: Vec<D>,
    pub(super) bad: Vec<Shape>,
}

/// Reads one page, its entries by `read`, which gets the place of each; its outer error is that
/// it is not JSON.
pub(super) fn read_page<'a, D>(
    result: &'a str,
    list: List,
    read: impl Fn(&mut Scanner<'a>, usize) -> Result<Result<D, Shape>, JsonError>,
) -> Result<Page<D>, Shape> {
    let mut scanner = Scanner::new(result, NESTING_MAX);
    let kind = scanner.kind()?;
    let Some(mut object) = scanner.object()? else {
        return Err(Shape::wrong("the result", kind, Kind::Object));
    };
    let mut entries = None;
    let mut next_cursor = None;
    while let Some(key) = scanner.key(&mut object)? {
        if key == list.member() {
            entries = Some(read_entries(&mut scanner, list, &read)?);
        } else if key == "nextCursor" {
            next_cursor = read_cursor(&mut scanner)?;
        }
    }
    scanner.end()?;
    let Entries { good, bad } = entries.ok_or_else(|| Shape::missing(list.member()))?;
    Ok(Page { entries: good, bad, next_cursor })
}

pub(super) fn read_entries<'a, D>(
    scanner: &mut Scanner<'a>,
    list: List,
    read: impl Fn(&mut Scanner<'a>, usize) -> Result<Result<D, Shape>, JsonError>,
) -> Result<Entries<D>, Shape> {
    let kind = scanner.kind()?;
    let Some(mut array) = scanner.array()? else {
        return Err(Shape::wrong(list.member(), kind, Kind::Array));
    };
    let mut entries = Entries { good: Vec::new(), bad: Vec::new() };
    let mut at = 0;
    while scanner.element(&mut array)? {
        match read(scanner, at)? {
            Ok(entry) => entries.good.push(entry),
            Err(shape) => entries.bad.push(shape),
        }
        at += 1;
    }
    Ok(entries)
}

fn read_cursor(scanner: &mut Scanner<'_>) -> Result<Option<String>, Shape> {
    let kind = scanner.kind()?;
    match scanner.string()? {
        Some(cursor) => Ok(Some(cursor.into_owned())),
        None if kind == Kind::Null => Ok(None),
        None => Err(Shape::wrong("nextCursor", kind, Kind::String)),
    }
}

/// An entry whose handle is not a text that says something.
pub(super) fn bad_handle(list: List, at: usize, found: Option<Kind>) -> Shape {
    let member = format!("{}[{at}].{}", list.member(), list.handle());
    match found {
        None => Shape::missing(&member),
        Some(Kind::String) => Shape { message: format!("{member} is empty") },
        Some(kind) => Shape::wrong(&member, kind, Kind::String),
    }
}

/// An entry that is no object.
pub(super) fn bad_entry(list: List, at: usize, found: Kind) -> Shape {
    Shape::wrong(&format!("{}[{at}]", list.member()), found, Kind::Object)
}

/// What resources, templates and prompts say of themselves alike.
#[derive(Default)]
pub(super) struct Described<'a> {
    /// Never empty.
    pub(super) handle: Cow<'a, str>,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
    /// Where `arguments` stands, if it is an array.
    pub(super) arguments: Option<Range<usize>>,
    /// Where the whole entry stands.
    pub(super) raw: Range<usize>,
}

/// Reads the entry that comes next, the one at `at` of its list. The outer error is that it is
/// not JSON.
pub(super) fn read_described<'a>(
    scanner: &mut Scanner<'a>,
    list: List,
    at: usize,
) -> Result<Result<Described<'a>, Shape>, JsonError> {
    let kind = scanner.kind()?;
    let start = scanner.position();
    let Some(mut object) = scanner.object()? else { return Ok(Err(bad_entry(list, at, kind))) };
    let mut entry = Described::default();
    let (mut handle, mut handle_kind) = (None, None);
    while let Some(key) = scanner.key(&mut object)? {
        if key == list.handle() {
            handle_kind = Some(scanner.kind()?);
            handle = scanner.string()?;
            continue;
        }
        match &*key {
            "name" => entry.name = scanner.string()?.map(Cow::into_owned),
            "title" => entry.title = scanner.string()?.map(Cow::into_owned),
            "description" => entry.description = scanner.string()?.map(Cow::into_owned),
            "mimeType" => entry.mime_type = scanner.string()?.map(Cow::into_owned),
            "arguments" => {
                let kind = scanner.kind()?;
                entry.arguments = Some(scanner.skip()?).filter(|_| kind == Kind::Array);
            }
            _ => {}
        }
    }
    entry.raw = start..scanner.position();
    match handle.filter(|handle: &Cow<'_, str>| !handle.is_empty()) {
        Some(handle) => Ok(Ok(Described { handle, ..entry })),
        None => Ok(Err(bad_handle(list, at, handle_kind))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_sent_back_as_it_came() {
        assert_eq!(list_params(None), "{}");
        assert_eq!(list_params(Some("")), r#"{"cursor":""}"#);
        assert_eq!(list_params(Some("a\"\u{e9}\n")), "{\"cursor\":\"a\\\"\u{e9}\\n\"}");
    }
}
