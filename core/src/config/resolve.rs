//! Many files → one definition per name.
//!
//! Floor 2. May import floors 0 and 1.

mod told;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, SourceRef};
use super::filter::{self, Filter, Filters};
use super::organisation::Organisation;
use super::parse::Reading;
use super::switched::Switched;
use crate::error::Problem;
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
    /// The servers among `definitions` that the organisation forbids, and why.
    pub forbidden: BTreeMap<ServerName, String>,
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
    /// It says no more than whether the server is on that another one defines.
    Overlay {
        /// Where that one stands.
        on: SourceRef,
    },
    /// The settings leave it out.
    Filtered {
        /// Which of them.
        by: Filter,
    },
    /// The organisation forbids it.
    Forbidden {
        /// Why.
        message: String,
    },
    /// It is not valid.
    Invalid {
        /// All that is wrong, joined with `; `.
        message: String,
    },
    /// There are too many servers.
    Surplus,
}

/// What decides besides the files themselves.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// What is left out.
    pub filters: &'a Filters,
    /// What is forbidden.
    pub organisation: &'a Organisation,
    /// How many definitions count at most.
    pub servers_max: usize,
}

/// As [`resolve_with`], with nothing left out or forbidden.
#[must_use]
pub fn resolve(readings: Vec<Reading>, servers_max: usize) -> Resolved {
    let (filters, organisation) = (&Filters::default(), &Organisation::default());
    resolve_with(readings, Rules { filters, organisation, servers_max })
}

/// A definition that may count.
#[derive(Debug)]
struct Candidate {
    definition: Definition,
    barred: Option<Barred>,
}

/// Why a definition does not count if there is another one that may.
#[derive(Debug)]
enum Barred {
    Filtered(Filter),
    Forbidden(Problem),
    /// It is about the one at this place.
    Overlay(usize),
}

/// Lets the first file win each name; `readings` come with the strongest first. A definition
/// that is left out, forbidden or not valid hides no valid one (G54), one that is switched off
/// does (that is how a project switches a user's server off), and nothing is merged (F-030) but
/// that a tool which merges its own files can switch a server in another one of them. What the
/// user sets in their own file counts as what the host sets.
#[must_use]
pub fn resolve_with(readings: Vec<Reading>, rules: Rules<'_>) -> Resolved {
    let mut filters = rules.filters.clone();
    readings.iter().for_each(|reading| reading.settings.apply(&mut filters));
    let mut resolved = Resolved::default();
    let mut switched = Switched::default();
    let mut all: Vec<Candidate> = Vec::new();
    for reading in readings {
        switched.take_in(&reading);
        resolved.problems.extend(reading.problems);
        all.extend(reading.definitions.into_iter().map(|definition| {
            let filtered = filters.verdict(&definition).map(Barred::Filtered);
            let forbidden = || rules.organisation.refusal(&definition).map(Barred::Forbidden);
            Candidate { barred: filtered.or_else(forbidden), definition }
        }));
    }
    resolved.problems.extend(rules.organisation.problem());
    let definitions: Vec<&Definition> = all.iter().map(|candidate| &candidate.definition).collect();
    let overlays = switched.overlay(&definitions, |at| {
        !matches!(all.get(at), Some(Candidate { barred: Some(Barred::Filtered(_)), .. }))
    });
    for (overlay, on) in overlays {
        if let Some(candidate) = all.get_mut(overlay) {
            candidate.barred = Some(Barred::Overlay(on));
        }
    }
    let mut verdicts = Verdicts { resolved, switched, servers_max: rules.servers_max, dropped: 0 };
    for (at, winner) in winners(&all).into_iter().enumerate() {
        verdicts.judge(at, winner, &all);
    }
    verdicts.conclude()
}

/// The verdicts so far.
struct Verdicts {
    resolved: Resolved,
    switched: Switched,
    servers_max: usize,
    dropped: usize,
}

impl Verdicts {
    /// Decides what becomes of one definition; `winner` is the place of the one that counts.
    fn judge(&mut self, at: usize, winner: Option<usize>, all: &[Candidate]) {
        let Some(Candidate { definition, barred }) = all.get(at) else { return };
        let at_place = |place: usize| all.get(place).map(|candidate| &candidate.definition);
        let other = winner.filter(|winner| *winner != at).and_then(at_place);
        // The one that counts for its name may be forbidden itself.
        let used = other.filter(|_| {
            let winner = winner.and_then(|winner| all.get(winner));
            winner.is_some_and(|winner| winner.barred.is_none())
        });
        let off = self.switched.off_by(at, definition);
        let mut definition = definition.clone();
        definition.enabled = off.is_none();
        let (server, source) = (definition.name.clone(), definition.source.clone());
        let problems = &mut self.resolved.problems;
        let fate = match (barred, other) {
            (Some(Barred::Filtered(by)), _) => {
                problems.push(told::filtered(&definition, *by, used));
                if *by == Filter::Exa {
                    self.resolved.exa_keys.extend(filter::exa_key(&definition));
                }
                Fate::Filtered { by: *by }
            }
            (Some(Barred::Overlay(on)), _) => match at_place(*on) {
                Some(on) => Fate::Overlay { on: on.source.clone() },
                None => Fate::Surplus,
            },
            (Some(Barred::Forbidden(refusal)), Some(_)) => {
                problems.extend(used.map(|used| told::forbidden(refusal, &definition, used)));
                Fate::Forbidden { message: refusal.message.clone() }
            }
            (None, Some(other)) => {
                problems.push(told::shadowed(&definition, other));
                let by = other.source.clone();
                let invalid = definition.transport.clone().err();
                self.resolved.shadowed.push(definition);
                invalid.map_or(Fate::Shadowed { by }, |message| Fate::Invalid { message })
            }
            (barred, None) if self.resolved.definitions.len() < self.servers_max => {
                self.count(definition, barred.as_ref(), off)
            }
            (_, None) => {
                self.dropped += 1;
                Fate::Surplus
            }
        };
        self.resolved.fates.push(Told { server, source, fate });
    }

    /// Lets a definition count.
    fn count(
        &mut self,
        definition: Definition,
        barred: Option<&Barred>,
        off: Option<String>,
    ) -> Fate {
        let problems = &mut self.resolved.problems;
        let fate = match (barred, &definition.transport, off) {
            (Some(Barred::Forbidden(refusal)), ..) => {
                let message = refusal.message.clone();
                self.resolved.forbidden.insert(definition.name.clone(), message.clone());
                problems.push(refusal.clone());
                Fate::Forbidden { message }
            }
            (_, Err(message), _) => {
                if definition.overlay {
                    problems.push(told::nothing_under(&definition, message));
                }
                Fate::Invalid { message: message.clone() }
            }
            (_, Ok(_), Some(by)) => Fate::Disabled { by },
            (_, Ok(_), None) => Fate::Active,
        };
        self.resolved.definitions.push(definition);
        fate
    }

    fn conclude(mut self) -> Resolved {
        if self.dropped > 0 {
            let last = self.resolved.definitions.last().map(|kept| &kept.source);
            let problem = told::too_many(self.dropped, self.servers_max, last);
            self.resolved.problems.push(problem);
        }
        self.resolved
    }
}

/// For each definition the place of the one that counts for its name: the first valid one that
/// is not forbidden, or the first if there is none; `None` if all are left out.
fn winners(all: &[Candidate]) -> Vec<Option<usize>> {
    let mut winner: BTreeMap<&ServerName, (usize, bool)> = BTreeMap::new();
    for (at, Candidate { definition, barred }) in all.iter().enumerate() {
        if matches!(barred, Some(Barred::Filtered(_) | Barred::Overlay(_))) {
            continue;
        }
        let good = definition.transport.is_ok() && barred.is_none();
        let held = winner.entry(&definition.name).or_insert((at, good));
        if good && !held.1 {
            *held = (at, true);
        }
    }
    let place = |candidate: &Candidate| winner.get(&candidate.definition.name).map(|held| held.0);
    all.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;
    use crate::config::Source;
    use crate::config::parse::read;
    use crate::config::source::{Level, Provider};
    use crate::error::{Category, Severity};
    use crate::input::Found;

    fn reading(level: Level, path: &str, text: &str) -> Reading {
        let source = Source::file(Provider::Tidegate, level, path);
        read(&source, text.as_bytes())
    }

    fn under(readings: Vec<Reading>, filters: &Filters, servers_max: usize) -> Resolved {
        let organisation = &Organisation::default();
        resolve_with(readings, Rules { filters, organisation, servers_max })
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
        let resolved = under(readings(), &filters, 100);
        assert_eq!(effective(&resolved), ["x u true"]);
        let categories: Vec<_> =
            resolved.problems.iter().map(|p| (p.severity, p.category)).collect();
        assert_eq!(categories, [(Severity::Info, Category::Filtered); 2]);
        filters = Filters { exa: true, ..Filters::default() };
        assert_eq!(effective(&under(readings(), &filters, 100)), ["x p true"]);
        filters.exclude.insert(ServerName::new("x"));
        assert_eq!(effective(&under(readings(), &filters, 100)), [""; 0]);
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
        let resolved = under(readings, &Filters::documented(), 4);
        let fates: Vec<String> = resolved
            .fates
            .iter()
            .map(|told| {
                let fate = match &told.fate {
                    Fate::Active => "active".into(),
                    Fate::Disabled { by } => format!("disabled by {by}"),
                    Fate::Shadowed { by } => format!("shadowed by {}", by.path),
                    Fate::Overlay { on } => format!("overlay on {}", on.path),
                    Fate::Filtered { by } => format!("filtered by {by:?}"),
                    Fate::Forbidden { .. } => "forbidden".into(),
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

    /// G54: what the organisation forbids hides nothing that it allows.
    #[test]
    fn a_definition_that_is_forbidden_hides_no_other_and_says_so() {
        let one = r#"{"mcpServers":{"x":{"command":"evil"},"y":{"command":"evil"}}}"#;
        let two = r#"{"mcpServers":{"x":{"command":"good"}}}"#;
        let readings =
            alloc::vec![reading(Level::Project, "p", one), reading(Level::User, "u", two)];
        let rules = Found::Content(r#"{"deny":[{"program":"evil"}]}"#.into());
        let organisation = &Organisation::read("/rules", &rules);
        let filters = &Filters::default();
        let resolved = resolve_with(readings, Rules { filters, organisation, servers_max: 9 });
        assert_eq!(effective(&resolved), ["y p true", "x u true"]);
        let forbidden: Vec<&str> = resolved.forbidden.keys().map(ServerName::as_str).collect();
        assert_eq!(forbidden, ["y"]);
        let [hidden, refused] = &resolved.problems[..] else { panic!("{:?}", resolved.problems) };
        assert_eq!((hidden.severity, refused.severity), (Severity::Warning, Severity::Error));
        assert!(hidden.message.ends_with("its definition in u (line 1) is used"), "{hidden:?}");
        let fates =
            resolved.fates.iter().filter(|told| matches!(told.fate, Fate::Forbidden { .. }));
        assert_eq!(fates.count(), 2);
    }

    fn of_tool(provider: Provider, level: Level, path: &str, text: &str) -> Reading {
        read(&Source::file(provider, level, path), text.as_bytes())
    }

    /// opencode merges its files: a later one can switch what an earlier one defines.
    #[test]
    fn an_entry_that_only_switches_acts_on_the_definition_under_it() {
        let file = |level, path: &str, text: &str| of_tool(Provider::Opencode, level, path, text);
        let project =
            r#"{"mcp":{"a":{"enabled":false},"b":{"enabled":true},"c":{"enabled":false}}}"#;
        let user = r#"{"mcp":{"a":{"type":"local","command":["a"]},
            "b":{"type":"local","command":["b"],"enabled":false},
            "d":{"type":"local","command":["d"],"enabled":false}}}"#;
        let readings = alloc::vec![
            file(Level::User, "own", r#"{"mcp":{"d":{"enabled":true}}}"#),
            file(Level::Project, "p", project),
            file(Level::User, "u", user),
            reading(Level::User, "other", r#"{"mcpServers":{"c":{"command":"c"}}}"#),
        ];
        let resolved = resolve(readings, 100);
        // No project switches on what the user switched off, nor another tool's server off.
        assert_eq!(effective(&resolved), ["a u false", "b u false", "d u true", "c other true"]);
        let fate = |name: &str, path: &str| {
            let found = |it: &&Told| it.server.as_str() == name && it.source.path == path;
            resolved.fates.iter().find(found).map(|told| told.fate.clone())
        };
        assert_eq!(fate("a", "u"), Some(Fate::Disabled { by: "p".into() }));
        assert!(matches!(fate("a", "p"), Some(Fate::Overlay { on }) if on.path == "u"));
        assert!(matches!(fate("c", "p"), Some(Fate::Invalid { .. })));
        assert!(!resolved.problems.iter().any(|it| it.severity == Severity::Error));
        let alone = resolve(alloc::vec![file(Level::Project, "p", project)], 100);
        assert_eq!(alone.problems.len(), 3, "{:?}", alone.problems);
    }

    /// Lists of Claude Code and Gemini act where these tools have them act.
    #[test]
    fn lists_of_what_is_off_act_on_all_files_of_the_tool() {
        let servers = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
        let off = r#"{"disabledMcpjsonServers":["a"]}"#;
        let readings = alloc::vec![
            of_tool(Provider::ClaudeCodeSettings, Level::User, "settings", off),
            of_tool(Provider::Shared, Level::Project, "/p/.mcp.json", servers),
        ];
        let resolved = resolve(readings, 100);
        assert_eq!(effective(&resolved), ["a /p/.mcp.json false", "b /p/.mcp.json true"]);
        let by = Fate::Disabled { by: "settings".into() };
        assert_eq!(resolved.fates[0].fate, by);
        let excluded = r#"{"mcp":{"excluded":["A"],"allowed":["a","B"]}}"#;
        let readings = alloc::vec![
            of_tool(Provider::Gemini, Level::Project, "p", servers),
            of_tool(Provider::Gemini, Level::User, "u", excluded),
            of_tool(Provider::Shared, Level::Project, "/p/mcp.json", servers),
        ];
        assert_eq!(effective(&resolve(readings, 100)), ["a p false", "b p true"]);
    }

    /// `disabledProviders` and `enableProjectConfig` in the user's own file.
    #[test]
    fn what_the_user_sets_in_their_own_file_counts_for_all_files() {
        let own = r#"{"disabledProviders":["cursor"],"enableProjectConfig":false}"#;
        let servers = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
        let readings = alloc::vec![
            reading(Level::User, "u", own),
            of_tool(Provider::Cursor, Level::User, "c", servers),
            of_tool(
                Provider::Zed,
                Level::Project,
                "z",
                r#"{"context_servers":{"a":{"command":"z"}}}"#
            ),
            of_tool(Provider::Shared, Level::User, "s", servers),
        ];
        let resolved = resolve(readings, 100);
        assert_eq!(effective(&resolved), ["a s true"]);
        let words: Vec<&str> = resolved.problems.iter().map(|it| it.message.as_str()).collect();
        assert!(words.iter().any(|it| it.ends_with("so its definition in s (line 1) is used")));
    }
}
