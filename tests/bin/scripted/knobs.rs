//! The arguments: `--flag` or `--name value`.
//!
//! | argument | effect |
//! |---|---|
//! | `--mark FILE` | append the process id to the file at the start |
//! | `--exit CODE` | exit at once |
//! | `--exit-at METHOD` | exit with 65 when asked for this |
//! | `--start-delay-ms N`, `--init-delay-ms N`, `--list-delay-ms N` | be slow |
//! | `--silent` | read everything, answer nothing |
//! | `--ignore-eof` | outlive the end of the input |
//! | `--grandchild` | start a process that holds the pipes open |
//! | `--strict` | exit on a first message that is not `initialize`, and on unknown methods |
//! | `--garbage` | lines that are no messages before each answer |
//! | `--early-notes` | notifications before the answer to `initialize` |
//! | `--stderr TEXT`, `--stderr-bytes N` | write to standard error first |
//! | `--oversized N` | a line of N bytes first |
//! | `--revision R` | answer with this protocol revision |
//! | `--page-size N` | tools a page |
//! | `--max-life-ms N` | when to end whatever happens; a minute |

use std::collections::BTreeMap;

/// The arguments, by name.
pub(crate) struct Knobs(BTreeMap<String, String>);

impl Knobs {
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Self {
        let mut knobs = BTreeMap::new();
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            let name = arg.strip_prefix("--").expect("arguments are --flag or --name value");
            let value = args.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            knobs.insert(name.to_owned(), value);
        }
        Self(knobs)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn number(&self, name: &str, default: u64) -> u64 {
        self.value(name).map_or(default, |value| value.parse().expect("a number"))
    }
}
