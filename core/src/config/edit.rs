//! One change to a configuration file → its new bytes.
//!
//! Floor 2. May import floors 0 and 1.
//!
//! Every byte that the change is not about stays as it is: comments, order, indentation, line
//! ends, a byte order mark, unknown keys. An entry that is removed takes the comments about it
//! along. A file that cannot be read is never changed. Only JSON
//! is edited, with or without comments.

mod by_hand;
mod error;
mod page;
mod print;
mod rule;
mod setting;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::definition::Definition;
use super::encoding::{Encoding, decode, encode};
use super::parse::{self, dialect};
use super::section::{self, Sections};
use super::source::Source;
use super::syntax::{FaultKind, Member, Node, Value, jsonc, last};
use crate::bytes::Json;
use crate::id::ServerName;
use page::{Comments, Page, Shape};

pub use by_hand::by_hand;
pub use error::{EditError, NameFault};
pub use rule::check_name;

/// The key that servers are defined under.
const SECTION: &str = "mcpServers";
/// The key of the names that are switched off wherever they are defined.
const DENIED: &str = "disabledServers";

/// A change to a configuration file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Edit {
    /// Defines a server that the file does not define.
    Add {
        /// Its name; see [`check_name`].
        name: String,
        /// Its entry, an object.
        entry: Json,
    },
    /// Takes out every definition of a name, with the comments directly above it and at the end
    /// of its line, and the name from `disabledServers`.
    Remove {
        /// The name.
        name: String,
    },
    /// Switches a server of the file on, whatever of the file switches it off.
    Enable {
        /// Its name.
        name: String,
    },
    /// Switches a server of the file off.
    Disable {
        /// Its name.
        name: String,
    },
    /// Switches a name off wherever it is defined (`disabledServers`).
    Deny {
        /// The name.
        name: String,
    },
    /// Takes [`Edit::Deny`] back.
    Allow {
        /// The name.
        name: String,
    },
    /// Sets the limit of connecting and of each call.
    SetTimeout {
        /// The server.
        name: String,
        /// Milliseconds.
        ms: u64,
    },
    /// Adds tools to `autoApprove`: they may be called without asking.
    ApproveTools {
        /// The server.
        name: String,
        /// The tools, as the server calls them.
        tools: Vec<String>,
    },
    /// Takes [`Edit::ApproveTools`] back.
    AskForTools {
        /// The server.
        name: String,
        /// The tools, as the server calls them.
        tools: Vec<String>,
    },
}

/// The bytes of a file after a change; `bytes` is empty for a file that does not exist. The same
/// bytes if it says so already.
///
/// # Errors
/// If the file cannot be read or cannot be changed so; see [`EditError`].
pub fn edit(source: &Source, bytes: &[u8], edit: &Edit) -> Result<Vec<u8>, EditError> {
    let file = || source.path.clone();
    if let Some(language) = foreign_language(source) {
        let by_hand = by_hand(source, bytes, edit);
        return Err(EditError::Language { file: file(), language, by_hand });
    }
    let decoded = decode(bytes)
        .map_err(|no_text| EditError::NotText { file: file(), line: Some(no_text.line) })?;
    if decoded.encoding == Encoding::Utf16 {
        return Err(EditError::NotText { file: file(), line: None });
    }
    let text = &*decoded.text;
    let document = jsonc::parse(text).map_err(|fault| EditError::Unreadable {
        file: file(),
        line: fault.line,
        column: fault.column,
        message: match fault.kind {
            FaultKind::TooDeep | FaultKind::TooLarge => "it is nested too deeply".into(),
            FaultKind::Syntax(words) => words,
        },
    })?;
    let mut page = Page::new(text, jsonc::pieces(text, document.syntax));
    let desk = Desk { source, bytes, root: document.root.as_ref() };
    desk.apply(edit, &mut page)?;
    Ok(encode(&page.finish(), decoded.encoding))
}

/// What the language of a file is called if it is one that is read and not edited.
#[must_use]
pub fn foreign_language(source: &Source) -> Option<&'static str> {
    parse::language(source).other_than_json()
}

/// The file that is edited.
struct Desk<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    root: Option<&'a Node<'a>>,
}

impl<'a> Desk<'a> {
    fn apply(&self, edit: &Edit, page: &mut Page<'_>) -> Result<(), EditError> {
        match edit {
            Edit::Add { name, entry } => self.add(name, entry, page),
            Edit::Remove { name } => self.remove(name, page),
            Edit::Enable { name } => self.switch(name, true, page),
            Edit::Disable { name } => self.switch(name, false, page),
            Edit::Deny { name } => self.deny(name, page),
            Edit::Allow { name } => {
                self.allow(name, page);
                Ok(())
            }
            Edit::SetTimeout { name, ms } => self.set_timeout(name, *ms, page),
            Edit::ApproveTools { name, tools } => self.approve(name, tools, page),
            Edit::AskForTools { name, tools } => self.ask_for(name, tools, page),
        }
    }

    fn add(&self, name: &str, entry: &Json, page: &mut Page<'_>) -> Result<(), EditError> {
        check_name(name).map_err(EditError::Name)?;
        let invalid = |message: String| EditError::Invalid { message };
        // First by itself: no text may end the entry and begin another one.
        let node = jsonc::parse(entry.as_str()).ok().and_then(|document| document.root);
        let Some((node, definition)) = node.zip(as_definition(name, entry)) else {
            return Err(invalid(format!("Server \"{name}\": the entry cannot be read")));
        };
        if let Some(fault) = definition.transport.map_err(invalid)?.unsendable() {
            return Err(invalid(format!("Server \"{name}\": {fault}")));
        }
        let member = |key: &str, shape: Shape<'_>| {
            format!("{}: {}", print::key(key), print::value(&node, shape))
        };
        match self.section()? {
            Some((section, entries)) => {
                if entries.iter().any(|entry| entry.key == name) {
                    return Err(EditError::Exists { name: name.into(), file: self.file() });
                }
                page.insert(&section.span, &spans(entries), |shape| member(name, shape));
            }
            None => self.put(SECTION, page, |shape| {
                print::map(&[&|inner: Shape<'_>| member(name, inner)], shape)
            })?,
        }
        Ok(())
    }

    fn remove(&self, name: &str, page: &mut Page<'_>) -> Result<(), EditError> {
        let Some((_, entries)) = self.section()? else { return Err(self.missing(name)) };
        let gone: Vec<bool> = entries.iter().map(|entry| entry.key == name).collect();
        if !gone.contains(&true) {
            return Err(self.missing(name));
        }
        page.remove(&spans(entries), &gone, Comments::Go);
        self.allow(name, page);
        Ok(())
    }

    /// Switches an entry on or off by the key that it has for that, or by `enabled`.
    fn switch(&self, name: &str, on: bool, page: &mut Page<'_>) -> Result<(), EditError> {
        let (node, members) = self.entry(name)?;
        let is_on = self.definition(name).is_some_and(|definition| definition.enabled);
        if is_on == on {
            return Ok(());
        }
        let keys = [("enabled", on), ("disabled", !on)];
        let present = keys.iter().filter(|(key, _)| last(members, key).is_some());
        let has_one = present.clone().count() > 0;
        // One key is enough to switch off; every one has to agree to switch on.
        let wanted = present.take(if on { keys.len() } else { 1 });
        for (key, value) in wanted {
            set(node, members, key, print::flag(*value), page);
        }
        if !has_one && !on {
            set(node, members, "enabled", print::flag(on), page);
        }
        if on {
            self.allow(name, page);
        }
        Ok(())
    }

    fn deny(&self, name: &str, page: &mut Page<'_>) -> Result<(), EditError> {
        let text = print::text(name);
        match self.member(DENIED).map(|member| &member.node) {
            Some(Node { value: Value::List(items), span, .. }) => {
                if !items.iter().any(|item| is_text(item, name)) {
                    page.insert(span, &item_spans(items), |_| text.clone());
                }
                Ok(())
            }
            Some(Node { value: Value::Null, span, .. }) => {
                page.replace(span.clone(), format!("[{text}]"));
                Ok(())
            }
            Some(node) => Err(EditError::Shape {
                file: self.file(),
                message: format!("\"{DENIED}\" should be a list and is {}", node.value.noun()),
            }),
            None if self.is_bare()? => Err(EditError::Shape {
                file: self.file(),
                message: format!("its servers have to stand in \"{SECTION}\" for that"),
            }),
            None => self.put(DENIED, page, |_| format!("[{text}]")),
        }
    }

    /// Takes a name out of `disabledServers`, and the list when nothing else is in it.
    fn allow(&self, name: &str, page: &mut Page<'_>) {
        let Some(Node { value: Value::Map(members), .. }) = self.root else { return };
        let at = members.iter().rposition(|member| member.key == DENIED);
        let Some(Member { node, .. }) = at.and_then(|at| members.get(at)) else { return };
        let Value::List(items) = &node.value else { return };
        let gone: Vec<bool> = items.iter().map(|item| is_text(item, name)).collect();
        // An earlier list of the same key would count if this one were taken out.
        let alone = members.iter().filter(|member| member.key == DENIED).count() == 1;
        if gone.iter().all(|gone| *gone) && alone && !items.is_empty() {
            let gone: Vec<bool> = (0..members.len()).map(|each| Some(each) == at).collect();
            page.remove(&spans(members), &gone, Comments::Stay);
        } else if gone.contains(&true) {
            page.remove(&item_spans(items), &gone, Comments::Stay);
        }
    }

    /// Gives the root a member that it does not have.
    fn put(
        &self,
        key: &str,
        page: &mut Page<'_>,
        value: impl Fn(Shape<'_>) -> String,
    ) -> Result<(), EditError> {
        let member = |shape: Shape<'_>| format!("{}: {}", print::key(key), value(shape));
        match self.root {
            None => page.append(|shape| print::map(&[&member], shape)),
            Some(Node { value: Value::Map(members), span, .. }) => {
                // A null is as good as absent, and would count if it stayed the last.
                match members.iter().rev().find(|member| member.key == key) {
                    Some(member) => page.put_in(&member.node.span, value),
                    None => page.insert(span, &spans(members), member),
                }
            }
            Some(root) => {
                let noun = root.value.noun();
                let message = format!("it should hold an object and holds {noun}");
                return Err(EditError::Shape { file: self.file(), message });
            }
        }
        Ok(())
    }

    /// Where the file's entries stand; `None` if it has no place for them yet.
    fn section(&self) -> Result<Option<(&'a Node<'a>, &'a [Member<'a>])>, EditError> {
        let Some(root) = self.root else { return Ok(None) };
        let Value::Map(members) = &root.value else {
            let message = format!("it should hold an object and holds {}", root.value.noun());
            return Err(EditError::Shape { file: self.file(), message });
        };
        if let Some(Member { node, .. }) = last(members, SECTION)
            && !matches!(node.value, Value::Map(_))
        {
            let noun = node.value.noun();
            let message = format!("\"{SECTION}\" should be an object and is {noun}");
            return Err(EditError::Shape { file: self.file(), message });
        }
        let mut unheard = super::report::Report::of("");
        let dialect = dialect(self.source, self.root);
        let at = section::Where { file: "", project: "" };
        let Sections::Found(found) = section::find(members, dialect, at, &mut unheard) else {
            return Ok(None);
        };
        let Some(section) = found.into_iter().next() else { return Ok(None) };
        let Cow::Borrowed(entries) = section.entries else { return Ok(None) };
        let mut node = root;
        for key in &section.keys {
            let Value::Map(members) = &node.value else { return Ok(None) };
            let Some(member) = last(members, key) else { return Ok(None) };
            node = &member.node;
        }
        Ok(Some((node, entries)))
    }

    /// The entry of a name that counts.
    fn entry(&self, name: &str) -> Result<(&'a Node<'a>, &'a [Member<'a>]), EditError> {
        let section = self.section()?;
        let found = section
            .and_then(|(_, entries)| entries.iter().rev().find(|entry| entry.key == name))
            .ok_or_else(|| self.missing(name))?;
        match &found.node.value {
            Value::Map(members) => Ok((&found.node, members)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                let noun = found.node.value.noun();
                let message =
                    format!("Server \"{name}\": the entry should be an object and is {noun}");
                Err(EditError::Invalid { message })
            }
        }
    }

    /// Whether the whole file is read as if it stood in `mcpServers`.
    fn is_bare(&self) -> Result<bool, EditError> {
        let section = self.section()?;
        Ok(section.is_some_and(|(node, _)| self.root.is_some_and(|root| core::ptr::eq(root, node))))
    }

    fn member(&self, key: &str) -> Option<&'a Member<'a>> {
        let Value::Map(members) = &self.root?.value else { return None };
        members.iter().rev().find(|member| member.key == key)
    }

    /// What the file as it stands says of a name.
    fn definition(&self, name: &str) -> Option<Definition> {
        let reading = parse::read(self.source, self.bytes);
        reading.definitions.into_iter().find(|definition| definition.name.as_str() == name)
    }

    fn missing(&self, name: &str) -> EditError {
        EditError::Missing { name: name.into(), file: self.file() }
    }

    fn file(&self) -> String {
        self.source.path.clone()
    }
}

/// What an entry would be read as.
fn as_definition(name: &str, entry: &Json) -> Option<Definition> {
    let text = format!("{{\"{SECTION}\":{{{}:{}}}}}", print::text(name), entry.as_str());
    let reading = parse::read(&Source::inline("", ""), text.as_bytes());
    let wanted = ServerName::new(name);
    reading.definitions.into_iter().find(|definition| definition.name == wanted)
}

/// Sets a field of an entry, at the place that counts.
fn set(node: &Node<'_>, members: &[Member<'_>], key: &str, value: &str, page: &mut Page<'_>) {
    match members.iter().rev().find(|member| member.key == key) {
        Some(member) => page.replace(member.node.span.clone(), value.into()),
        None => {
            let text = format!("{}: {value}", print::key(key));
            page.insert(&node.span, &spans(members), |_| text.clone());
        }
    }
}

fn is_text(node: &Node<'_>, text: &str) -> bool {
    matches!(&node.value, Value::Text(value) if value == text)
}

/// Where the values of members stand.
fn spans(members: &[Member<'_>]) -> Vec<Range<usize>> {
    members.iter().map(|member| member.node.span.clone()).collect()
}

fn item_spans(items: &[Node<'_>]) -> Vec<Range<usize>> {
    items.iter().map(|item| item.span.clone()).collect()
}

#[cfg(test)]
#[path = "edit/edit_tests.rs"]
mod tests;
