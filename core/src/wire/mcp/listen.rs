//! `subscriptions/listen`: what a server is to tell of by itself, where there is no handshake.
//!
//! Floor 1. May import floor 0.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;

use super::handshake::texts;
use crate::wire::json::{self, NESTING_MAX};
use crate::wire::rpc::Id;

/// The key under which a message says which subscription it belongs to (C-SUB-03).
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What changes are told of.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Changes {
    /// Those of the list of tools.
    pub tools: bool,
    /// Those of the list of prompts.
    pub prompts: bool,
    /// Those of the list of resources.
    pub resources: bool,
    /// Those of what these resources hold.
    pub contents: BTreeSet<Arc<str>>,
}

impl Changes {
    /// Whether there is nothing to be told of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.tools && !self.prompts && !self.resources && self.contents.is_empty()
    }

    /// The parameters of the request (C-SUB-01).
    #[must_use]
    pub fn params(&self) -> String {
        let mut params = String::from("{\"notifications\":{");
        let mut first = true;
        let mut begin = |params: &mut String, name: &str| {
            params.push_str(if core::mem::take(&mut first) { "\"" } else { ",\"" });
            params.push_str(name);
            params.push_str("\":");
        };
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                begin(&mut params, name);
                params.push_str("true");
            }
        }
        if !self.contents.is_empty() {
            begin(&mut params, "resourceSubscriptions");
            for (at, uri) in self.contents.iter().enumerate() {
                params.push(if at == 0 { '[' } else { ',' });
                json::push_quoted(&mut params, uri);
            }
            params.push(']');
        }
        params.push_str("}}");
        params
    }
}

/// The subscription that begins, and what the server tells of in it (C-SUB-02); `None` if it names
/// no subscription.
#[must_use]
pub fn read_acknowledged(params: &str) -> Option<(Id, Changes)> {
    let (mut subscription, mut changes) = (None, Changes::default());
    for member in json::members(params, NESTING_MAX).ok()? {
        let member = member.ok()?;
        let text = params.get(member.value)?;
        match &*member.key {
            "_meta" => subscription = read_subscription(text),
            "notifications" => changes = read_changes(text)?,
            _ => {}
        }
    }
    Some((subscription?, changes))
}

fn read_subscription(meta: &str) -> Option<Id> {
    let mut members = json::members(meta, NESTING_MAX).ok()?.filter_map(Result::ok);
    let own = members.find(|member| member.key == SUBSCRIPTION)?;
    Id::read(meta.get(own.value)?)
}

fn read_changes(text: &str) -> Option<Changes> {
    let mut changes = Changes::default();
    for member in json::members(text, NESTING_MAX).ok()? {
        let member = member.ok()?;
        let value = text.get(member.value)?;
        match &*member.key {
            "toolsListChanged" => changes.tools = value == "true",
            "promptsListChanged" => changes.prompts = value == "true",
            "resourcesListChanged" => changes.resources = value == "true",
            "resourceSubscriptions" => {
                changes.contents = texts(value).into_iter().map(Arc::from).collect();
            }
            _ => {}
        }
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-SUB-01.
    #[test]
    fn only_what_is_wanted_is_asked_for() {
        let contents = [Arc::from("file:///b"), Arc::from("file:///a\"")];
        let changes =
            Changes { tools: true, contents: contents.into_iter().collect(), ..Changes::default() };
        assert_eq!(
            changes.params(),
            r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a\"","file:///b"]}}"#
        );
        assert_eq!(Changes::default().params(), r#"{"notifications":{}}"#);
        assert!(Changes::default().is_empty() && !changes.is_empty());
    }

    /// C-SUB-02, C-SUB-03.
    #[test]
    fn what_a_server_tells_of_may_be_less() {
        let params = r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7},
            "notifications":{"toolsListChanged":true,"promptsListChanged":false}}"#;
        let accepted = Changes { tools: true, ..Changes::default() };
        assert_eq!(read_acknowledged(params), Some((Id::Number(7), accepted)));
        for params in ["", "{}", r#"{"_meta":{},"notifications":{}}"#, r#"{"_meta":7}"#] {
            assert_eq!(read_acknowledged(params), None, "{params}");
        }
    }
}
