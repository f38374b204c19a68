//! The lists of a scripted server: what it offers, how it pages, and what it has told of them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use serde_json::{Value, json};

use crate::script::{Fault, Script};

/// What a server offers, each by its only handle.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Offered {
    /// Tools, by name. What a call does is in the name: see [`Script::tools`].
    pub tools: Vec<String>,
    /// Resources, by address. Only a server that has some when it is greeted declares them.
    pub resources: Vec<String>,
    /// Templates of resources.
    pub templates: Vec<String>,
    /// Prompts, by name. Only a server that has some when it is greeted declares them.
    pub prompts: Vec<String>,
}

/// One of the lists.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Kind {
    pub(crate) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "tools/list" => Self::Tools,
            "resources/list" => Self::Resources,
            "resources/templates/list" => Self::Templates,
            "prompts/list" => Self::Prompts,
            _ => return None,
        })
    }

    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    fn entries(self, offered: &Offered) -> &[String] {
        match self {
            Self::Tools => &offered.tools,
            Self::Resources => &offered.resources,
            Self::Templates => &offered.templates,
            Self::Prompts => &offered.prompts,
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn entry(self, handle: &str) -> Value {
        match self {
            Self::Tools => json!({
                "name": handle,
                "description": format!("does {handle}"),
                "inputSchema": { "type": "object" },
            }),
            Self::Resources => json!({ "uri": handle, "name": handle }),
            Self::Templates => json!({ "uriTemplate": handle, "name": handle }),
            Self::Prompts => json!({ "name": handle }),
        }
    }

    /// The requests of which one at a time may be under way: a list and its templates are one.
    const fn lane(self) -> Self {
        match self {
            Self::Tools => Self::Tools,
            Self::Resources | Self::Templates => Self::Resources,
            Self::Prompts => Self::Prompts,
        }
    }
}

/// What a server has told of its lists.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Lists {
    /// Which lists it declared.
    pub(crate) declared: BTreeSet<Kind>,
    /// Whether it declared subscriptions.
    pub(crate) subscribe: bool,
    cursors_given: BTreeSet<String>,
    cursors: u32,
    /// The pages of the list that is being told.
    told: BTreeMap<Kind, Vec<String>>,
    /// Every list it has told to its end, each time it is another one.
    pub(crate) whole: BTreeMap<Kind, Vec<Vec<String>>>,
    /// Whether it answered a request for a list with something else.
    pub(crate) spoiled: bool,
    /// The requests under way.
    open: BTreeMap<Kind, String>,
    /// Requests it answered, out of turn, before it heard of them.
    answered_early: BTreeSet<String>,
}

impl Lists {
    /// Whether a request for a list of this kind is under way.
    pub(crate) fn is_asked(&self, kind: Kind) -> bool {
        self.open.contains_key(&kind.lane())
    }

    /// A request for a page: what it is answered with, and what is wrong with it.
    pub(crate) fn page(
        &mut self,
        script: &Script,
        kind: Kind,
        request: &str,
        params: &Value,
    ) -> (Value, Vec<String>) {
        let mut breaches = Vec::new();
        let method = kind.method();
        if let Some(other) = self.open.insert(kind.lane(), request.into()) {
            breaches.push(format!("{method} #{request} while #{other} is under way (G26, G27)"));
        }
        if self.answered_early.remove(request) {
            self.over(request);
        }
        if kind != Kind::Tools && !self.declared.contains(&kind) {
            breaches.push(format!("{method}, which was not declared (C-LIFE-07)"));
        }
        let cursor = params.get("cursor").and_then(Value::as_str);
        if let Some(cursor) = cursor
            && !self.cursors_given.contains(cursor)
        {
            breaches.push(format!("{method} with the cursor {cursor:?}, which was never given"));
        }
        (self.tell(script, kind, cursor), breaches)
    }

    fn tell(&mut self, script: &Script, kind: Kind, cursor: Option<&str>) -> Value {
        let entries = kind.entries(&script.offers);
        let from = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0_usize);
        let size = if script.page_tools == 0 { entries.len() } else { script.page_tools };
        let to = entries.len().min(from.saturating_add(size));
        let handles = entries.get(from..to).unwrap_or_default();
        let told = self.told.entry(kind).or_default();
        if cursor.is_none() {
            told.clear();
        }
        told.extend(handles.iter().cloned());
        let next = if kind == Kind::Tools && script.faults.contains(&Fault::EndlessPages) {
            self.cursors += 1;
            Some(format!("{}", entries.len() + self.cursors as usize))
        } else if kind == Kind::Tools && script.faults.contains(&Fault::RepeatsCursor) {
            Some("0".to_owned())
        } else {
            (to < entries.len()).then(|| to.to_string())
        };
        let entries: Vec<Value> = handles.iter().map(|handle| kind.entry(handle)).collect();
        let mut page = json!({ kind.member(): entries });
        match next {
            Some(next) => {
                page["nextCursor"] = json!(next);
                self.cursors_given.insert(next);
            }
            None => {
                // A list that changes between two pages may name an entry twice; once counts.
                let mut seen = BTreeSet::new();
                let mut list = self.told.remove(&kind).unwrap_or_default();
                list.retain(|handle| seen.insert(handle.clone()));
                let whole = self.whole.entry(kind).or_default();
                if whole.last() != Some(&list) {
                    whole.push(list);
                }
            }
        }
        page
    }

    /// What tells them from others; which request is under way says its place.
    pub(crate) fn digest(&self, state: &mut impl Hasher) {
        (&self.declared, self.subscribe, self.spoiled, &self.told, &self.whole).hash(state);
        (&self.cursors_given, self.cursors, self.open.len(), &self.answered_early).hash(state);
        self.open.keys().for_each(|kind| kind.hash(state));
    }

    /// It answered a request that it may not have heard of yet.
    pub(crate) fn over_out_of_turn(&mut self, request: &str) {
        self.answered_early.insert(request.into());
        self.over(request);
    }

    /// A request was answered or called off.
    pub(crate) fn over(&mut self, request: &str) {
        self.open.retain(|_, open| open != request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G26: what is under way is what was heard and not answered, in whatever order.
    #[test]
    fn a_request_that_was_answered_before_it_was_heard_is_not_under_way() {
        let (script, mut lists) = (Script::tools(["echo"]), Lists::default());
        let hear = |lists: &mut Lists, request| {
            lists.page(&script, Kind::Tools, request, &Value::Null).1.len()
        };
        lists.over_out_of_turn("3");
        assert_eq!(hear(&mut lists, "3"), 0);
        assert!(!lists.is_asked(Kind::Tools));
        assert_eq!(hear(&mut lists, "4"), 0, "the early answer was for another one");
        assert_eq!(hear(&mut lists, "3"), 1, "and it counts once");
    }
}
