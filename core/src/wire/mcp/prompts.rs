//! `prompts/list`.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

use super::Shape;
use super::list::{self, List, Page};
use crate::bytes::Json;

/// One prompt, as its server describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PromptDef {
    /// Its name; never empty.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its `arguments`, byte for byte; `[]` if it takes none.
    pub arguments: Json,
    /// The whole entry, byte for byte.
    pub raw: Json,
}

/// Reads one page of prompts.
///
/// # Errors
/// If the page as a whole cannot be read; a bad entry is only left out.
pub fn read_prompts_page(result: &str) -> Result<Page<PromptDef>, Shape> {
    list::read_page(result, List::Prompts, |scanner, at| {
        let entry = list::read_described(scanner, List::Prompts, at)?;
        Ok(entry.map(|entry| PromptDef {
            name: entry.handle.into_owned(),
            title: entry.title,
            description: entry.description,
            arguments: Json::new(entry.arguments.map_or("[]", |range| scanner.slice(range))),
            raw: Json::new(scanner.slice(entry.raw)),
        }))
    })
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn prompts_are_read_with_their_arguments_as_they_came() {
        let one = r#"{"name":"greet","arguments":[ {"name":"who"} ],"description":"says hello"}"#;
        let text = alloc::format!(
            "{{\"prompts\":[{one},{{\"name\":\"b\",\"arguments\":null}},{{\"title\":\"x\"}}]}}"
        );
        let page = read_prompts_page(&text).unwrap();
        let [first, second] = page.entries.as_slice() else { panic!("{page:?}") };
        assert_eq!((&*first.name, first.raw.as_str()), ("greet", one));
        assert_eq!(first.arguments.as_str(), r#"[ {"name":"who"} ]"#);
        assert_eq!((&*second.name, second.arguments.as_str()), ("b", "[]"));
        assert_eq!(page.bad[0].to_string(), "prompts[2].name is missing", "G33");
    }
}
