//! Many files → one definition per name.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::definition::{Definition, SourceRef};
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
}

/// Lets the first file win each name; `readings` come with the strongest first. A definition
/// that is not valid hides no valid one (G54), one that is switched off does (that is how a
/// project switches a user's server off), and nothing is ever merged (F-030). At most
/// `servers_max` definitions count.
#[must_use]
pub fn resolve(readings: Vec<Reading>, servers_max: usize) -> Resolved {
    let mut resolved = Resolved::default();
    let disabled: BTreeSet<ServerName> =
        readings.iter().flat_map(|reading| reading.disabled.iter().cloned()).collect();
    let mut all: Vec<Definition> = Vec::new();
    for reading in readings {
        resolved.problems.extend(reading.problems);
        all.extend(reading.definitions);
    }
    let winners = winners(&all);
    let mut dropped = 0;
    let mut last_kept = None;
    for (at, winner) in winners.iter().enumerate() {
        let (Some(definition), Some(stronger)) = (all.get(at), all.get(*winner)) else { continue };
        let mut definition = definition.clone();
        definition.enabled &= !disabled.contains(&definition.name);
        if *winner != at {
            resolved.problems.push(shadowed(&definition, stronger));
            resolved.shadowed.push(definition);
        } else if resolved.definitions.len() < servers_max {
            last_kept = Some(definition.source.clone());
            resolved.definitions.push(definition);
        } else {
            dropped += 1;
        }
    }
    if dropped > 0 {
        resolved.problems.push(too_many(dropped, servers_max, last_kept));
    }
    resolved
}

/// For each definition the place of the one that counts for its name: the first valid one, or
/// the first if none is valid.
fn winners(all: &[Definition]) -> Vec<usize> {
    let mut winner: BTreeMap<&ServerName, (usize, bool)> = BTreeMap::new();
    for (at, definition) in all.iter().enumerate() {
        let valid = definition.transport.is_ok();
        let held = winner.entry(&definition.name).or_insert((at, valid));
        if valid && !held.1 {
            *held = (at, true);
        }
    }
    let place = |definition: &Definition| winner.get(&definition.name).map(|held| held.0);
    all.iter().enumerate().map(|(at, definition)| place(definition).unwrap_or(at)).collect()
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
    use alloc::string::{String, ToString};

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
