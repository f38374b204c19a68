//! What to write where, for a file in a language that is read and not edited.
//!
//! Floor 2.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::setting::{APPROVED, seconds};
use super::{Edit, print};
use crate::config::format::dialect::{Field, Unit};
use crate::config::parse;
use crate::config::source::Source;
use crate::config::syntax::Language;

/// How a person makes a change to a file that says this, in one line: what to write, and on which
/// line the entry stands. The names in it are untrusted text.
#[must_use]
pub fn by_hand(source: &Source, bytes: &[u8], change: &Edit) -> String {
    let write = |key: &str, value: &str| {
        let between = match parse::language(source) {
            Language::Toml => " = ",
            Language::Json | Language::Yaml => ": ",
        };
        format!("write `{key}{between}{value}` into")
    };
    let (name, what) = match change {
        Edit::Add { name, .. } => return format!("define \"{name}\" in it yourself"),
        Edit::Deny { name } | Edit::Allow { name } => {
            return format!("change what it says of \"{name}\" yourself");
        }
        Edit::Remove { name } => (name, "take out".into()),
        Edit::Enable { name } => (name, write("enabled", "true")),
        Edit::Disable { name } => (name, write("enabled", "false")),
        Edit::SetTimeout { name, ms } => {
            let mut keys = parse::dialect(source, None).names();
            let unit = |field| if let Field::Timeout(unit) = field { Some(unit) } else { None };
            let found = keys.find_map(|(key, field)| Some((key, unit(field)?)));
            (
                name,
                match found.unwrap_or(("timeout", Unit::Millis)) {
                    (key, Unit::Millis) => write(key, &ms.to_string()),
                    (key, Unit::Seconds) => write(key, &seconds(*ms)),
                },
            )
        }
        Edit::ApproveTools { name, tools } => {
            let tools: Vec<String> = tools.iter().map(|tool| print::text(tool)).collect();
            (name, write(APPROVED, &format!("[{}]", tools.join(", "))))
        }
        Edit::AskForTools { name, .. } => (name, format!("shorten `{APPROVED}` of")),
    };
    let definitions = parse::read(source, bytes).definitions;
    let line = definitions.iter().find(|it| it.name.as_str() == name).map(|it| it.source.line);
    let at = line.map(|line| format!(" on line {line}")).unwrap_or_default();
    format!("{what} the entry of \"{name}\"{at} yourself")
}
