//! Many files → one definition per name.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, SourceRef};
use super::filter::{self, Filter, Filters};
use super::parse::Reading;
use crate::error::{Category, Problem, Severity};
use crate::id::ServerName;

/// What all files together say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resolved {
    /// The definitions that count, one per name: files in the order of precedence, each file in
    /// its own order.
    pub definitions: Vec<Definition>,
    /// The problems of all files, then those of their combination.
    pub problems: Vec<Problem>,
    /// The definitions that do not count because another one of the same name does.
    pub shadowed: Vec<Definition>,
    /// What became of every definition of every file, in the order of precedence.
    pub fates: Vec<Told>,
    /// The keys in definitions of the Exa search that were left out: secrets.
    pub exa_keys: Vec<String>,
}

/// What became of one definition.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Told {
    /// Its name.
    pub server: ServerName,
    /// Where it stands.
    pub source: SourceRef,
    /// What became of it.
    pub fate: Fate,
}

/// What can become of a definition.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fate {
    /// It counts.
    Active,
    /// It counts, and the server is switched off.
    Disabled {
        /// The file that says so.
        by: String,
    },
    /// Another one of the same name counts.
    Shadowed {
        /// Where that one stands.
        by: SourceRef,
    },
    /// The settings leave it out.
    Filtered {
        /// Which of them.
        by: Filter,
    },
    /// It is not valid.
    Invalid {
        /// All that is wrong, joined with `; `.
        message: String,
    },
    /// There are too many servers.
    Surplus,
}

/// As [`resolve_with`], with nothing left out.
#[must_use]
pub fn resolve(readings: Vec<Reading>, servers_max: usize) -> Resolved {
    resolve_with(readings, &Filters::default(), servers_max)
}

/// Lets the first file win each name; `readings` come with the strongest first. A definition
/// that is left out or not valid hides no valid one (G54), one that is switched off does (that
/// is how a project switches a user's server off), and nothing is ever merged (F-030). At most
/// `servers_max` definitions count.
#[must_use]
pub fn resolve_with(readings: Vec<Reading>, filters: &Filters, servers_max: usize) -> Resolved {
    let mut resolved = Resolved::default();
    let mut disabled: BTreeMap<ServerName, String> = BTreeMap::new();
    let mut all: Vec<(Definition, Option<Filter>)> = Vec::new();
    for reading in readings {
        for name in reading.disabled {
            disabled.entry(name).or_insert_with(|| reading.path.clone());
        }
        resolved.problems.extend(reading.problems);
        let judged = |definition: Definition| {
            let filter = filters.verdict(&definition);
            (definition, filter)
        };
        all.extend(reading.definitions.into_iter().map(judged));
    }
    let winners = winners(&all);
    let mut dropped = 0;
    let mut last_kept = None;
    for (at, winner) in winners.iter().enumerate() {
        let Some((definition, filter)) = all.get(at) else { continue };
        let mut definition = definition.clone();
        let off = disabled.get(&definition.name).cloned();
        let off = off.or_else(|| (!definition.enabled).then(|| definition.source.path.clone()));
        definition.enabled = off.is_none();
        let (server, source) = (definition.name.clone(), definition.source.clone());
        let stronger = winner.filter(|winner| *winner != at).and_then(|winner| all.get(winner));
        let fate = if let Some(by) = *filter {
            resolved.problems.push(filtered(&definition, by));
            if by == Filter::Exa {
                resolved.exa_keys.extend(filter::exa_key(&definition));
            }
            Fate::Filtered { by }
        } else if let Some((stronger, _)) = stronger {
            resolved.problems.push(shadowed(&definition, stronger));
            let by = stronger.source.clone();
            let invalid = definition.transport.clone().err();
            resolved.shadowed.push(definition);
            invalid.map_or(Fate::Shadowed { by }, |message| Fate::Invalid { message })
        } else if resolved.definitions.len() < servers_max {
            last_kept = Some(source.clone());
            let fate = match (&definition.transport, off) {
                (Err(message), _) => Fate::Invalid { message: message.clone() },
                (Ok(_), Some(by)) => Fate::Disabled { by },
                (Ok(_), None) => Fate::Active,
            };
            resolved.definitions.push(definition);
            fate
        } else {
            dropped += 1;
            Fate::Surplus
        };
        resolved.fates.push(Told { server, source, fate });
    }
    if dropped > 0 {
        resolved.problems.push(too_many(dropped, servers_max, last_kept));
    }
    resolved
}

/// For each definition the place of the one that counts for its name: the first valid one, or
/// the first if none is valid; `None` if all are left out.
fn winners(all: &[(Definition, Option<Filter>)]) -> Vec<Option<usize>> {
    let mut winner: BTreeMap<&ServerName, (usize, bool)> = BTreeMap::new();
    for (at, (definition, filter)) in all.iter().enumerate() {
        if filter.is_some() {
            continue;
        }
        let valid = definition.transport.is_ok();
        let held = winner.entry(&definition.name).or_insert((at, valid));
        if valid && !held.1 {
            *held = (at, true);
        }
    }
    let place = |(definition, _): &(Definition, _)| winner.get(&definition.name).map(|held| held.0);
    all.iter().map(place).collect()
}

fn filtered(definition: &Definition, by: Filter) -> Problem {
    Problem {
        severity: Severity::Info,
        category: Category::Filtered,
        file: Some(definition.source.path.clone()),
        line: Some(definition.source.line),
        column: None,
        key: None,
        server: Some(definition.name.clone()),
        message: format!("\"{}\" is left out: {}", definition.name, by.words()),
    }
}

fn shadowed(loser: &Definition, winner: &Definition) -> Problem {
    let at = format!("{} (line {})", winner.source.path, winner.source.line);
    let name = &loser.name;
    let (severity, message) = if loser.transport.is_err() && winner.transport.is_ok() {
        let message = format!("\"{name}\" is not valid here, so its definition in {at} is used");
        (Severity::Warning, message)
    } else {
        (Severity::Info, format!("\"{name}\" is defined in {at} too, and that definition is used"))
    };
    Problem {
        severity,
        category: Category::Shadowed,
        file: Some(loser.source.path.clone()),
        line: Some(loser.source.line),
        column: None,
        key: None,
        server: Some(name.clone()),
        message,
    }
}

fn too_many(dropped: usize, servers_max: usize, last_kept: Option<SourceRef>) -> Problem {
    Problem {
        severity: Severity::Error,
        category: Category::TooManyServers,
        file: last_kept.as_ref().map(|source| source.path.clone()),
        line: last_kept.map(|source| source.line),
        column: None,
        key: None,
        server: None,
        message: format!(
            "more than {servers_max} servers are defined; the {dropped} after this line are left \
             out"
        ),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;
    use crate::config::source::{Level, Provider};

    fn reading(level: Level, path: &str, text: &str) -> Reading {
        let source = Source::file(Provider::Tidegate, level, path);
        read(&source, text.as_bytes())
    }

    fn effective(resolved: &Resolved) -> Vec<String> {
        let describe = |d: &Definition| format!("{} {} {}", d.name, d.source.path, d.enabled);
        resolved.definitions.iter().map(describe).collect()
    }

    /// F-029, F-030, G56.
    #[test]
    fn the_first_file_wins_a_name_as_a_whole_and_says_which_it_hides() {
        let strong = r#"{"mcpServers":{"dup":{"command":"a"},
            "own":{"command":"b"}}}"#;
        let weak = r#"{"mcpServers":{"other":{"command":"c"},
            "dup":{"command":"d","env":{"K":"v"}}}}"#;
        let readings =
            alloc::vec![reading(Level::Project, "p", strong), reading(Level::User, "u", weak)];
        let resolved = resolve(readings, 100);
        assert_eq!(effective(&resolved), ["dup p true", "own p true", "other u true"]);
        let Ok(transport) = &resolved.definitions[0].transport else { panic!() };
        assert!(matches!(transport, crate::config::Transport::Stdio(s) if s.env.is_empty()));
        let [problem] = &resolved.problems[..] else { panic!("{:?}", resolved.problems) };
        assert_eq!(problem.severity, Severity::Info);
        assert_eq!((problem.file.as_deref(), problem.line), (Some("u"), Some(2)));
        assert!(problem.message.contains("p (line 1)"), "{}", problem.message);
        assert_eq!(resolved.shadowed.len(), 1);
    }

    /// G54.
    #[test]
    fn a_definition_that_is_not_valid_hides_no_valid_one_and_says_so() {
        let bad = r#"{"mcpServers":{"x":{"args":[]}}}"#;
        let good = r#"{"mcpServers":{"x":{"command":"c"}}}"#;
        let readings = alloc::vec![
            reading(Level::Project, "p", bad),
            reading(Level::User, "u", good),
            reading(Level::User, "v", good),
        ];
        let resolved = resolve(readings, 100);
        assert_eq!(effective(&resolved), ["x u true"]);
        let words: Vec<String> =
            resolved.problems.iter().map(|p| format!("{:?} {:?}", p.severity, p.file)).collect();
        let wanted =
            ["Error Some(\"p\")", "Warning Some(\"p\")", "Info Some(\"v\")"].map(|s| s.to_string());
        assert_eq!(words, wanted);
    }

    #[test]
    fn without_any_valid_definition_the_first_one_counts() {
        let bad = r#"{"mcpServers":{"x":{"args":[]}}}"#;
        let readings =
            alloc::vec![reading(Level::Project, "p", bad), reading(Level::User, "u", bad)];
        assert_eq!(effective(&resolve(readings, 100)), ["x p true"]);
    }

    /// F-028.
    #[test]
    fn a_user_can_switch_off_what_a_project_defines_and_not_the_other_way_round() {
        let project = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}},"disabledServers":["b","c"]}"#;
        let user = r#"{"mcpServers":{"c":{"command":"c"}},"disabledServers":["a"]}"#;
        let readings =
            alloc::vec![reading(Level::Project, "p", project), reading(Level::User, "u", user)];
        assert_eq!(effective(&resolve(readings, 100)), ["a p false", "b p false", "c u true"]);
    }

    /// G54, D54: the settings leave a project's definition out before it can hide the user's.
    #[test]
    fn a_definition_that_is_left_out_hides_nothing_and_says_so() {
        let one = r#"{"mcpServers":{"x":{"command":"p"},"exa":{"command":"e"}}}"#;
        let two = r#"{"mcpServers":{"x":{"command":"u"}}}"#;
        let readings =
            || alloc::vec![reading(Level::Project, "p", one), reading(Level::User, "u", two)];
        let mut filters = Filters { project_config: false, ..Filters::default() };
        let resolved = resolve_with(readings(), &filters, 100);
        assert_eq!(effective(&resolved), ["x u true"]);
        let categories: Vec<_> =
            resolved.problems.iter().map(|p| (p.severity, p.category)).collect();
        assert_eq!(categories, [(Severity::Info, Category::Filtered); 2]);
        filters = Filters { exa: true, ..Filters::default() };
        assert_eq!(effective(&resolve_with(readings(), &filters, 100)), ["x p true"]);
        filters.exclude.insert(ServerName::new("x"));
        assert_eq!(effective(&resolve_with(readings(), &filters, 100)), [""; 0]);
    }

    /// Every entry of every file ends up in the report.
    #[test]
    fn every_definition_has_a_fate() {
        let one = r#"{"mcpServers":{"bad":{"args":[]},"off":{"command":"a","enabled":false},
            "on":{"command":"a"},"denied":{"command":"a"}}}"#;
        let two = r#"{"mcpServers":{"bad":{"command":"b"},"on":{"command":"b"},
            "exa":{"command":"b"},"last":{"command":"b"}},"disabledServers":["denied"]}"#;
        let readings =
            alloc::vec![reading(Level::Project, "p", one), reading(Level::User, "u", two)];
        let resolved = resolve_with(readings, &Filters::documented(), 4);
        let fates: Vec<String> = resolved
            .fates
            .iter()
            .map(|told| {
                let fate = match &told.fate {
                    Fate::Active => "active".into(),
                    Fate::Disabled { by } => format!("disabled by {by}"),
                    Fate::Shadowed { by } => format!("shadowed by {}", by.path),
                    Fate::Filtered { by } => format!("filtered by {by:?}"),
                    Fate::Invalid { .. } => "invalid".into(),
                    Fate::Surplus => "surplus".into(),
                };
                format!("{} {} {fate}", told.server, told.source.path)
            })
            .collect();
        let wanted = [
            "bad p invalid",
            "off p disabled by p",
            "on p active",
            "denied p disabled by u",
            "bad u active",
            "on u shadowed by p",
            "exa u filtered by Exa",
            "last u surplus",
        ];
        assert_eq!(fates, wanted);
    }

    /// L10.
    #[test]
    fn servers_beyond_the_bound_are_left_out_with_one_problem() {
        let text =
            r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"},"c":{"command":"c"}}}"#;
        let resolved = resolve(alloc::vec![reading(Level::User, "u", text)], 1);
        assert_eq!(effective(&resolved), ["a u true"]);
        let [problem] = &resolved.problems[..] else { panic!("{:?}", resolved.problems) };
        assert_eq!(problem.category, Category::TooManyServers);
        assert!(problem.message.contains("the 2 after"), "{}", problem.message);
    }
}
