//! `resources/list`, `resources/templates/list` and what goes with a subscription.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::sync::Arc;

use super::Shape;
use super::list::{self, List, Page};
use crate::bytes::Json;
use crate::wire::json::{self, NESTING_MAX};

/// One resource, as its server describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ResourceDef {
    /// Its address; never empty.
    pub uri: Arc<str>,
    /// Its name; servers are seen that give none.
    pub name: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The type of its content.
    pub mime_type: Option<String>,
    /// The whole entry, byte for byte.
    pub raw: Json,
}

/// One template of resources, as its server describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct TemplateDef {
    /// The RFC 6570 template; never empty.
    pub uri_template: String,
    /// Its name; servers are seen that give none.
    pub name: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// What its resources are.
    pub description: Option<String>,
    /// The type of their content, if all have the same.
    pub mime_type: Option<String>,
    /// The whole entry, byte for byte.
    pub raw: Json,
}

/// Reads one page of resources.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_resources_page(result: &str) -> Result<Page<ResourceDef>, Shape> {
    list::read_page(result, List::Resources, |scanner, at| {
        let entry = list::read_described(scanner, List::Resources, at)?;
        Ok(entry.map(|entry| ResourceDef {
            uri: Arc::from(&*entry.handle),
            name: entry.name,
            title: entry.title,
            description: entry.description,
            mime_type: entry.mime_type,
            raw: Json::new(scanner.slice(entry.raw)),
        }))
    })
}

/// Reads one page of templates.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_templates_page(result: &str) -> Result<Page<TemplateDef>, Shape> {
    list::read_page(result, List::Templates, |scanner, at| {
        let entry = list::read_described(scanner, List::Templates, at)?;
        Ok(entry.map(|entry| TemplateDef {
            uri_template: entry.handle.into_owned(),
            name: entry.name,
            title: entry.title,
            description: entry.description,
            mime_type: entry.mime_type,
            raw: Json::new(scanner.slice(entry.raw)),
        }))
    })
}

/// The parameters of a request about one resource.
#[must_use]
pub fn uri_params(uri: &str) -> String {
    let mut params = String::from("{\"uri\":");
    json::push_quoted(&mut params, uri);
    params.push('}');
    params
}

/// The address in the parameters of `notifications/resources/updated`, if there is one.
#[must_use]
pub fn read_updated(params: &str) -> Option<String> {
    let member = json::members(params, NESTING_MAX)
        .ok()?
        .filter_map(Result::ok)
        .find(|member| member.key == "uri")?;
    json::string(params.get(member.value)?).map(Into::into)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::string::ToString;

    use super::*;

    #[test]
    fn resources_are_read_in_order_and_byte_for_byte() {
        let one =
            r#"{ "uri":"file:///a", "name":"a", "title":"A", "mimeType":"text/plain", "size":3 }"#;
        let two = r#"{"description":"b","uri":"x:\u0062"}"#;
        let text = alloc::format!("{{\"resources\":[ {one} ,{two}],\"nextCursor\":\"\"}}");
        let page = read_resources_page(&text).unwrap();
        assert_eq!((page.bad.len(), page.next_cursor.as_deref()), (0, Some("")));
        let [first, second] = page.entries.as_slice() else { panic!("{page:?}") };
        assert_eq!((&*first.uri, first.name.as_deref()), ("file:///a", Some("a")));
        assert_eq!(first.title.as_deref(), Some("A"));
        assert_eq!(first.mime_type.as_deref(), Some("text/plain"));
        assert_eq!(first.raw.as_str(), one);
        assert_eq!((&*second.uri, &second.name), ("x:b", &None));
        assert_eq!((second.description.as_deref(), second.raw.as_str()), (Some("b"), two));
    }

    /// G33.
    #[test]
    fn a_bad_resource_is_left_out_by_name_and_its_siblings_stay() {
        let text = r#"{"resources":[{"uri":"a"},7,{"name":"x"},{"uri":null},{"uri":""},{"uri":"z","name":1}]}"#;
        let page = read_resources_page(text).unwrap();
        let uris: Vec<_> = page.entries.iter().map(|entry| &*entry.uri).collect();
        assert_eq!(uris, ["a", "z"]);
        let bad: Vec<_> = page.bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            bad,
            [
                "resources[1] is a number, not an object",
                "resources[2].uri is missing",
                "resources[3].uri is null, not a string",
                "resources[4].uri is empty",
            ]
        );
    }

    #[test]
    fn templates_are_read_by_their_template() {
        let text = r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"},{"uri":"a"}]}"#;
        let page = read_templates_page(text).unwrap();
        let [template] = page.entries.as_slice() else { panic!("{page:?}") };
        assert_eq!(template.uri_template, "file:///{path}");
        assert_eq!(page.bad[0].to_string(), "resourceTemplates[1].uriTemplate is missing");
        let wrong = read_templates_page(r#"{"resources":[]}"#).unwrap_err();
        assert_eq!(wrong.to_string(), "resourceTemplates is missing");
    }

    #[test]
    fn the_address_of_an_update_is_found() {
        assert_eq!(uri_params("a\"b"), r#"{"uri":"a\"b"}"#);
        assert_eq!(read_updated(r#"{"title":"t","uri":"a\"b"}"#).as_deref(), Some("a\"b"));
        for params in ["", "[]", "{}", r#"{"uri":1}"#] {
            assert_eq!(read_updated(params), None, "{params}");
        }
    }
}
