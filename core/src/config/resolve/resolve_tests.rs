//! Of many files, which definitions count and what becomes of the others.

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
    let readings = alloc::vec![reading(Level::Project, "p", bad), reading(Level::User, "u", bad)];
    assert_eq!(effective(&resolve(readings, 100)), ["x p true"]);
}

/// F-028.
#[test]
fn a_user_can_switch_off_what_a_project_defines_and_not_the_other_way_round() {
    let project =
        r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}},"disabledServers":["b","c"]}"#;
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
    let categories: Vec<_> = resolved.problems.iter().map(|p| (p.severity, p.category)).collect();
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
    let readings = alloc::vec![reading(Level::Project, "p", one), reading(Level::User, "u", two)];
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
    let text = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"},"c":{"command":"c"}}}"#;
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
    let readings = alloc::vec![reading(Level::Project, "p", one), reading(Level::User, "u", two)];
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
    let fates = resolved.fates.iter().filter(|told| matches!(told.fate, Fate::Forbidden { .. }));
    assert_eq!(fates.count(), 2);
}

fn of_tool(provider: Provider, level: Level, path: &str, text: &str) -> Reading {
    read(&Source::file(provider, level, path), text.as_bytes())
}

/// opencode merges its files: a later one can switch what an earlier one defines.
#[test]
fn an_entry_that_only_switches_acts_on_the_definition_under_it() {
    let file = |level, path: &str, text: &str| of_tool(Provider::Opencode, level, path, text);
    let project = r#"{"mcp":{"a":{"enabled":false},"b":{"enabled":true},"c":{"enabled":false}}}"#;
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

/// What the user switched off is off, whatever a project makes of it in a stronger file.
#[test]
fn a_user_switches_off_what_a_project_defines_in_a_stronger_file() {
    let file = |level, path: &str, text: &str| of_tool(Provider::Opencode, level, path, text);
    let on = r#"{"mcp":{"a":{"enabled":true}}}"#;
    let project = r#"{"mcp":{"a":{"type":"local","command":["a"],"enabled":true},
        "b":{"type":"local","command":["b"]}}}"#;
    let user = r#"{"mcp":{"a":{"enabled":false},"b":{"enabled":true},"c":{"enabled":false}}}"#;
    let resolved = resolve(
        alloc::vec![
            file(Level::Project, "p", on),
            file(Level::Project, "q", project),
            file(Level::User, "u", user),
        ],
        100,
    );
    assert_eq!(effective(&resolved), ["a q false", "b q true", "c u false"]);
    let off = resolved.fates.iter().find(|told| told.server.as_str() == "a");
    assert!(matches!(off, Some(Told { fate: Fate::Overlay { on }, .. }) if on.path == "q"));
    let by = Fate::Disabled { by: "u".into() };
    assert_eq!(resolved.fates[1].fate, by);
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
        of_tool(Provider::Zed, Level::Project, "z", r#"{"context_servers":{"a":{"command":"z"}}}"#),
        of_tool(Provider::Shared, Level::User, "s", servers),
    ];
    let resolved = resolve(readings, 100);
    assert_eq!(effective(&resolved), ["a s true"]);
    let words: Vec<&str> = resolved.problems.iter().map(|it| it.message.as_str()).collect();
    assert!(words.iter().any(|it| it.ends_with("so its definition in s (line 1) is used")));
}
