//! How long a server may take, and which of its tools may be called without asking: under the
//! key and in the unit that the file's own tool reads.
//!
//! Floor 2.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::page::{Comments, Page};
use super::{Desk, EditError, is_text, item_spans, print, set};
use crate::config::format::dialect::{Field, Unit};
use crate::config::parse::dialect;
use crate::config::syntax::{Member, Node, Value, last};

/// The key of the tools that may be called without asking, where an entry has none yet.
pub(super) const APPROVED: &str = "autoApprove";

impl Desk<'_> {
    pub(super) fn set_timeout(
        &self,
        name: &str,
        ms: u64,
        page: &mut Page<'_>,
    ) -> Result<(), EditError> {
        let (node, members) = self.entry(name)?;
        let unit =
            |(key, field)| if let Field::Timeout(unit) = field { Some((key, unit)) } else { None };
        let mut keys = dialect(self.source, self.root).names().filter_map(unit).peekable();
        let preferred = keys.peek().copied();
        // Of several keys the first one counts that is there.
        let found = keys.find(|(key, _)| last(members, key).is_some());
        let (key, unit) = found.or(preferred).unwrap_or(("timeout", Unit::Millis));
        let value = match unit {
            Unit::Millis => ms.to_string(),
            Unit::Seconds => seconds(ms),
        };
        set(node, members, key, &value, page);
        Ok(())
    }

    pub(super) fn approve(
        &self,
        name: &str,
        tools: &[String],
        page: &mut Page<'_>,
    ) -> Result<(), EditError> {
        let (node, members) = self.entry(name)?;
        let key = self.approved_key(members);
        let found = last(members, key).map(|member| &member.node);
        let old = match found {
            Some(Node { value: Value::List(items), .. }) => items.as_slice(),
            Some(_) | None => &[],
        };
        let mut list = String::new();
        for (at, tool) in tools.iter().enumerate() {
            let is_new = !tools.iter().take(at).any(|before| before == tool);
            if is_new && !old.iter().any(|item| is_text(item, tool)) {
                list.push_str(if list.is_empty() { "" } else { ", " });
                list.push_str(&print::text(tool));
            }
        }
        match found {
            _ if list.is_empty() => {}
            Some(Node { value: Value::List(items), span, .. }) => {
                page.insert(span, &item_spans(items), |_| list.clone());
            }
            Some(_) | None => set(node, members, key, &format!("[{list}]"), page),
        }
        Ok(())
    }

    pub(super) fn ask_for(
        &self,
        name: &str,
        tools: &[String],
        page: &mut Page<'_>,
    ) -> Result<(), EditError> {
        let (_, members) = self.entry(name)?;
        let found = last(members, self.approved_key(members)).map(|member| &member.node.value);
        if let Some(Value::List(items)) = found {
            let is_gone = |item| tools.iter().any(|tool| is_text(item, tool));
            let gone: Vec<bool> = items.iter().map(is_gone).collect();
            page.remove(&item_spans(items), &gone, Comments::Stay);
        }
        Ok(())
    }

    /// The key whose list counts: of several the last one that is there.
    fn approved_key(&self, members: &[Member<'_>]) -> &'static str {
        let names = dialect(self.source, self.root).names();
        let keys = names.filter(|(_, field)| *field == Field::Approved).map(|(key, _)| key);
        keys.filter(|key| last(members, key).is_some()).last().unwrap_or(APPROVED)
    }
}

/// Milliseconds as a number of seconds.
pub(super) fn seconds(ms: u64) -> String {
    let (whole, rest) = (ms / 1_000, ms % 1_000);
    let exact = format!("{whole}.{rest:03}");
    exact.trim_end_matches('0').trim_end_matches('.').into()
}
