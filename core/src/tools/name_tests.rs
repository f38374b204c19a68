use alloc::string::ToString;

use super::*;

/// The documented rule's worked examples, all of them.
const DOCUMENTED: [(&str, &str, &str); 31] = [
    ("github", "create_issue", "mcp_github_create_issue"),
    ("puppeteer", "puppeteer_screenshot", "mcp_puppeteer_screenshot"),
    ("my-server", "search", "mcp_my_server_search"),
    ("my.server", "search", "mcp_my_server_search"),
    ("My_Server", "Search", "mcp_my_server_search"),
    ("server1", "tool2", "mcp_server_tool"),
    ("server2", "tool2", "mcp_server_tool"),
    ("context7", "resolve-library-id", "mcp_context_resolve_library_id"),
    ("s3", "get", "mcp_s_get"),
    ("3", "get", "mcp_server_get"),
    ("日本語", "ツール", "mcp_server_tool"),
    ("a", "b_c", "mcp_a_b_c"),
    ("a_b", "c", "mcp_a_b_c"),
    ("a--b", "c..d", "mcp_a_b_c_d"),
    ("a.b", "a_b_c", "mcp_a_b_c"),
    ("a", "a_a_x", "mcp_a_a_x"),
    ("a", "a", "mcp_a_a"),
    ("a", "a_", "mcp_a_a"),
    ("_x_", "__y__", "mcp_x_y"),
    ("x", "x_y", "mcp_x_y"),
    ("x", "xy", "mcp_x_xy"),
    ("plugin:srv", "srv.tool", "mcp_plugin_srv_srv_tool"),
    ("GitHub", "getUserByID", "mcp_github_getuserbyid"),
    ("fs", "read_file2", "mcp_fs_read_file"),
    ("fs", "read_file3", "mcp_fs_read_file"),
    ("é", "naïve", "mcp_server_na_ve"),
    ("web", "web search!", "mcp_web_search"),
    ("kubernetes-v2", "k8s/list", "mcp_kubernetes_v_k_s_list"),
    ("k8s", "k8s_list", "mcp_k_s_list"),
    ("İstanbul", "x", "mcp_i_stanbul_x"),
    ("", "", "mcp_server_tool"),
];

fn exposed(tools: &[(&str, &str)]) -> Vec<String> {
    assign(Names::Distinct, tools).into_iter().map(|name| name.exposed).collect()
}

fn is_acceptable(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[test]
fn the_documented_rule_gives_the_documented_names() {
    for (server, tool, wanted) in DOCUMENTED {
        assert_eq!(documented(server, tool), wanted, "{server:?} {tool:?}");
    }
}

#[test]
fn by_the_documented_rule_the_last_of_equal_names_counts() {
    let names = assign(
        Names::Documented,
        &[("fs", "read2"), ("fs", "write"), ("fs", "read3"), ("fs", "read4")],
    );
    let winners: Vec<_> = names.iter().map(|name| name.collides_with).collect();
    assert_eq!(winners, [Some(3), None, Some(3), None]);
}

#[test]
fn the_default_differs_from_the_documented_rule_only_where_that_loses_something() {
    for (server, tool, wanted) in DOCUMENTED {
        let digits = server.chars().chain(tool.chars()).any(|c| c.is_ascii_digit());
        if !digits {
            assert_eq!(exposed(&[(server, tool)]), [wanted], "{server:?} {tool:?}");
        }
    }
    assert_eq!(exposed(&[("server1", "tool2")]), ["mcp_server1_tool2"]);
    assert_eq!(exposed(&[("k8s", "k8s_list")]), ["mcp_k8s_list"]);
    assert_eq!(exposed(&[("context7", "resolve-library-id")]), ["mcp_context7_resolve_library_id"]);
}

/// G23: unique names, whatever the tools are called.
#[test]
fn all_worked_examples_together_have_unique_acceptable_names() {
    let tools: Vec<(&str, &str)> = DOCUMENTED.iter().map(|(s, t, _)| (*s, *t)).collect();
    let mut names = exposed(&tools);
    assert!(names.iter().all(|name| is_acceptable(name)), "{names:?}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), tools.len());
}

/// G23, G24: no tool keeps the contested name, in whatever order they come.
#[test]
fn equal_names_are_told_apart_the_same_way_in_every_order() {
    let tools = [("a", "b_c"), ("a_b", "c"), ("a.b", "a_b_c"), ("z", "z")];
    let names = exposed(&tools);
    assert!(!names.contains(&"mcp_a_b_c".to_string()), "{names:?}");
    assert_eq!(names.last().map(String::as_str), Some("mcp_z_z"));
    let turned: Vec<_> = tools.iter().rev().copied().collect();
    let mut again = exposed(&turned);
    again.reverse();
    assert_eq!(names, again);
    let with = assign(Names::Distinct, &tools);
    let collisions: Vec<_> = with.iter().map(|name| name.collides_with).collect();
    assert_eq!(collisions, [Some(1), Some(0), Some(0), None]);
}

/// The suffix itself is a contract: approvals and prompts mention exposed names.
#[test]
fn suffixes_are_the_same_in_every_release() {
    assert_eq!(
        exposed(&[("a", "b_c"), ("a_b", "c")]),
        ["mcp_a_b_c_0a1147bb", "mcp_a_b_c_64bdb9b3"]
    );
}

/// F-052: 64 characters, a stable suffix where it is cut.
#[test]
fn a_long_name_is_cut_with_a_stable_suffix() {
    let (server, tool) = ("s".repeat(40), "t".repeat(50));
    let alone = exposed(&[(&server, &tool)]);
    assert!(alone.iter().all(|name| name.len() == NAME_MAX && is_acceptable(name)), "{alone:?}");
    let longer = alloc::format!("{tool}t");
    let both = exposed(&[(&server, &longer), (&server, &tool)]);
    assert_eq!(both.last(), alone.last());
    assert_ne!(both.first(), both.last());
}

#[test]
fn a_tool_named_like_a_suffixed_one_does_not_take_its_name() {
    let contested = exposed(&[("a", "b_c"), ("a_b", "c")]);
    let taken = contested.first().and_then(|name| name.strip_prefix("mcp_")).unwrap();
    let (server, tool) = taken.split_once('_').unwrap();
    let mut names = exposed(&[("a", "b_c"), ("a_b", "c"), (server, tool)]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3);
}

/// One server that lists a tool twice offers one tool.
#[test]
fn equal_pairs_have_equal_names() {
    let names = assign(Names::Distinct, &[("a", "x"), ("a", "x")]);
    assert!(names.iter().all(|name| name.exposed == "mcp_a_x" && name.collides_with.is_none()));
}

/// F-052, F-053, F-054.
#[test]
fn any_names_give_unique_acceptable_names_in_any_order() {
    let alphabet = ["a", "A", "_", "-", ".", "1", "é", "", "ab", "日", "a_a", " "];
    let word = |mut n: usize| {
        let mut out = String::new();
        for _ in 0..3 {
            out.push_str(alphabet.get(n % alphabet.len()).unwrap());
            n /= alphabet.len();
        }
        out
    };
    let words: Vec<(String, String)> =
        (0..400).map(|n| (word(n * 7 % 1_728), word(n * 31 % 1_728))).collect();
    let mut tools: Vec<(&str, &str)> =
        words.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
    tools.sort_unstable();
    tools.dedup();
    let names = exposed(&tools);
    assert!(names.iter().all(|name| is_acceptable(name)));
    let unique: alloc::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), tools.len());
    let turned: Vec<_> = tools.iter().rev().copied().collect();
    let again: Vec<_> = exposed(&turned).into_iter().rev().collect();
    assert_eq!(names, again);
}

/// By either rule, whatever else there is: whoever calls a tool by its name need not start servers
/// that cannot have it.
#[test]
fn a_name_tells_whose_tool_it_may_be() {
    let tools =
        [("a", "b_c"), ("a_b", "c"), ("tool", "tool"), ("A.B", "c"), ("42", "x"), ("é", "y")];
    let long = ("a-server-with-a-name-of-forty-characters", "and-a-tool-with-a-name-as-long-as-it");
    for policy in [Names::Documented, Names::Distinct] {
        for (named, (server, _)) in
            assign(policy, &[&tools[..], &[long]].concat()).iter().zip(tools.iter().chain([&long]))
        {
            assert!(may_be_of(policy, &named.exposed, server), "{policy:?} {named:?} {server}");
        }
        assert!(may_be_of(policy, "mcp_a_b_c", "a") && may_be_of(policy, "mcp_a_b_c", "a_b"));
        assert!(!may_be_of(policy, "mcp_a_b_c", "b"));
    }
}
