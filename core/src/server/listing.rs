//! A list of a server, page by page.
//!
//! Floor 3. Bounded in pages and entries; a cursor that comes back ends it with an error (G37,
//! C-PAGE-07). Any cursor but null or absence is followed, also the empty text (F-058).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::error::{Cause, Excess, RpcError};
use crate::limits::Limits;
use crate::wire::mcp::{List, METHOD_NOT_FOUND, Page, Shape};

/// The pages so far.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Listing<D> {
    entries: Vec<D>,
    pages: usize,
    cursors: BTreeSet<String>,
}

impl<D> Default for Listing<D> {
    fn default() -> Self {
        Self { entries: Vec::new(), pages: 0, cursors: BTreeSet::new() }
    }
}

/// What a page leads to.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Turn<D> {
    /// The page at this cursor comes next.
    Next(String),
    /// That was the last page.
    Done(Vec<D>),
}

impl<D> Listing<D> {
    /// Takes in the answer to a request for a page, and what is wrong with single entries.
    pub(super) fn answered(
        &mut self,
        list: List,
        reply: Result<Json, RpcError>,
        read: impl Fn(&str) -> Result<Page<D>, Shape>,
        limits: &Limits,
        bad: &mut Vec<Shape>,
    ) -> Result<Turn<D>, Cause> {
        match reply {
            Ok(result) => {
                let shape = |shape: Shape| Cause::Shape { message: shape.message };
                let mut page = read(result.as_str()).map_err(shape)?;
                bad.append(&mut page.bad);
                self.add(list, page, limits)
            }
            // F-048: declared and not implemented is an empty list.
            Err(error) if error.code == METHOD_NOT_FOUND => Ok(Turn::Done(Vec::new())),
            Err(error) => Err(Cause::Refused { error: error.quoted() }),
        }
    }

    fn add(&mut self, list: List, page: Page<D>, limits: &Limits) -> Result<Turn<D>, Cause> {
        let (what, most) = match list {
            List::Tools => (Excess::Tools, limits.tools_per_server),
            List::Resources => (Excess::Resources, limits.resources_per_server),
            List::Templates => (Excess::Templates, limits.resources_per_server),
            List::Prompts => (Excess::Prompts, limits.prompts_per_server),
        };
        self.pages += 1;
        self.entries.extend(page.entries);
        if self.entries.len() > most {
            return Err(limit(what, most));
        }
        let Some(cursor) = page.next_cursor else {
            return Ok(Turn::Done(core::mem::take(&mut self.entries)));
        };
        if self.pages >= limits.pages {
            return Err(limit(Excess::Pages, limits.pages));
        }
        if !self.cursors.insert(cursor.clone()) {
            return Err(Cause::RepeatedCursor);
        }
        Ok(Turn::Next(cursor))
    }
}

fn limit(what: Excess, limit: usize) -> Cause {
    Cause::Limit { what, limit: limit as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(cursor: Option<&str>) -> Page<()> {
        Page { entries: Vec::new(), bad: Vec::new(), next_cursor: cursor.map(Into::into) }
    }

    /// G37.
    #[test]
    fn a_cursor_that_comes_back_ends_the_list_with_an_error() {
        let (mut listing, limits) = (Listing::default(), Limits::default());
        let mut add = |cursor| listing.add(List::Tools, page(Some(cursor)), &limits);
        assert_eq!(add(""), Ok(Turn::Next(String::new())));
        assert_eq!(add("b"), Ok(Turn::Next("b".into())));
        assert_eq!(add(""), Err(Cause::RepeatedCursor));
    }

    /// L10.
    #[test]
    fn an_endless_list_ends_at_the_bound() {
        let limits = Limits { pages: 2, ..Limits::default() };
        let mut listing = Listing::default();
        let mut add = |cursor| listing.add(List::Prompts, page(Some(cursor)), &limits);
        assert_eq!(add("1"), Ok(Turn::Next("1".into())));
        assert_eq!(add("2"), Err(Cause::Limit { what: Excess::Pages, limit: 2 }));
    }
}
