//! What is particular about the files of one tool, as data.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::definition::SourceRef;
use super::super::syntax::{Language, Member, Syntax, Value, last};
use super::super::template::Variables;
use super::Provider;

/// How the files of one tool are to be read.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct Dialect {
    /// The keys that lead to the servers, each joined with dots, the preferred one first.
    pub(in crate::config) sections: &'static [&'static str],
    /// Whether the files are for MCP servers alone, so that one without servers is worth a word.
    pub(in crate::config) dedicated: bool,
    /// Whether the whole file may be the map of servers.
    pub(in crate::config) bare: bool,
    /// Whether the whole file may be one entry, with the name of the file.
    pub(in crate::config) single: bool,
    /// The language, unless the name of the file says another one.
    pub(in crate::config) language: Language,
    /// The widest syntax that the tool itself reads.
    pub(in crate::config) syntax: Syntax,
    /// The variable that stands for the folder of a file, where each has one of its own.
    pub(in crate::config) folder: Option<&'static str>,
    /// The placeholders it fills in.
    pub(in crate::config) variables: Variables,
    /// What an address without a type means.
    pub(in crate::config) address: AddressAlone,
    /// Fields beyond the usual ones, or with another meaning.
    pub(in crate::config) fields: &'static [(&'static str, Field)],
    /// Fields whose members count as the entry's own if they are objects.
    pub(in crate::config) flattened: &'static [&'static str],
    /// Whether a list is usual where others want a text (`command`), and a number (`env`).
    pub(in crate::config) ease: Ease,
    /// Other keys of the file and of an entry that say nothing to us.
    pub(in crate::config) silent: &'static [&'static str],
    /// Whether an entry is something else than a server.
    pub(in crate::config) is_foreign: fn(&[Member<'_>]) -> bool,
    /// Whether an entry may say no more than whether a server is on that a weaker file of the
    /// tool defines.
    pub(in crate::config) overlays: bool,
    /// Which servers the file switches on or off from outside of their entries, in a project.
    pub(in crate::config) switches: fn(&[Member<'_>], &str) -> Vec<Switches>,
}

impl Dialect {
    /// The notation that most tools share.
    pub(in crate::config) const USUAL: Self = Self {
        sections: &["mcpServers"],
        dedicated: true,
        bare: false,
        single: false,
        language: Language::Json,
        syntax: Syntax::Json,
        folder: None,
        variables: Variables::Braces,
        address: AddressAlone::Auto,
        fields: &[],
        flattened: &[],
        ease: Ease::None,
        silent: &[],
        is_foreign: |_| false,
        overlays: false,
        switches: |_, _| Vec::new(),
    };

    /// What a field of an entry is for.
    pub(in crate::config) fn field(&self, key: &str) -> Option<Field> {
        let of = |fields: &[(&str, Field)]| {
            fields.iter().find(|(name, _)| *name == key).map(|(_, field)| *field)
        };
        of(self.fields).or_else(|| of(&STANDARD))
    }

    /// Every name of a field, those of the tool first.
    pub(in crate::config) fn names(&self) -> impl Iterator<Item = (&'static str, Field)> {
        self.among(|_| true)
    }

    /// Every name of one field, those of the tool first.
    pub(in crate::config) fn names_of(&self, wanted: Field) -> impl Iterator<Item = &'static str> {
        self.among(move |field| field == wanted).map(|(name, _)| name)
    }

    fn among(
        &self,
        wanted: impl Fn(Field) -> bool + Copy,
    ) -> impl Iterator<Item = (&'static str, Field)> {
        let own = self.fields;
        let replaced = move |name: &str| own.iter().any(|(own, _)| *own == name);
        // The cheap question first: it is asked of each field of each entry.
        let standard =
            STANDARD.iter().filter(move |(name, field)| wanted(*field) && !replaced(name));
        own.iter().filter(move |(_, field)| wanted(*field)).chain(standard).copied()
    }
}

/// What a field of an entry is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::config) enum Field {
    Kind,
    /// An address of a server; `httpUrl` tells its transport too.
    Url,
    Command,
    Args,
    Env,
    EnvFile,
    EnvInherit,
    Cwd,
    Headers,
    HeadersEnv,
    Enabled,
    Disabled,
    Timeout(Unit),
    StartupTimeout(Unit),
    /// Which eras of the protocol are spoken with it.
    Protocol,
    /// The tools that are wanted.
    Include,
    /// The same, and an empty list means all.
    IncludeSome,
    /// The same, and `["*"]` means all.
    IncludeOrStar,
    /// The tools that are not wanted.
    Exclude,
    Approved,
    Auth,
    Oauth,
    ClientId,
    ClientSecret,
    CallbackPort,
    Scopes,
    BearerEnv,
    /// A token that is sent in a header.
    Bearer,
    /// A token that the tool refuses here.
    RefusedToken,
    /// A program that prints headers.
    HeadersCommand,
}

/// What a number of time counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::config) enum Unit {
    Millis,
    Seconds,
}

/// The fields of everybody. The three for the transport and the three for the address stand in
/// their order of preference.
pub(in crate::config) const STANDARD: [(&str, Field); 20] = [
    ("type", Field::Kind),
    ("transport", Field::Kind),
    ("transportType", Field::Kind),
    ("httpUrl", Field::Url),
    ("serverUrl", Field::Url),
    ("url", Field::Url),
    ("command", Field::Command),
    ("args", Field::Args),
    ("env", Field::Env),
    ("environment", Field::Env),
    ("envFile", Field::EnvFile),
    ("cwd", Field::Cwd),
    ("headers", Field::Headers),
    ("enabled", Field::Enabled),
    ("disabled", Field::Disabled),
    ("timeout", Field::Timeout(Unit::Millis)),
    ("disabledTools", Field::Exclude),
    ("alwaysAllow", Field::Approved),
    ("autoApprove", Field::Approved),
    ("oauth", Field::Oauth),
];

/// What an address without a type means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::config) enum AddressAlone {
    /// Streamable HTTP.
    Http,
    /// The older transport.
    Sse,
    /// Whichever is spoken there.
    Auto,
    /// The same, and the tool itself would refuse it.
    AutoThoughRefused,
}

/// Which forms are the tool's own and not worth a warning.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::config) enum Ease {
    /// None.
    None,
    /// A command that is a list.
    CommandList,
    /// A command that is a list or a whole command line.
    CommandLine,
    /// A variable that is a number, or null to remove it.
    EnvValues,
}

/// Servers that a file switches from outside of their entries.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(in crate::config) struct Switches {
    /// Whose files it is about. Of the files that tools share it is `.mcp.json`.
    pub(in crate::config) tools: &'static [Provider],
    /// Only these are on, if there is a list.
    pub(in crate::config) only: Option<BTreeSet<String>>,
    /// These are off.
    pub(in crate::config) off: BTreeSet<String>,
    /// Whether upper and lower case are the same; then all names here are in lower case.
    pub(in crate::config) case: Case,
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(in crate::config) enum Case {
    #[default]
    Differs,
    Ignored,
}

impl Switches {
    /// What a list in a file switches off in the files of some tools, if it is there.
    pub(in crate::config) fn off(
        members: &[Member<'_>],
        key: &str,
        tools: &'static [Provider],
    ) -> Option<Self> {
        let off = names(members, key)?;
        Some(Self { tools, only: None, off, case: Case::Differs })
    }

    /// Whether it is about the file in which a definition stands.
    pub(in crate::config) fn reaches(&self, source: &SourceRef) -> bool {
        self.tools.contains(&source.provider)
            && (source.provider != Provider::Shared || source.path.ends_with("/.mcp.json"))
    }

    /// Whether a server is off.
    pub(in crate::config) fn is_off(&self, name: &str) -> bool {
        let name = match self.case {
            Case::Differs => name.into(),
            Case::Ignored => name.to_lowercase(),
        };
        self.off.contains(&name) || self.only.as_ref().is_some_and(|only| !only.contains(&name))
    }
}

/// The texts in a list of a file, if it is there.
pub(in crate::config) fn names(members: &[Member<'_>], key: &str) -> Option<BTreeSet<String>> {
    let Value::List(items) = &last(members, key)?.node.value else { return None };
    let name = |value: &Value<'_>| match value {
        Value::Text(name) => Some(name.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    Some(items.iter().filter_map(|item| name(&item.value)).collect())
}
