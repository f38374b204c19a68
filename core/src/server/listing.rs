//! A list of tools, page by page.
//!
//! Floor 3. Bounded in pages and tools; a cursor that comes back ends it with an error (G37,
//! C-PAGE-07). Any cursor but null or absence is followed, also the empty text (F-058).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Cause;
use crate::limits::Limits;
use crate::wire::mcp::{ToolDef, ToolsPage};

/// The pages so far.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Listing {
    tools: Vec<ToolDef>,
    pages: usize,
    cursors: BTreeSet<String>,
}

/// What a page leads to.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// The page at this cursor comes next.
    Next(String),
    /// That was the last page.
    Done(Vec<ToolDef>),
}

impl Listing {
    pub(super) fn add(&mut self, page: ToolsPage, limits: &Limits) -> Result<Turn, Cause> {
        self.pages += 1;
        self.tools.extend(page.tools);
        if self.tools.len() > limits.tools_per_server {
            return Err(limit("tools", limits.tools_per_server));
        }
        let Some(cursor) = page.next_cursor else {
            return Ok(Turn::Done(core::mem::take(&mut self.tools)));
        };
        if self.pages >= limits.pages {
            return Err(limit("pages", limits.pages));
        }
        if !self.cursors.insert(cursor.clone()) {
            return Err(Cause::RepeatedCursor);
        }
        Ok(Turn::Next(cursor))
    }
}

fn limit(what: &str, limit: usize) -> Cause {
    Cause::Limit { what: what.into(), limit: limit as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(cursor: Option<&str>) -> ToolsPage {
        ToolsPage { tools: Vec::new(), bad: Vec::new(), next_cursor: cursor.map(Into::into) }
    }

    /// G37.
    #[test]
    fn a_cursor_that_comes_back_ends_the_list_with_an_error() {
        let (mut listing, limits) = (Listing::default(), Limits::default());
        assert_eq!(listing.add(page(Some("")), &limits), Ok(Turn::Next(String::new())));
        assert_eq!(listing.add(page(Some("b")), &limits), Ok(Turn::Next("b".into())));
        assert_eq!(listing.add(page(Some("")), &limits), Err(Cause::RepeatedCursor));
    }

    /// L10.
    #[test]
    fn an_endless_list_ends_at_the_bound() {
        let limits = Limits { pages: 2, ..Limits::default() };
        let mut listing = Listing::default();
        assert_eq!(listing.add(page(Some("1")), &limits), Ok(Turn::Next("1".into())));
        assert_eq!(
            listing.add(page(Some("2")), &limits),
            Err(Cause::Limit { what: "pages".into(), limit: 2 })
        );
    }
}
